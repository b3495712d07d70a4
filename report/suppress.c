/* suppress.c - reading and applying suppressions; see suppress.h. */
#include "report/suppress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/fields_table.h"
#include "report/frames.h"
#include "report/match.h"
#include "util/error.h"
#include "util/grow.h"

/* More than anybody writes by hand. */
enum { FILE_MAX = 1 << 20, PATTERN_MAX = 4096, PATTERNS_MAX = 4096 };

enum rule_kind { RULE_LEAK, RULE_SYMBOL, RULE_CHUNK, RULE_MODULE, RULE_STACK, RULE_MAX };

static const char *const rule_words[RULE_MAX] = { "leak", "symbol", "chunk", "module", "stack" };

enum answer { UNKNOWN, NO, YES };

struct pattern {
	char *text; /* "..." in a stack: any frames */
	char *known; /* enum answer by site, made when asked */
};

struct rule {
	enum rule_kind kind;
	size_t line;
	size_t first, n; /* patterns */
	bool used;
};

struct suppress {
	char *path, *bytes;
	struct rule *rules;
	size_t n, cap;
	struct pattern *patterns;
	size_t n_patterns, cap_patterns;
	size_t n_sites; /* that answers are kept for */
};

static int suppress__no_memory(void)
{
	return err__set(-ENOMEM, "out of memory for suppressions");
}

void suppress__delete(struct suppress *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->n_patterns; i++)
		free(s->patterns[i].known);
	free(s->patterns);
	free(s->rules);
	free(s->bytes);
	free(s->path);
	free(s);
}

/* ---- reading ---- */

static int bad_line(const struct suppress *s, size_t line, const char *why)
{
	return err__set(-EINVAL, "'%s', line %zu: %s", s->path, line, why);
}

static char *trim(char *s)
{
	size_t len;

	s += strspn(s, " \t");
	for (len = strlen(s); len && strchr(" \t\r", s[len - 1]); len--)
		s[len - 1] = '\0';
	return s;
}

static int suppress__add_pattern(struct suppress *s, size_t line, char *text)
{
	text = trim(text);
	if (!*text)
		return bad_line(s, line, "a pattern is empty");
	if (strlen(text) > PATTERN_MAX)
		return bad_line(s, line, "a pattern is too long");
	if (s->n_patterns == PATTERNS_MAX)
		return bad_line(s, line, "there are too many rules");
	if (GROW(s->patterns, s->cap_patterns, s->n_patterns))
		return suppress__no_memory();
	s->patterns[s->n_patterns++] = (struct pattern){ text, NULL };
	return 0;
}

/* "a < b < c", in place. */
static int suppress__add_patterns(struct suppress *s, size_t line, char *text, bool stack)
{
	char *next;
	int err = 0;

	do {
		next = stack ? strstr(text, " < ") : NULL;
		if (next)
			*next = '\0';
		err = suppress__add_pattern(s, line, text);
		text = next ? next + 3 : NULL;
	} while (!err && text);
	return err;
}

static int suppress__add_rule(struct suppress *s, size_t line, char *text)
{
	struct rule r = { .line = line, .first = s->n_patterns };
	char *colon = strchr(text, ':');
	int err;

	if (!colon)
		return bad_line(s, line, "this is no rule (one is like 'leak:PATTERN')");
	*colon = '\0';
	while (r.kind < RULE_MAX && strcmp(rule_words[r.kind], text))
		r.kind++;
	if (r.kind == RULE_MAX)
		return bad_line(s, line,
				"unknown kind of rule, known are: leak, symbol, chunk, "
				"module, stack");
	err = suppress__add_patterns(s, line, colon + 1, r.kind == RULE_STACK);
	r.n = s->n_patterns - r.first;
	if (!err && GROW(s->rules, s->cap, s->n))
		err = suppress__no_memory();
	if (!err)
		s->rules[s->n++] = r;
	return err;
}

static int suppress__parse(struct suppress *s, size_t len)
{
	char *line = s->bytes, *eol, *end = s->bytes + len;
	size_t number = 1;
	int err = 0;

	for (; line < end && !err; line = eol + 1, number++) {
		eol = memchr(line, '\n', (size_t)(end - line));
		eol = eol ? eol : end;
		*eol = '\0';
		if (strlen(line) != (size_t)(eol - line))
			return bad_line(s, number, "this is no text");
		line = trim(line);
		if (*line && *line != '#')
			err = suppress__add_rule(s, number, line);
	}
	return err;
}

static int suppress__read(struct suppress *s, const char *path)
{
	FILE *f = fopen(path, "re");
	size_t len;
	int err = 0;

	if (!f)
		return err__errno(errno, "cannot open '%s'", path);
	len = fread(s->bytes, 1, FILE_MAX + 1, f);
	if (ferror(f))
		err = err__errno(errno ? errno : EIO, "cannot read '%s'", path);
	else if (len > FILE_MAX)
		err = err__set(-EFBIG, "'%s' is too large for a file of suppressions", path);
	fclose(f);
	return err ? err : suppress__parse(s, len);
}

struct suppress *suppress__load(const char *path)
{
	struct suppress *s = calloc(1, sizeof(*s));

	if (s) {
		s->path = strdup(path);
		s->bytes = malloc(FILE_MAX + 2);
	}
	if (!s || !s->path || !s->bytes)
		suppress__no_memory();
	else if (!suppress__read(s, path))
		return s;
	suppress__delete(s);
	return NULL;
}

/* ---- applying ---- */

static bool fits(const char *pattern, const struct strbuf *text)
{
	return glob__fits(pattern, strbuf__str(text), text->len);
}

static bool pattern__fits_frame(const char *pattern, const struct symtab *st, uint32_t site,
				struct strbuf *text)
{
	frame__name(st, site, NAME_TABLE, text);
	if (fits(pattern, text))
		return true;
	strbuf__reset(text);
	frame__text(st, site, false, text);
	if (fits(pattern, text))
		return true;
	strbuf__reset(text);
	if (site != SITE_NONE)
		names__site(st, site, NAME_TABLE, text);
	return fits(pattern, text);
}

static bool pattern__fits_new(const char *pattern, enum rule_kind kind, const struct symtab *st,
			      uint32_t site)
{
	struct strbuf text = STRBUF_INIT;
	bool ret;

	if (kind == RULE_CHUNK || kind == RULE_MODULE) {
		fields[kind == RULE_CHUNK ? F_CHUNK : F_MODULE].text(st, site, &text);
		ret = fits(pattern, &text);
	} else {
		ret = pattern__fits_frame(pattern, st, site, &text);
	}
	strbuf__exit(&text);
	return ret;
}

/* Whether a pattern fits a site: found out once. */
static bool suppress__fits(const struct suppress *s, struct pattern *p, enum rule_kind kind,
			   const struct symtab *st, uint32_t site)
{
	size_t i = site == SITE_NONE ? s->n_sites : site;

	if (p->known[i] == UNKNOWN)
		p->known[i] = pattern__fits_new(p->text, kind, st, site) ? YES : NO;
	return p->known[i] == YES;
}

/* As glob__fits(), of frames for characters, and the outer ones may be any. */
static bool suppress__fits_stack(struct suppress *s, const struct rule *r, const struct symtab *st,
				 const uint32_t *frames, size_t n)
{
	struct pattern *p = &s->patterns[r->first];
	size_t i = 0, at = 0, star = SIZE_MAX, resume = 0;

	while (at < r->n) {
		if (!strcmp(p[at].text, "...")) {
			star = ++at;
			resume = i;
		} else if (i < n && suppress__fits(s, &p[at], r->kind, st, frames[i])) {
			at++;
			i++;
		} else if (star != SIZE_MAX && i < n) {
			at = star;
			i = ++resume;
		} else {
			return false;
		}
	}
	return true;
}

static bool rule__fits(struct suppress *s, const struct rule *r, const struct aggregate *a,
		       const struct cell_key *c, const uint32_t *frames, size_t n)
{
	struct pattern *p = &s->patterns[r->first];
	size_t i;

	if (r->kind == RULE_STACK)
		return suppress__fits_stack(s, r, a->symtab, frames, n);
	if (suppress__fits(s, p, r->kind, a->symtab, c->site))
		return true;
	for (i = 0; r->kind == RULE_LEAK && i < n; i++)
		if (suppress__fits(s, p, r->kind, a->symtab, frames[i]))
			return true;
	return false;
}

static bool suppress__has(struct suppress *s, const struct aggregate *a, uint32_t cell)
{
	uint32_t frames[STACK_DEPTH_MAX + 1];
	struct cell_key c = aggregate__cell(a, cell);
	size_t n = aggregate__frames(a, cell, frames), i;

	for (i = 0; i < s->n; i++)
		if (rule__fits(s, &s->rules[i], a, &c, frames, n)) {
			s->rules[i].used = true;
			return true;
		}
	return false;
}

static int suppress__prepare(struct suppress *s, struct aggregate *a)
{
	size_t i;

	s->n_sites = a->symtab->n_sites;
	for (i = 0; i < s->n_patterns; i++) {
		free(s->patterns[i].known);
		s->patterns[i].known = calloc(s->n_sites + 1, 1);
		if (!s->patterns[i].known)
			return suppress__no_memory();
	}
	return symtab__symbolize_all(a->symtab);
}

int suppress__apply(struct suppress *s, struct aggregate *a, bool *skip)
{
	int err = suppress__prepare(s, a);
	uint32_t cell;

	for (cell = 0; !err && cell < a->n_stats; cell++)
		if (suppress__has(s, a, cell))
			skip[cell] = true;
	return err;
}

void suppress__warn(const struct suppress *s)
{
	size_t i;

	for (i = 0; s && i < s->n; i++)
		if (!s->rules[i].used)
			err__print("'%s', line %zu: this rule fits nothing", s->path,
				   s->rules[i].line);
}
