/* stacks.h - call stacks in the agent: each is a node of a tree that the
 * stream tells once, so that an event costs one number.  Only called by the
 * hook, when stacks are recorded.
 */
#ifndef LJPERF_BACKENDS_LUAJIT_STACKS_H
#define LJPERF_BACKENDS_LUAJIT_STACKS_H

#include "vendor/luajit/walk.h"

#define STACK_MAX 1024 /* frames, the most that --max-stack can ask for */
#define NODE_BITS 18

/* Frames that a walk passes: there is one more for each vararg function. */
#define WALK_MAX (2 * STACK_MAX)

struct stack_key {
	uint64_t site;
	uint32_t parent, id; /* id 0: free slot */
};

struct stack_frame {
	struct lj_frame f;
	uint32_t node; /* of the stack from here on outwards */
	uint32_t depth; /* calls from here on outwards */
};

/* The stack that was walked last, the outermost frame first: what is called and
 * returns comes and goes at the end. */
struct stack_walk {
	lua_State *L;
	const uint64_t *bottom; /* of the thread's slots */
	uint32_t below; /* node under the outermost frame: of the resumer, or 0 */
	unsigned n; /* frames that the next walk may find unchanged */
	uint32_t depth;
	bool cut; /* there were more frames further out */
	struct stack_frame frames[WALK_MAX];
	/* Where the walk began, with all it found: from the same place it ends with
	 * the same node when no frame has changed. */
	const uint64_t *base;
	const uint8_t *pc, *trace; /* of a trace, which else is NULL */
	uint32_t trace_no, node;
	unsigned all; /* frames; 0: it may not be so */
};

struct stacks {
	unsigned most; /* frames of one stack; 0: stacks are not recorded */
	bool across; /* go on in the thread that resumed this one */
	uint32_t ff_resume, ff_wrap;
	uint32_t last_id, used;
	bool forgotten; /* the collector is to be told of it */
	struct stack_walk walk;
	struct lj_frame fresh[WALK_MAX]; /* those that have changed, innermost first */
	struct stack_key table[1 << NODE_BITS];
};

struct agent_vm;

/* The node of the stack whose innermost place is AT; 0 when it is not known
 * or could not be told. */
uint32_t stacks__node(struct agent_vm *vm, const struct lj_place *at);

/* All nodes are told anew: what an address means may have changed. */
void stacks__empty(struct stacks *s);

/* Memory of a described prototype or trace has been given up: what was walked
 * may stand in it. */
static inline void stacks__forget(struct stacks *s)
{
	s->walk.n = s->walk.all = 0;
}

#endif
