/* export_frames.c - places and functions for other tools; see export_frames.h. */
#include "report/export_frames.h"

#include <stdlib.h>
#include <string.h>

#include "report/diff.h"
#include "report/escape.h"
#include "util/grow.h"

int export_frames__init(struct export_frames *f, const struct symtab *st, bool by_func)
{
	memset(f, 0, sizeof(*f));
	f->st = st;
	f->by_func = by_func;
	f->left_out = HASHMAP_NONE;
	f->n_sites = st->n_sites;
	f->of_site = malloc((st->n_sites + 1) * sizeof(*f->of_site));
	if (!f->of_site || strpool__intern(&f->strings, "", 0) == STR_NONE)
		return -ENOMEM;
	memset(f->of_site, 0xff, (st->n_sites + 1) * sizeof(*f->of_site));
	return 0;
}

void export_frames__exit(struct export_frames *f)
{
	strpool__exit(&f->strings);
	free(f->funcs);
	free(f->locs);
	free(f->of_site);
	hashmap__exit(&f->func_map);
	hashmap__exit(&f->loc_map);
	memset(f, 0, sizeof(*f));
}

static uint32_t intern_func(struct export_frames *f, const struct export_func *func)
{
	uint64_t hash = hash__u64x2((uint64_t)func->name << 32 | func->file, func->first_line);
	uint32_t pos, id;

	for (id = hashmap__first(&f->func_map, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(&f->func_map, hash, &pos))
		if (f->funcs[id].name == func->name && f->funcs[id].file == func->file &&
		    f->funcs[id].first_line == func->first_line)
			return id;
	if (GROW(f->funcs, f->cap_funcs, f->n_funcs) ||
	    hashmap__add(&f->func_map, hash, (uint32_t)f->n_funcs))
		return HASHMAP_NONE;
	f->funcs[f->n_funcs] = *func;
	return (uint32_t)f->n_funcs++;
}

static uint32_t intern_loc(struct export_frames *f, const struct export_loc *loc)
{
	uint64_t hash = hash__u64x2(loc->func, loc->line);
	uint32_t pos, id;

	for (id = hashmap__first(&f->loc_map, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(&f->loc_map, hash, &pos))
		if (f->locs[id].func == loc->func && f->locs[id].line == loc->line)
			return id;
	if (GROW(f->locs, f->cap_locs, f->n_locs) ||
	    hashmap__add(&f->loc_map, hash, (uint32_t)f->n_locs))
		return HASHMAP_NONE;
	f->locs[f->n_locs] = *loc;
	return (uint32_t)f->n_locs++;
}

/* The code of a C function, when its module says where it is written. */
static const struct symbol_frame *site__code(const struct symtab *st, uint32_t site)
{
	struct symbol sym;

	if (site == SITE_NONE || st->sites[site].source != LJM_SRC_C)
		return NULL;
	sym = symtab__symbol_of(st, &st->sites[site]);
	return sym.n && *sym.frames[sym.n - 1].file ? &sym.frames[sym.n - 1] : NULL;
}

/* A name that the same place has in another run, too. */
static void put_stable_name(const struct symtab *st, uint32_t site, struct strbuf *text)
{
	const struct proto *p = site == SITE_NONE ? NULL : symtab__proto(st, &st->sites[site]);

	if (site != SITE_NONE && st->sites[site].source == LJM_SRC_TRACE)
		strbuf__addstr(text, "TRACE");
	else if (site != SITE_NONE && st->sites[site].source == LJM_SRC_C)
		diff_key__symbol(st, site, text);
	else if (p && p->chunk == STR_NONE)
		strbuf__addstr(text, "[unknown]");
	else
		frame__name(st, site, NAME_TABLE, text);
}

/* A function that is called nothing would be no frame for some readers. */
static uint32_t frame_name(struct export_frames *f, uint32_t site, struct strbuf *text)
{
	if (f->stable)
		put_stable_name(f->st, site, text);
	else
		frame__name(f->st, site, NAME_TABLE, text);
	if (!text->len)
		strbuf__addstr(text, "?");
	return text->failed ? STR_NONE : strpool__intern(&f->strings, text->buf, text->len);
}

static uint32_t frame_file(struct export_frames *f, uint32_t site, const struct symbol_frame *code,
			   struct strbuf *text)
{
	strbuf__reset(text);
	if (code)
		escape__text(text, code->file, strlen(code->file), 0);
	else
		frame__file(f->st, site, NAME_TABLE, text);
	return text->failed ? STR_NONE : strpool__intern(&f->strings, strbuf__str(text), text->len);
}

/* The file with the code of a C function. */
static uint32_t frame_object(struct export_frames *f, uint32_t site, struct strbuf *text)
{
	strbuf__reset(text);
	if (site != SITE_NONE && f->st->sites[site].source == LJM_SRC_C)
		frame__file(f->st, site, NAME_TABLE, text);
	return text->failed ? STR_NONE : strpool__intern(&f->strings, strbuf__str(text), text->len);
}

/* Whether a function is known by its name, so that its lines may move. */
static bool frame__is_by_name(const struct export_frames *f, uint32_t site)
{
	const struct proto *p;

	if (!f->stable || !f->by_func || site == SITE_NONE ||
	    f->st->sites[site].source != LJM_SRC_LUA)
		return false;
	p = symtab__proto(f->st, &f->st->sites[site]);
	return p && p->by_name;
}

static uint32_t make_loc(struct export_frames *f, uint32_t site)
{
	const struct symbol_frame *code = site__code(f->st, site);
	struct strbuf text = STRBUF_INIT;
	struct export_func func = {
		.first_line = code ? code->line : frame__first_line(f->st, site),
		.source = site == SITE_NONE ? 0 : f->st->sites[site].source,
	};
	struct export_loc loc = { .site = site };

	func.name = frame_name(f, site, &text);
	func.file = frame_file(f, site, code, &text);
	func.object = frame_object(f, site, &text);
	strbuf__exit(&text);
	if (func.name == STR_NONE || func.file == STR_NONE || func.object == STR_NONE)
		return HASHMAP_NONE;
	/* A call is at its line, and in a function that begins elsewhere. */
	if (symtab__is_code(f->st, site))
		func.first_line = 0;
	/* A trace begins where it begins; more is not known of where it is. */
	if (func.source == LJM_SRC_TRACE)
		func.first_line = frame__line(f->st, site);
	if (frame__is_by_name(f, site))
		func.first_line = 0;
	loc.line = f->by_func || code ? func.first_line : frame__line(f->st, site);
	if (code && !f->by_func)
		loc.line = code->line;
	loc.func = intern_func(f, &func);
	return loc.func == HASHMAP_NONE ? HASHMAP_NONE : intern_loc(f, &loc);
}

uint32_t export_frames__loc(struct export_frames *f, uint32_t site)
{
	uint32_t *loc = site == SITE_NONE ? &f->left_out : &f->of_site[site];

	if (*loc == HASHMAP_NONE)
		*loc = make_loc(f, site);
	return *loc;
}
