/* objects.h - what is known of live blocks beside their size: who owns them and
 * when they were born.  Used by the aggregation when lifetimes are asked for;
 * the map of live blocks then holds numbers of objects.
 *
 * A block that is resized stays the same object.  Memory follows the largest
 * number of live blocks.
 */
#ifndef LJPERF_REPORT_OBJECTS_H
#define LJPERF_REPORT_OBJECTS_H

#include <stdint.h>
#include <stdlib.h>

#include "util/grow.h"

#define OBJECT_NONE UINT32_MAX
/* Born before the recording. */
#define BORN_UNKNOWN UINT64_MAX

struct object {
	uint64_t born; /* number of allocations up to its own, or BORN_UNKNOWN */
	uint64_t born_ns; /* since the start of the recording */
	uint32_t cell; /* its owner; of a free one, the next free one */
};

/* All zero but .free = OBJECT_NONE is empty. */
struct objects {
	struct object *at;
	size_t n, cap;
	uint32_t free; /* the first of a list */
};

static inline void objects__exit(struct objects *o)
{
	free(o->at);
	*o = (struct objects){ .free = OBJECT_NONE };
}

/* The number of a new object, OBJECT_NONE: no memory. */
static inline uint32_t objects__new(struct objects *o, const struct object *object)
{
	uint32_t id = o->free;

	if (id != OBJECT_NONE) {
		o->free = o->at[id].cell;
	} else {
		if (GROW(o->at, o->cap, o->n))
			return OBJECT_NONE;
		id = (uint32_t)o->n++;
	}
	o->at[id] = *object;
	return id;
}

static inline void objects__free(struct objects *o, uint32_t id)
{
	o->at[id].cell = o->free;
	o->free = id;
}

#endif
