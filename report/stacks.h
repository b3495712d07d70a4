/* stacks.h - the call stacks of a recording, as one tree of places.  Filled by
 * the aggregation and by script; read by the trees of report and by exporters.
 *
 * The nodes of a stream are many: a prototype at another address makes new
 * ones for the same names.  They are interned by (parent, site), so memory
 * follows the distinct stacks.  Node 0 is the root; a parent comes before its
 * children, so a loop over the array from the end adds children to parents.
 */
#ifndef LJPERF_REPORT_STACKS_H
#define LJPERF_REPORT_STACKS_H

#include "formats/session.h"
#include "report/symtab.h"

enum {
	STACK_ROOT = 0,
	/* Deeper nodes of a stream are taken for their ancestor of this depth;
	 * paths then fit arrays, and a hostile file cannot make walks long. */
	STACK_DEPTH_MAX = 1024,
};

struct stack_node {
	uint32_t parent; /* node; of the root: itself */
	uint32_t site; /* SITE_NONE: the root, or frames that were left out */
	uint32_t depth; /* of the root 0 */
};

/* All zero is empty; stacks__begin_session() makes the root. */
struct stacks {
	struct stack_node *at;
	size_t n, cap;
	struct hashmap map;

	/* Of the session being read: the node of each number of the stream. */
	uint32_t *of_id;
	size_t n_ids, cap_ids;
};

void stacks__exit(struct stacks *s);

/* Numbers of the stream mean nothing from here on.  0 or -ENOMEM. */
int stacks__begin_session(struct stacks *s);

/* Takes a node of the stream, whose place is looked up as it is now.  0 or
 * -ENOMEM with err__msg(). */
int stacks__add(struct stacks *s, struct symtab *st, const struct session_stack *node);

/* The node that ID of the session being read stands for; the root when it was
 * never told (its batch was damaged), and for 0. */
static inline uint32_t stacks__node(const struct stacks *s, uint64_t id)
{
	return id < s->n_ids ? s->of_id[id] : STACK_ROOT;
}

/* The sites of a stack into SITES, which has room for STACK_DEPTH_MAX, the
 * innermost first; SITE_NONE stands for frames that were left out.  Their
 * number. */
size_t stacks__path(const struct stacks *s, uint32_t node, uint32_t *sites);

#endif
