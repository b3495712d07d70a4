/* script_json.c - lines of script as JSON objects.
 *
 *	{"n":3,"time_ns":120000,"event":"alloc","source":"lua","symbol":"@app.lua:12",
 *	 "chunk":"@app.lua","line":12,"new_addr":"0x7f0010","new_size":64,
 *	 "stack":7,"frames":[{"source":"lua","func":"f","file":"app.lua","line":12},...]}
 *
 * Addresses are strings, because not every reader has whole numbers of 64
 * bits; sizes and lines are numbers.  Other lines: "event" is "symbol", "mark"
 * or "lost".
 */
#include "report/escape.h"
#include "report/frames.h"
#include "report/names.h"
#include "report/script_line.h"

/* Appends ,"KEY": */
static void put_key(struct strbuf *out, const char *key)
{
	if (out->len && out->buf[out->len - 1] != '{')
		strbuf__addch(out, ',');
	strbuf__addch(out, '"');
	strbuf__addstr(out, key);
	strbuf__addmem(out, "\":", 2);
}

static void put_num(struct strbuf *out, const char *key, uint64_t v)
{
	put_key(out, key);
	strbuf__addu(out, v);
}

static void put_addr(struct strbuf *out, const char *key, uint64_t v)
{
	put_key(out, key);
	strbuf__addch(out, '"');
	strbuf__addx(out, v);
	strbuf__addch(out, '"');
}

static void put_text(struct strbuf *out, const char *key, const char *s, size_t len)
{
	put_key(out, key);
	escape__json(out, s, len);
}

static void put_word(struct strbuf *out, const char *key, const char *word)
{
	put_key(out, key);
	strbuf__addch(out, '"');
	strbuf__addstr(out, word);
	strbuf__addch(out, '"');
}

static void put_when(struct strbuf *out, const struct script_when *w, unsigned fields)
{
	strbuf__addch(out, '{');
	if (fields & SCRIPT_NUMBER)
		put_num(out, "n", w->number);
	if ((fields & SCRIPT_TIME) && w->has_time)
		put_num(out, "time_ns", w->time_ns);
}

/* ---- sites ---- */

static void put_lua(struct strbuf *out, const struct symtab *st, const struct site *s)
{
	const struct proto *p = &st->protos[s->ref];
	struct strbuf text = STRBUF_INIT;

	if (p->chunk == STR_NONE) {
		put_addr(out, "addr", p->addr);
	} else if (symtab__alias(st, p->chunk)) { /* the text itself would be on each line */
		names__chunk(st, p, NAME_MEMPROF, &text);
		put_text(out, "chunk", strbuf__str(&text), text.len);
	} else {
		names__chunk(st, p, NAME_RAW, &text);
		put_text(out, "chunk", strbuf__str(&text), text.len);
	}
	put_num(out, "line", s->arg);
	if (p->func != STR_NONE) {
		const struct str *func = strpool__get(&st->strings, p->func);

		put_text(out, "func", func->s, func->len);
	}
	strbuf__exit(&text);
}

static void put_frame(struct strbuf *out, const struct symtab *st, const struct symbol_frame *f)
{
	struct strbuf func = STRBUF_INIT;

	symbolizer__add_func(st->symbolizer, f->func, &func);
	put_text(out, "func", strbuf__str(&func), func.len);
	if (*f->file)
		put_text(out, "file", f->file, strlen(f->file));
	if (*f->file && f->line)
		put_num(out, "line", f->line);
	out->failed |= func.failed;
	strbuf__exit(&func);
}

/* What is known of the code of a C function; what was inlined at its first
 * instruction, the outermost function first. */
static void put_code(struct strbuf *out, const struct symtab *st, const struct symbol *sym)
{
	size_t i;

	if (!sym->n)
		return;
	put_frame(out, st, &sym->frames[sym->n - 1]);
	if (sym->n < 2)
		return;
	put_key(out, "inlined");
	for (i = sym->n - 1; i; i--) {
		strbuf__addstr(out, i + 1 == sym->n ? "[{" : ",{");
		put_frame(out, st, &sym->frames[i - 1]);
		strbuf__addch(out, '}');
	}
	strbuf__addch(out, ']');
}

static void put_c(struct strbuf *out, const struct symtab *st, const struct site *s)
{
	const struct module *m = symtab__module_of(st, s);
	const struct symbol sym = symtab__symbol_of(st, s);
	const struct str *path;

	put_addr(out, "addr", s->arg);
	if (!m)
		return;
	path = strpool__get(&st->strings, m->path);
	put_text(out, "module", path->s, path->len);
	put_addr(out, "offset", s->arg - m->bias);
	put_code(out, st, &sym);
}

static void put_detail(struct strbuf *out, const struct symtab *st, const struct site *s)
{
	switch (s->source) {
	case LJM_SRC_LUA:
		put_lua(out, st, s);
		break;
	case LJM_SRC_C:
		put_c(out, st, s);
		break;
	case LJM_SRC_TRACE:
		put_num(out, "trace", st->traces[s->ref].num);
		break;
	default:
		put_word(out, "vmstate", names__vmstate((unsigned)s->arg));
	}
}

static void json__site(const struct symtab *st, uint32_t site, unsigned fields, struct strbuf *out)
{
	const struct site *s = &st->sites[site];
	struct strbuf text = STRBUF_INIT;

	if (fields & SCRIPT_SOURCE)
		put_word(out, "source", names__source(s->source));
	if (fields & SCRIPT_SYMBOL) {
		names__site(st, site, NAME_MEMPROF, &text);
		put_text(out, "symbol", strbuf__str(&text), text.len);
	}
	if (fields & SCRIPT_DETAIL)
		put_detail(out, st, s);
	strbuf__exit(&text);
}

/* ---- lines ---- */

static void json__event(const struct ljm_event *ev, const struct script_when *when,
			const struct str *site, const struct strbuf *stack, unsigned fields,
			struct strbuf *out)
{
	put_when(out, when, fields);
	if (fields & SCRIPT_EVENT)
		put_word(out, "event", script__event_name(ev->kind));
	if (site->len && out->len && out->buf[out->len - 1] != '{')
		strbuf__addch(out, ',');
	strbuf__addmem(out, site->s, site->len);
	if ((fields & SCRIPT_BLOCK) && ev->kind != LJM_ALLOC) {
		put_addr(out, "old_addr", ev->old_addr);
		put_num(out, "old_size", ev->old_size);
	}
	if ((fields & SCRIPT_BLOCK) && ev->kind != LJM_FREE) {
		put_addr(out, "new_addr", ev->new_addr);
		put_num(out, "new_size", ev->new_size);
	}
	strbuf__addmem(out, strbuf__str(stack), stack->len);
	strbuf__addmem(out, "}\n", 2);
}

/* ---- call stacks ---- */

static void json__stack_begin(uint64_t id, struct strbuf *out)
{
	strbuf__addf(out, ",\"stack\":%llu,\"frames\":[", (unsigned long long)id);
}

static void json__frame(const struct symtab *st, uint32_t site, struct strbuf *out)
{
	struct strbuf text = STRBUF_INIT;

	strbuf__addch(out, '{');
	if (site != SITE_NONE)
		put_word(out, "source", names__source(st->sites[site].source));
	frame__name(st, site, NAME_TABLE, &text);
	put_text(out, "func", strbuf__str(&text), text.len);
	strbuf__reset(&text);
	frame__file(st, site, NAME_TABLE, &text);
	if (text.len)
		put_text(out, "file", strbuf__str(&text), text.len);
	if (frame__line(st, site))
		put_num(out, "line", frame__line(st, site));
	strbuf__addch(out, '}');
	strbuf__exit(&text);
}

/* First lines are 32 bits with a sign in the stream's 64. */
static void put_line(struct strbuf *out, const char *key, uint64_t line)
{
	put_key(out, key);
	strbuf__addf(out, "%lld", (long long)line);
}

static void json__symbol(const struct ljm_symbol *sym, const struct script_when *when,
			 struct strbuf *out)
{
	put_when(out, when, ~0u);
	put_word(out, "event", "symbol");
	put_word(out, "source", names__source(sym->source));
	if (sym->source == LJM_SRC_TRACE) {
		put_num(out, "trace", sym->trace_num);
		if (sym->addr)
			put_addr(out, "mcode", sym->addr);
		put_addr(out, "proto_addr", sym->proto_addr);
		put_line(out, "line", sym->line);
	} else {
		put_addr(out, "addr", sym->addr);
		put_text(out, "name", sym->name, sym->name_len);
		if (sym->source == LJM_SRC_LUA)
			put_line(out, "line", sym->line);
	}
	if (sym->has_detail && sym->source == LJM_SRC_LUA) {
		put_text(out, "func", sym->func_name, sym->func_name_len);
		put_num(out, "last_line", sym->last_line);
	} else if (sym->has_detail && sym->source == LJM_SRC_TRACE) {
		put_num(out, "parent", sym->trace_parent);
		put_num(out, "exit", sym->trace_exit);
		put_num(out, "root", sym->trace_root);
		put_num(out, "link", sym->trace_link);
		put_word(out, "linktype", names__linktype(sym->trace_linktype));
	}
	strbuf__addmem(out, "}\n", 2);
}

static void json__mark(const struct session_mark *m, const struct script_when *when,
		       struct strbuf *out)
{
	struct script_when w = { when->number, true, m->time_ns };

	put_when(out, &w, ~0u);
	put_word(out, "event", "mark");
	put_word(out, "kind", script__mark_name(m->kind));
	if (m->name_len)
		put_text(out, "name", m->name, m->name_len);
	strbuf__addmem(out, "}\n", 2);
}

static void json__lost(uint64_t n, const struct script_when *when, struct strbuf *out)
{
	put_when(out, when, ~0u);
	put_word(out, "event", "lost");
	put_num(out, "count", n);
	strbuf__addmem(out, "}\n", 2);
}

const struct script_line_ops script_json = {
	.site = json__site,
	.event = json__event,
	.stack_begin = json__stack_begin,
	.frame = json__frame,
	.frame_between = ",",
	.stack_end = "]",
	.fields = ~0u,
	.symbol = json__symbol,
	.mark = json__mark,
	.lost = json__lost,
};
