/* symbolize.h - names and lines of C functions out of the files they came from,
 * for report, script and whatever else prints sites.
 *
 * A file is opened when something in it is asked for that no cache has; what
 * is wrong with it is one warning.  Answers are asked for with resolve and read
 * with get, which opens nothing: what is printed decides what is worth opening.
 */
#ifndef LJPERF_REPORT_SYMBOLIZE_H
#define LJPERF_REPORT_SYMBOLIZE_H

#include <stdbool.h>

#include "report/modules.h"
#include "util/strbuf.h"

/* What a command's options say of symbols; all zero is the default. */
struct symbolizer_opts {
	bool off, mangled, no_cache;
	const char *symfs, *debug_dir;
};

/* The rows for a command's option table; O is a struct symbolizer_opts. */
#define SYMBOLIZER_OPTIONS(o) \
	OPT_BOOL(0, "no-symbols", &(o).off, "do not look into modules for names of C functions"), \
		OPT_STRING(0, "symfs", &(o).symfs, "DIR", "look for modules under DIR"), \
		OPT_STRING(0, "debug-dir", &(o).debug_dir, "DIR", \
			   "look for debug files in DIR, too"), \
		OPT_BOOL(0, "no-demangle", &(o).mangled, \
			 "show names of C++ and Rust as they are"), \
		OPT_BOOL(0, "no-symbol-cache", &(o).no_cache, \
			 "neither use nor keep earlier answers")

/* A function at an address: an inlined one, or the one that has the code. */
struct symbol_frame {
	const char *func, *file; /* FILE is "" when unknown */
	uint64_t line;
};

/* What is known of an address, the innermost inlined function first; the last
 * frame has the code.  No frames: it has no name. */
struct symbol {
	const struct symbol_frame *frames;
	size_t n;
};

struct symbolizer;

/* O is copied, its strings are kept.  STRINGS are those of the modules' paths
 * and build ids.  NULL: no memory, see err__msg(). */
struct symbolizer *symbolizer__new(const struct symbolizer_opts *o, const struct strpool *strings);
void symbolizer__delete(struct symbolizer *s); /* NULL is fine */

/* Finds out about ADDR of module M.  1 when there was nothing known of it
 * before, 0, or -ENOMEM with err__msg(). */
int symbolizer__resolve(struct symbolizer *s, const struct module *m, uint64_t addr);

/* What resolve found; no frames when it was not asked, or S is NULL. */
struct symbol symbolizer__get(const struct symbolizer *s, const struct module *m, uint64_t addr);

/* Appends the name of a function, readable unless the options say otherwise. */
void symbolizer__add_func(const struct symbolizer *s, const char *func, struct strbuf *out);

/* Prints a warning for each file that could not be used. */
void symbolizer__warn(const struct symbolizer *s);

/* Keeps the answers for the next time. */
void symbolizer__save(struct symbolizer *s);

#endif
