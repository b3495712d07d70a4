/* export_folded.c - folded stacks, for flame graphs.  Called by export.
 *
 *	main_chunk@app.lua:3;parse_row@app.lua:42;string.format 5120
 *
 * One line for each stack, the outermost frame first.  Readers split at ";"
 * and take what stands behind the last space for the amount, so neither may be
 * in a name; what would end a line is escaped in names already.
 */
#include <stdlib.h>

#include "report/export.h"
#include "util/grow.h"

struct folded {
	struct export *e;
	struct strpool stacks; /* the text of a stack; many have the same */
	struct sum {
		u128 v, base; /* BASE with --diff */
	} * sums;
	size_t n, cap;
	struct strbuf text;
};

static void put_name(struct strbuf *out, const struct str *s)
{
	size_t i;

	for (i = 0; i < s->len; i++)
		strbuf__addch(out, s->s[i] == ' ' ? '_' : s->s[i] == ';' ? ':' : s->s[i]);
}

static void put_frame(const struct export_frames *f, uint32_t loc, struct strbuf *out)
{
	const struct export_func *func = export_frames__func(f, loc);
	const struct str *file = export_frames__str(f, func->file);
	uint64_t line = f->locs[loc].line;

	put_name(out, export_frames__str(f, func->name));
	if (!file->len || func->source == LJM_SRC_C)
		return;
	strbuf__addch(out, '@');
	put_name(out, file);
	if (!line)
		return;
	strbuf__addch(out, ':');
	strbuf__addu(out, line);
}

/* Adds a cell to the stack of its name. */
static int folded__add(struct folded *f, uint32_t cell, u128 v)
{
	uint32_t locs[STACK_DEPTH_MAX + 1], id = STR_NONE;
	size_t n = export__stack(f->e, cell, locs), i = n;

	strbuf__reset(&f->text);
	while (i) {
		put_frame(&f->e->frames, locs[--i], &f->text);
		if (i)
			strbuf__addch(&f->text, ';');
	}
	if (n && !f->text.failed)
		id = strpool__intern(&f->stacks, strbuf__str(&f->text), f->text.len);
	if (id == STR_NONE || GROW(f->sums, f->cap, id))
		return export__no_memory();
	if (id == f->n)
		f->sums[f->n++] = (struct sum){ 0, 0 };
	if (export__is_baseline(f->e, cell))
		f->sums[id].base += v;
	else
		f->sums[id].v += v;
	return 0;
}

static int folded__print(struct folded *f)
{
	struct strbuf *out = &f->e->out.buf;
	uint32_t id;
	int err = 0;

	for (id = 0; !err && id < f->n; id++) {
		const struct str *text = strpool__get(&f->stacks, id);

		strbuf__addmem(out, text->s, text->len);
		strbuf__addch(out, ' ');
		if (f->e->o->diff) {
			number__dec(out, f->sums[id].base);
			strbuf__addch(out, ' ');
		}
		number__dec(out, f->sums[id].v);
		strbuf__addch(out, '\n');
		err = export__flush(f->e, false);
	}
	return err;
}

static int folded__write(struct export *e)
{
	struct folded f = { .e = e };
	u128 values[2 * EXPORT_METRICS_MAX];
	uint32_t cell;
	int err = 0;

	for (cell = 0; !err && cell < e->a->n_stats; cell++)
		if (export__values(e, cell, values) && values[0])
			err = folded__add(&f, cell, values[0]);
	err = err ? err : folded__print(&f);
	strpool__exit(&f.stacks);
	strbuf__exit(&f.text);
	free(f.sums);
	return err;
}

const struct export_ops export_folded = {
	.name = "folded",
	.help = "one line for each stack, for flame graphs",
	.metrics = "allocated",
	.one_metric = true,
	.diffs = true,
	.write = folded__write,
};
