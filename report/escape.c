/* escape.c - safe text and readable numbers; see escape.h. */
#include "report/escape.h"

#include <stdio.h>

size_t utf8__decode(const char *s, size_t len, uint32_t *cp)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)s;
	size_t i, n;

	if (!len)
		return 0;
	*cp = p[0];
	if (p[0] < 0x80)
		return 1;
	n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || n > len)
		return 0;
	*cp = p[0] & (0x7f >> n);
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*cp = *cp << 6 | (p[i] & 0x3f);
	}
	return *cp < least[n] || *cp > 0x10ffff || (*cp >= 0xd800 && *cp <= 0xdfff) ? 0 : n;
}

size_t utf8__width(const char *s, size_t len)
{
	size_t i, width = 0;

	for (i = 0; i < len; i++)
		width += ((unsigned char)s[i] & 0xc0) != 0x80;
	return width;
}

/* Controls, and the marks that change the direction of text or end a line. */
static bool is_unsafe(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0x61c || cp == 0x200e ||
	       cp == 0x200f || (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069);
}

static void escape__byte(struct strbuf *out, unsigned char c)
{
	switch (c) {
	case '\n':
		strbuf__addstr(out, "\\n");
		break;
	case '\t':
		strbuf__addstr(out, "\\t");
		break;
	case '\r':
		strbuf__addstr(out, "\\r");
		break;
	default:
		strbuf__addf(out, "\\x%02x", c);
	}
}

void escape__text(struct strbuf *out, const char *s, size_t len, unsigned flags)
{
	size_t i, n;
	uint32_t cp;

	for (; len; s += n, len -= n) {
		n = utf8__decode(s, len, &cp);
		if (n && (!is_unsafe(cp) || (cp == '\t' && (flags & ESCAPE_KEEP_TAB)))) {
			strbuf__addmem(out, s, n);
			continue;
		}
		n = n ? n : 1;
		for (i = 0; i < n; i++)
			escape__byte(out, (unsigned char)s[i]);
	}
}

static void escape__json_char(struct strbuf *out, const char *s, size_t n, uint32_t cp)
{
	if (cp == '"' || cp == '\\') {
		strbuf__addch(out, '\\');
		strbuf__addch(out, (char)cp);
	} else if (cp == '\n') {
		strbuf__addstr(out, "\\n");
	} else if (is_unsafe(cp)) { /* all below U+10000 */
		strbuf__addf(out, "\\u%04x", (unsigned)cp);
	} else {
		strbuf__addmem(out, s, n);
	}
}

void escape__json(struct strbuf *out, const char *s, size_t len)
{
	size_t n;
	uint32_t cp;

	strbuf__addch(out, '"');
	for (; len; s += n, len -= n) {
		n = utf8__decode(s, len, &cp);
		if (n) {
			escape__json_char(out, s, n, cp);
			continue;
		}
		strbuf__addf(out, "\\udc%02x", (unsigned char)s[0]);
		n = 1;
	}
	strbuf__addch(out, '"');
}

/* ---- numbers ---- */

void number__dec(struct strbuf *out, u128 v)
{
	char digits[40], *p = digits + sizeof(digits);

	do {
		*--p = (char)('0' + (int)(v % 10));
		v /= 10;
	} while (v);
	strbuf__addmem(out, p, (size_t)(digits + sizeof(digits) - p));
}

void number__bytes(struct strbuf *out, u128 v)
{
	static const char *const units[] = { "B",   "KiB", "MiB", "GiB", "TiB",
					     "PiB", "EiB", "ZiB", "YiB" };
	size_t unit = 0, last = sizeof(units) / sizeof(units[0]) - 1;
	double d = (double)v;

	if (v < 1024) {
		strbuf__addf(out, "%u B", (unsigned)v);
		return;
	}
	/* What would be rounded to 1024.0 is 1.0 of the next unit. */
	for (; d >= 1023.95 && unit < last; unit++)
		d /= 1024;
	strbuf__addf(out, "%.1f %s", d, units[unit]);
}

void number__count(struct strbuf *out, u128 v)
{
	if (v < 100000)
		strbuf__addf(out, "%u", (unsigned)v);
	else if (v < 1000000000)
		strbuf__addf(out, "%.2f M", (double)v / 1e6);
	else
		strbuf__addf(out, "%.2f G", (double)v / 1e9);
}

void number__time(struct strbuf *out, uint64_t ns)
{
	if (ns >= 10000000)
		strbuf__addf(out, "%.2f s", (double)ns / 1e9);
	else
		strbuf__addf(out, "%.2f ms", (double)ns / 1e6);
}
