/* modules.c - the files of C functions; see modules.h. */
#include "report/modules.h"

#include <search.h>
#include <stdlib.h>

#include "util/grow.h"

/* The addresses [START, END), which no other range of the tree has. */
struct range {
	uint64_t start, end;
	uint32_t module;
};

/* Ranges that overlap are equal, so that any address finds its range. */
static int range__cmp(const void *x, const void *y)
{
	const struct range *a = x, *b = y;

	return a->end <= b->start ? -1 : a->start >= b->end;
}

static const struct range *ranges__find(const struct modules *m, const struct range *r)
{
	struct range *const *node = tfind(r, &m->ranges, range__cmp);

	return node ? *node : NULL;
}

void modules__exit(struct modules *m)
{
	tdestroy(m->ranges, free);
	hashmap__exit(&m->map);
	free(m->at);
	*m = (struct modules){ .at = NULL };
}

void modules__begin_session(struct modules *m)
{
	tdestroy(m->ranges, free);
	m->ranges = NULL;
}

static int ranges__insert(struct modules *m, uint64_t start, uint64_t end, uint32_t module)
{
	struct range *r;

	if (start >= end)
		return 0;
	r = malloc(sizeof(*r));
	if (!r)
		return -ENOMEM;
	*r = (struct range){ start, end, module };
	if (tsearch(r, &m->ranges, range__cmp))
		return 0;
	free(r);
	return -ENOMEM;
}

/* Gives [START, END) to MODULE; of what was there before, the rest stays. */
static int ranges__set(struct modules *m, uint64_t start, uint64_t end, uint32_t module)
{
	const struct range want = { start, end, module };
	struct range old;
	void *found;

	while ((found = (void *)ranges__find(m, &want))) {
		old = *(struct range *)found;
		if (old.module == module && old.start <= start && old.end >= end)
			return 0; /* told again, nothing changes */
		tdelete(found, &m->ranges, range__cmp);
		free(found);
		if (ranges__insert(m, old.start, start, old.module) ||
		    ranges__insert(m, end, old.end, old.module))
			return -ENOMEM;
	}
	return ranges__insert(m, start, end, module);
}

static bool module__equal(const struct module *a, const struct module *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->bias == b->bias && a->path == b->path && a->build_id == b->build_id;
}

static uint32_t modules__intern(struct modules *m, const struct module *mod)
{
	uint64_t hash = hash__u64x2((uint64_t)mod->path << 32 | mod->build_id, mod->bias);
	uint32_t pos, id;

	hash = hash__u64x2(hash ^ mod->start, mod->end);
	for (id = hashmap__first(&m->map, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(&m->map, hash, &pos))
		if (module__equal(&m->at[id], mod))
			return id;
	if (GROW(m->at, m->cap, m->n) || hashmap__add(&m->map, hash, (uint32_t)m->n))
		return MODULE_NONE;
	m->at[m->n] = *mod;
	return (uint32_t)m->n++;
}

int modules__add(struct modules *m, struct strpool *strings, const struct session_module *mod)
{
	struct module new = {
		.start = mod->start, .end = mod->end, .offset = mod->offset, .bias = mod->bias
	};
	uint32_t id;

	if (mod->start >= mod->end)
		return 0;
	new.path = strpool__intern(strings, mod->path, mod->path_len);
	new.build_id = strpool__intern(strings, mod->build_id, mod->build_id_len);
	if (new.path == STR_NONE || new.build_id == STR_NONE)
		return -ENOMEM;
	id = modules__intern(m, &new);
	return id == MODULE_NONE ? -ENOMEM : ranges__set(m, new.start, new.end, id);
}

uint32_t modules__find(const struct modules *m, uint64_t addr)
{
	const struct range want = { addr, addr + 1, MODULE_NONE };
	const struct range *r = m->ranges && addr != UINT64_MAX ? ranges__find(m, &want) : NULL;

	return r ? r->module : MODULE_NONE;
}
