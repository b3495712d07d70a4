/* measures.h - what is counted of a cell only when it is asked for: the peak,
 * chains of reallocations, short-lived blocks and lifetimes.  Called by the
 * aggregation for each event, in the order of the stream.
 */
#ifndef LJPERF_REPORT_MEASURES_H
#define LJPERF_REPORT_MEASURES_H

#include "report/escape.h"
#include "report/sketch.h"

/* What is asked for. */
enum measure {
	MEASURE_PEAK = 1, /* what lives when the heap is largest */
	MEASURE_CHAINS = 2, /* objects, their final sizes, what was copied */
	MEASURE_LIFETIMES = 4, /* temporary blocks, lifetimes */
	MEASURE_TIMELINE = 8, /* the heap over time */
};

/* Blocks that are alive at some point. */
struct site_live {
	u128 bytes;
	uint64_t blocks;
};

struct measures {
	/* Blocks that others resized, or it did: each is no object of its own. */
	uint64_t n_moved;
	u128 moved_bytes;
	u128 copied; /* by its reallocations that moved a block */
	struct site_live temporary;
	struct sketch life; /* of its freed blocks, in allocations */
	struct sketch life_ns; /* in time */
	/* What it held when peak VERSION was reached; nothing has changed since
	 * unless this is the present version. */
	struct site_live at_peak;
	uint64_t version;
};

static inline void site_live__add(struct site_live *to, const struct site_live *from)
{
	to->bytes += from->bytes;
	to->blocks += from->blocks;
}

/* Adds the counts, not the sketches. */
void measures__add(struct measures *to, const struct measures *from);

/* Adds the sketches.  0 or -ENOMEM. */
int measures__add_lives(struct measures *to, const struct measures *from);
void measures__exit(struct measures *m);

#endif
