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

struct live_block {
	uint64_t addr; /* never 0 */
	uint64_t size; /* bytes */
	uint32_t site; /* the last one that sized it */
};

enum { LIVE_SEGMENT_BITS = 8, LIVE_SEGMENTS = 1 << LIVE_SEGMENT_BITS };

struct live_segment {
	struct live_block *slots; /* a free one has address 0 */
	uint32_t cap, n;
};

/* All zero is empty. */
struct live {
	struct live_segment segments[LIVE_SEGMENTS];
	size_t n;
};

void live__exit(struct live *l); /* frees; L is empty and usable afterwards */

/* Adds the block.  1 when its address was alive already: the old block is
 * replaced and put into OLD.  0 when not, -ENOMEM. */
int live__put(struct live *l, const struct live_block *b, struct live_block *old);

/* Removes the block at ADDR into OUT; false when there is none. */
bool live__take(struct live *l, uint64_t addr, struct live_block *out);

/* Starts loading what the next call for ADDR needs. */
void live__prefetch(const struct live *l, uint64_t addr);

/* Walks all blocks, in no useful order; for tests. */
void live__each(const struct live *l, void (*fn)(void *ctx, const struct live_block *b), void *ctx);

#endif
