/* live.c - the blocks that are alive; see live.h.
 *
 * Open addressing with linear probing; a removal shifts what follows back, so
 * there are no marks of deleted slots to wade through.
 */
#include "report/live.h"

#include <errno.h>
#include <stdlib.h>

_Static_assert(sizeof(struct live_slot) == 16, "four slots in a cache line");

enum { SEGMENT_LEAST = 16 };

static inline uint32_t segment__next(const struct live_segment *s, uint32_t i)
{
	return i + 1 == s->cap ? 0 : i + 1;
}

/* The slot of ADDR, or the free one where it belongs. */
static inline uint32_t segment__find(const struct live_segment *s, uint64_t hash, uint64_t addr)
{
	uint32_t i = live_segment__home(s, hash);

	while (s->slots[i].addr && s->slots[i].addr != addr)
		i = segment__next(s, i);
	return i;
}

static int segment__grow(struct live_segment *s)
{
	struct live_segment old = *s;
	uint64_t cap = old.cap ? (uint64_t)old.cap + old.cap / 2 : SEGMENT_LEAST, hash;
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
		if (!old.slots[i].addr)
			continue;
		hash = hash__u64(old.slots[i].addr);
		s->slots[segment__find(s, hash, old.slots[i].addr)] = old.slots[i];
	}
	free(old.slots);
	return 0;
}

/* Frees slot I, and moves back the blocks behind it that the free slot would
 * hide: those whose home is not between it and them. */
static inline void segment__remove(struct live_segment *s, uint32_t i)
{
	uint32_t j = i, home;

	for (;;) {
		j = segment__next(s, j);
		if (!s->slots[j].addr)
			break;
		home = live_segment__home(s, hash__u64(s->slots[j].addr));
		if (i <= j ? (i < home && home <= j) : (i < home || home <= j))
			continue;
		s->slots[i] = s->slots[j];
		i = j;
	}
	s->slots[i].addr = 0;
	s->n--;
}

/* ---- tables ---- */

/* 1 when the address was there, and its slot is now in OLD; 0, or -ENOMEM. */
static inline int table__put(struct live_table *t, const struct live_slot *slot,
			     struct live_slot *old)
{
	uint64_t hash = hash__u64(slot->addr);
	struct live_segment *s = &t->segments[hash >> (64 - LIVE_SEGMENT_BITS)];
	uint32_t i;

	/* At most 3/4 full. */
	if (s->n >= s->cap - s->cap / 4 && segment__grow(s))
		return -ENOMEM;
	i = segment__find(s, hash, slot->addr);
	*old = s->slots[i];
	s->slots[i] = *slot;
	s->n += !old->addr;
	return old->addr != 0;
}

static inline bool table__take(struct live_table *t, uint64_t addr, struct live_slot *out)
{
	uint64_t hash = hash__u64(addr);
	struct live_segment *s = &t->segments[hash >> (64 - LIVE_SEGMENT_BITS)];
	uint32_t i;

	if (!s->n || !addr)
		return false;
	i = segment__find(s, hash, addr);
	*out = s->slots[i];
	if (!out->addr)
		return false;
	segment__remove(s, i);
	return true;
}

static void table__exit(struct live_table *t)
{
	size_t i;

	for (i = 0; i < LIVE_SEGMENTS; i++) {
		free(t->segments[i].slots);
		t->segments[i] = (struct live_segment){ NULL, 0, 0 };
	}
}

/* ---- blocks ---- */

void live__exit(struct live *l)
{
	table__exit(&l->blocks);
	table__exit(&l->big);
	l->n = 0;
}

/* The block of a slot that left the table. */
static inline void live__unpack(struct live *l, const struct live_slot *slot,
				struct live_block *out)
{
	struct live_slot words;

	*out = (struct live_block){ slot->addr, slot->size, slot->site };
	if (slot->size == LIVE_BIG && table__take(&l->big, slot->addr, &words))
		out->size = (uint64_t)words.size << 32 | words.site;
}

int live__put(struct live *l, const struct live_block *b, struct live_block *old)
{
	struct live_slot slot = { b->addr, (uint32_t)b->size, b->site }, was, words;
	int ret;

	if (b->size >= LIVE_BIG)
		slot.size = LIVE_BIG;
	ret = table__put(&l->blocks, &slot, &was);
	if (ret < 0)
		return ret;
	if (ret)
		live__unpack(l, &was, old);
	else
		l->n++;
	if (slot.size == LIVE_BIG) {
		slot.size = (uint32_t)(b->size >> 32);
		slot.site = (uint32_t)b->size;
		if (table__put(&l->big, &slot, &words) < 0)
			return -ENOMEM;
	}
	return ret;
}

bool live__take(struct live *l, uint64_t addr, struct live_block *out)
{
	struct live_slot slot;

	if (!table__take(&l->blocks, addr, &slot))
		return false;
	live__unpack(l, &slot, out);
	l->n--;
	return true;
}

void live__drop(struct live *l, void (*dropped)(void *ctx, const struct live_block *b), void *ctx)
{
	const struct live_segment *s;
	struct live_block b;
	uint32_t i;
	size_t at;

	if (!l->n)
		return;
	for (at = 0; at < LIVE_SEGMENTS; at++) {
		s = &l->blocks.segments[at];
		for (i = 0; i < s->cap; i++) {
			if (!s->slots[i].addr)
				continue;
			live__unpack(l, &s->slots[i], &b);
			dropped(ctx, &b);
		}
	}
	live__exit(l);
}
