/* match.c - texts that are asked for; see match.h. */
#define PCRE2_CODE_UNIT_WIDTH 8

#include "report/match.h"

#include <errno.h>
#include <pcre2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

/* Names come from strangers, and some expressions take for ever with some of
 * them: so many steps are enough for anything reasonable. */
enum { STEPS_MAX = 1000000, DEPTH_MAX = 10000, HEAP_MAX_KIB = 16384 };

struct match {
	const char *word; /* NULL: a regular expression */
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *limits;
};

void match__delete(struct match *m)
{
	if (!m)
		return;
	pcre2_match_context_free(m->limits);
	pcre2_match_data_free(m->data);
	pcre2_code_free(m->code);
	free(m);
}

static struct match *match__alloc(void)
{
	struct match *m = calloc(1, sizeof(*m));

	if (!m)
		err__set(-ENOMEM, "out of memory for a filter");
	return m;
}

static int match__compile(struct match *m, const char *regex, size_t len)
{
	PCRE2_UCHAR why[120];
	PCRE2_SIZE at;
	int code;

	m->code = pcre2_compile((PCRE2_SPTR)regex, len, PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &code,
				&at, NULL);
	if (!m->code) {
		pcre2_get_error_message(code, why, sizeof(why));
		return err__set(-EINVAL, "cannot use the regular expression '%.*s': %s at %zu",
				(int)(len < 200 ? len : 200), regex, (const char *)why, at);
	}
	m->data = pcre2_match_data_create_from_pattern(m->code, NULL);
	m->limits = pcre2_match_context_create(NULL);
	if (!m->data || !m->limits)
		return err__set(-ENOMEM, "out of memory for a filter");
	pcre2_set_match_limit(m->limits, STEPS_MAX);
	pcre2_set_depth_limit(m->limits, DEPTH_MAX);
	pcre2_set_heap_limit(m->limits, HEAP_MAX_KIB);
	return 0;
}

static struct match *match__regex(const char *regex, size_t len)
{
	struct match *m = match__alloc();

	if (m && match__compile(m, regex, len)) {
		match__delete(m);
		return NULL;
	}
	return m;
}

struct match *match__new_regex(const char *word)
{
	return match__regex(word, strlen(word));
}

struct match *match__new(const char *word)
{
	size_t len = strlen(word);
	struct match *m;

	if (len > 2 && word[0] == '/' && word[len - 1] == '/')
		return match__regex(word + 1, len - 2);
	m = match__alloc();
	if (m)
		m->word = word;
	return m;
}

/* TEXT is WORD, or between two of its commas. */
static bool list__has(const char *word, const char *text, size_t len)
{
	size_t n;

	if (strlen(word) == len && !memcmp(word, text, len))
		return true;
	for (;; word += n + 1) {
		n = strcspn(word, ",");
		if (n == len && !memcmp(word, text, len))
			return true;
		if (!word[n])
			return false;
	}
}

bool match__has(const struct match *m, const char *text, size_t len)
{
	if (m->word)
		return list__has(m->word, text, len);
	return pcre2_match(m->code, (PCRE2_SPTR)text, len, 0, 0, m->data, m->limits) >= 0;
}

/* ---- patterns ---- */

/* Whether the first character of PATTERN fits C; *NEXT is what follows it. */
static bool glob__one(const char *pattern, char c, const char **next)
{
	if (*pattern == '\\' && pattern[1])
		pattern++;
	else if (*pattern == '?') {
		*next = pattern + 1;
		return true;
	}
	*next = pattern + 1;
	return *pattern && *pattern == c;
}

bool glob__fits(const char *pattern, const char *text, size_t len)
{
	const char *end = text + len, *star = NULL, *resume = NULL, *next;

	while (text < end || *pattern == '*') {
		if (*pattern == '*') { /* it takes nothing, at first */
			star = ++pattern;
			resume = text;
		} else if (glob__one(pattern, *text, &next)) {
			pattern = next;
			text++;
		} else if (star) { /* the last star takes one more */
			pattern = star;
			text = ++resume;
		} else {
			return false;
		}
	}
	return !*pattern;
}
