/* cursor.h - the one bounds-checked reader of raw bytes.
 *
 * All code of formats/ that looks at bytes of a file goes through it.  The
 * first error sticks: later reads return 0 or NULL and do not move, so that a
 * caller checks once, after a whole item.  "The bytes end too early" (SHORT)
 * is told apart from "the bytes are wrong" (BAD), because a window of a
 * stream may only need to be refilled.
 */
#ifndef LJPERF_FORMATS_CURSOR_H
#define LJPERF_FORMATS_CURSOR_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum cursor_status {
	CURSOR_OK = 0,
	CURSOR_SHORT, /* more bytes are needed than there are */
	CURSOR_BAD, /* no bytes could make this right */
};

/* Strings longer than this are taken for damage. */
#define CURSOR_STRING_MAX ((uint64_t)256 << 20)

struct cursor {
	const uint8_t *p, *end;
	enum cursor_status status;
	uint64_t missing; /* SHORT: bytes needed behind end, at least */
	const uint8_t *bad; /* BAD and SHORT: where the item began */
};

static inline struct cursor cursor__of(const void *buf, size_t len)
{
	const uint8_t *p = buf;

	return (struct cursor){ .p = p, .end = p ? p + len : p };
}

static inline size_t cursor__left(const struct cursor *c)
{
	return (size_t)(c->end - c->p);
}

/* Sets the error, unless there is one.  P is where the wrong item began. */
void cursor__fail(struct cursor *c, enum cursor_status status, const uint8_t *p);
uint64_t cursor__uleb_slow(struct cursor *c);

uint8_t cursor__u8(struct cursor *c);
uint16_t cursor__le16(struct cursor *c);
uint32_t cursor__le32(struct cursor *c);
uint64_t cursor__le64(struct cursor *c);
const uint8_t *cursor__bytes(struct cursor *c, uint64_t n);
/* SLEB128 of at most 64 bits: 1 to 10 bytes.  Longer ones are BAD. */
int64_t cursor__sleb(struct cursor *c);
/* A ULEB length of at most CURSOR_STRING_MAX and that many bytes. */
const char *cursor__string(struct cursor *c, size_t *len);

/* ULEB128 of at most 64 bits: 1 to 10 bytes.  Longer ones, and bits above
 * bit 63, are BAD.  Redundant zero groups are accepted, as others do.
 *
 * The common case takes one load: groups of 7 bits are found by the first
 * clear top bit and pushed together in three steps.  No load passes the end,
 * as 10 bytes are there.  The copy around the slow call keeps C in registers.
 */
static inline uint64_t cursor__uleb(struct cursor *c)
{
	if (__builtin_expect(c->end - c->p >= 10, 1)) {
		const uint8_t *p = c->p;
		uint64_t w, stop;

		if (p[0] < 0x80) {
			c->p = p + 1;
			return p[0];
		}
		if (p[1] < 0x80) {
			c->p = p + 2;
			return (p[0] & 0x7fu) | (uint64_t)p[1] << 7;
		}
		memcpy(&w, p, sizeof(w));
		w = le64toh(w);
		stop = ~w & 0x8080808080808080u;
		if (__builtin_expect(stop != 0, 1)) {
			c->p = p + (__builtin_ctzll(stop) >> 3) + 1;
			w &= stop ^ (stop - 1);
			w &= 0x7f7f7f7f7f7f7f7fu;
			w = (w & 0x007f007f007f007fu) | (w & 0x7f007f007f007f00u) >> 1;
			w = (w & 0x00003fff00003fffu) | (w & 0x3fff00003fff0000u) >> 2;
			w = (w & 0x000000000fffffffu) | (w & 0x0fffffff00000000u) >> 4;
			return w;
		}
	}
	struct cursor copy = *c;
	uint64_t v = cursor__uleb_slow(&copy);

	*c = copy;
	return v;
}

#endif
