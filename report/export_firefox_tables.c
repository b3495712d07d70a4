/* export_firefox_tables.c - the tables that a profile of the Firefox Profiler
 * shares among its threads; see export_firefox.h.
 */
#include <stdlib.h>

#include "report/export_firefox.h"
#include "util/grow.h"

/* ---- stacks and marks ---- */

uint64_t firefox__offset(const struct aggregate *a, size_t session)
{
	uint64_t first = a->sessions[0].start_wall_ns, start = a->sessions[session].start_wall_ns;

	return first && start > first ? start - first : 0;
}

static uint32_t intern_stack(struct firefox *f, uint32_t prefix, uint32_t loc)
{
	uint64_t hash = hash__u64((uint64_t)prefix << 32 | loc);
	uint32_t pos, id;

	for (id = hashmap__first(&f->stack_map, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(&f->stack_map, hash, &pos))
		if (f->stacks[id].prefix == prefix && f->stacks[id].loc == loc)
			return id;
	if (GROW(f->stacks, f->cap_stacks, f->n_stacks) ||
	    hashmap__add(&f->stack_map, hash, (uint32_t)f->n_stacks))
		return HASHMAP_NONE;
	f->stacks[f->n_stacks] = (struct firefox_stack){ prefix, loc };
	return (uint32_t)f->n_stacks++;
}

static int firefox__make_stacks(struct firefox *f)
{
	uint32_t locs[STACK_DEPTH_MAX + 1], cell, id;
	size_t n;

	f->stack_of = malloc((f->e->a->n_stats + 1) * sizeof(*f->stack_of));
	if (!f->stack_of)
		return export__no_memory();
	for (cell = 0; cell < f->e->a->n_stats; cell++) {
		n = export__stack(f->e, cell, locs);
		id = HASHMAP_NONE;
		do {
			if (n)
				id = intern_stack(f, id, locs[--n]);
			if (id == HASHMAP_NONE)
				return export__no_memory();
		} while (n);
		f->stack_of[cell] = id;
	}
	return 0;
}

static const char *mark__name(const struct timeline_mark *m)
{
	static const char *const names[SESSION_MARK_MAX] = {
		[SESSION_MARK_SCRIPT_END] = "script end",
		[SESSION_MARK_FULL_GC] = "full collection",
		[SESSION_MARK_CLOSE] = "close",
		[SESSION_MARK_PAUSE] = "pause",
		[SESSION_MARK_RESUME] = "resume",
	};

	return m->kind < SESSION_MARK_MAX && names[m->kind] ? names[m->kind] : m->name;
}

static int firefox__add_mark(struct firefox *f, const struct timeline_mark *m, uint64_t offset)
{
	struct strbuf text = STRBUF_INIT;
	const char *name = mark__name(m);
	uint32_t id = STR_NONE;

	escape__text(&text, name, strlen(name), 0);
	if (!text.failed)
		id = strpool__intern(&f->e->frames.strings, strbuf__str(&text), text.len);
	strbuf__exit(&text);
	f->marks[f->n_marks++] = (struct firefox_mark){ m->at + offset, id };
	return id == STR_NONE ? export__no_memory() : 0;
}

static int firefox__make_marks(struct firefox *f)
{
	const struct aggregate *a = f->e->a;
	size_t i, k, n = 0;
	int err = 0;

	for (i = 0; i < a->n_sessions; i++)
		n += a->sessions[i].timeline.n_marks;
	f->marks = malloc((n + 1) * sizeof(*f->marks));
	if (!f->marks)
		return export__no_memory();
	for (i = 0; i < a->n_sessions; i++)
		for (k = 0; !err && k < a->sessions[i].timeline.n_marks; k++)
			err = firefox__add_mark(f, &a->sessions[i].timeline.marks[k],
						firefox__offset(a, i));
	return err;
}

int firefox__begin(struct firefox *f)
{
	const struct aggregate *a = f->e->a;
	uint64_t end;
	size_t i;
	int err;

	f->by_time = a->sessions[0].timeline.by_time;
	for (i = 0; i < a->n_sessions; i++) {
		end = firefox__offset(a, i) + a->sessions[i].timeline.end;
		f->end = end > f->end ? end : f->end;
	}
	err = firefox__make_stacks(f);
	return err ? err : firefox__make_marks(f);
}

void firefox__end(struct firefox *f)
{
	free(f->stacks);
	free(f->stack_of);
	free(f->marks);
	hashmap__exit(&f->stack_map);
}

/* ---- columns ---- */

static void begin_column(struct firefox *f, const char *key)
{
	json__key(&f->j, key);
	json__open(&f->j, '[');
}

static void end_column(struct firefox *f)
{
	json__close(&f->j, ']');
}

void firefox__put_constants(struct firefox *f, const char *key, size_t n, const char *value)
{
	begin_column(f, key);
	for (; n; n--)
		json__literal(&f->j, value ? value : "null");
	end_column(f);
}

/* 0 stands for what is not known. */
static void put_line(struct firefox *f, uint64_t line)
{
	if (line)
		json__num(&f->j, line);
	else
		json__null(&f->j);
}

static int put_stack_table(struct firefox *f)
{
	size_t i;
	int err = 0;

	json__key(&f->j, "stackTable");
	json__open(&f->j, '{');
	begin_column(f, "frame");
	for (i = 0; !err && i < f->n_stacks; i++) {
		json__num(&f->j, f->stacks[i].loc);
		err = export__flush(f->e, false);
	}
	end_column(f);
	begin_column(f, "prefix");
	for (i = 0; !err && i < f->n_stacks; i++) {
		if (f->stacks[i].prefix == HASHMAP_NONE)
			json__null(&f->j);
		else
			json__num(&f->j, f->stacks[i].prefix);
		err = export__flush(f->e, false);
	}
	end_column(f);
	json__put_num(&f->j, "length", f->n_stacks);
	json__close(&f->j, '}');
	return err;
}

static void put_frame_table(struct firefox *f)
{
	const struct export_frames *fr = &f->e->frames;
	size_t n = fr->n_locs;
	uint32_t i;

	json__key(&f->j, "frameTable");
	json__open(&f->j, '{');
	begin_column(f, "func");
	for (i = 0; i < n; i++)
		json__num(&f->j, fr->locs[i].func);
	end_column(f);
	begin_column(f, "line");
	for (i = 0; i < n; i++)
		put_line(f, fr->locs[i].line);
	end_column(f);
	begin_column(f, "category");
	for (i = 0; i < n; i++)
		json__num(&f->j, export_frames__func(fr, i)->source);
	end_column(f);
	firefox__put_constants(f, "subcategory", n, "0");
	firefox__put_constants(f, "column", n, NULL);
	firefox__put_constants(f, "address", n, "-1");
	firefox__put_constants(f, "inlineDepth", n, "0");
	firefox__put_constants(f, "nativeSymbol", n, NULL);
	firefox__put_constants(f, "innerWindowID", n, NULL);
	json__put_num(&f->j, "length", n);
	json__close(&f->j, '}');
}

/* The files of functions are numbered in the order of the functions. */
static uint32_t *number_sources(const struct export_frames *fr, uint32_t *n)
{
	uint32_t *of_string = malloc((fr->strings.n + 1) * sizeof(*of_string));
	size_t i;

	*n = 0;
	if (!of_string)
		return NULL;
	memset(of_string, 0xff, (fr->strings.n + 1) * sizeof(*of_string));
	for (i = 0; i < fr->n_funcs; i++)
		if (fr->funcs[i].file && of_string[fr->funcs[i].file] == HASHMAP_NONE)
			of_string[fr->funcs[i].file] = (*n)++;
	return of_string;
}

static void put_sources(struct firefox *f, const uint32_t *of_string, uint32_t n)
{
	const struct export_frames *fr = &f->e->frames;
	uint32_t next = 0;
	size_t i;

	json__key(&f->j, "sources");
	json__open(&f->j, '{');
	begin_column(f, "filename");
	for (i = 0; i < fr->n_funcs; i++) {
		if (!fr->funcs[i].file || of_string[fr->funcs[i].file] != next)
			continue;
		json__num(&f->j, fr->funcs[i].file);
		next++;
	}
	end_column(f);
	firefox__put_constants(f, "id", n, NULL);
	json__put_num(&f->j, "length", n);
	json__close(&f->j, '}');
}

static void put_func_table(struct firefox *f, const uint32_t *source_of)
{
	const struct export_frames *fr = &f->e->frames;
	size_t n = fr->n_funcs, i;

	json__key(&f->j, "funcTable");
	json__open(&f->j, '{');
	begin_column(f, "name");
	for (i = 0; i < n; i++)
		json__num(&f->j, fr->funcs[i].name);
	end_column(f);
	begin_column(f, "source");
	for (i = 0; i < n; i++) {
		if (fr->funcs[i].file)
			json__num(&f->j, source_of[fr->funcs[i].file]);
		else
			json__null(&f->j);
	}
	end_column(f);
	begin_column(f, "lineNumber");
	for (i = 0; i < n; i++)
		put_line(f, fr->funcs[i].first_line);
	end_column(f);
	firefox__put_constants(f, "columnNumber", n, NULL);
	firefox__put_constants(f, "isJS", n, "false");
	firefox__put_constants(f, "relevantForJS", n, "false");
	firefox__put_constants(f, "resource", n, "-1");
	json__put_num(&f->j, "length", n);
	json__close(&f->j, '}');
}

/* Names of functions are known, so there is nothing to look up in libraries. */
static void put_empty_table(struct firefox *f, const char *key, const char *const *columns)
{
	json__key(&f->j, key);
	json__open(&f->j, '{');
	for (; *columns; columns++)
		firefox__put_constants(f, *columns, 0, NULL);
	json__put_num(&f->j, "length", 0);
	json__close(&f->j, '}');
}

static void put_strings(struct firefox *f)
{
	const struct strpool *strings = &f->e->frames.strings;
	size_t i;

	begin_column(f, "stringArray");
	for (i = 0; i < strings->n; i++)
		json__text(&f->j, strings->strs[i].s, strings->strs[i].len);
	end_column(f);
}

int firefox__put_shared(struct firefox *f)
{
	static const char *const resources[] = { "type", "lib", "name", "host", NULL };
	static const char *const symbols[] = { "libIndex", "address", "name", "functionSize",
					       NULL };
	uint32_t n_sources, *source_of = number_sources(&f->e->frames, &n_sources);
	int err;

	if (!source_of)
		return export__no_memory();
	json__key(&f->j, "shared");
	json__open(&f->j, '{');
	err = put_stack_table(f);
	put_frame_table(f);
	put_func_table(f, source_of);
	put_sources(f, source_of, n_sources);
	put_empty_table(f, "resourceTable", resources);
	put_empty_table(f, "nativeSymbols", symbols);
	put_strings(f);
	json__close(&f->j, '}');
	free(source_of);
	return err ? err : export__flush(f->e, false);
}
