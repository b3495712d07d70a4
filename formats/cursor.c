/* cursor.c - the parts of the cursor that are not worth inlining.  Called by
 * all readers of formats/. */
#include "formats/cursor.h"

void cursor__fail(struct cursor *c, enum cursor_status status, const uint8_t *p)
{
	if (c->status != CURSOR_OK)
		return;
	c->status = status;
	c->bad = p;
	/* With nothing left every later read takes its slow way and finds the
	 * status; the fast ways need not look at it. */
	c->p = c->end;
}

static void fail_short(struct cursor *c, uint64_t missing)
{
	if (c->status == CURSOR_OK)
		c->missing = missing;
	cursor__fail(c, CURSOR_SHORT, c->p);
}

/* The groups of 7 bits from the lowest up; *BITS of them.  What the tenth byte may
 * be, which holds bit 63 only, is 0 or ONES. */
static uint64_t read_groups(struct cursor *c, uint8_t ones, unsigned *bits)
{
	const uint8_t *p = c->p;
	uint64_t v = 0;
	unsigned shift = 0;

	*bits = 64;
	for (;; p++, shift += 7) {
		if (p == c->end) {
			fail_short(c, 1);
			return 0;
		}
		/* None may follow it. */
		if (shift == 63 && *p != 0 && *p != ones) {
			cursor__fail(c, CURSOR_BAD, c->p);
			return 0;
		}
		v |= (uint64_t)(*p & 0x7f) << shift;
		if (*p < 0x80)
			break;
	}
	c->p = p + 1;
	*bits = shift + 7;
	return v;
}

uint64_t cursor__uleb_slow(struct cursor *c)
{
	unsigned bits;

	return read_groups(c, 1, &bits);
}

int64_t cursor__sleb(struct cursor *c)
{
	unsigned bits;
	uint64_t v = read_groups(c, 0x7f, &bits);

	if (bits < 64 && v >> (bits - 1) & 1)
		v |= ~UINT64_C(0) << bits;
	return (int64_t)v;
}

const uint8_t *cursor__bytes(struct cursor *c, uint64_t n)
{
	const uint8_t *p = c->p;
	size_t left = cursor__left(c);

	if (c->status != CURSOR_OK)
		return NULL;
	if (n > left) {
		fail_short(c, n - left);
		return NULL;
	}
	c->p += n;
	return p;
}

uint8_t cursor__u8(struct cursor *c)
{
	const uint8_t *p = cursor__bytes(c, 1);

	return p ? *p : 0;
}

uint16_t cursor__le16(struct cursor *c)
{
	const uint8_t *p = cursor__bytes(c, 2);

	return p ? (uint16_t)(p[0] | p[1] << 8) : 0;
}

uint32_t cursor__le32(struct cursor *c)
{
	uint32_t lo = cursor__le16(c);
	uint32_t hi = cursor__le16(c);

	return c->status == CURSOR_OK ? lo | hi << 16 : 0;
}

uint64_t cursor__le64(struct cursor *c)
{
	uint64_t lo = cursor__le32(c);
	uint64_t hi = cursor__le32(c);

	return c->status == CURSOR_OK ? lo | hi << 32 : 0;
}

const char *cursor__string(struct cursor *c, size_t *len)
{
	const uint8_t *start = c->p;
	uint64_t n = cursor__uleb(c);
	const uint8_t *p;

	*len = 0;
	if (n > CURSOR_STRING_MAX)
		cursor__fail(c, CURSOR_BAD, start);
	p = cursor__bytes(c, n);
	if (!p)
		return NULL;
	*len = (size_t)n;
	return (const char *)p;
}
