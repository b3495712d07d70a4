/* live.h - the blocks that are alive, by address.  Used by the aggregation.
 *
 * The table is cut into segments that grow one by one, by half: growing never
 * needs a second copy of the whole.
 */
#ifndef LJPERF_REPORT_LIVE_H
#define LJPERF_REPORT_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/hashmap.h"

struct live_block {
	uint64_t addr; /* never 0 */
	uint64_t size; /* bytes */
	uint32_t site; /* the last one that sized it */
};

/* How a block is kept: 16 bytes.  Of a block of LIVE_BIG bytes or more, SIZE
 * is LIVE_BIG, and the table of big blocks has the size in both its words. */
struct live_slot {
	uint64_t addr; /* 0: free */
	uint32_t size, site;
};

#define LIVE_BIG UINT32_MAX

enum { LIVE_SEGMENT_BITS = 8, LIVE_SEGMENTS = 1 << LIVE_SEGMENT_BITS };

struct live_segment {
	struct live_slot *slots;
	uint32_t cap, n;
};

struct live_table {
	struct live_segment segments[LIVE_SEGMENTS];
};

/* All zero is empty. */
struct live {
	struct live_table blocks, big;
	size_t n;
};

void live__exit(struct live *l); /* frees; L is empty and usable afterwards */

/* Adds the block.  1 when its address was alive already: the old block is
 * replaced and put into OLD.  0 when not, -ENOMEM. */
int live__put(struct live *l, const struct live_block *b, struct live_block *old);

/* Removes the block at ADDR into OUT; false when there is none. */
bool live__take(struct live *l, uint64_t addr, struct live_block *out);

/* Removes all blocks, and tells of each. */
void live__drop(struct live *l, void (*dropped)(void *ctx, const struct live_block *b), void *ctx);

static inline const struct live_segment *live_table__segment(const struct live_table *t,
							     uint64_t hash)
{
	return &t->segments[hash >> (64 - LIVE_SEGMENT_BITS)];
}

/* Sizes are no powers of two: the low half of the hash is scaled. */
static inline uint32_t live_segment__home(const struct live_segment *s, uint64_t hash)
{
	return (uint32_t)(((hash & UINT32_MAX) * s->cap) >> 32);
}

/* Starts loading what the next call for ADDR needs.  Always inline, because gcc
 * drops calls of a function that does nothing but this. */
__attribute__((always_inline)) static inline void live__prefetch(const struct live *l,
								 uint64_t addr)
{
	uint64_t hash = hash__u64(addr);
	const struct live_segment *s = live_table__segment(&l->blocks, hash);

	/* No pointer is made of slots that are not there yet. */
	__builtin_prefetch(
		(void *)((uintptr_t)s->slots + live_segment__home(s, hash) * sizeof(*s->slots)), 1);
}

#endif
