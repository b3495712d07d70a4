/* sketch.c - quantiles in bounded memory; see sketch.h. */
#include "report/sketch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A value of 2^e or more stands in one of 2^BITS buckets of its power of two. */
enum { BITS = 5, PER_OCTAVE = 1 << BITS, BUCKETS = PER_OCTAVE * (64 - BITS + 1) };

void sketch__exit(struct sketch *s)
{
	free(s->at);
	*s = (struct sketch){ .at = NULL };
}

static bool sketch__is_exact(const struct sketch *s)
{
	return s->n <= SKETCH_EXACT;
}

static uint32_t bucket__of(uint64_t v)
{
	unsigned e;

	if (v < PER_OCTAVE)
		return (uint32_t)v;
	e = 63 - (unsigned)__builtin_clzll(v);
	return (uint32_t)((e - BITS + 1) * PER_OCTAVE + ((v >> (e - BITS)) & (PER_OCTAVE - 1)));
}

/* The middle of a bucket. */
static uint64_t bucket__value(uint32_t bucket)
{
	unsigned shift;
	uint64_t low;

	if (bucket < 2 * PER_OCTAVE)
		return bucket;
	shift = bucket / PER_OCTAVE - 1;
	low = (uint64_t)(PER_OCTAVE + bucket % PER_OCTAVE) << shift;
	return low + (((uint64_t)1 << shift) - 1) / 2;
}

static int sketch__reserve(struct sketch *s, uint32_t cap)
{
	uint64_t *p;

	if (cap <= s->cap)
		return 0;
	p = realloc(s->at, cap * sizeof(*p));
	if (!p)
		return -ENOMEM;
	s->at = p;
	s->cap = cap;
	return 0;
}

/* Makes the counts reach from bucket LOW to HIGH, at least. */
static int sketch__span(struct sketch *s, uint32_t low, uint32_t high)
{
	uint32_t first = s->len && s->first < low ? s->first : low, end = high + 1, before;

	if (s->len && s->first + s->len > end)
		end = s->first + s->len;
	/* Whole powers of two: the next values are likely near. */
	first -= first % PER_OCTAVE;
	end += (PER_OCTAVE - end % PER_OCTAVE) % PER_OCTAVE;
	if (sketch__reserve(s, end - first))
		return -ENOMEM;
	before = s->len ? s->first - first : 0;
	memmove(s->at + before, s->at, s->len * sizeof(*s->at));
	memset(s->at, 0, before * sizeof(*s->at));
	memset(s->at + before + s->len, 0, (end - first - before - s->len) * sizeof(*s->at));
	s->first = first;
	s->len = end - first;
	return 0;
}

static int sketch__count(struct sketch *s, uint32_t bucket, uint64_t n)
{
	if ((bucket < s->first || bucket >= s->first + s->len) && sketch__span(s, bucket, bucket))
		return -ENOMEM;
	s->at[bucket - s->first] += n;
	return 0;
}

/* From values to counts of buckets. */
static int sketch__to_buckets(struct sketch *s)
{
	uint64_t values[SKETCH_EXACT];
	size_t i, n = s->n;

	if (n)
		memcpy(values, s->at, n * sizeof(*values));
	s->first = s->len = 0;
	for (i = 0; i < n; i++)
		if (sketch__count(s, bucket__of(values[i]), 1))
			return -ENOMEM;
	return 0;
}

static int sketch__keep(struct sketch *s, uint64_t value)
{
	if (s->n == s->cap && sketch__reserve(s, s->cap ? s->cap * 2 : 4))
		return -ENOMEM;
	s->at[s->n++] = value;
	return 0;
}

int sketch__add(struct sketch *s, uint64_t value)
{
	if (s->n < SKETCH_EXACT)
		return sketch__keep(s, value);
	if ((s->n == SKETCH_EXACT && sketch__to_buckets(s)) ||
	    sketch__count(s, bucket__of(value), 1))
		return -ENOMEM;
	s->n++;
	return 0;
}

int sketch__merge(struct sketch *to, const struct sketch *from)
{
	size_t i;

	if (sketch__is_exact(from)) {
		for (i = 0; i < from->n; i++)
			if (sketch__add(to, from->at[i]))
				return -ENOMEM;
		return 0;
	}
	if (sketch__is_exact(to) && sketch__to_buckets(to))
		return -ENOMEM;
	for (i = 0; i < from->len; i++)
		if (from->at[i] && sketch__count(to, from->first + (uint32_t)i, from->at[i]))
			return -ENOMEM;
	to->n += from->n;
	return 0;
}

static int cmp_values(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return a < b ? -1 : a > b;
}

uint64_t sketch__quantile(const struct sketch *s, unsigned percent)
{
	uint64_t rank = s->n / 100 * percent + (s->n % 100 * percent + 99) / 100, seen = 0;
	uint64_t sorted[SKETCH_EXACT];
	uint32_t i;

	if (!s->n)
		return 0;
	rank = rank ? rank : 1;
	if (sketch__is_exact(s)) {
		memcpy(sorted, s->at, s->n * sizeof(*sorted));
		qsort(sorted, s->n, sizeof(*sorted), cmp_values);
		return sorted[rank - 1];
	}
	for (i = 0; i < s->len; i++) {
		seen += s->at[i];
		if (seen >= rank)
			break;
	}
	return bucket__value(s->first + i);
}
