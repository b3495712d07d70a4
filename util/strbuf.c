/* strbuf.c - a growing string; see strbuf.h.  Used by everything that prints
 * or makes names.
 */
#include "util/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static bool any_failed;

bool strbuf__any_failed(void)
{
	return any_failed;
}

void strbuf__exit(struct strbuf *sb)
{
	free(sb->buf);
	*sb = (struct strbuf)STRBUF_INIT;
}

bool strbuf__grow(struct strbuf *sb, size_t n)
{
	size_t cap = sb->cap ? sb->cap : 64;
	char *buf;

	if (sb->failed)
		return false;
	if (sb->cap - sb->len > n)
		return true;
	if (n >= SIZE_MAX / 4 - sb->len)
		goto fail;
	while (cap - sb->len <= n)
		cap *= 2;
	buf = realloc(sb->buf, cap);
	if (!buf)
		goto fail;
	sb->buf = buf;
	sb->cap = cap;
	return true;
fail:
	sb->failed = any_failed = true;
	return false;
}

void strbuf__addmem(struct strbuf *sb, const void *p, size_t n)
{
	if (!n || !strbuf__grow(sb, n))
		return;
	memcpy(sb->buf + sb->len, p, n);
	sb->len += n;
	sb->buf[sb->len] = '\0';
}

void strbuf__addf(struct strbuf *sb, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n <= 0 || !strbuf__grow(sb, (size_t)n))
		return;
	va_start(ap, fmt);
	vsnprintf(sb->buf + sb->len, sb->cap - sb->len, fmt, ap);
	va_end(ap);
	sb->len += (size_t)n;
}

void strbuf__addu(struct strbuf *sb, uint64_t v)
{
	char digits[20], *p = digits + sizeof(digits);

	do {
		*--p = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	strbuf__addmem(sb, p, (size_t)(digits + sizeof(digits) - p));
}

void strbuf__addx(struct strbuf *sb, uint64_t v)
{
	char digits[18], *p = digits + sizeof(digits);

	do {
		*--p = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (v);
	*--p = 'x';
	*--p = '0';
	strbuf__addmem(sb, p, (size_t)(digits + sizeof(digits) - p));
}

void strbuf__addch_n(struct strbuf *sb, char c, size_t n)
{
	if (!n || !strbuf__grow(sb, n))
		return;
	memset(sb->buf + sb->len, c, n);
	sb->len += n;
	sb->buf[sb->len] = '\0';
}
