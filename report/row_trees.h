/* row_trees.h - the call trees below the rows of a table.  Used by the table
 * view.
 */
#ifndef LJPERF_REPORT_ROW_TREES_H
#define LJPERF_REPORT_ROW_TREES_H

#include "report/fields.h"
#include "report/tree.h"

struct row_trees {
	const struct aggregate *a;
	const struct tree_opts *o;
	const struct metric *metric;
	bool children; /* rows are of frames: a tree begins at the row's */
	struct row_part *parts; /* of all rows, those of a row together */
	size_t *first; /* by row, the first of its parts; one more than rows */
	struct tree tree;
};

/* Finds out which cells are below which row.  All zero before, but the first
 * four.  0 or -ENOMEM with err__msg(). */
int row_trees__init(struct row_trees *t, const struct rows *r);
void row_trees__exit(struct row_trees *t);

/* Builds the tree of a row. */
int row_trees__build(struct row_trees *t, uint32_t row);

/* Appends the tree of a row; shares are of TOTAL, EXACT: numbers instead. */
int row_trees__put(struct row_trees *t, uint32_t row, u128 total, bool exact, struct strbuf *out);

#endif
