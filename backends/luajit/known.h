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
#include <stdint.h>
#include <string.h>

#define KNOWN_SETS 8192
#define KNOWN_WAYS 8 /* one cache line */

struct known {
	uint64_t occupied[KNOWN_SETS / 64]; /* sets that hold anything: keeps frees cheap */
	uintptr_t at[KNOWN_SETS][KNOWN_WAYS];
};

static inline unsigned known__set(uintptr_t addr)
{
	return (unsigned)((addr >> 3) * UINT64_C(0x9E3779B97F4A7C15) >> 51); /* 13 bits */
}

/* The lowest bit of an entry says that the prototype was described while it
 * did not run (as the start of a trace), so without its name. */
#define KNOWN_NAMELESS ((uintptr_t)1)

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

/* Adds ADDR and returns the address that it pushed out, 0 for none. */
static inline uintptr_t known__add(struct known *k, const void *addr, uintptr_t flag)
{
	unsigned set = known__set((uintptr_t)addr), i;
	uintptr_t *way = k->at[set], out;

	k->occupied[set / 64] |= UINT64_C(1) << (set % 64);
	for (i = 0; i < KNOWN_WAYS - 1 && way[i]; i++)
		;
	out = way[i];
	if (out) { /* full: the oldest goes, the others move up */
		out = way[0];
		memmove(way, way + 1, (KNOWN_WAYS - 1) * sizeof(*way));
	}
	way[i] = (uintptr_t)addr | flag;
	return out & ~KNOWN_NAMELESS;
}

/* Forgets ADDR, whose memory is being freed; whether it was known. */
static inline bool known__forget(struct known *k, const void *addr)
{
	unsigned set = known__set((uintptr_t)addr), i, j;
	uintptr_t *way = k->at[set];

	if (!(k->occupied[set / 64] >> (set % 64) & 1))
		return false;
	for (i = 0; i < KNOWN_WAYS && (way[i] & ~KNOWN_NAMELESS) != (uintptr_t)addr; i++)
		;
	if (i == KNOWN_WAYS)
		return false;
	for (j = i; j + 1 < KNOWN_WAYS; j++)
		way[j] = way[j + 1];
	way[KNOWN_WAYS - 1] = 0;
	if (!way[0])
		k->occupied[set / 64] &= ~(UINT64_C(1) << (set % 64));
	return true;
}

#endif
