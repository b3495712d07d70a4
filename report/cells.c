/* cells.c - what numbers are kept for; see cells.h. */
#include "report/cells.h"

#include <stdlib.h>

#include "util/grow.h"

void cells__exit(struct cells *c)
{
	free(c->at);
	hashmap__exit(&c->map);
	*c = (struct cells){ .at = NULL };
}

uint32_t cells__intern(struct cells *c, const struct cell_key *cell)
{
	uint64_t hash = hash__u64x2((uint64_t)cell->site << 32 | cell->node,
				    (uint64_t)cell->session << 32 | cell->size_class);
	uint32_t pos, id;

	for (id = hashmap__first(&c->map, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(&c->map, hash, &pos))
		if (cell_key__equal(&c->at[id], cell))
			return id;
	if (GROW(c->at, c->cap, c->n) || hashmap__add(&c->map, hash, (uint32_t)c->n))
		return HASHMAP_NONE;
	c->at[c->n] = *cell;
	return (uint32_t)c->n++;
}
