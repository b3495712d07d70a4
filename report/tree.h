/* tree.h - the call tree of a row: which callers (or callees) its numbers come
 * from.  Built and printed by the table view, row by row.
 */
#ifndef LJPERF_REPORT_TREE_H
#define LJPERF_REPORT_TREE_H

#include "report/aggregate.h"
#include "report/strpool.h"

enum tree_print {
	TREE_NONE,
	TREE_GRAPH, /* shares of the whole report */
	TREE_FRACTAL, /* shares of the branch above */
	TREE_FOLDED, /* a line for each stack */
};

/* Which end of a stack is the root. */
enum tree_order { TREE_ORDER_DEFAULT, TREE_CALLEE, TREE_CALLER };

struct tree_opts {
	enum tree_print print;
	enum tree_order order;
	bool function; /* lines of a function are one frame */
	double min_percent; /* branches below are put together */
	uint64_t max_stack; /* innermost frames that count; 0: all */
};

/* "caller,2.5,folded" or NULL for the defaults; 0 or -EINVAL with err__msg(). */
int tree_opts__parse(const char *text, struct tree_opts *o);
/* Whether tree_opts__parse() takes it: "-g FILE" is two arguments. */
bool tree_opts__takes(const char *text);

struct tree_node {
	uint32_t label; /* text of the frame */
	uint32_t parent; /* node; the root is its own */
	uint32_t first, next; /* child, sibling, the larger first; 0: none */
	u128 self; /* of stacks that end here */
	u128 total; /* with all below */
};

/* All zero is empty. */
struct tree {
	struct strpool labels;
	uint32_t *label_of; /* by site, STR_NONE: not made yet; [0] is of no site */
	size_t n_label_of, cap_label_of;
	struct tree_node *at; /* [0] is the root */
	size_t n, cap;
	struct hashmap map;
	bool function;
};

void tree__exit(struct tree *t);

/* Forgets the nodes, and keeps the texts of frames. */
int tree__begin(struct tree *t);

/* Adds VALUE to the stack SITES, the N of it in the order of the tree. */
int tree__add(struct tree *t, const struct symtab *st, const uint32_t *sites, size_t n, u128 value);

/* Adds up the totals and puts siblings in order. */
int tree__finish(struct tree *t);

/* Appends the tree as text; shares are of TOTAL. */
void tree__print(const struct tree *t, const struct tree_opts *o, u128 total, struct strbuf *out);

/* Appends a line for each stack, the largest first: its value and, with
 * semicolons between, its frames; semicolons in them are made colons.  0 or
 * -ENOMEM. */
int tree__print_folded(const struct tree *t, u128 total, bool exact, struct strbuf *out);

#endif
