/* load.h - reading the recordings that a command is given, the same way for
 * all that print them for people or other tools.  Used by annotate and export.
 */
#ifndef LJPERF_REPORT_LOAD_H
#define LJPERF_REPORT_LOAD_H

#include "report/aggregate.h"

struct load_opts {
	struct symbolizer_opts symbols;
	const char *time, *from, *to;
	uint64_t temporary_threshold; /* see struct aggregate */
	bool force, with_close, quiet;
};

/* The rows for a command's option table; O is a struct load_opts. */
#define LOAD_OPTIONS(o) \
	OPT_BOOL('f', "force", &(o).force, "read files of other users, accept damaged ones"), \
		OPT_BOOL('q', "quiet", &(o).quiet, "no comments, no warnings")

#define LOAD_WINDOW_OPTIONS(o) \
	OPT_U64(0, "temporary-threshold", &(o).temporary_threshold, "N", \
		"a block freed before N other allocations is temporary (1)"), \
		OPT_STRING(0, "time", &(o).time, "RANGE", \
			   "count a part only: 10%-20%, or FROM,TO in seconds"), \
		OPT_STRING(0, "from", &(o).from, "MARK", "count what comes after a mark"), \
		OPT_STRING(0, "to", &(o).to, "MARK", "count what comes before a mark"), \
		OPT_BOOL(0, "with-close", &(o).with_close, "count what lua_close() frees, too")

/* What O is before options are read. */
#define LOAD_DEFAULTS \
	{ \
		.temporary_threshold = 1 \
	}

/* Reads the N files, or the default one when there are none, into A, whose
 * switches are set, and gives it a symbolizer.  The number of damaged files,
 * or negative with err__msg(). */
int load__read(struct aggregate *a, const struct load_opts *o, size_t n, const char *const *paths);

/* What a symbolizer has to say and to keep, when all is printed. */
void load__end(struct aggregate *a, const struct load_opts *o);

#endif
