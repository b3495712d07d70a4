/* cfuncs.c - C functions and their names; see cfuncs.h.
 *
 * Tarantool's recordings repeat all C symbols, aliases included, before each
 * event of a C function, so what is known already must cost little.  The last
 * name an address was given is the one it has, as in Tarantool's own tool.
 */
#include "report/cfuncs.h"

#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

/* An address on a page border that more names share is where a library
 * begins: the names are those of symbols without a value. */
enum { LOAD_BASE_NAMES = 8, LOAD_BASE_MASK = 0xfff };

/* A symbol has no size in the stream.  Farther than this below an address it
 * is more likely to be of another module than to hold the address. */
enum { NEAREST_MAX = 64 * 1024 };

/* So many addresses are searched one by one before they are merged. */
enum { UNSORTED_MAX = 1024 };

void cfuncs__exit(struct cfuncs *cf)
{
	free(cf->at);
	hashmap__exit(&cf->map);
	epochs__exit(&cf->current);
	epochs__exit(&cf->n_names);
	free(cf->addrs);
	*cf = (struct cfuncs){ .at = NULL };
}

void cfuncs__begin_session(struct cfuncs *cf)
{
	epochs__clear(&cf->current);
	epochs__clear(&cf->n_names);
	cf->n_addrs = cf->n_sorted = 0;
	cf->exact = false;
	cf->session++;
}

/* The record of C, in this session.  *ADDED tells whether it is new. */
static uint32_t cfuncs__put(struct cfuncs *cf, struct cfunc c, bool *added)
{
	uint64_t hash = hash__u64x2(c.addr ^ c.module, (uint64_t)c.name << 32 | cf->session);
	uint32_t pos, id;

	*added = false;
	for (id = hashmap__first(&cf->map, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(&cf->map, hash, &pos))
		if (cf->at[id].addr == c.addr && cf->at[id].name == c.name &&
		    cf->at[id].module == c.module && cf->at[id].session == cf->session &&
		    cf->at[id].code == c.code)
			return id;
	*added = true;
	if (GROW(cf->at, cf->cap, cf->n) || hashmap__add(&cf->map, hash, (uint32_t)cf->n))
		return HASHMAP_NONE;
	c.session = cf->session;
	cf->at[cf->n] = c;
	return (uint32_t)cf->n++;
}

static uint32_t cfuncs__intern(struct cfuncs *cf, uint64_t addr, uint32_t name, uint32_t module,
			       bool *added)
{
	return cfuncs__put(cf, (struct cfunc){ .addr = addr, .name = name, .module = module },
			   added);
}

uint32_t cfuncs__code(struct cfuncs *cf, uint64_t addr, uint32_t module)
{
	struct cfunc c = { .addr = addr, .name = HASHMAP_NONE, .module = module, .code = true };
	bool added;

	return cfuncs__put(cf, c, &added);
}

int cfuncs__symbol(struct cfuncs *cf, uint64_t addr, uint32_t name, uint32_t module)
{
	bool added;
	uint32_t id = cfuncs__intern(cf, addr, name, module, &added), n;

	if (id == HASHMAP_NONE || epochs__set(&cf->current, addr, id))
		return -ENOMEM;
	if (!added || cf->exact)
		return 0;
	n = epochs__get(&cf->n_names, addr);
	if (n == HASHMAP_NONE) {
		n = 0;
		if (GROW(cf->addrs, cf->cap_addrs, cf->n_addrs))
			return -ENOMEM;
		cf->addrs[cf->n_addrs++] = addr;
	}
	return epochs__set(&cf->n_names, addr, n + 1);
}

static bool cfuncs__is_load_base(const struct cfuncs *cf, uint64_t addr)
{
	uint32_t n;

	if (addr & LOAD_BASE_MASK)
		return false;
	n = epochs__get(&cf->n_names, addr);
	return n != HASHMAP_NONE && n > LOAD_BASE_NAMES;
}

/* ---- the nearest symbol ---- */

static int cmp_addrs(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Merges the unsorted addresses into the others, from behind. */
static int cfuncs__merge(struct cfuncs *cf)
{
	size_t n = cf->n_addrs - cf->n_sorted, i = cf->n_sorted, to = cf->n_addrs;
	uint64_t *more = malloc((n + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	memcpy(more, cf->addrs + cf->n_sorted, n * sizeof(*more));
	qsort(more, n, sizeof(*more), cmp_addrs);
	while (n)
		cf->addrs[--to] = i && cf->addrs[i - 1] > more[n - 1] ? cf->addrs[--i] : more[--n];
	cf->n_sorted = cf->n_addrs;
	free(more);
	return 0;
}

/* The greatest address of a symbol at or below ADDR; 0 when there is none. */
static uint64_t cfuncs__below(const struct cfuncs *cf, uint64_t addr)
{
	size_t lo = 0, hi = cf->n_sorted, mid, i;
	uint64_t best;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (cf->addrs[mid] <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	best = lo ? cf->addrs[lo - 1] : 0;
	for (i = cf->n_sorted; i < cf->n_addrs; i++)
		if (cf->addrs[i] <= addr && cf->addrs[i] > best)
			best = cf->addrs[i];
	return best;
}

/* The name of ADDR itself, if it was given to it in MODULE, or before anything
 * was known to lie there. */
static uint32_t cfuncs__find_exact(struct cfuncs *cf, uint64_t addr, uint32_t module)
{
	uint32_t id = epochs__get(&cf->current, addr), name = HASHMAP_NONE;
	bool added;

	if (id != HASHMAP_NONE && cf->at[id].module == module)
		return id;
	if (id != HASHMAP_NONE && cf->at[id].module == HASHMAP_NONE)
		name = cf->at[id].name;
	return cfuncs__intern(cf, addr, name, module, &added);
}

uint32_t cfuncs__find(struct cfuncs *cf, uint64_t addr, uint32_t module)
{
	uint32_t id;
	uint64_t below = addr;
	bool added;

	if (cf->exact)
		return cfuncs__find_exact(cf, addr, module);
	id = epochs__get(&cf->current, addr);
	if (id == HASHMAP_NONE) {
		if (cf->n_addrs - cf->n_sorted > UNSORTED_MAX && cfuncs__merge(cf))
			return HASHMAP_NONE;
		below = cfuncs__below(cf, addr);
		if (below && addr - below <= NEAREST_MAX)
			id = epochs__get(&cf->current, below);
	}
	if (id != HASHMAP_NONE && !cfuncs__is_load_base(cf, below))
		return id;
	return cfuncs__intern(cf, addr, HASHMAP_NONE, module, &added);
}
