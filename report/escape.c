/* escape.c - safe text and readable numbers; see escape.h. */
#include "report/escape.h"

#include <stdio.h>

size_t utf8__width(const char *s, size_t len)
{
	size_t i, width = 0;

	for (i = 0; i < len; i++)
		width += ((unsigned char)s[i] & 0xc0) != 0x80;
	return width;
}

void escape__text(struct strbuf *out, const char *s, size_t len, unsigned flags)
{
	char piece[TEXT_CHAR_MAX];
	uint32_t cp;
	size_t n;

	for (; len; s += n, len -= n) {
		n = utf8__decode(s, len, &cp);
		if (n && (!text__is_unsafe(cp) || (cp == '\t' && (flags & ESCAPE_KEEP_TAB)))) {
			strbuf__addmem(out, s, n);
			continue;
		}
		n = n ? n : 1;
		strbuf__addmem(out, piece, text__escape(piece, s, n));
	}
}

static void escape__json_char(struct strbuf *out, const char *s, size_t n, uint32_t cp)
{
	if (cp == '"' || cp == '\\') {
		strbuf__addch(out, '\\');
		strbuf__addch(out, (char)cp);
	} else if (cp == '\n') {
		strbuf__addstr(out, "\\n");
	} else if (text__is_unsafe(cp)) { /* all below U+10000 */
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
	if (v < 1000000)
		strbuf__addf(out, "%u", (unsigned)v);
	else if (v < 999995000) /* what would be rounded to 1000.00 M is 1.00 G */
		strbuf__addf(out, "%.2f M", (double)v / 1e6);
	else
		strbuf__addf(out, "%.2f G", (double)v / 1e9);
}

void number__time(struct strbuf *out, uint64_t ns)
{
	if (!ns)
		strbuf__addstr(out, "0 s");
	else if (ns >= 100000000)
		strbuf__addf(out, "%.2f s", (double)ns / 1e9);
	else
		strbuf__addf(out, ns >= 10000000 ? "%.1f ms" : "%.2f ms", (double)ns / 1e6);
}

/* ---- what is too long ---- */

/* The bytes of the first N characters of S. */
static size_t first_chars(const char *s, size_t len, size_t n)
{
	size_t i = 0;

	for (; n && i < len; n--)
		for (i++; i < len && ((unsigned char)s[i] & 0xc0) == 0x80;)
			i++;
	return i;
}

/* Where the file's name begins in "name  dir/file:line". */
static size_t last_part(const char *s, size_t len)
{
	while (len && s[len - 1] != '/' && s[len - 1] != ' ')
		len--;
	return len;
}

static bool ends_in_line(const char *s, size_t len)
{
	size_t n = len;

	while (n && s[n - 1] >= '0' && s[n - 1] <= '9')
		n--;
	return n && n < len && s[n - 1] == ':';
}

void cut__name(struct strbuf *out, const char *s, size_t len, size_t max)
{
	size_t width = utf8__width(s, len), from = last_part(s, len), tail;

	if (width <= max || max < 4) {
		strbuf__addmem(out, s, len);
		return;
	}
	max -= 3;
	tail = utf8__width(s + from, len - from);
	if (!ends_in_line(s, len))
		tail = tail < max / 2 ? tail : max / 2;
	tail = tail < max ? tail : max;
	from = first_chars(s, len, width - tail);
	strbuf__addmem(out, s, first_chars(s, len, max - tail));
	strbuf__addstr(out, "...");
	strbuf__addmem(out, s + from, len - from);
}
