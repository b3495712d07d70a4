/* annotate.h - what the files of the command annotate share: annotate.c has the
 * command, annotate_files.c the sums by file and line, annotate_print.c the
 * output.
 */
#ifndef LJPERF_REPORT_ANNOTATE_H
#define LJPERF_REPORT_ANNOTATE_H

#include "report/load.h"
#include "report/source.h"
#include "report/table.h"

/* What the numbers of a row are of: a line of a chunk. */
struct line_key {
	uint32_t chunk; /* a string, or STR_NONE: of no line */
	uint32_t unused; /* 0: keys are compared as bytes */
	uint64_t line; /* never 0; of no line: enum nowhere */
};

/* What is of no line. */
enum nowhere { NOWHERE_VM, NOWHERE_C, NOWHERE_LUA, NOWHERE_MAX };

struct annotate_line {
	uint64_t line;
	const struct row *row;
};

struct annotate_file {
	uint32_t chunk;
	uint32_t proto; /* one of those it has */
	char *name; /* for people */
	struct annotate_line *lines; /* that have numbers, in order */
	size_t n, cap;
	struct row sum;
	u128 value; /* of the metric */
	u128 traces; /* what of it is of compiled code, and stands where that starts */
	bool wanted;
	struct source source;
	char *path; /* of the source; NULL: it has none */
};

struct annotate_opts {
	struct load_opts load;
	struct view_opts view; /* columns: numbers only */
	const char *source_dir;
	const char *const *names; /* of files to show; none: all */
	size_t n_names;
	bool hottest; /* one list of lines, those with most first */
	bool has_context;
	uint64_t context; /* lines around those with numbers; else the whole file */
};

struct annotate {
	const struct annotate_opts *o;
	struct aggregate *a;
	struct table t; /* its rows are lines */
	struct annotate_file *files; /* those with most first */
	size_t n, cap;
	u128 nowhere[NOWHERE_MAX];
	size_t n_newer; /* sources that are newer than the recording */
	const struct annotate_file *newer; /* one of them */
};

/* Adds up lines and files, and marks the wanted ones.  0, or negative with
 * err__msg(). */
int annotate__make(struct annotate *an);

/* Finds the source of a wanted file. */
int annotate__find_source(struct annotate *an, struct annotate_file *f);
void annotate__exit(struct annotate *an);

/* 0 or negative with err__msg(). */
int annotate__print(struct annotate *an);

int annotate__no_memory(void);

#endif
