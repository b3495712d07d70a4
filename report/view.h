/* view.h - the ways report can print an aggregate, as a table of operations. */
#ifndef LJPERF_REPORT_VIEW_H
#define LJPERF_REPORT_VIEW_H

#include "report/aggregate.h"
#include "report/fields.h"
#include "report/term.h"

struct view_opts {
	const struct metric *metric;
	struct field_list keys, columns;
	const char *separator; /* NULL: aligned columns */
	uint64_t limit; /* rows; 0: all */
	double percent_limit;
	bool header, header_only, quiet, verbose;
	bool leak_only, human_readable;
};

struct view_ops {
	const char *name;
	bool want_origins; /* needs who freed whose blocks */
	/* 0 or -ENOMEM with err__msg(). */
	int (*print)(struct aggregate *a, const struct view_opts *o, struct term *t);
};

extern const struct view_ops view_table, view_memprof;

/* The "#" lines above a table. */
void summary__print(const struct aggregate *a, const struct view_opts *o, struct strbuf *out);

#endif
