/* sketch.h - how values are spread, in bounded memory: quantiles of lifetimes.
 * Used by the measures of the aggregation and by rows.
 *
 * Up to SKETCH_EXACT values are kept as they are.  More are counted in buckets:
 * one for each value below 64, then 32 for each power of two.  A quantile is
 * the middle of its bucket, which is at most 1/64 (1.6 %) off the value.
 */
#ifndef LJPERF_REPORT_SKETCH_H
#define LJPERF_REPORT_SKETCH_H

#include <stddef.h>
#include <stdint.h>

enum { SKETCH_EXACT = 64 };

/* All zero is empty. */
struct sketch {
	uint64_t n; /* values */
	uint64_t *at; /* the values, or the counts of buckets FIRST to FIRST + LEN - 1 */
	uint32_t first, len, cap;
};

void sketch__exit(struct sketch *s);

/* 0 or -ENOMEM. */
int sketch__add(struct sketch *s, uint64_t value);
int sketch__merge(struct sketch *to, const struct sketch *from);

/* The smallest value that PERCENT of the values, rounded up, do not exceed:
 * with 50 the lower median.  0 for an empty sketch. */
uint64_t sketch__quantile(const struct sketch *s, unsigned percent);

#endif
