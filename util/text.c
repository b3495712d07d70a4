/* text.c - text that is safe to print; see text.h. */
#include "util/text.h"

#include <string.h>

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

bool text__is_unsafe(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0x61c || cp == 0x200e ||
	       cp == 0x200f || (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069);
}

static size_t escape_byte(char *out, unsigned char c)
{
	static const char hex[] = "0123456789abcdef", named[] = "\nn\tt\rr";
	const char *p = c ? strchr(named, c) : NULL;

	out[0] = '\\';
	if (p && c < 0x20) {
		out[1] = p[1];
		return 2;
	}
	out[1] = 'x';
	out[2] = hex[c >> 4];
	out[3] = hex[c & 15];
	return 4;
}

size_t text__escape(char *out, const char *s, size_t n)
{
	size_t i, len = 0;

	for (i = 0; i < n; i++)
		len += escape_byte(out + len, (unsigned char)s[i]);
	return len;
}

void text__safe(char *out, size_t size, const char *s)
{
	size_t left = strlen(s), at = 0, n, k;
	char piece[TEXT_CHAR_MAX];
	uint32_t cp;

	for (; left; s += n, left -= n) {
		n = utf8__decode(s, left, &cp);
		k = n;
		if (!n || text__is_unsafe(cp))
			k = text__escape(piece, s, n = n ? n : 1);
		else
			memcpy(piece, s, n);
		if (k >= size - at)
			break;
		memcpy(out + at, piece, k);
		at += k;
	}
	out[at] = '\0';
}
