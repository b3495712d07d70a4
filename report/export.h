/* export.h - recordings in the formats of other tools: what the command export
 * and its formats (export_*.c, one file each) share.
 *
 * A format gets the aggregate whole.  Its cells are the samples of other
 * tools: a stack and what it did; without recorded stacks, of one frame.
 */
#ifndef LJPERF_REPORT_EXPORT_H
#define LJPERF_REPORT_EXPORT_H

#include <stdio.h>

#include "report/aggregate.h"
#include "report/export_frames.h"
#include "report/export_slices.h"
#include "report/fields.h"
#include "report/load.h"

enum { EXPORT_METRICS_MAX = 8 };

/* One amount of a sample: the bytes of a metric, or its number of blocks. */
struct export_column {
	const struct metric *metric;
	bool blocks;
};

struct export_opts {
	struct load_opts load;
	const struct export_ops *ops;
	const struct metric *metrics[EXPORT_METRICS_MAX]; /* the first is shown first */
	size_t n_metrics;
	bool by_func; /* frames are functions and not lines */
	bool diff; /* two recordings, the baseline and another one */
	struct field_list keys, columns; /* of tables */
	const char *const *paths; /* of the recordings */
	size_t n_paths;
};

/* Where it goes. */
struct export_out {
	FILE *file;
	const char *name;
	struct strbuf buf;
};

struct export
{
	const struct export_opts *o;
	struct aggregate *a; /* NULL for a format that reads itself */
	struct export_frames frames;
	struct export_slices slices; /* of firefox */
	struct export_column columns[2 * EXPORT_METRICS_MAX];
	size_t n_columns;
	struct export_out out;
	int damaged; /* files that are; set by a format that reads itself */
	bool cut; /* an amount did not fit the format, see export__int64() */
};

struct export_ops {
	const char *name, *help;
	/* What is written when nothing is asked for; NULL: the format reads all
	 * events itself and has no aggregate. */
	const char *metrics;
	bool one_metric, table; /* TABLE: takes -s and -F */
	bool binary;
	bool diffs; /* can hold two recordings, see export_diff.c */
	unsigned measure; /* of the aggregate */
	/* Sets up the aggregate before reading; may be NULL. */
	void (*prepare)(struct export *e);
	/* 0 or negative with err__msg(). */
	int (*write)(struct export *e);
};

extern const struct export_ops export_folded, export_speedscope, export_pprof, export_callgrind,
	export_csv, export_json, export_firefox, export_ljm;

/* Writes what waits in the buffer, when it is much or ALL.  0, or negative
 * with err__msg(). */
int export__flush(struct export *e, bool all);

/* The amounts of a cell, one for each column.  False when all are 0. */
bool export__values(const struct export *e, uint32_t cell, u128 *values);

/* The frames of a cell, the innermost first; see aggregate__frames(). */
size_t export__stack(struct export *e, uint32_t cell, uint32_t *locs);

/* Whether a cell is of the recording that the other one is compared with. */
bool export__is_baseline(const struct export *e, uint32_t cell);

/* Checks --diff, and names the recordings it is of.  0 or -EINVAL with err__msg(). */
int export_diff__setup(struct export_opts *o);

/* Its sum over all cells. */
u128 export__total(const struct export *e, size_t column);

/* V for a format whose numbers have 63 bits. */
int64_t export__int64(struct export *e, u128 v);

/* What was recorded: the command line, or the name of the file.  Of a difference,
 * that of what is compared with the baseline, which is session 0. */
const char *export__title(const struct export *e);
const char *export__session_title(const struct export *e, size_t session);

bool export_column__is_bytes(const struct export_column *c);

int export__no_memory(void);

#endif
