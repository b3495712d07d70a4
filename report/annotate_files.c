/* annotate_files.c - what each line of each file did, and where the files are;
 * see annotate.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/annotate.h"
#include "report/names.h"
#include "util/error.h"
#include "util/grow.h"
#include "util/options.h"

int annotate__no_memory(void)
{
	return err__set(-ENOMEM, "out of memory for the annotation");
}

/* ---- the line of a cell ---- */

/* A built-in function that is written in Lua has lines of no file. */
static bool proto__is_builtin(const struct symtab *st, const struct proto *p)
{
	const struct str *chunk = strpool__get(&st->strings, p->chunk);

	return p->first_line == UINT64_MAX &&
	       (!chunk->len || (chunk->s[0] != '@' && chunk->s[0] != '='));
}

static struct line_key line_key__nowhere(enum nowhere why)
{
	return (struct line_key){ .chunk = STR_NONE, .line = why };
}

/* The line that a frame is at, or where its trace starts.  A C function and a
 * built-in one have none: NOWHERE_C. */
static struct line_key frame__key(const struct symtab *st, uint32_t site)
{
	const struct site *s = &st->sites[site];
	const struct proto *p = symtab__proto(st, s);
	uint64_t line = s->source == LJM_SRC_TRACE ? st->traces[s->ref].line : s->arg;

	if (s->source == LJM_SRC_INTERNAL)
		return line_key__nowhere(NOWHERE_VM);
	if (s->source == LJM_SRC_C)
		return line_key__nowhere(NOWHERE_C);
	if (!p || p->chunk == STR_NONE)
		return line_key__nowhere(NOWHERE_LUA);
	if (proto__is_builtin(st, p))
		return line_key__nowhere(NOWHERE_C);
	/* In a stack the line is 0 when it is not known. */
	if (!line || line == UINT64_MAX)
		return line_key__nowhere(NOWHERE_LUA);
	return (struct line_key){ .chunk = p->chunk, .line = line };
}

/* What a C function allocates is put to the line that called it, if call
 * stacks were recorded.  *SITE is the one that has the line. */
static struct line_key cell__key(const struct aggregate *a, uint32_t cell, uint32_t *site)
{
	uint32_t frames[STACK_DEPTH_MAX + 1];
	size_t n = aggregate__frames(a, cell, frames), i;
	struct line_key key = line_key__nowhere(NOWHERE_C);

	for (i = 0; i < n && frames[i] != SITE_NONE; i++) {
		*site = frames[i];
		key = frame__key(a->symtab, frames[i]);
		if (key.chunk != STR_NONE || key.line != NOWHERE_C)
			return key;
	}
	return key;
}

static void annotate__row_name(const void *ctx, uint32_t cell, struct strbuf *out)
{
	const struct annotate *an = ctx;
	uint32_t site;
	struct line_key key = cell__key(an->a, cell, &site);

	strbuf__addmem(out, &key, sizeof(key));
}

static struct line_key row__key(const struct annotate *an, const struct row *row)
{
	struct line_key key;

	memcpy(&key, rows__name(&an->t.rows, row)->s, sizeof(key));
	return key;
}

/* ---- files ---- */

static int file__add_line(struct annotate_file *f, uint64_t line, const struct row *row)
{
	if (GROW(f->lines, f->cap, f->n))
		return annotate__no_memory();
	f->lines[f->n++] = (struct annotate_line){ line, row };
	return 0;
}

/* OF_CHUNK has the file of each string, or HASHMAP_NONE. */
static struct annotate_file *annotate__file(struct annotate *an, uint32_t *of_chunk, uint32_t chunk)
{
	if (of_chunk[chunk] != HASHMAP_NONE)
		return &an->files[of_chunk[chunk]];
	if (GROW(an->files, an->cap, an->n))
		return NULL;
	an->files[an->n] = (struct annotate_file){ .chunk = chunk, .proto = HASHMAP_NONE };
	of_chunk[chunk] = (uint32_t)an->n;
	return &an->files[an->n++];
}

static int annotate__add_row(struct annotate *an, uint32_t *of_chunk, const struct row *row)
{
	struct line_key key = row__key(an, row);
	u128 value = an->o->view.metric->field->value(row);
	struct annotate_file *f;

	if (key.chunk == STR_NONE) {
		an->nowhere[key.line] += value;
		return 0;
	}
	f = annotate__file(an, of_chunk, key.chunk);
	if (!f)
		return annotate__no_memory();
	f->value += value;
	return file__add_line(f, key.line, row);
}

/* What only cells tell: the prototypes of a file, and what is of traces. */
static void annotate__add_cell(struct annotate *an, const uint32_t *of_chunk, uint32_t cell)
{
	const struct symtab *st = an->a->symtab;
	uint32_t site = aggregate__cell(an->a, cell).site;
	struct line_key key = cell__key(an->a, cell, &site);
	struct annotate_file *f;
	struct row row;

	if (key.chunk == STR_NONE || of_chunk[key.chunk] == HASHMAP_NONE)
		return;
	f = &an->files[of_chunk[key.chunk]];
	f->proto = (uint32_t)(symtab__proto(st, &st->sites[site]) - st->protos);
	row__of_cell(&row, an->a, cell);
	if (st->sites[site].source == LJM_SRC_TRACE)
		f->traces += an->o->view.metric->field->value(&row);
}

static int line__cmp(const void *x, const void *y)
{
	const struct annotate_line *a = x, *b = y;

	return a->line < b->line ? -1 : a->line > b->line;
}

static int file__cmp(const void *x, const void *y)
{
	const struct annotate_file *a = x, *b = y;

	if (a->value != b->value)
		return a->value > b->value ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int file__finish(struct annotate *an, struct annotate_file *f)
{
	const struct symtab *st = an->a->symtab;
	struct strbuf name = STRBUF_INIT;

	names__chunk(st, &st->protos[f->proto], NAME_TABLE, &name);
	f->name = name.failed ? NULL : strdup(strbuf__str(&name));
	strbuf__exit(&name);
	qsort(f->lines, f->n, sizeof(*f->lines), line__cmp);
	return f->name ? 0 : annotate__no_memory();
}

static int annotate__make_files(struct annotate *an, uint32_t *of_chunk)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < an->t.rows.n; i++)
		err = annotate__add_row(an, of_chunk, &an->t.rows.at[i]);
	for (i = 0; !err && i < an->a->n_stats; i++)
		if (an->t.rows.of_cell[i] != HASHMAP_NONE)
			annotate__add_cell(an, of_chunk, (uint32_t)i);
	for (i = 0; !err && i < an->n; i++)
		err = file__finish(an, &an->files[i]);
	if (!err && an->n)
		qsort(an->files, an->n, sizeof(*an->files), file__cmp);
	return err;
}

/* ---- which files ---- */

/* "app.lua" is any file of that name, in whatever folder. */
static bool name__fits(const char *word, const char *name, size_t len)
{
	size_t n = strlen(word);

	if (n > len || memcmp(name + len - n, word, n) != 0)
		return false;
	return n == len || (n && name[len - n - 1] == '/');
}

static bool file__fits(const struct annotate *an, const struct annotate_file *f, const char *word)
{
	const struct symtab *st = an->a->symtab;
	const struct str *chunk = strpool__get(&st->strings, f->chunk);
	size_t alias = symtab__alias(st, f->chunk);
	char number[64];

	while (!strncmp(word, "./", 2))
		word += 2;
	if (!*word)
		return false;
	snprintf(number, sizeof(number), "function_alias_%zu", alias);
	if (alias)
		return !strcmp(word, number);
	return name__fits(word, f->name, strlen(f->name)) ||
	       (chunk->len && (chunk->s[0] == '@' || chunk->s[0] == '=') &&
		name__fits(word, chunk->s + 1, chunk->len - 1)) ||
	       (chunk->len == strlen(word) && !memcmp(chunk->s, word, chunk->len));
}

/* As record calls its files. */
static bool is_recording_name(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (!strcmp(dot, ".zst") || !strcmp(dot, ".old"));
}

static int unknown_file(const struct annotate *an, const char *word)
{
	const char **names = malloc((an->n + 1) * sizeof(*names)), *near;
	size_t i;

	if (!names)
		return annotate__no_memory();
	for (i = 0; i < an->n; i++)
		names[i] = an->files[i].name;
	near = options__suggest(word, names, an->n);
	free(names);
	if (near)
		return err__set(-ENOENT, "nothing was recorded in '%s', did you mean '%s'?", word,
				near);
	if (is_recording_name(word))
		return err__set(-ENOENT, "'%s' is no source (-i names the recording)", word);
	return err__set(-ENOENT,
			"nothing was recorded in '%s' ('ljperf report --sort chunk' lists what is)",
			word);
}

static int annotate__choose(struct annotate *an)
{
	size_t i, k;
	bool found;

	for (k = 0; k < an->o->n_names; k++) {
		for (found = false, i = 0; i < an->n; i++)
			if (file__fits(an, &an->files[i], an->o->names[k]))
				an->files[i].wanted = found = true;
		if (!found)
			return unknown_file(an, an->o->names[k]);
	}
	for (i = 0; !an->o->n_names && i < an->n; i++)
		an->files[i].wanted = true;
	return 0;
}

int annotate__make(struct annotate *an)
{
	size_t size = (an->a->symtab->strings.n + 1) * sizeof(uint32_t);
	uint32_t *of_chunk = malloc(size);
	int err;

	if (!of_chunk)
		return annotate__no_memory();
	memset(of_chunk, 0xff, size);
	err = rows__make(&an->t.rows, an->a, annotate__row_name, an);
	err = err ? err : annotate__make_files(an, of_chunk);
	free(of_chunk);
	if (err)
		return err;
	an->t.total = an->o->view.metric->field->value(&an->t.rows.all);
	return annotate__choose(an);
}

void annotate__exit(struct annotate *an)
{
	size_t i;

	for (i = 0; i < an->n; i++) {
		source__exit(&an->files[i].source);
		free(an->files[i].name);
		free(an->files[i].lines);
		free(an->files[i].path);
	}
	free(an->files);
	table__exit(&an->t);
}

/* ---- the source ---- */

/* Reads the source from FOLDER/NAME; FOLDER may be empty.  -ENOENT when it is
 * not there. */
static int file__try(const struct annotate *an, struct annotate_file *f, const char *folder,
		     const char *name)
{
	struct strbuf path = STRBUF_INIT;
	int err = -ENOMEM;

	if (*folder) {
		strbuf__addstr(&path, folder);
		strbuf__addch(&path, '/');
	}
	strbuf__addstr(&path, name);
	if (!path.failed)
		err = source__read(&f->source, strbuf__str(&path));
	if (!err)
		f->path = strdup(strbuf__str(&path));
	else if (err != -ENOENT && err != -ENOTDIR && err != -ENOMEM && !an->o->view.quiet)
		err__print("warning: cannot read '%s': %s", strbuf__str(&path), strerror(-err));
	strbuf__exit(&path);
	if (err == -ENOMEM || (!err && !f->path))
		return annotate__no_memory();
	return err ? -ENOENT : 0;
}

/* Where the program ran, else here. */
static int file__search(const struct annotate *an, struct annotate_file *f, const char *name)
{
	const char *slash = strrchr(name, '/'), *cwd;
	int err = -ENOENT;
	size_t i;

	if (an->o->source_dir) {
		err = file__try(an, f, an->o->source_dir, name);
		return err == -ENOENT && slash ? file__try(an, f, an->o->source_dir, slash + 1)
					       : err;
	}
	if (*name == '/')
		return file__try(an, f, "", name);
	for (i = 0; i < an->a->n_sessions && err == -ENOENT; i++) {
		cwd = an->a->sessions[i].cwd;
		if (cwd && *cwd)
			err = file__try(an, f, cwd, name);
	}
	return err == -ENOENT ? file__try(an, f, "", name) : err;
}

static void annotate__check_age(struct annotate *an, const struct annotate_file *f)
{
	uint64_t start = 0;
	size_t i;

	for (i = 0; i < an->a->n_sessions; i++) {
		uint64_t t = an->a->sessions[i].start_wall_ns;

		if (t && (!start || t < start))
			start = t;
	}
	if (!start || f->source.mtime_ns <= start)
		return;
	an->n_newer++;
	an->newer = f;
}

int annotate__find_source(struct annotate *an, struct annotate_file *f)
{
	const struct str *chunk = strpool__get(&an->a->symtab->strings, f->chunk);
	int err;

	if (!chunk->len || chunk->s[0] == '\033' || chunk->s[0] == '=')
		return 0; /* bytecode, or a name for no file */
	if (chunk->s[0] != '@') /* the chunk is its own text */
		return source__set(&f->source, chunk->s, chunk->len) ? annotate__no_memory() : 0;
	if (strlen(chunk->s) != chunk->len) /* no name of a file */
		return 0;
	err = file__search(an, f, chunk->s + 1);
	if (!err)
		annotate__check_age(an, f);
	return err == -ENOENT ? 0 : err;
}
