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
#include "report/json.h"
#include "report/names.h"
#include "report/script_line.h"

/* Begins a line. */
static struct json json__begin(struct strbuf *out, const struct script_when *w, unsigned fields)
{
	struct json line = { .out = out }, *j = &line;

	json__open(j, '{');
	if (fields & SCRIPT_NUMBER)
		json__put_num(j, "n", w->number);
	if ((fields & SCRIPT_TIME) && w->has_time)
		json__put_num(j, "time_ns", w->time_ns);
	return line;
}

static void json__end(struct json *j)
{
	json__close(j, '}');
	strbuf__addch(j->out, '\n');
}

/* ---- sites ---- */

static void put_lua(struct json *j, const struct symtab *st, const struct site *s)
{
	const struct proto *p = &st->protos[s->ref];
	struct strbuf text = STRBUF_INIT;

	if (p->chunk == STR_NONE) {
		json__put_hex(j, "addr", p->addr);
	} else if (symtab__alias(st, p->chunk)) { /* the text itself would be on each line */
		names__chunk(st, p, NAME_MEMPROF, &text);
		json__put_text(j, "chunk", strbuf__str(&text), text.len);
	} else {
		names__chunk(st, p, NAME_RAW, &text);
		json__put_text(j, "chunk", strbuf__str(&text), text.len);
	}
	json__put_num(j, "line", s->arg);
	if (p->func != STR_NONE) {
		const struct str *func = strpool__get(&st->strings, p->func);

		json__put_text(j, "func", func->s, func->len);
	}
	j->out->failed |= text.failed;
	strbuf__exit(&text);
}

static void put_frame(struct json *j, const struct symtab *st, const struct symbol_frame *f)
{
	struct strbuf func = STRBUF_INIT;

	symbolizer__add_func(st->symbolizer, f->func, &func);
	json__put_text(j, "func", strbuf__str(&func), func.len);
	if (*f->file)
		json__put_text(j, "file", f->file, strlen(f->file));
	if (*f->file && f->line)
		json__put_num(j, "line", f->line);
	j->out->failed |= func.failed;
	strbuf__exit(&func);
}

/* What is known of the code of a C function; what was inlined at its first
 * instruction, the outermost function first. */
static void put_code(struct json *j, const struct symtab *st, const struct symbol *sym)
{
	size_t i;

	if (!sym->n)
		return;
	put_frame(j, st, &sym->frames[sym->n - 1]);
	if (sym->n < 2)
		return;
	json__key(j, "inlined");
	json__open(j, '[');
	for (i = sym->n - 1; i; i--) {
		json__open(j, '{');
		put_frame(j, st, &sym->frames[i - 1]);
		json__close(j, '}');
	}
	json__close(j, ']');
}

static void put_c(struct json *j, const struct symtab *st, const struct site *s)
{
	const struct module *m = symtab__module_of(st, s);
	const struct symbol sym = symtab__symbol_of(st, s);
	const struct str *path;

	json__put_hex(j, "addr", s->arg);
	if (!m)
		return;
	path = strpool__get(&st->strings, m->path);
	json__put_text(j, "module", path->s, path->len);
	json__put_hex(j, "offset", s->arg - m->bias);
	put_code(j, st, &sym);
}

static void put_detail(struct json *j, const struct symtab *st, const struct site *s)
{
	switch (s->source) {
	case LJM_SRC_LUA:
		put_lua(j, st, s);
		break;
	case LJM_SRC_C:
		put_c(j, st, s);
		break;
	case LJM_SRC_TRACE:
		json__put_num(j, "trace", st->traces[s->ref].num);
		break;
	default:
		json__put_str(j, "vmstate", names__vmstate((unsigned)s->arg));
	}
}

static void json__site(const struct symtab *st, uint32_t site, unsigned fields, struct strbuf *out)
{
	const struct site *s = &st->sites[site];
	struct strbuf text = STRBUF_INIT;
	struct json members = { .out = out }, *j = &members;

	if (fields & SCRIPT_SOURCE)
		json__put_str(j, "source", names__source(s->source));
	if (fields & SCRIPT_SYMBOL) {
		names__site(st, site, NAME_MEMPROF, &text);
		json__put_text(j, "symbol", strbuf__str(&text), text.len);
	}
	if (fields & SCRIPT_DETAIL)
		put_detail(j, st, s);
	out->failed |= text.failed;
	strbuf__exit(&text);
}

/* ---- lines ---- */

static void json__event(const struct ljm_event *ev, const struct script_when *when,
			const struct str *site, const struct strbuf *stack, unsigned fields,
			struct strbuf *out)
{
	struct json line = json__begin(out, when, fields), *j = &line;

	if (fields & SCRIPT_EVENT)
		json__put_str(j, "event", script__event_name(ev->kind));
	if (site->len)
		json__literal(j, site->s);
	if ((fields & SCRIPT_BLOCK) && ev->kind != LJM_ALLOC) {
		json__put_hex(j, "old_addr", ev->old_addr);
		json__put_num(j, "old_size", ev->old_size);
	}
	if ((fields & SCRIPT_BLOCK) && ev->kind != LJM_FREE) {
		json__put_hex(j, "new_addr", ev->new_addr);
		json__put_num(j, "new_size", ev->new_size);
	}
	if (stack->len)
		json__literal(j, stack->buf);
	json__end(j);
}

/* ---- call stacks ---- */

static void json__stack_begin(uint64_t id, struct strbuf *out)
{
	struct json j = { .out = out };

	json__put_num(&j, "stack", id);
	json__key(&j, "frames");
	json__open(&j, '[');
}

static void json__frame(const struct symtab *st, uint32_t site, struct strbuf *out)
{
	struct strbuf text = STRBUF_INIT;
	struct json frame = { .out = out }, *j = &frame;

	json__open(j, '{');
	if (symtab__is_code(st, site)) {
		json__put_str(j, "source", "native");
		put_c(j, st, &st->sites[site]);
		json__close(j, '}');
		return;
	}
	if (site != SITE_NONE)
		json__put_str(j, "source", names__source(st->sites[site].source));
	frame__name(st, site, NAME_TABLE, &text);
	json__put_text(j, "func", strbuf__str(&text), text.len);
	strbuf__reset(&text);
	frame__file(st, site, NAME_TABLE, &text);
	if (text.len)
		json__put_text(j, "file", strbuf__str(&text), text.len);
	if (frame__line(st, site))
		json__put_num(j, "line", frame__line(st, site));
	json__close(j, '}');
	out->failed |= text.failed;
	strbuf__exit(&text);
}

/* First lines are 32 bits with a sign in the stream's 64. */
static void put_line(struct json *j, const char *key, uint64_t line)
{
	json__put_signed(j, key, (int64_t)line);
}

static void json__symbol(const struct ljm_symbol *sym, const struct script_when *when,
			 struct strbuf *out)
{
	struct json line = json__begin(out, when, ~0u), *j = &line;

	json__put_str(j, "event", "symbol");
	json__put_str(j, "source", names__source(sym->source));
	if (sym->source == LJM_SRC_TRACE) {
		json__put_num(j, "trace", sym->trace_num);
		if (sym->addr)
			json__put_hex(j, "mcode", sym->addr);
		json__put_hex(j, "proto_addr", sym->proto_addr);
		put_line(j, "line", sym->line);
	} else {
		json__put_hex(j, "addr", sym->addr);
		json__put_text(j, "name", sym->name, sym->name_len);
		if (sym->source == LJM_SRC_LUA)
			put_line(j, "line", sym->line);
	}
	if (sym->has_detail && sym->source == LJM_SRC_LUA) {
		json__put_text(j, "func", sym->func_name, sym->func_name_len);
		json__put_num(j, "last_line", sym->last_line);
	} else if (sym->has_detail && sym->source == LJM_SRC_TRACE) {
		json__put_num(j, "parent", sym->trace_parent);
		json__put_num(j, "exit", sym->trace_exit);
		json__put_num(j, "root", sym->trace_root);
		json__put_num(j, "link", sym->trace_link);
		json__put_str(j, "linktype", names__linktype(sym->trace_linktype));
	}
	json__end(j);
}

static void json__mark(const struct session_mark *m, const struct script_when *when,
		       struct strbuf *out)
{
	struct script_when w = { when->number, true, m->time_ns };
	struct json line = json__begin(out, &w, ~0u), *j = &line;

	json__put_str(j, "event", "mark");
	json__put_str(j, "kind", script__mark_name(m->kind));
	if (m->name_len)
		json__put_text(j, "name", m->name, m->name_len);
	json__end(j);
}

static void json__lost(uint64_t n, const struct script_when *when, struct strbuf *out)
{
	struct json line = json__begin(out, when, ~0u), *j = &line;

	json__put_str(j, "event", "lost");
	json__put_num(j, "count", n);
	json__end(j);
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
