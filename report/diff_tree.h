/* diff_tree.h - the call trees below the rows of a diff: which callers (or
 * callees) a change comes from.  Used by diff__make() and the views of diff.
 *
 * Frames are joined by their names, as rows are.  For the amount of a branch,
 * its own and those of its children add up; those of a row's tree are the row.
 */
#ifndef LJPERF_REPORT_DIFF_TREE_H
#define LJPERF_REPORT_DIFF_TREE_H

#include "report/diff.h"

struct diff_node {
	uint32_t label; /* text of the frame, then a NUL and what is not shown */
	uint32_t parent; /* node, which comes before; the root is its own */
	uint32_t first, next; /* child, sibling, in the order of rows; 0: none */
	bool has_self; /* stacks end here */
	bool changed; /* here or below */
	double weight; /* what changed here and below, whether up or down */
};

/* A cell of a file that is in the tree of a row. */
struct diff_leaf {
	uint32_t part, cell;
	uint32_t side, run;
};

struct diff_trees {
	struct diff_leaf *leaves; /* of all rows, those of a row together */
	size_t *first; /* by row, the first of its leaves; one more than rows */
	struct strpool labels;
	uint32_t *label_of; /* [side * (n_sites + 1) + site + 1]; [side * ...] is SITE_NONE */

	/* Of the tree that was built last. */
	struct diff_node *at; /* [0] is the root */
	size_t n, cap;
	struct hashmap map;
	struct diff_cell *self, *total; /* [node * n_runs + run], total: with all below */
	size_t cap_self;
	struct diff_value *values; /* of total: [node * n_sides + side] */
};

/* NULL: no memory, see err__msg().  The rows of D are joined. */
struct diff_trees *diff_trees__new(const struct diff *d);
void diff_trees__delete(struct diff_trees *t);

/* Builds the tree of a row.  0 or -ENOMEM with err__msg(). */
int diff_trees__build(const struct diff *d, size_t row);

/* 1 when anything in the tree of a row changed, 0, or -ENOMEM with err__msg(). */
int diff_trees__is_changed(const struct diff *d, size_t row);

static inline const struct diff_value *diff_trees__value(const struct diff *d, size_t node)
{
	return &d->trees->values[node * d->n_sides];
}

/* What a branch shows of a side: the change, or the weighted one. */
s128 diff__change(const struct diff *d, const struct diff_value *values, size_t side);

#endif
