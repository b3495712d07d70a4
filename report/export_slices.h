/* export_slices.h - when the cells allocated and freed: sums over short times,
 * in bounded memory.  Used by export_firefox.c.
 *
 * When there are too many sums, slices get twice as long and neighbours are
 * added up, so that all of the recording has the same precision.
 */
#ifndef LJPERF_REPORT_EXPORT_SLICES_H
#define LJPERF_REPORT_EXPORT_SLICES_H

#include "report/aggregate.h"

enum { EXPORT_SLICES_MAX = 1 << 18 };

/* What a cell did in a slice. */
struct slice_sum {
	uint64_t slice; /* it begins at slice * LENGTH */
	uint32_t cell;
	bool freed; /* else allocated; a reallocation is both */
	u128 bytes;
};

struct export_slices {
	uint64_t length; /* nanoseconds, or events where there are no times */
	uint64_t offset; /* of the session being read, behind the first */
	size_t n_sessions; /* the offset is that of the last of them */
	struct slice_sum *at;
	size_t n, cap;
	uint32_t *last[2]; /* the latest sum of each cell + 1, by FREED */
	size_t n_last[2], cap_last[2];
};

/* All zero but LENGTH is empty. */
void export_slices__exit(struct export_slices *s);

/* Adds to the sum.  0 or -ENOMEM. */
int export_slices__add(struct export_slices *s, uint64_t at, uint32_t cell, bool freed, u128 bytes);

/* Sorts the sums by time. */
void export_slices__sort(struct export_slices *s);

#endif
