/* stacks.c - the tree of call stacks; see stacks.h. */
#include "report/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/grow.h"

/* Ids rise one by one, unless batches are missing.  A gap wider than this is
 * made up, and the node is not kept. */
enum { ID_GAP_MAX = 1 << 22 };

static int stacks__no_memory(void)
{
	return err__set(-ENOMEM, "out of memory for call stacks");
}

void stacks__exit(struct stacks *s)
{
	free(s->at);
	free(s->of_id);
	hashmap__exit(&s->map);
	*s = (struct stacks){ .at = NULL };
}

int stacks__begin_session(struct stacks *s)
{
	s->n_ids = 0;
	if (s->n)
		return 0;
	if (GROW(s->at, s->cap, s->n))
		return stacks__no_memory();
	s->at[s->n++] = (struct stack_node){ STACK_ROOT, SITE_NONE, 0 };
	return 0;
}

static uint32_t stacks__intern(struct stacks *s, uint32_t parent, uint32_t site)
{
	uint64_t hash = hash__u64((uint64_t)parent << 32 | site);
	uint32_t pos, id;

	for (id = hashmap__first(&s->map, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(&s->map, hash, &pos))
		if (s->at[id].parent == parent && s->at[id].site == site)
			return id;
	if (GROW(s->at, s->cap, s->n) || hashmap__add(&s->map, hash, (uint32_t)s->n))
		return HASHMAP_NONE;
	s->at[s->n] = (struct stack_node){ parent, site, s->at[parent].depth + 1 };
	return (uint32_t)s->n++;
}

static int stacks__map_id(struct stacks *s, uint64_t id, uint32_t node)
{
	if (id >= s->n_ids && id - s->n_ids > ID_GAP_MAX)
		return 0;
	for (; s->n_ids <= id; s->n_ids++) {
		if (GROW(s->of_id, s->cap_ids, s->n_ids))
			return -ENOMEM;
		s->of_id[s->n_ids] = STACK_ROOT;
	}
	s->of_id[id] = node;
	return 0;
}

int stacks__add(struct stacks *s, struct symtab *st, const struct session_stack *node)
{
	uint32_t parent = stacks__node(s, node->parent), site = SITE_NONE, id = parent;

	if (!node->id)
		return 0;
	if (s->at[parent].depth < STACK_DEPTH_MAX) {
		if (node->loc.source != LJM_SRC_INTERNAL || node->loc.num != SESSION_STACK_CUT) {
			site = symtab__frame(st, &node->loc);
			if (site == SITE_NONE)
				return -ENOMEM;
		}
		id = stacks__intern(s, parent, site);
	}
	if (id == HASHMAP_NONE || stacks__map_id(s, node->id, id))
		return stacks__no_memory();
	return 0;
}

size_t stacks__path(const struct stacks *s, uint32_t node, uint32_t *sites)
{
	size_t n = 0;

	for (; node != STACK_ROOT; node = s->at[node].parent)
		sites[n++] = s->at[node].site;
	return n;
}
