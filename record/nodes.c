/* nodes.c - see nodes.h. */
#include "record/nodes.h"

#include <errno.h>
#include <stdlib.h>

#include "util/error.h"
#include "util/grow.h"
#include "util/hashmap.h"

/* So many of the nodes made here are known at a time: then they are told anew,
 * which costs a few bytes and is right all the same. */
#define KNOWN_MAX (1u << 17)

/* Numbers in the file of the agent's nodes from BASE on. */
struct numbers {
	uint64_t base;
	uint64_t *at;
	size_t n, cap;
};

/* A node made here.  PC 0 stands for frames that were left out. */
struct known {
	uint64_t parent, pc, id;
};

struct nodes {
	struct session_writer *out;
	struct native *native;
	uint64_t last_id; /* in the file */
	struct numbers now, before; /* since the agent has forgotten, and up to then */
	struct known *known;
	size_t n_known, cap_known;
	struct hashmap map;
	struct native_frames frames;

	/* Of the event that comes next. */
	bool pending;
	uint64_t node, block, id;
};

static int no_memory(void)
{
	return err__set(-ENOMEM, "no memory for native call stacks");
}

struct nodes *nodes__new(pid_t pid, struct session_writer *out)
{
	struct nodes *ns = calloc(1, sizeof(*ns));

	if (!ns) {
		no_memory();
		return NULL;
	}
	ns->out = out;
	ns->now.base = 1;
	ns->native = native__new(pid);
	if (!ns->native) {
		nodes__delete(ns);
		return NULL;
	}
	return ns;
}

void nodes__delete(struct nodes *ns)
{
	if (!ns)
		return;
	native__delete(ns->native);
	free(ns->now.at);
	free(ns->before.at);
	free(ns->known);
	hashmap__exit(&ns->map);
	free(ns);
}

/* ---- numbers ---- */

/* The next node of the file. */
static int tell(struct nodes *ns, uint64_t parent, const struct ljm_loc *loc, uint64_t *id)
{
	struct session_stack node = { .id = ns->last_id + 1, .parent = parent, .loc = *loc };

	*id = ++ns->last_id;
	return session_writer__stack(ns->out, &node);
}

static int known_node(struct nodes *ns, uint64_t parent, uint64_t pc, uint64_t *id)
{
	struct ljm_loc loc = { .source = LJM_SRC_NATIVE, .addr = pc };
	uint64_t hash = hash__u64x2(parent, pc);
	uint32_t pos, i;
	int err;

	for (i = hashmap__first(&ns->map, hash, &pos); i != HASHMAP_NONE;
	     i = hashmap__next(&ns->map, hash, &pos))
		if (ns->known[i].parent == parent && ns->known[i].pc == pc) {
			*id = ns->known[i].id;
			return 0;
		}
	if (!pc)
		loc = (struct ljm_loc){ .source = LJM_SRC_INTERNAL, .num = SESSION_STACK_CUT };
	if (ns->n_known >= KNOWN_MAX) {
		hashmap__clear(&ns->map);
		ns->n_known = 0;
	}
	err = tell(ns, parent, &loc, id);
	if (err)
		return err;
	if (GROW(ns->known, ns->cap_known, ns->n_known) ||
	    hashmap__add(&ns->map, hash, (uint32_t)ns->n_known))
		return no_memory();
	ns->known[ns->n_known++] = (struct known){ parent, pc, *id };
	return 0;
}

static bool numbers__find(const struct numbers *n, uint64_t node, uint64_t *id)
{
	if (node < n->base || node - n->base >= n->n)
		return false;
	*id = n->at[node - n->base];
	return true;
}

/* Of a node that the agent should not ask for any more the frames are not
 * known, but there were some. */
static int number_of(struct nodes *ns, uint64_t node, uint64_t *id)
{
	*id = 0;
	if (!node || numbers__find(&ns->now, node, id) || numbers__find(&ns->before, node, id))
		return 0;
	return known_node(ns, 0, 0, id);
}

/* ---- what the agent tells ---- */

int nodes__stack(struct nodes *ns, const struct session_stack *node)
{
	uint64_t parent, id;
	int err = number_of(ns, node->parent, &parent);

	if (!err)
		err = tell(ns, parent, &node->loc, &id);
	if (!err)
		err = GROW(ns->now.at, ns->now.cap, ns->now.n) ? no_memory() : 0;
	if (!err)
		ns->now.at[ns->now.n++] = id;
	return err;
}

int nodes__forget(struct nodes *ns, uint64_t last)
{
	struct numbers old = ns->before;

	if (last != ns->now.base + ns->now.n - 1)
		return err__set(-EBADMSG, "stacks are forgotten out of order");
	ns->before = ns->now;
	old.base = last + 1;
	old.n = 0;
	ns->now = old;
	return 0;
}

int nodes__module(struct nodes *ns, const struct session_module *m, uint64_t head_sum, bool *known)
{
	int err = native__module(ns->native, m, head_sum, known);

	if (*known)
		return err;
	/* What an address means may be another thing from here on. */
	hashmap__clear(&ns->map);
	ns->n_known = 0;
	return err;
}

void nodes__unloads(struct nodes *ns)
{
	native__unloads(ns->native);
}

int nodes__native(struct nodes *ns, uint64_t node, uint64_t block,
		  const struct native_sample *sample, bool *ask)
{
	uint64_t id;
	size_t i;
	int err = native__walk(ns->native, sample, &ns->frames);

	*ask = ns->frames.ask;
	if (!err)
		err = number_of(ns, node, &id);
	/* A C function that has left the VM's stack is not met on the other. */
	if (!err && (!ns->frames.whole || (node && !sample->bound)))
		err = known_node(ns, id, 0, &id);
	for (i = ns->frames.n; !err && i-- > 0;)
		err = known_node(ns, id, ns->frames.at[i], &id);
	if (err)
		return err;
	ns->pending = true;
	ns->node = node;
	ns->block = block;
	ns->id = id;
	return 0;
}

void nodes__lost(struct nodes *ns)
{
	ns->pending = false;
}

uint64_t nodes__of_event(struct nodes *ns, uint64_t node, uint64_t block)
{
	bool seen = ns->pending && ns->node == node && ns->block == block;
	uint64_t id = 0;

	ns->pending = false;
	if (seen)
		return ns->id;
	if (node && !numbers__find(&ns->now, node, &id))
		numbers__find(&ns->before, node, &id);
	return id;
}
