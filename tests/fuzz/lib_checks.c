/* lib_checks.c - see lib_checks.h. */
#include "tests/fuzz/lib_checks.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <string.h>

/* ---- text ---- */

static size_t utf8_len(unsigned char c)
{
	if (c < 0x80)
		return 1;
	if (c >= 0xc2 && c <= 0xdf)
		return 2;
	if (c >= 0xe0 && c <= 0xef)
		return 3;
	return c >= 0xf0 && c <= 0xf4 ? 4 : 0;
}

/* U+0080 to U+009F are controls of eight bits, U+200E to U+202E and U+2066 to
 * U+2069 have marks of direction and ends of lines among harmless ones that no
 * output has, U+061C is one more. */
static bool is_bad_char(const unsigned char *p, size_t n)
{
	if (n == 1)
		return (p[0] < 0x20 && p[0] != '\n' && p[0] != '\t') || p[0] == 0x7f;
	if (n == 2)
		return (p[0] == 0xc2 && p[1] < 0xa0) || (p[0] == 0xd8 && p[1] == 0x9c);
	if (n != 3 || p[0] != 0xe2)
		return false;
	if (p[1] == 0x80)
		return p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xa8 && p[2] <= 0xae);
	return p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9;
}

bool is_safe_text(const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t i, n;

	for (; len; p += n, len -= n) {
		n = len > 1 && p[0] == '\r' && p[1] == '\n' ? 2 : utf8_len(*p);
		if (*p == '\r' && n == 2)
			continue;
		if (!n || n > len || is_bad_char(p, n))
			return false;
		for (i = 1; i < n; i++)
			if (p[i] < 0x80 || p[i] > 0xbf)
				return false;
	}
	return true;
}

/* ---- JSON ---- */

struct json {
	const char *p, *end;
	int depth;
};

static void json_blanks(struct json *j)
{
	while (j->p < j->end && strchr(" \n\t\r", *j->p) && *j->p)
		j->p++;
}

static bool json_take(struct json *j, char c)
{
	if (j->p == j->end || *j->p != c)
		return false;
	j->p++;
	return true;
}

static bool json_word(struct json *j, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(j->end - j->p) < n || memcmp(j->p, word, n) != 0)
		return false;
	j->p += n;
	return true;
}

static bool json_escape(struct json *j)
{
	int i;

	if (j->p == j->end || !*j->p || !strchr("\"\\/bfnrtu", *j->p))
		return false;
	if (*j->p++ != 'u')
		return true;
	for (i = 0; i < 4; i++, j->p++)
		if (j->p == j->end || !*j->p || !strchr("0123456789abcdefABCDEF", *j->p))
			return false;
	return true;
}

static bool json_string(struct json *j)
{
	if (!json_take(j, '"'))
		return false;
	while (j->p < j->end) {
		unsigned char c = (unsigned char)*j->p++;

		if (c == '"')
			return true;
		if (c < 0x20 || (c == '\\' && !json_escape(j)))
			return false;
	}
	return false;
}

static size_t json_digits(struct json *j)
{
	size_t n = 0;

	for (; j->p < j->end && *j->p >= '0' && *j->p <= '9'; j->p++)
		n++;
	return n;
}

static bool json_number(struct json *j)
{
	json_take(j, '-');
	if (!json_take(j, '0') && !json_digits(j))
		return false;
	if (json_take(j, '.') && !json_digits(j))
		return false;
	if (json_take(j, 'e') || json_take(j, 'E')) {
		if (!json_take(j, '-'))
			json_take(j, '+');
		return json_digits(j);
	}
	return true;
}

static bool json_value(struct json *j);

static bool json_members(struct json *j, char close, bool named)
{
	json_blanks(j);
	if (json_take(j, close))
		return true;
	do {
		json_blanks(j);
		if (named && (!json_string(j) || (json_blanks(j), !json_take(j, ':'))))
			return false;
		if (!json_value(j))
			return false;
		json_blanks(j);
	} while (json_take(j, ','));
	return json_take(j, close);
}

static bool json_value(struct json *j)
{
	bool ok = false;

	json_blanks(j);
	if (j->p == j->end || j->depth > 2000)
		return false;
	j->depth++;
	if (json_take(j, '{'))
		ok = json_members(j, '}', true);
	else if (json_take(j, '['))
		ok = json_members(j, ']', false);
	else if (*j->p == '"')
		ok = json_string(j);
	else
		ok = json_word(j, "true") || json_word(j, "false") || json_word(j, "null") ||
		     json_number(j);
	j->depth--;
	return ok;
}

bool is_json(const char *s, size_t len)
{
	struct json j = { s, s + len, 0 };

	if (!json_value(&j))
		return false;
	json_blanks(&j);
	return j.p == j.end;
}

bool is_json_lines(const char *s, size_t len)
{
	const char *end = s + len, *nl;

	for (; s < end; s = nl + 1) {
		nl = memchr(s, '\n', (size_t)(end - s));
		if (!nl || !is_json(s, (size_t)(nl - s)))
			return false;
	}
	return true;
}

/* ---- CSV ---- */

/* Behind the field at S, or NULL when it is none. */
static const char *csv_field(const char *s, const char *end)
{
	if (s == end || *s != '"') {
		while (s < end && *s != ',' && *s != '\r') {
			if (*s == '"' || *s == '\n')
				return NULL;
			s++;
		}
		return s;
	}
	for (s++; s < end; s++) {
		if (*s != '"')
			continue;
		if (s + 1 == end || s[1] != '"')
			return s + 1;
		s++;
	}
	return NULL;
}

bool is_csv(const char *s, size_t len)
{
	const char *end = s + len;
	size_t first = 0, n;

	while (s < end) {
		for (n = 1; (s = csv_field(s, end)) && s < end && *s == ','; s++)
			n++;
		if (!s || end - s < 2 || s[0] != '\r' || s[1] != '\n' || (first && n != first))
			return false;
		first = n;
		s += 2;
	}
	return true;
}

/* ---- Markdown ---- */

/* Cells end at a bar, also inside a code span, unless it is behind a backslash;
 * a bar of a name has a number instead. */
static size_t count_bars(const char *s, size_t len)
{
	size_t n = 0, i;

	for (i = 0; i < len; i++)
		n += s[i] == '|';
	return n;
}

/* Outside of code spans only our own tags and characters are markup. */
static bool is_tame_line(const char *s, size_t len)
{
	bool code = false;
	size_t i;

	for (i = 0; i < len; i++) {
		if (s[i] == '`')
			code = !code;
		if (code || (s[i] != '<' && s[i] != '&'))
			continue;
		if ((len - i < 6 || memcmp(s + i, "<code>", 6) != 0) &&
		    (len - i < 7 || memcmp(s + i, "</code>", 7) != 0) &&
		    (len - i < 2 || memcmp(s + i, "&#", 2) != 0))
			return false;
	}
	return !code;
}

static bool is_fence(const char *s, size_t len)
{
	size_t i = 0;

	while (i < len && i < 4 && s[i] == ' ')
		i++;
	return i < 4 && len - i >= 3 &&
	       (memcmp(s + i, "```", 3) == 0 || memcmp(s + i, "~~~", 3) == 0);
}

bool is_tame_markdown(const char *s, size_t len)
{
	const char *end = s + len, *nl;
	size_t bars = 0, n, fences = 0;

	for (; s < end; s = nl + 1) {
		nl = memchr(s, '\n', (size_t)(end - s));
		if (!nl)
			return false;
		n = (size_t)(nl - s);
		if (is_fence(s, n)) {
			/* Ours alone, and two of them. */
			if (n != 3 || ++fences > 2)
				return false;
		} else if (fences == 1) {
			continue;
		} else if (n && *s == '|') {
			if ((bars && count_bars(s, n) != bars) || !is_tame_line(s, n))
				return false;
			bars = count_bars(s, n);
		} else {
			bars = 0;
		}
	}
	return fences != 1;
}

/* ---- archives ---- */

static bool is_tame_name(const char *name)
{
	const char *s = name;

	if (!name || !*name || *name == '/')
		return false;
	while (s) {
		size_t n = strcspn(s, "/");

		if (n == 0 || (n == 1 && *s == '.') || (n == 2 && memcmp(s, "..", 2) == 0))
			return false;
		s = s[n] ? s + n + 1 : NULL;
	}
	return true;
}

static bool is_tame_entry(struct archive_entry *e)
{
	const char *link = archive_entry_hardlink(e);

	if (!is_tame_name(archive_entry_pathname(e)) || archive_entry_symlink(e))
		return false;
	if (link)
		return is_tame_name(link);
	return archive_entry_filetype(e) == AE_IFREG && !(archive_entry_perm(e) & ~0666u);
}

bool is_tame_archive(const void *p, size_t len)
{
	struct archive *a = archive_read_new();
	struct archive_entry *e;
	bool tame = true;
	int rc;

	archive_read_support_filter_zstd(a);
	archive_read_support_format_tar(a);
	tame = archive_read_open_memory(a, p, len) == ARCHIVE_OK;
	while (tame && (rc = archive_read_next_header(a, &e)) != ARCHIVE_EOF)
		tame = rc >= ARCHIVE_WARN && is_tame_entry(e);
	archive_read_free(a);
	return tame;
}
