/* filter.h - which cells of an aggregate a report is about: --symbol, --chunk
 * and so on.  Set by report, used before its rows are made.
 */
#ifndef LJPERF_REPORT_FILTER_H
#define LJPERF_REPORT_FILTER_H

#include "report/aggregate.h"
#include "report/match.h"

enum filter_kind {
	FILTER_SYMBOL,
	FILTER_CHUNK,
	FILTER_SOURCE,
	FILTER_MODULE,
	FILTER_VM,
	FILTER_MAX
};

/* All zero lets everything through.  What is given more than once is an "or",
 * different kinds are an "and". */
struct filter {
	struct match **at[FILTER_MAX];
	size_t n[FILTER_MAX], cap[FILTER_MAX];
	bool exclude_other; /* cells without the caller of --parent */
};

/* 0 or negative with err__msg(). */
int filter__add(struct filter *f, enum filter_kind kind, const char *word);
void filter__exit(struct filter *f);
bool filter__is_empty(const struct filter *f);

/* What it needs of the reading: enum cell_split. */
unsigned filter__split(const struct filter *f);

/* Sets SKIP of the cells that do not pass.  Names of C functions are looked up
 * where the filter asks for them.  0 or -ENOMEM. */
int filter__apply(const struct filter *f, struct aggregate *a, bool *skip);

#endif
