/* hashmap.h - an index from hashes to small numbers, and the hash functions.
 *
 * The map holds {hash, id} pairs only; the entries themselves live in an
 * array of the caller, which compares keys while it walks the candidates:
 *
 *	for (id = hashmap__first(m, h, &pos); id != HASHMAP_NONE;
 *	     id = hashmap__next(m, h, &pos))
 *		if (entries[id].key == key)
 *			return id;
 *
 * Entries are never removed.  Hashes are seeded anew in each process, because
 * the keys come from files that may have been made to collide.
 */
#ifndef LJPERF_UTIL_HASHMAP_H
#define LJPERF_UTIL_HASHMAP_H

#include <stddef.h>
#include <stdint.h>

#define HASHMAP_NONE UINT32_MAX

struct hashmap_slot {
	uint32_t hash, id;
};

struct hashmap {
	struct hashmap_slot *slots; /* NULL while empty */
	uint32_t mask; /* number of slots - 1 */
	uint32_t n;
};

/* All zero is an empty map. */
void hashmap__exit(struct hashmap *m); /* frees; M is empty and usable afterwards */
void hashmap__clear(struct hashmap *m); /* forgets the entries, keeps the memory */

/* Adds ID, which the caller knows is not there.  0 or -ENOMEM. */
int hashmap__add(struct hashmap *m, uint64_t hash, uint32_t id);

static inline uint32_t hashmap__scan(const struct hashmap *m, uint64_t hash, uint32_t *pos)
{
	const struct hashmap_slot *s;

	for (;; *pos = (*pos + 1) & m->mask) {
		s = &m->slots[*pos];
		if (s->id == HASHMAP_NONE || s->hash == (uint32_t)hash)
			return s->id;
	}
}

static inline uint32_t hashmap__first(const struct hashmap *m, uint64_t hash, uint32_t *pos)
{
	if (!m->slots)
		return HASHMAP_NONE;
	*pos = (uint32_t)hash & m->mask;
	return hashmap__scan(m, hash, pos);
}

static inline uint32_t hashmap__next(const struct hashmap *m, uint64_t hash, uint32_t *pos)
{
	*pos = (*pos + 1) & m->mask;
	return hashmap__scan(m, hash, pos);
}

extern uint64_t hash_seed[2]; /* odd numbers, set before main() */

/* The two halves of a 128-bit product, folded: every bit of A and B counts. */
static inline uint64_t hash__mix(uint64_t a, uint64_t b)
{
	unsigned __int128 m = (unsigned __int128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t hash__u64(uint64_t a)
{
	return hash__mix(a ^ hash_seed[1], hash_seed[0]);
}

static inline uint64_t hash__u64x2(uint64_t a, uint64_t b)
{
	return hash__mix(hash__u64(a) ^ b, hash_seed[1]);
}

uint64_t hash__mem(const void *p, size_t n);

#endif
