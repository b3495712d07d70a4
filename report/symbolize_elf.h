/* symbolize_elf.h - the names and lines of one ELF file and its debug
 * information, through libdw.  Used by symbolize.c.
 */
#ifndef LJPERF_REPORT_SYMBOLIZE_ELF_H
#define LJPERF_REPORT_SYMBOLIZE_ELF_H

#include "report/symbolize_files.h"

struct elf_symbols;

/* Opens the file of the module at PATH (LEN bytes).  F is kept.  NULL on
 * failure, with the reason in err__msg(). */
struct elf_symbols *elf_symbols__new(const struct symbol_files *f, const char *path, size_t len,
				     const struct build_id *want);
void elf_symbols__delete(struct elf_symbols *es);

/* Whether it has debug information with lines. */
bool elf_symbols__has_lines(struct elf_symbols *es);

/* A function at an address.  FUNC is as in the file, mangled; FILE is NULL when
 * unknown, and lies in DIR when that is not NULL. */
struct elf_frame {
	const char *func, *dir, *file;
	int line;
};

/* Called for each function at an address, the innermost inlined one first and
 * the one that has the code last.  Non-zero stops and is returned. */
typedef int (*elf_frame_fn)(void *ctx, const struct elf_frame *frame);

/* The functions at ADDR, an address as in the file.  What FN returned, 0. */
int elf_symbols__find(struct elf_symbols *es, uint64_t addr, elf_frame_fn fn, void *ctx);

#endif
