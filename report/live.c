/* live.c - the blocks that are alive; see live.h.
 *
 * Open addressing with linear probing; a removal shifts what follows back, so
 * there are no marks of deleted slots to wade through.
 */
#include "report/live.h"

#include <errno.h>
#include <stdlib.h>

#include "util/hashmap.h"

_Static_assert(sizeof(struct live_block) <= 24, "a block takes 24 bytes");

enum { SEGMENT_LEAST = 16 };

static inline uint64_t live__hash(uint64_t addr)
{
	return hash__u64(addr);
}

static inline struct live_segment *live__segment(const struct live *l, uint64_t hash)
{
	return (struct live_segment *)&l->segments[hash >> (64 - LIVE_SEGMENT_BITS)];
}

/* Sizes are no powers of two: the low half of the hash is scaled. */
static inline uint32_t segment__home(const struct live_segment *s, uint64_t hash)
{
	return (uint32_t)(((hash & UINT32_MAX) * s->cap) >> 32);
}

static inline uint32_t segment__next(const struct live_segment *s, uint32_t i)
{
	return i + 1 == s->cap ? 0 : i + 1;
}

void live__exit(struct live *l)
{
	size_t i;

	for (i = 0; i < LIVE_SEGMENTS; i++)
		free(l->segments[i].slots);
	*l = (struct live){ .n = 0 };
}

/* The slot of ADDR, or the free one where it belongs. */
static inline uint32_t segment__find(const struct live_segment *s, uint64_t hash, uint64_t addr)
{
	uint32_t i = segment__home(s, hash);

	while (s->slots[i].addr && s->slots[i].addr != addr)
		i = segment__next(s, i);
	return i;
}

static int segment__grow(struct live_segment *s)
{
	struct live_segment old = *s;
	uint64_t cap = old.cap ? (uint64_t)old.cap + old.cap / 2 : SEGMENT_LEAST;
	uint32_t i;

	if (cap > UINT32_MAX)
		return -ENOMEM;
	s->slots = calloc(cap, sizeof(*s->slots));
	if (!s->slots) {
		*s = old;
		return -ENOMEM;
	}
	s->cap = (uint32_t)cap;
	for (i = 0; i < old.cap; i++) {
		const struct live_block *b = &old.slots[i];

		if (b->addr)
			s->slots[segment__find(s, live__hash(b->addr), b->addr)] = *b;
	}
	free(old.slots);
	return 0;
}

int live__put(struct live *l, const struct live_block *b, struct live_block *old)
{
	uint64_t hash = live__hash(b->addr);
	struct live_segment *s = live__segment(l, hash);
	uint32_t i;

	/* At most 3/4 full. */
	if (s->n >= s->cap - s->cap / 4 && segment__grow(s))
		return -ENOMEM;
	i = segment__find(s, hash, b->addr);
	if (s->slots[i].addr) {
		*old = s->slots[i];
		s->slots[i] = *b;
		return 1;
	}
	s->slots[i] = *b;
	s->n++;
	l->n++;
	return 0;
}

/* Frees slot I, and moves back the blocks behind it that the free slot would
 * hide: those whose home is not between it and them. */
static void segment__remove(struct live_segment *s, uint32_t i)
{
	uint32_t j = i, home;

	for (;;) {
		j = segment__next(s, j);
		if (!s->slots[j].addr)
			break;
		home = segment__home(s, live__hash(s->slots[j].addr));
		if (i <= j ? (i < home && home <= j) : (i < home || home <= j))
			continue;
		s->slots[i] = s->slots[j];
		i = j;
	}
	s->slots[i].addr = 0;
	s->n--;
}

bool live__take(struct live *l, uint64_t addr, struct live_block *out)
{
	uint64_t hash = live__hash(addr);
	struct live_segment *s = live__segment(l, hash);
	uint32_t i;

	if (!s->n || !addr)
		return false;
	i = segment__find(s, hash, addr);
	if (!s->slots[i].addr)
		return false;
	*out = s->slots[i];
	segment__remove(s, i);
	l->n--;
	return true;
}

void live__prefetch(const struct live *l, uint64_t addr)
{
	uint64_t hash = live__hash(addr);
	const struct live_segment *s = live__segment(l, hash);

	__builtin_prefetch(s->slots + segment__home(s, hash), 1);
}

void live__each(const struct live *l, void (*fn)(void *ctx, const struct live_block *b), void *ctx)
{
	size_t i, j;

	for (i = 0; i < LIVE_SEGMENTS; i++)
		for (j = 0; j < l->segments[i].cap; j++)
			if (l->segments[i].slots[j].addr)
				fn(ctx, &l->segments[i].slots[j]);
}
