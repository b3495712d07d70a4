/* known.h - the agent's half of the epochs: which prototypes and traces the
 * stream has described and whose memory is still theirs.
 *
 * A set of fixed size, by address: what does not fit pushes another out, and
 * is then described once more when it comes up again, which is harmless.  So
 * the hook never has to allocate.  Only called by the hook of one VM.
 */
#ifndef LJPERF_BACKENDS_LUAJIT_KNOWN_H
#define LJPERF_BACKENDS_LUAJIT_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define KNOWN_SETS 8192
#define KNOWN_WAYS 8 /* one cache line */

/* The lowest bit of an entry says that the prototype was described while it
 * did not run (as the start of a trace), so without its name. */
#define KNOWN_NAMELESS ((uintptr_t)1)

struct known {
	uint64_t occupied[KNOWN_SETS / 64]; /* sets that hold anything: keeps frees cheap */
	uintptr_t at[KNOWN_SETS][KNOWN_WAYS];
	uint32_t seq[KNOWN_SETS][KNOWN_WAYS]; /* never the same for two described objects */
	uint32_t last_seq;
};

static inline unsigned known__set(uintptr_t addr)
{
	return (unsigned)((addr >> 3) * UINT64_C(0x9E3779B97F4A7C15) >> 51); /* 13 bits */
}

/* The entry of ADDR, NULL: none. */
static inline uintptr_t *known__find(struct known *k, const void *addr)
{
	uintptr_t *way = k->at[known__set((uintptr_t)addr)], *hit = NULL;
	unsigned i;

	for (i = 0; i < KNOWN_WAYS; i++)
		if ((way[i] & ~KNOWN_NAMELESS) == (uintptr_t)addr)
			hit = &way[i];
	return hit;
}

/* The number of a described object, from its entry. */
static inline uint32_t known__seq(const struct known *k, const uintptr_t *entry)
{
	return (&k->seq[0][0])[entry - &k->at[0][0]];
}

/* Closes the gap that entry I of SET leaves; the last one is free then. */
static inline void known__drop(struct known *k, unsigned set, unsigned i)
{
	size_t left = KNOWN_WAYS - 1 - i;

	memmove(&k->at[set][i], &k->at[set][i + 1], left * sizeof(k->at[0][0]));
	memmove(&k->seq[set][i], &k->seq[set][i + 1], left * sizeof(k->seq[0][0]));
	k->at[set][KNOWN_WAYS - 1] = 0;
}

/* Adds ADDR and returns the address that it pushed out, 0 for none. */
static inline uintptr_t known__add(struct known *k, const void *addr, uintptr_t flag)
{
	unsigned set = known__set((uintptr_t)addr), i;
	uintptr_t *way = k->at[set], out = 0;

	k->occupied[set / 64] |= UINT64_C(1) << (set % 64);
	if (way[KNOWN_WAYS - 1]) { /* full: the oldest goes */
		out = way[0] & ~KNOWN_NAMELESS;
		known__drop(k, set, 0);
	}
	for (i = 0; way[i]; i++)
		;
	way[i] = (uintptr_t)addr | flag;
	k->seq[set][i] = ++k->last_seq;
	return out;
}

/* Forgets ADDR, whose memory is being freed; whether it was known. */
static inline bool known__forget(struct known *k, const void *addr)
{
	unsigned set = known__set((uintptr_t)addr);
	uintptr_t *entry;

	if (!(k->occupied[set / 64] >> (set % 64) & 1))
		return false;
	entry = known__find(k, addr);
	if (!entry)
		return false;
	known__drop(k, set, (unsigned)(entry - k->at[set]));
	if (!k->at[set][0])
		k->occupied[set / 64] &= ~(UINT64_C(1) << (set % 64));
	return true;
}

#endif
