/* cells.h - what the numbers of an aggregate are kept for.  Usually a site; a
 * report with call stacks, sizes or VMs keeps them apart by those, too.
 */
#ifndef LJPERF_REPORT_CELLS_H
#define LJPERF_REPORT_CELLS_H

#include <stddef.h>
#include <stdint.h>

#include "report/symtab.h"
#include "util/hashmap.h"

/* What sites are split by. */
enum cell_split { SPLIT_STACK = 1, SPLIT_SIZE = 2, SPLIT_VM = 4 };

struct cell_key {
	uint32_t site;
	uint32_t node; /* of the tree of call stacks; STACK_ROOT unless split by it */
	uint32_t session; /* index of the recording; 0 unless split by VM */
	uint32_t size_class; /* see size_class__of(); 0 unless split by it */
};

enum { CELLS_CACHE_BITS = 12, CELLS_CACHE = 1 << CELLS_CACHE_BITS };

struct cells {
	struct cell_key *at;
	size_t n, cap;
	struct hashmap map;
	uint32_t cache[CELLS_CACHE]; /* number of a cell + 1, by hash */
};

void cells__exit(struct cells *c);

/* The number of a cell, HASHMAP_NONE: no memory. */
uint32_t cells__intern(struct cells *c, const struct cell_key *cell);

static inline bool cell_key__equal(const struct cell_key *a, const struct cell_key *b)
{
	return a->site == b->site && a->node == b->node && a->session == b->session &&
	       a->size_class == b->size_class;
}

static inline uint32_t cells__get(struct cells *c, const struct cell_key *cell)
{
	uint64_t h = ((uint64_t)cell->site << 32 | cell->node) ^
		     ((uint64_t)cell->size_class << 48 | (uint64_t)cell->session << 16);
	uint32_t *slot = &c->cache[h * 0x9e3779b97f4a7c15 >> (64 - CELLS_CACHE_BITS)];

	if (*slot && cell_key__equal(&c->at[*slot - 1], cell))
		return *slot - 1;
	h = cells__intern(c, cell);
	if (h != HASHMAP_NONE)
		*slot = (uint32_t)h + 1;
	return (uint32_t)h;
}

/* 0 for no bytes, else the number of bits of the size: class N holds 2^(N-1) to
 * 2^N - 1 bytes. */
static inline uint32_t size_class__of(uint64_t size)
{
	return size ? 64 - (uint32_t)__builtin_clzll(size) : 0;
}

#endif
