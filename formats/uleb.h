/* uleb.h - writes ULEB128.  Called by the encoders; allocates nothing, so the
 * agent may use it. */
#ifndef LJPERF_FORMATS_ULEB_H
#define LJPERF_FORMATS_ULEB_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ULEB_MAX 10 /* bytes of the longest one */

static inline size_t uleb__size(uint64_t v)
{
	return (size_t)((63 - __builtin_clzll(v | 1)) / 7) + 1;
}

/* Writes exactly uleb__size(V) bytes at P; returns the byte after. */
static inline uint8_t *uleb__put(uint8_t *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

/* The same, but may write rubbish up to ULEB_MAX bytes from P: one store in
 * place of a loop.  The inverse of the fast way of cursor__uleb(). */
static inline uint8_t *uleb__put_wide(uint8_t *p, uint64_t v)
{
	uint64_t w = v;
	unsigned n;

	if (v < 0x80) {
		*p = (uint8_t)v;
		return p + 1;
	}
	if (v >> 56)
		return uleb__put(p, v);
	w = (w & 0x000000000fffffffu) | (w & 0x00fffffff0000000u) << 4;
	w = (w & 0x00003fff00003fffu) | (w & 0x0fffc0000fffc000u) << 2;
	w = (w & 0x007f007f007f007fu) | (w & 0x3f803f803f803f80u) << 1;
	n = (unsigned)(63 - __builtin_clzll(w)) >> 3; /* index of the last byte */
	w |= 0x8080808080808080u & (((uint64_t)1 << (8 * n)) - 1);
	w = htole64(w);
	memcpy(p, &w, sizeof(w));
	return p + n + 1;
}

#endif
