/* hashmap.c - an index from hashes to small numbers; see hashmap.h.  Used by
 * the report's symbol table, string pool and rows.
 */
#include "util/hashmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

uint64_t hash_seed[2] = { 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93 };

__attribute__((constructor)) static void hash__seed(void)
{
	uint64_t r[2];
	struct timespec ts;

	if (getrandom(r, sizeof(r), GRND_NONBLOCK) != (ssize_t)sizeof(r)) {
		clock_gettime(CLOCK_MONOTONIC, &ts);
		r[0] = (uint64_t)ts.tv_nsec << 20 ^ (uint64_t)getpid();
		r[1] = (uint64_t)(uintptr_t)&ts ^ (uint64_t)ts.tv_sec << 40;
	}
	hash_seed[0] ^= r[0];
	hash_seed[1] ^= r[1];
	hash_seed[0] |= 1;
	hash_seed[1] |= 1;
}

uint64_t hash__mem(const void *p, size_t n)
{
	const unsigned char *s = p;
	uint64_t w, h = hash_seed[0] ^ n;

	for (; n >= 8; s += 8, n -= 8) {
		memcpy(&w, s, 8);
		h = hash__mix(h ^ w, hash_seed[1]);
	}
	w = 0;
	if (n) /* of an empty string there may be no address */
		memcpy(&w, s, n);
	h = hash__mix(h ^ w, hash_seed[1]);
	return hash__mix(h, hash_seed[0]);
}

void hashmap__exit(struct hashmap *m)
{
	free(m->slots);
	*m = (struct hashmap){ NULL, 0, 0 };
}

void hashmap__clear(struct hashmap *m)
{
	if (m->slots)
		memset(m->slots, 0xff, ((size_t)m->mask + 1) * sizeof(*m->slots));
	m->n = 0;
}

static void hashmap__insert(struct hashmap *m, uint32_t hash, uint32_t id)
{
	uint32_t pos = hash & m->mask;

	while (m->slots[pos].id != HASHMAP_NONE)
		pos = (pos + 1) & m->mask;
	m->slots[pos].hash = hash;
	m->slots[pos].id = id;
}

static int hashmap__resize(struct hashmap *m, size_t size)
{
	struct hashmap old = *m;
	size_t i;

	m->slots = malloc(size * sizeof(*m->slots));
	if (!m->slots) {
		*m = old;
		return -ENOMEM;
	}
	m->mask = (uint32_t)(size - 1);
	memset(m->slots, 0xff, size * sizeof(*m->slots));
	for (i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i].id != HASHMAP_NONE)
			hashmap__insert(m, old.slots[i].hash, old.slots[i].id);
	free(old.slots);
	return 0;
}

int hashmap__add(struct hashmap *m, uint64_t hash, uint32_t id)
{
	size_t size = m->slots ? (size_t)m->mask + 1 : 0;

	if (m->n + 1 > size / 2) {
		if (size > UINT32_MAX / 2 || hashmap__resize(m, size ? size * 2 : 16))
			return -ENOMEM;
	}
	hashmap__insert(m, (uint32_t)hash, id);
	m->n++;
	return 0;
}
