/* diff_source.h - lines of the source files that recordings name, where those
 * are still at hand as they were.  Used by the fuzzy matching of diff.
 */
#ifndef LJPERF_REPORT_DIFF_SOURCE_H
#define LJPERF_REPORT_DIFF_SOURCE_H

#include <stddef.h>
#include <stdint.h>

struct diff_source {
	char *text; /* NULL: not at hand */
	size_t *lines; /* where each begins; one more at the end */
	size_t n_lines;
};

/* Reads the file of CHUNK ("@path"), relative to CWD, unless it changed after
 * START_NS (since 1970).  S is all zero when it is not at hand. */
void diff_source__load(struct diff_source *s, const char *chunk, const char *cwd,
		       uint64_t start_ns);
void diff_source__exit(struct diff_source *s);

/* Line N, from 1, without blanks at both ends; NULL when there is none. */
const char *diff_source__line(const struct diff_source *s, uint64_t n, size_t *len);

#endif
