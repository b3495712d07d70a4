/* names_detail.c - what of a site is not in its name; see names.h. */
#include "report/escape.h"
#include "report/names.h"

static void add_place(const struct symbol_frame *f, struct strbuf *out)
{
	if (!*f->file)
		return;
	strbuf__addstr(out, " at ");
	escape__text(out, f->file, strlen(f->file), 0);
	if (f->line) {
		strbuf__addch(out, ':');
		strbuf__addu(out, f->line);
	}
}

/* "cjson_decode at lua_cjson.c:1267, cjson.so+0x4f20", and what was inlined at
 * its first instruction: "..., inlined strbuf_init at strbuf.c:40". */
static void detail__c(const struct symtab *st, const struct site *s, struct strbuf *out)
{
	const struct module *m = symtab__module_of(st, s);
	struct symbol sym = symtab__symbol_of(st, s);
	size_t i;

	if (!m || (!sym.n && st->cfuncs.at[s->ref].name == STR_NONE))
		return; /* its name says all there is */
	strbuf__addstr(out, " (");
	if (sym.n) {
		names__c_symbol(st, sym.frames[sym.n - 1].func, out);
		add_place(&sym.frames[sym.n - 1], out);
		strbuf__addstr(out, ", ");
	}
	names__module(st, m, out);
	strbuf__addch(out, '+');
	strbuf__addx(out, s->arg - m->bias);
	for (i = sym.n; i > 1; i--) {
		strbuf__addstr(out, ", inlined ");
		names__c_symbol(st, sym.frames[i - 2].func, out);
		add_place(&sym.frames[i - 2], out);
	}
	strbuf__addch(out, ')');
}

/* "side trace of 1, links to 1: root", "links to 2: loop" */
static void detail__trace(const struct trace *t, struct strbuf *out)
{
	if (t->linktype == LJM_LINK_UNKNOWN && !t->root)
		return;
	strbuf__addstr(out, " (");
	if (t->root)
		strbuf__addf(out, "side trace of %u, ", t->root);
	if (t->link && t->link != t->num)
		strbuf__addf(out, "links to %u: ", t->link);
	strbuf__addstr(out, names__linktype(t->linktype));
	strbuf__addch(out, ')');
}

void names__detail(const struct symtab *st, uint32_t site, struct strbuf *out)
{
	const struct site *s = &st->sites[site];

	if (s->source == LJM_SRC_C)
		detail__c(st, s, out);
	else if (s->source == LJM_SRC_TRACE)
		detail__trace(&st->traces[s->ref], out);
}
