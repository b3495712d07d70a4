/* timeline.h - the size of a heap over time, in bounded memory.  Filled by the
 * aggregation, drawn by the view of that name.
 *
 * A sample is what happened between two times.  When there are too many, each
 * two neighbours become one, so that samples get coarser and stay even.
 */
#ifndef LJPERF_REPORT_TIMELINE_H
#define LJPERF_REPORT_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/session.h"
#include "report/escape.h"

enum { TIMELINE_SAMPLES = 1 << 16 };

struct timeline_sample {
	uint64_t at; /* the time or event it begins at */
	u128 max, end; /* largest and last size of the heap, in bytes */
	bool gc; /* the collector freed something */
};

struct timeline_mark {
	uint64_t at;
	enum session_mark_kind kind;
	char *name;
};

struct timeline {
	bool by_time; /* else by the number of the event: nothing tells the time */
	struct timeline_sample *at;
	size_t n, cap;
	uint64_t step; /* samples begin at least so far apart */
	uint64_t end; /* of the recording */
	struct timeline_mark *marks;
	size_t n_marks, cap_marks;
};

/* All zero is empty. */
void timeline__exit(struct timeline *t);

/* The heap is HEAP bytes from AT on, which never falls.  0 or -ENOMEM. */
int timeline__add(struct timeline *t, uint64_t at, u128 heap, bool gc);
int timeline__mark(struct timeline *t, uint64_t at, const struct session_mark *m);

#endif
