/* symbolize.c - names and lines of C functions; see symbolize.h. */
#include "report/symbolize.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/demangle.h"
#include "report/escape.h"
#include "report/symbolize_elf.h"
#include "report/symcache.h"
#include "util/error.h"
#include "util/grow.h"

/* A file as modules name it. */
struct source {
	uint32_t path, build_id; /* strings of the modules */
	struct build_id id;
	bool asked_cache, tried; /* it was looked for */
	bool changed; /* there are answers that the cache lacks */
	struct elf_symbols *elf; /* NULL while not open, and when it cannot be */
	char *warning;
};

struct answer {
	uint32_t source;
	uint32_t first, n; /* frames */
	uint64_t addr; /* as in the file */
};

struct symbolizer {
	struct symbolizer_opts opts;
	const struct strpool *strings;
	struct symbol_files files;
	struct source *sources;
	size_t n_sources, cap_sources;
	struct answer *answers;
	size_t n_answers, cap_answers;
	struct hashmap map; /* of answers */
	struct symbol_frame *frames;
	size_t n_frames, cap_frames;
	struct strpool names; /* functions and files */
};

static int symbolizer__no_memory(void)
{
	return err__set(-ENOMEM, "out of memory for symbols");
}

struct symbolizer *symbolizer__new(const struct symbolizer_opts *o, const struct strpool *strings)
{
	struct symbolizer *s = calloc(1, sizeof(*s));

	if (s && !symbol_files__init(&s->files, o->symfs, o->debug_dir)) {
		s->opts = *o;
		s->strings = strings;
		return s;
	}
	free(s);
	symbolizer__no_memory();
	return NULL;
}

void symbolizer__delete(struct symbolizer *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->n_sources; i++) {
		elf_symbols__delete(s->sources[i].elf);
		free(s->sources[i].warning);
	}
	symbol_files__exit(&s->files);
	free(s->sources);
	free(s->answers);
	hashmap__exit(&s->map);
	free(s->frames);
	strpool__exit(&s->names);
	free(s);
}

/* ---- answers ---- */

static uint32_t symbolizer__find_source(const struct symbolizer *s, const struct module *m)
{
	uint32_t i;

	for (i = 0; i < s->n_sources; i++) /* as many as files with C functions */
		if (s->sources[i].path == m->path && s->sources[i].build_id == m->build_id)
			return i;
	return HASHMAP_NONE;
}

static const struct answer *symbolizer__find(const struct symbolizer *s, uint32_t source,
					     uint64_t addr)
{
	uint64_t hash = hash__u64x2(source, addr);
	uint32_t pos, id;

	for (id = hashmap__first(&s->map, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(&s->map, hash, &pos))
		if (s->answers[id].source == source && s->answers[id].addr == addr)
			return &s->answers[id];
	return NULL;
}

/* Begins an answer, which gets the frames that are added until the next. */
static int symbolizer__add(struct symbolizer *s, uint32_t source, uint64_t addr)
{
	if (GROW(s->answers, s->cap_answers, s->n_answers) ||
	    hashmap__add(&s->map, hash__u64x2(source, addr), (uint32_t)s->n_answers))
		return -ENOMEM;
	s->answers[s->n_answers++] =
		(struct answer){ .source = source, .first = (uint32_t)s->n_frames, .addr = addr };
	return 0;
}

static const char *symbolizer__keep(struct symbolizer *s, const char *text, size_t len)
{
	uint32_t id = strpool__intern(&s->names, text, len);

	return id == STR_NONE ? NULL : strpool__get(&s->names, id)->s;
}

static int symbolizer__add_frame(struct symbolizer *s, const struct symcache_frame *f)
{
	struct symbol_frame *frame;

	if (GROW(s->frames, s->cap_frames, s->n_frames))
		return -ENOMEM;
	frame = &s->frames[s->n_frames];
	frame->func = symbolizer__keep(s, f->func, f->func_len);
	frame->file = symbolizer__keep(s, f->file, f->file_len);
	frame->line = f->line;
	if (!frame->func || !frame->file)
		return -ENOMEM;
	s->n_frames++;
	s->answers[s->n_answers - 1].n++;
	return 0;
}

/* ---- out of files ---- */

/* A file name as debug information has it, with the folder it lies in. */
static void frame__file(const struct elf_frame *f, struct strbuf *out)
{
	if (f->file && f->dir) {
		strbuf__addstr(out, f->dir);
		strbuf__addch(out, '/');
	}
	strbuf__addstr(out, f->file ? f->file : "");
}

static int put_elf_frame(void *ctx, const struct elf_frame *f)
{
	struct symbolizer *s = ctx;
	struct strbuf file = STRBUF_INIT;
	struct symcache_frame frame = { .func = f->func, .func_len = strlen(f->func) };
	int err;

	if (s->answers[s->n_answers - 1].n == SYMCACHE_FRAMES_MAX)
		return 0; /* nobody inlines so deep, and nobody reads so much */
	frame__file(f, &file);
	frame.file = strbuf__str(&file);
	frame.file_len = file.len;
	frame.line = f->file && f->line > 0 ? (uint64_t)f->line : 0;
	err = file.failed ? -ENOMEM : symbolizer__add_frame(s, &frame);
	strbuf__exit(&file);
	return err;
}

static void source__open(struct symbolizer *s, struct source *src)
{
	const struct str *path = strpool__get(s->strings, src->path);
	struct strbuf text = STRBUF_INIT;

	src->tried = true;
	/* Neither [vdso] nor memory without a name is a file. */
	if (!path->len || path->s[0] != '/')
		return;
	src->elf = elf_symbols__new(&s->files, path->s, path->len, &src->id);
	if (src->elf)
		return;
	escape__text(&text, path->s, path->len, 0);
	if (asprintf(&src->warning, "no symbols of '%s': %s", strbuf__str(&text), err__msg()) < 0)
		src->warning = NULL;
	strbuf__exit(&text);
}

/* ---- out of the cache, and into it ---- */

static bool source__is_cached(const struct symbolizer *s, const struct source *src)
{
	return !s->opts.no_cache && src->id.len;
}

static void source__head(const struct symbolizer *s, const struct source *src,
			 struct symcache_head *head)
{
	const struct str *path = strpool__get(s->strings, src->path);

	head->fingerprint = symbol_files__fingerprint(&s->files, path->s, path->len, &src->id);
	head->has_lines = src->elf && elf_symbols__has_lines(src->elf);
}

struct loading {
	struct symbolizer *s;
	uint32_t source;
};

static int put_cached(void *ctx, uint64_t addr, const struct symcache_frame *frames, size_t n)
{
	const struct loading *l = ctx;
	size_t i;

	if (symbolizer__add(l->s, l->source, addr))
		return -ENOMEM;
	for (i = 0; i < n; i++)
		if (symbolizer__add_frame(l->s, &frames[i]))
			return -ENOMEM;
	return 0;
}

static int source__load(struct symbolizer *s, uint32_t source)
{
	struct source *src = &s->sources[source];
	struct loading l = { s, source };
	struct symcache_head head;

	src->asked_cache = true;
	if (!source__is_cached(s, src))
		return 0;
	source__head(s, src, &head);
	return symcache__load(&src->id, &head, put_cached, &l) == -ENOMEM ? -ENOMEM : 0;
}

static int by_addr(const void *x, const void *y)
{
	const struct answer *a = *(const struct answer *const *)x;
	const struct answer *b = *(const struct answer *const *)y;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static void save_answer(const struct symbolizer *s, const struct answer *a, struct strbuf *out)
{
	uint32_t i;

	symcache__add(out, a->addr, a->n);
	for (i = a->first; i < a->first + a->n; i++) {
		const struct symbol_frame *f = &s->frames[i];
		struct symcache_frame frame = { f->func, f->file, strlen(f->func), strlen(f->file),
						f->line };

		symcache__add_frame(out, &frame);
	}
}

static void source__save(const struct symbolizer *s, uint32_t source, const struct answer **all)
{
	const struct source *src = &s->sources[source];
	struct strbuf out = STRBUF_INIT;
	struct symcache_head head;
	size_t i, n = 0;

	for (i = 0; i < s->n_answers; i++)
		if (s->answers[i].source == source)
			all[n++] = &s->answers[i];
	qsort(all, n, sizeof(*all), by_addr);
	for (i = 0; i < n; i++)
		save_answer(s, all[i], &out);
	source__head(s, src, &head);
	symcache__write(&out, &src->id, &head, n);
	strbuf__exit(&out);
}

void symbolizer__save(struct symbolizer *s)
{
	const struct answer **all;
	uint32_t i;

	all = s ? malloc((s->n_answers + 1) * sizeof(*all)) : NULL;
	for (i = 0; all && i < s->n_sources; i++) {
		/* What was not found in a file that is not there is no answer. */
		if (s->sources[i].changed && s->sources[i].elf)
			source__save(s, i, all);
		s->sources[i].changed = false;
	}
	free(all);
}

/* ---- asking ---- */

static uint32_t symbolizer__source(struct symbolizer *s, const struct module *m)
{
	const struct str *id = strpool__get(s->strings, m->build_id);
	uint32_t at = symbolizer__find_source(s, m);

	if (at != HASHMAP_NONE || GROW(s->sources, s->cap_sources, s->n_sources))
		return at;
	s->sources[s->n_sources] = (struct source){ .path = m->path, .build_id = m->build_id };
	build_id__set(&s->sources[s->n_sources].id, id->s, id->len);
	return (uint32_t)s->n_sources++;
}

static int symbolizer__ask(struct symbolizer *s, uint32_t source, uint64_t addr)
{
	struct source *src = &s->sources[source];
	int err;

	if (!src->tried)
		source__open(s, src);
	err = symbolizer__add(s, source, addr);
	if (!err && src->elf)
		err = elf_symbols__find(src->elf, addr, put_elf_frame, s);
	if (src->elf && source__is_cached(s, src))
		src->changed = true;
	return err;
}

int symbolizer__resolve(struct symbolizer *s, const struct module *m, uint64_t addr)
{
	uint32_t source = symbolizer__source(s, m);

	addr -= m->bias;
	if (source == HASHMAP_NONE)
		return symbolizer__no_memory();
	if (symbolizer__find(s, source, addr))
		return 0;
	if (!s->sources[source].asked_cache && source__load(s, source))
		return symbolizer__no_memory();
	if (symbolizer__find(s, source, addr))
		return 1;
	return symbolizer__ask(s, source, addr) ? symbolizer__no_memory() : 1;
}

struct symbol symbolizer__get(const struct symbolizer *s, const struct module *m, uint64_t addr)
{
	struct symbol none = { NULL, 0 };
	const struct answer *a;
	uint32_t source;

	if (!s)
		return none;
	source = symbolizer__find_source(s, m);
	a = source == HASHMAP_NONE ? NULL : symbolizer__find(s, source, addr - m->bias);
	return a && a->n ? (struct symbol){ s->frames + a->first, a->n } : none;
}

void symbolizer__add_func(const struct symbolizer *s, const char *func, struct strbuf *out)
{
	if ((s && s->opts.mangled) || !demangle__append(func, out))
		strbuf__addstr(out, func);
}

void symbolizer__warn(const struct symbolizer *s)
{
	size_t i;

	for (i = 0; s && i < s->n_sources; i++)
		if (s->sources[i].warning)
			err__print("warning: %s", s->sources[i].warning);
}
