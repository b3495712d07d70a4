/* script_text.c - lines of script as text, and the names of its fields.
 *
 *	     3    0.000120  alloc    lua    app.lua:12  0x7f0010 64
 *	     4    0.000120  realloc  trace  TRACE [1] started at app.lua:3  0x7f0010 64 -> 0x7f0080
 *128
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/escape.h"
#include "report/frames.h"
#include "report/names.h"
#include "report/script_line.h"
#include "util/error.h"
#include "util/options.h"

static const struct {
	const char *name;
	enum script_field bit;
} field_names[] = {
	{ "number", SCRIPT_NUMBER }, { "time", SCRIPT_TIME },     { "event", SCRIPT_EVENT },
	{ "source", SCRIPT_SOURCE }, { "symbol", SCRIPT_SYMBOL }, { "detail", SCRIPT_DETAIL },
	{ "block", SCRIPT_BLOCK },   { "stack", SCRIPT_STACK },
};

enum { N_FIELDS = sizeof(field_names) / sizeof(field_names[0]) };

static int script_field__find(const char *word, size_t len, unsigned *fields)
{
	const char *names[N_FIELDS], *near;
	char copy[32];
	size_t i;

	for (i = 0; i < N_FIELDS; i++) {
		names[i] = field_names[i].name;
		if (strlen(names[i]) == len && !memcmp(names[i], word, len)) {
			*fields |= field_names[i].bit;
			return 0;
		}
	}
	snprintf(copy, sizeof(copy), "%.*s", (int)(len < 31 ? len : 31), word);
	near = options__suggest(copy, names, N_FIELDS);
	if (near)
		return err__set(-EINVAL, "unknown field '%s', did you mean '%s'?", copy, near);
	return err__set(-EINVAL,
			"unknown field '%s', known are: number, time, event, source, "
			"symbol, detail, block, stack",
			copy);
}

int script_fields__parse(const char *list, unsigned normal, unsigned *fields)
{
	bool add = !list || *list == '+';
	size_t len;

	*fields = add ? normal : 0;
	if (list && add)
		list++;
	for (; list && *list; list += len, list += *list == ',') {
		len = strcspn(list, ",");
		if (script_field__find(list, len, fields))
			return -EINVAL;
	}
	return *fields ? 0 : err__set(-EINVAL, "no field is given");
}

const char *script__event_name(enum ljm_kind kind)
{
	static const char *const names[] = {
		[LJM_SYMBOL] = "symbol",
		[LJM_ALLOC] = "alloc",
		[LJM_FREE] = "free",
		[LJM_REALLOC] = "realloc",
	};

	return names[kind & 3];
}

const char *script__mark_name(enum session_mark_kind kind)
{
	static const char *const names[SESSION_MARK_MAX] = {
		[SESSION_MARK_USER] = "user",       [SESSION_MARK_SCRIPT_END] = "script-end",
		[SESSION_MARK_FULL_GC] = "full-gc", [SESSION_MARK_CLOSE] = "close",
		[SESSION_MARK_PAUSE] = "pause",     [SESSION_MARK_RESUME] = "resume",
	};

	return (unsigned)kind < SESSION_MARK_MAX ? names[kind] : "unknown";
}

/* ---- text ---- */

static void put_padded(struct strbuf *out, const char *s, size_t width)
{
	size_t len = strlen(s);

	strbuf__addmem(out, s, len);
	strbuf__addch_n(out, ' ', len < width ? width - len : 0);
}

static void put_number(struct strbuf *out, uint64_t v, size_t width)
{
	size_t start = out->len, len;

	strbuf__addch_n(out, ' ', width);
	strbuf__addu(out, v);
	len = out->len - start - width;
	if (out->failed || !width)
		return;
	len = len < width ? len : width;
	memmove(out->buf + start, out->buf + start + len, out->len - start - len + 1);
	out->len -= len;
}

static void put_when(struct strbuf *out, const struct script_when *w, unsigned fields)
{
	uint64_t us = w->time_ns / 1000;
	size_t i;

	if (fields & SCRIPT_NUMBER)
		put_number(out, w->number, 10);
	if (!(fields & SCRIPT_TIME) || !w->has_time)
		return;
	put_number(out, us / 1000000, 7);
	strbuf__addch(out, '.');
	strbuf__addu(out, us % 1000000 + 1000000); /* six digits behind a 1 */
	if (out->failed)
		return;
	i = out->len - 7;
	memmove(out->buf + i, out->buf + i + 1, 7);
	out->len--;
}

static void text__site(const struct symtab *st, uint32_t site, unsigned fields, struct strbuf *out)
{
	const struct site *s = &st->sites[site];
	const struct proto *p = symtab__proto(st, s);

	if (fields & SCRIPT_SOURCE) {
		strbuf__addstr(out, "  ");
		put_padded(out, names__source(s->source), 5);
	}
	if (fields & SCRIPT_SYMBOL) {
		strbuf__addstr(out, "  ");
		names__site(st, site, NAME_TABLE, out);
	}
	if (!(fields & SCRIPT_DETAIL))
		return;
	names__detail(st, site, out);
	if (s->source == LJM_SRC_LUA && p->func != STR_NONE) {
		const struct str *func = strpool__get(&st->strings, p->func);

		strbuf__addstr(out, " (");
		escape__text(out, func->s, func->len, 0);
		strbuf__addch(out, ')');
	}
}

static void put_block(struct strbuf *out, uint64_t addr, uint64_t size)
{
	strbuf__addx(out, addr);
	strbuf__addch(out, ' ');
	strbuf__addu(out, size);
}

static void text__event(const struct ljm_event *ev, const struct script_when *when,
			const struct str *site, const struct strbuf *stack, unsigned fields,
			struct strbuf *out)
{
	put_when(out, when, fields);
	if (fields & SCRIPT_EVENT) {
		strbuf__addstr(out, "  ");
		put_padded(out, script__event_name(ev->kind), 7);
	}
	strbuf__addmem(out, site->s, site->len);
	if (fields & SCRIPT_BLOCK) {
		strbuf__addstr(out, "  ");
		if (ev->kind != LJM_ALLOC)
			put_block(out, ev->old_addr, ev->old_size);
		if (ev->kind == LJM_REALLOC)
			strbuf__addstr(out, " -> ");
		if (ev->kind != LJM_FREE)
			put_block(out, ev->new_addr, ev->new_size);
	}
	strbuf__addch(out, '\n');
	strbuf__addmem(out, strbuf__str(stack), stack->len);
}

static void text__stack_begin(uint64_t id, struct strbuf *out)
{
	strbuf__addf(out, "\tstack %llu\n", (unsigned long long)id);
}

static void text__frame(const struct symtab *st, uint32_t site, struct strbuf *out)
{
	strbuf__addch_n(out, '\t', 2);
	frame__text(st, site, false, out);
	strbuf__addch(out, '\n');
}

static void text__symbol(const struct ljm_symbol *sym, const struct script_when *when,
			 struct strbuf *out)
{
	put_when(out, when, ~0u);
	strbuf__addstr(out, "  symbol   ");
	put_padded(out, names__source(sym->source), 5);
	strbuf__addstr(out, "  ");
	if (sym->source == LJM_SRC_TRACE) {
		strbuf__addf(out, "TRACE [%llu] ", (unsigned long long)sym->trace_num);
		put_block(out, sym->proto_addr, sym->line);
	} else {
		strbuf__addx(out, sym->addr);
		strbuf__addch(out, ' ');
		escape__text(out, sym->name, sym->name_len, 0);
		if (sym->source == LJM_SRC_LUA)
			strbuf__addf(out, ":%lld", (long long)sym->line);
	}
	strbuf__addch(out, '\n');
}

static void text__mark(const struct session_mark *m, const struct script_when *when,
		       struct strbuf *out)
{
	struct script_when w = { when->number, true, m->time_ns };

	put_when(out, &w, ~0u);
	strbuf__addf(out, "  mark     %s", script__mark_name(m->kind));
	if (m->name_len) {
		strbuf__addch(out, ' ');
		escape__text(out, m->name, m->name_len, 0);
	}
	strbuf__addch(out, '\n');
}

static void text__lost(uint64_t n, const struct script_when *when, struct strbuf *out)
{
	put_when(out, when, ~0u);
	strbuf__addf(out, "  lost     %llu events\n", (unsigned long long)n);
}

const struct script_line_ops script_text = {
	.site = text__site,
	.event = text__event,
	.stack_begin = text__stack_begin,
	.frame = text__frame,
	.frame_between = "",
	.stack_end = "\n",
	.fields = ~(unsigned)SCRIPT_STACK,
	.symbol = text__symbol,
	.mark = text__mark,
	.lost = text__lost,
};
