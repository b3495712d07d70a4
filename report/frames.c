/* frames.c - sites as frames of call stacks; see frames.h. */
#include "report/frames.h"

#include "report/escape.h"

/* The prototype of a Lua frame; NULL for other frames. */
static const struct proto *frame__proto(const struct symtab *st, uint32_t site)
{
	if (site == SITE_NONE || st->sites[site].source != LJM_SRC_LUA)
		return NULL;
	return &st->protos[st->sites[site].ref];
}

static bool proto__is_builtin(const struct symtab *st, const struct proto *p)
{
	const struct str *chunk;

	if (p->chunk == STR_NONE || p->first_line != UINT64_MAX)
		return false;
	chunk = strpool__get(&st->strings, p->chunk);
	return !chunk->len || (chunk->s[0] != '@' && chunk->s[0] != '=');
}

static void put_text(const struct str *s, enum name_style style, struct strbuf *out)
{
	if (style == NAME_RAW)
		strbuf__addmem(out, s->s, s->len);
	else
		escape__text(out, s->s, s->len, 0);
}

void frame__proto_name(const struct symtab *st, const struct proto *p, enum name_style style,
		       struct strbuf *out)
{
	if (p->func != STR_NONE) {
		put_text(strpool__get(&st->strings, p->func), style, out);
	} else if (proto__is_builtin(st, p)) {
		put_text(strpool__get(&st->strings, p->chunk), style, out);
	} else if (p->chunk != STR_NONE && !p->first_line) {
		strbuf__addstr(out, "main chunk");
	} else {
		strbuf__addstr(out, "function <");
		names__chunk(st, p, NAME_TABLE, out);
		if (p->chunk != STR_NONE)
			strbuf__addf(out, ":%llu", (unsigned long long)p->first_line);
		strbuf__addch(out, '>');
	}
}

void frame__name(const struct symtab *st, uint32_t site, enum name_style style, struct strbuf *out)
{
	const struct proto *p = frame__proto(st, site);

	if (site == SITE_NONE)
		strbuf__addstr(out, "[frames left out]");
	else if (p)
		frame__proto_name(st, p, style, out);
	else if (st->sites[site].source == LJM_SRC_TRACE)
		strbuf__addf(out, "TRACE [%llu]",
			     (unsigned long long)st->traces[st->sites[site].ref].num);
	else if (st->sites[site].source == LJM_SRC_C && style != NAME_RAW)
		names__func(st, site, out); /* its place is told apart */
	else
		names__site(st, site, style == NAME_RAW ? NAME_RAW : NAME_TABLE, out);
}

static void cfunc__file(const struct symtab *st, uint32_t ref, enum name_style style,
			struct strbuf *out)
{
	uint32_t module = st->cfuncs.at[ref].module;

	if (module != HASHMAP_NONE)
		put_text(strpool__get(&st->strings, st->modules.at[module].path), style, out);
}

void frame__file(const struct symtab *st, uint32_t site, enum name_style style, struct strbuf *out)
{
	const struct proto *p;

	if (site == SITE_NONE)
		return;
	p = symtab__proto(st, &st->sites[site]);
	if (p && p->chunk != STR_NONE && !proto__is_builtin(st, p))
		names__chunk(st, p, style, out);
	else if (st->sites[site].source == LJM_SRC_C)
		cfunc__file(st, st->sites[site].ref, style, out);
}

uint64_t frame__line(const struct symtab *st, uint32_t site)
{
	const struct site *s;

	if (site == SITE_NONE)
		return 0;
	s = &st->sites[site];
	if (s->source == LJM_SRC_LUA)
		return s->arg;
	return s->source == LJM_SRC_TRACE ? st->traces[s->ref].line : 0;
}

uint64_t frame__first_line(const struct symtab *st, uint32_t site)
{
	const struct proto *p = frame__proto(st, site);

	return p && p->first_line != UINT64_MAX ? p->first_line : 0;
}

void frame__proto_place(const struct symtab *st, const struct proto *p, uint64_t line,
			struct strbuf *out)
{
	if (p->chunk == STR_NONE || proto__is_builtin(st, p))
		return;
	strbuf__addch(out, ' ');
	names__chunk(st, p, NAME_TABLE, out);
	if (line)
		strbuf__addf(out, ":%llu", (unsigned long long)line);
}

void frame__text(const struct symtab *st, uint32_t site, bool function, struct strbuf *out)
{
	const struct proto *p = frame__proto(st, site);

	if (site != SITE_NONE && !p && function) {
		names__func(st, site, out);
		return;
	}
	if (site != SITE_NONE && !p) { /* the name has the place in it */
		names__site(st, site, NAME_TABLE, out);
		return;
	}
	frame__name(st, site, NAME_TABLE, out);
	if (p)
		frame__proto_place(
			st, p, function ? frame__first_line(st, site) : frame__line(st, site), out);
}
