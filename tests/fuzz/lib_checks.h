/* lib_checks.h - what must hold of any output, whatever the names in it are.
 * Used by the fuzz targets; shares no code with what it checks.
 */
#ifndef LJPERF_FUZZ_LIB_CHECKS_H
#define LJPERF_FUZZ_LIB_CHECKS_H

#include <stdbool.h>
#include <stddef.h>

/* UTF-8 without anything that steers a terminal; tabs and ends of lines, also
 * those of CSV, are allowed. */
bool is_safe_text(const char *s, size_t len);

/* One JSON value; with LINES one on each line. */
bool is_json(const char *s, size_t len);
bool is_json_lines(const char *s, size_t len);

/* Records of RFC 4180, each with as many fields as the first. */
bool is_csv(const char *s, size_t len);

/* Tables whose rows have as many cells as their heads, no HTML but <code> and
 * numbered characters, and blocks of text that end where they should. */
bool is_tame_markdown(const char *s, size_t len);

/* A tar archive in zstd that unpacks below its folder: names that are relative
 * and have no "..", regular files, links to what came before. */
bool is_tame_archive(const void *p, size_t len);

#endif
