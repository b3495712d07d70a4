/* cfuncs.c - C functions and their names; see cfuncs.h.
 *
 * Tarantool's recordings repeat all C symbols, aliases included, before each
 * event of a C function.  A name that the address has had changes nothing; a
 * new name is an alias until an event has used the address, and afterwards
 * another function that was loaded there.
 */
#include "report/cfuncs.h"

#include <stdlib.h>

#include "report/grow.h"

/* An address on a page border that more names share is where a library
 * begins: the names are those of symbols without a value. */
enum { LOAD_BASE_NAMES = 8, LOAD_BASE_MASK = 0xfff };

/* A symbol has no size in the stream.  Farther than this below an address it
 * is more likely to be of another module than to hold the address. */
enum { NEAREST_MAX = 64 * 1024 };

void cfuncs__exit(struct cfuncs *cf)
{
	free(cf->at);
	epochs__exit(&cf->current);
	free(cf->names);
	hashmap__exit(&cf->name_map);
	free(cf->by_addr);
	*cf = (struct cfuncs){ .at = NULL };
}

void cfuncs__begin_session(struct cfuncs *cf)
{
	epochs__clear(&cf->current);
	hashmap__clear(&cf->name_map);
	cf->n_names = 0;
	cf->session++;
}

static uint32_t cfuncs__new(struct cfuncs *cf, uint64_t addr)
{
	if (GROW(cf->at, cf->cap, cf->n) || epochs__set(&cf->current, addr, (uint32_t)cf->n))
		return HASHMAP_NONE;
	cf->at[cf->n] = (struct cfunc){ .addr = addr, .name = HASHMAP_NONE, .session = cf->session };
	return (uint32_t)cf->n++;
}

uint32_t cfuncs__use(struct cfuncs *cf, uint64_t addr)
{
	uint32_t id = epochs__get(&cf->current, addr);

	if (id == HASHMAP_NONE)
		id = cfuncs__new(cf, addr);
	if (id != HASHMAP_NONE)
		cf->at[id].used = true;
	return id;
}

static struct cname *cfuncs__find_name(struct cfuncs *cf, uint64_t addr, uint32_t name, uint64_t hash)
{
	uint32_t pos, id;

	for (id = hashmap__first(&cf->name_map, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(&cf->name_map, hash, &pos))
		if (cf->names[id].addr == addr && cf->names[id].name == name)
			return &cf->names[id];
	return NULL;
}

static int cfuncs__add_name(struct cfuncs *cf, uint32_t cfunc, uint32_t name, uint64_t hash)
{
	struct cfunc *c = &cf->at[cfunc];

	if (GROW(cf->names, cf->cap_names, cf->n_names) ||
	    hashmap__add(&cf->name_map, hash, (uint32_t)cf->n_names))
		return -ENOMEM;
	cf->names[cf->n_names++] = (struct cname){ c->addr, name, cfunc };
	c->name = name;
	c->n_names++;
	return 0;
}

int cfuncs__symbol(struct cfuncs *cf, uint64_t addr, uint32_t name)
{
	uint64_t hash = hash__u64x2(addr, name);
	const struct cname *known = cfuncs__find_name(cf, addr, name, hash);
	uint32_t id;

	if (known)
		return epochs__set(&cf->current, addr, known->cfunc);
	id = epochs__get(&cf->current, addr);
	if (id == HASHMAP_NONE || (cf->at[id].used && cf->at[id].name != HASHMAP_NONE))
		id = cfuncs__new(cf, addr);
	return id == HASHMAP_NONE ? -ENOMEM : cfuncs__add_name(cf, id, name, hash);
}

/* ---- names, when all is read ---- */

static bool cfunc__is_named(const struct cfunc *c)
{
	return c->name != HASHMAP_NONE &&
	       (c->n_names <= LOAD_BASE_NAMES || (c->addr & LOAD_BASE_MASK));
}

static int cfunc__cmp(const struct cfunc *a, const struct cfunc *b)
{
	if (a->session != b->session)
		return a->session < b->session ? -1 : 1;
	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static int cfunc__cmp_ids(const void *a, const void *b, void *at)
{
	const struct cfunc *cf = at;
	uint32_t ia = *(const uint32_t *)a, ib = *(const uint32_t *)b;
	int cmp = cfunc__cmp(&cf[ia], &cf[ib]);

	return cmp ? cmp : ia < ib ? -1 : ia > ib;
}

int cfuncs__sort(struct cfuncs *cf)
{
	size_t i, n = 0;

	free(cf->by_addr);
	cf->by_addr = malloc((cf->n + 1) * sizeof(*cf->by_addr));
	if (!cf->by_addr)
		return -ENOMEM;
	for (i = 0; i < cf->n; i++)
		if (cfunc__is_named(&cf->at[i]))
			cf->by_addr[n++] = (uint32_t)i;
	cf->n_by_addr = n;
	qsort_r(cf->by_addr, n, sizeof(*cf->by_addr), cfunc__cmp_ids, cf->at);
	return 0;
}

const struct cfunc *cfuncs__named(const struct cfuncs *cf, uint32_t id)
{
	const struct cfunc *want = &cf->at[id], *c;
	size_t lo = 0, hi = cf->n_by_addr, mid;

	if (cfunc__is_named(want))
		return want;
	while (lo < hi) { /* the first one above WANT */
		mid = lo + (hi - lo) / 2;
		if (cfunc__cmp(&cf->at[cf->by_addr[mid]], want) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return NULL;
	c = &cf->at[cf->by_addr[lo - 1]];
	return c->session == want->session && want->addr - c->addr <= NEAREST_MAX ? c : NULL;
}
