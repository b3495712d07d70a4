/* export_ljm.c - the plain stream of the current variant (V4), for
 * luajit-parse-memprof.  Called by export.
 *
 * Symbols stay where they are; a C function that has no name in the recording
 * gets the one that its module has for it, before its first event.  Call
 * stacks, times and marks have no place in the stream and are left out.  It
 * ends where lua_close() begins, as report does: what follows is no program.
 */
#include <errno.h>
#include <stdlib.h>

#include "report/export.h"
#include "report/names.h"
#include "report/recording.h"
#include "util/error.h"
#include "util/grow.h"

struct ljm_out {
	struct export *e;
	struct symtab *st;
	struct epochs named; /* the site for which an address has got its name */
	/* Traces of the table before the events, whose prototypes may follow. */
	struct ljm_symbol *traces;
	size_t n_traces, cap_traces;
	bool closed; /* nothing that follows counts */
	uint64_t n_events;
};

static int ljm__put(struct ljm_out *l, const struct ljm_symbol *sym)
{
	struct strbuf *out = &l->e->out.buf;
	uint8_t *p;

	if (!strbuf__grow(out, ljm_symbol__size(sym)))
		return export__no_memory();
	p = (uint8_t *)out->buf + out->len;
	out->len += (size_t)(ljm__put_symbol(p, sym) - p);
	return export__flush(l->e, false);
}

static int ljm__put_traces(struct ljm_out *l)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < l->n_traces; i++)
		err = ljm__put(l, &l->traces[i]);
	l->n_traces = 0;
	return err;
}

static int ljm__symbol(void *ctx, const struct ljm_symbol *sym)
{
	struct ljm_out *l = ctx;
	int err = symtab__symbol(l->st, sym);

	if (err || l->closed)
		return err;
	if (sym->in_symtab && sym->source == LJM_SRC_TRACE) {
		if (GROW(l->traces, l->cap_traces, l->n_traces))
			return export__no_memory();
		l->traces[l->n_traces++] = *sym; /* traces have no strings */
		return 0;
	}
	if (!sym->in_symtab && ljm__put_traces(l))
		return -ENOMEM;
	return ljm__put(l, sym);
}

static int ljm__header(void *ctx, const struct session_header *h)
{
	struct ljm_out *l = ctx;

	symtab__header(l->st, h);
	return 0;
}

static int ljm__module(void *ctx, const struct session_module *m)
{
	struct ljm_out *l = ctx;

	return symtab__module(l->st, m);
}

static int ljm__mark(void *ctx, const struct session_mark *m)
{
	struct ljm_out *l = ctx;

	if (m->kind == SESSION_MARK_CLOSE && !l->e->o->load.with_close)
		l->closed = true;
	return 0;
}

/* Gives the function at ADDR the name of its module's file, or the one it had
 * before another lay there. */
static int ljm__name_c(struct ljm_out *l, uint32_t site, uint64_t addr)
{
	struct ljm_symbol sym = { .source = LJM_SRC_C, .addr = addr };
	struct strbuf name = STRBUF_INIT;
	int err = symtab__symbolize(l->st, site, false);

	names__site(l->st, site, NAME_TABLE, &name);
	sym.name = strbuf__str(&name);
	sym.name_len = name.len;
	if (err < 0 || name.failed || epochs__set(&l->named, addr, site))
		err = export__no_memory();
	else
		err = ljm__put(l, &sym);
	strbuf__exit(&name);
	return err;
}

/* Whether the stream itself tells what the function at a site is called. */
static bool ljm__is_named(const struct ljm_out *l, uint32_t site)
{
	return l->st->cfuncs.at[l->st->sites[site].ref].name != STR_NONE;
}

static int ljm__event(void *ctx, const struct ljm_event *ev)
{
	struct ljm_out *l = ctx;
	struct strbuf *out = &l->e->out.buf;
	uint32_t site = symtab__site(l->st, &ev->loc, ev->vmstate);
	uint8_t *p;
	int err;

	if (l->closed)
		return 0;
	if (site == SITE_NONE)
		return -ENOMEM;
	err = ljm__put_traces(l);
	if (!err && ev->loc.source == LJM_SRC_C && !ljm__is_named(l, site) &&
	    symtab__module_of(l->st, &l->st->sites[site]) &&
	    epochs__get(&l->named, ev->loc.addr) != site)
		err = ljm__name_c(l, site, ev->loc.addr);
	if (err || !strbuf__grow(out, LJM_EVENT_MAX + 16))
		return err ? err : export__no_memory();
	p = (uint8_t *)out->buf + out->len;
	out->len += (size_t)(ljm__put_event(p, ev) - p);
	if (!(++l->n_events & 0xfffff))
		recording__progress(l->n_events);
	return export__flush(l->e, false);
}

static int ljm__read(struct ljm_out *l, const char *path)
{
	static const struct session_handlers handlers = {
		.header = ljm__header,
		.symbol = ljm__symbol,
		.event = ljm__event,
		.mark = ljm__mark,
		.module = ljm__module,
	};
	const struct load_opts *o = &l->e->o->load;
	struct session_info info;
	int err = recording__read(path, o->force, &handlers, l, &info);

	err = err ? err : ljm__put_traces(l);
	strbuf__addch(&l->e->out.buf, (char)LJM_END);
	if (err)
		return err;
	l->e->damaged = recording__damaged(path, &info, o->quiet);
	return 0;
}

static int ljm__begin(struct ljm_out *l)
{
	struct strbuf *out = &l->e->out.buf;
	struct symtab *st = l->st = symtab__new();
	uint8_t *p;

	if (!st || !strbuf__grow(out, 64))
		return export__no_memory();
	if (!l->e->o->load.symbols.off) {
		st->symbolizer = symbolizer__new(&l->e->o->load.symbols, &st->strings);
		if (!st->symbolizer)
			return -ENOMEM;
	}
	symtab__begin_session(st);
	p = (uint8_t *)out->buf;
	out->len = (size_t)(ljm__put_header(ljm__put_symtab(p)) - p);
	return 0;
}

static int ljm__write(struct export *e)
{
	struct ljm_out l = { .e = e };
	const struct load_opts *o = &e->o->load;
	int err;

	if (o->time || o->from || o->to)
		return err__set(-EINVAL, "the format ljm is all events and takes no part of them");
	if (e->o->n_paths > 1)
		return err__set(-EINVAL, "the format ljm is one stream, '%s' is another",
				e->o->paths[1]);
	err = ljm__begin(&l);
	err = err ? err : ljm__read(&l, e->o->n_paths ? e->o->paths[0] : RECORDING_DEFAULT);
	if (l.st && !o->quiet)
		symbolizer__warn(l.st->symbolizer);
	if (l.st)
		symbolizer__save(l.st->symbolizer);
	symtab__delete(l.st);
	epochs__exit(&l.named);
	free(l.traces);
	return err;
}

const struct export_ops export_ljm = {
	.name = "ljm",
	.help = "the plain stream, for luajit-parse-memprof",
	.binary = true,
	.write = ljm__write,
};
