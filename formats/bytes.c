/* bytes.c - see bytes.h. */
#include "formats/bytes.h"
#include "formats/uleb.h"

#include <stdlib.h>
#include <string.h>

void bytes__exit(struct bytes *b)
{
	free(b->p);
	*b = (struct bytes){ 0 };
}

bool bytes__reserve(struct bytes *b, size_t n)
{
	size_t cap;
	uint8_t *p;

	if (b->failed)
		return false;
	if (n <= b->cap - b->len)
		return true;
	if (n > SIZE_MAX / 2 - b->len) {
		b->failed = true;
		return false;
	}
	cap = b->cap ? b->cap : 256;
	while (cap - b->len < n)
		cap *= 2;
	p = realloc(b->p, cap);
	if (!p) {
		b->failed = true;
		return false;
	}
	b->p = p;
	b->cap = cap;
	return true;
}

void bytes__put(struct bytes *b, const void *src, size_t n)
{
	if (n == 0 || !bytes__reserve(b, n))
		return;
	memcpy(b->p + b->len, src, n);
	b->len += n;
}

void bytes__put_uleb(struct bytes *b, uint64_t v)
{
	if (bytes__reserve(b, ULEB_MAX))
		b->len = (size_t)(uleb__put(b->p + b->len, v) - b->p);
}

void bytes__put_string(struct bytes *b, const char *s, size_t n)
{
	bytes__put_uleb(b, n);
	bytes__put(b, s, n);
}

void bytes__put_le16(struct bytes *b, uint16_t v)
{
	bytes__put(b, (const uint8_t[]){ v & 0xff, v >> 8 }, 2);
}

void bytes__put_le32(struct bytes *b, uint32_t v)
{
	bytes__put_le16(b, (uint16_t)(v & 0xffff));
	bytes__put_le16(b, (uint16_t)(v >> 16));
}
