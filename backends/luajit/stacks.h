/* stacks.h - call stacks in the agent: each is a node of a tree that the
 * stream tells once, so that an event costs one number.  Only called by the
 * hook, when stacks are recorded.
 */
#ifndef LJPERF_BACKENDS_LUAJIT_STACKS_H
#define LJPERF_BACKENDS_LUAJIT_STACKS_H

#include "vendor/luajit/walk.h"

#define STACK_MAX 1024 /* frames, the most that --max-stack can ask for */
#define NODE_BITS 18

struct stack_key {
	uint64_t site;
	uint32_t parent, id; /* id 0: free slot */
};

/* A stack that was walked, innermost frame first, and the node of each. */
struct stack_walk {
	struct lj_frame frames[STACK_MAX];
	uint32_t nodes[STACK_MAX];
	unsigned n;
	lua_State *L;
	uint32_t below; /* node under the outermost frame: of the resumer, or 0 */
};

struct stacks {
	unsigned most; /* frames of one stack; 0: stacks are not recorded */
	bool across; /* go on in the thread that resumed this one */
	uint32_t ff_resume, ff_wrap;
	uint32_t last_id, used;
	bool forgotten; /* the collector is to be told of it */
	struct stack_walk walk[2]; /* the one before, and the one in work */
	unsigned now;
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
	s->walk[0].n = s->walk[1].n = 0;
}

#endif
