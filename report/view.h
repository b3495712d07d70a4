/* view.h - the ways report can print an aggregate, as a table of operations. */
#ifndef LJPERF_REPORT_VIEW_H
#define LJPERF_REPORT_VIEW_H

#include "report/aggregate.h"
#include "report/fields.h"
#include "report/term.h"
#include "report/tree.h"

struct view_opts {
	const struct metric *metric;
	struct field_list keys, columns;
	const char *separator; /* NULL: aligned columns */
	uint64_t limit; /* rows; 0: all */
	double percent_limit;
	bool header, header_only, quiet, verbose;
	bool leak_only, human_readable;
	unsigned columns_wide, lines; /* size of the screen, for charts */
	struct tree_opts tree; /* below each row */
	bool children; /* rows are of callers, too, with what they called */
	bool relative; /* shares are of what filters leave */
	const bool *skip; /* cells left out by filters and suppressions; NULL: none */
	const bool *suppressed; /* those left out by suppressions */
};

struct view_ops {
	const char *name;
	bool want_origins; /* needs who freed whose blocks */
	bool plain; /* shows cells that are sites, and no fields */
	unsigned measure; /* enum measure: what it needs of the reading */
	/* 0 or -ENOMEM with err__msg(). */
	int (*print)(struct aggregate *a, const struct view_opts *o, struct term *t);
};

extern const struct view_ops view_table, view_memprof, view_timeline;

/* The "#" lines above a table, for a terminal with COLUMNS; 0: there is none. */
void summary__print(const struct aggregate *a, const struct view_opts *o, unsigned columns,
		    struct strbuf *out);

#endif
