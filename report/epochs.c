/* epochs.c - what an address or a number means at present; see epochs.h. */
#include "report/epochs.h"

#include <stdlib.h>

#include "util/grow.h"

void epochs__exit(struct epochs *e)
{
	free(e->at);
	hashmap__exit(&e->map);
	*e = (struct epochs){ .at = NULL };
}

void epochs__clear(struct epochs *e)
{
	hashmap__clear(&e->map);
	e->n = 0;
}

static struct epoch *epochs__find(const struct epochs *e, uint64_t key, uint64_t hash)
{
	uint32_t pos, id;

	for (id = hashmap__first(&e->map, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(&e->map, hash, &pos))
		if (e->at[id].key == key)
			return &e->at[id];
	return NULL;
}

uint32_t epochs__get(const struct epochs *e, uint64_t key)
{
	const struct epoch *found = epochs__find(e, key, hash__u64(key));

	return found ? found->ref : HASHMAP_NONE;
}

int epochs__set(struct epochs *e, uint64_t key, uint32_t ref)
{
	uint64_t hash = hash__u64(key);
	struct epoch *found = epochs__find(e, key, hash);

	if (found) {
		found->ref = ref;
		return 0;
	}
	if (GROW(e->at, e->cap, e->n) || hashmap__add(&e->map, hash, (uint32_t)e->n))
		return -ENOMEM;
	e->at[e->n++] = (struct epoch){ key, ref };
	return 0;
}
