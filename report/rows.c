/* rows.c - cells put together under names; see rows.h. */
#include "report/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/grow.h"

void rows__exit(struct rows *r)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		measures__exit(&r->at[i].more);
	strpool__exit(&r->names);
	free(r->at);
	free(r->of_cell);
	free(r->of_site);
	free(r->parts);
	memset(r, 0, sizeof(*r));
}

static int rows__no_memory(void)
{
	return err__set(-ENOMEM, "out of memory for the rows");
}

static bool stats__is_empty(const struct site_stats *s)
{
	return !s->n_alloc && !s->n_realloc && !s->n_free;
}

static void stats__add(struct site_stats *to, const struct site_stats *s)
{
	to->n_alloc += s->n_alloc;
	to->n_realloc += s->n_realloc;
	to->n_free += s->n_free;
	to->n_out += s->n_out;
	to->alloc_bytes += s->alloc_bytes;
	to->realloc_new += s->realloc_new;
	to->realloc_old += s->realloc_old;
	to->free_bytes += s->free_bytes;
	to->out_bytes += s->out_bytes;
}

/* One line may be of several functions: the row is called after the one that
 * allocated most there, and among equals after the one seen first. */
static void row__name_func(struct row *row, const struct aggregate *a, uint32_t site, u128 bytes)
{
	const struct site *s = &a->symtab->sites[site];
	uint32_t func;

	if (s->source != LJM_SRC_LUA)
		return;
	func = a->symtab->protos[s->ref].func;
	if (func == STR_NONE || (row->func != STR_NONE && bytes <= row->func_bytes))
		return;
	row->func = func;
	row->func_bytes = bytes;
}

static void row__add(struct row *row, const struct aggregate *a, uint32_t cell)
{
	const struct site_stats *st = &a->stats[cell];

	stats__add(&row->stats, st);
	if (cell < a->n_live)
		site_live__add(&row->live, &a->live[cell]);
	if (cell < a->n_leaked)
		site_live__add(&row->leaked, &a->leaked[cell]);
	if (cell < a->n_peak)
		site_live__add(&row->peak, &a->peak[cell]);
	if (cell < a->n_more)
		measures__add(&row->more, &a->more[cell]);
	row__name_func(row, a, aggregate__cell(a, cell).site, st->alloc_bytes + st->realloc_new);
}

void row__of_cell(struct row *row, const struct aggregate *a, uint32_t cell)
{
	*row = (struct row){ .site = aggregate__cell(a, cell).site,
			     .cell = cell,
			     .func = STR_NONE };
	row__add(row, a, cell);
}

/* How rows are named: one of the two. */
struct namer {
	row_name_fn cell;
	row_frame_fn frame;
	const void *ctx;
};

/* The row called NAME, which is one of CELL and SITE when it is new;
 * HASHMAP_NONE: no memory. */
static uint32_t rows__get(struct rows *r, const struct strbuf *name, uint32_t cell, uint32_t site)
{
	uint32_t id = STR_NONE;

	if (!name->failed)
		id = strpool__intern(&r->names, strbuf__str(name), name->len);
	if (id == STR_NONE || GROW(r->at, r->cap, id))
		return HASHMAP_NONE;
	if (id == r->n) {
		r->at[id] = (struct row){ .site = site, .cell = cell, .func = STR_NONE };
		r->n++;
	}
	return id;
}

/* The row of CELL at SITE, which is not named again when names depend on the
 * site alone; HASHMAP_NONE: no memory. */
static uint32_t rows__find(struct rows *r, const struct namer *namer, uint32_t cell, uint32_t site,
			   struct strbuf *text)
{
	uint32_t id;

	if (r->by_site && r->of_site[site] != HASHMAP_NONE)
		return r->of_site[site];
	strbuf__reset(text);
	if (namer->frame)
		namer->frame(namer->ctx, cell, site, text);
	else
		namer->cell(namer->ctx, cell, text);
	id = rows__get(r, text, cell, site);
	if (r->by_site)
		r->of_site[site] = id;
	return id;
}

static int rows__add(struct rows *r, const struct aggregate *a, uint32_t cell, uint32_t row)
{
	if (row == HASHMAP_NONE)
		return -ENOMEM;
	r->of_cell[cell] = row;
	row__add(&r->at[row], a, cell);
	return cell < a->n_more ? measures__add_lives(&r->at[row].more, &a->more[cell]) : 0;
}

static int rows__alloc(struct rows *r, const struct aggregate *a)
{
	r->of_cell = malloc((a->n_stats + 1) * sizeof(*r->of_cell));
	r->of_site = malloc((a->symtab->n_sites + 1) * sizeof(*r->of_site));
	if (!r->of_cell || !r->of_site)
		return -ENOMEM;
	memset(r->of_cell, 0xff, (a->n_stats + 1) * sizeof(*r->of_cell));
	memset(r->of_site, 0xff, (a->symtab->n_sites + 1) * sizeof(*r->of_site));
	return 0;
}

int rows__make(struct rows *r, const struct aggregate *a, row_name_fn name, const void *ctx)
{
	struct namer namer = { .cell = name, .ctx = ctx };
	struct strbuf text = STRBUF_INIT;
	uint32_t cell;
	int err = rows__alloc(r, a);

	for (cell = 0; !err && cell < a->n_stats; cell++) {
		if (stats__is_empty(&a->stats[cell]))
			continue;
		row__add(&r->all, a, cell);
		if (r->skip && r->skip[cell])
			continue;
		err = rows__add(r, a, cell,
				rows__find(r, &namer, cell, aggregate__cell(a, cell).site, &text));
	}
	strbuf__exit(&text);
	return err ? rows__no_memory() : 0;
}

/* ---- rows with their callees ---- */

struct callers {
	struct rows *rows;
	const struct aggregate *a;
	struct namer namer;
	struct strbuf text;
};

static int callers__add_part(struct rows *r, uint32_t row, uint32_t cell, uint32_t frame)
{
	if (!r->want_parts)
		return 0;
	if (GROW(r->parts, r->cap_parts, r->n_parts))
		return -ENOMEM;
	r->at[row].last_part = (uint32_t)r->n_parts;
	r->parts[r->n_parts++] = (struct row_part){ row, cell, frame, frame };
	return 0;
}

/* FRAME of CELL, at SITE, is of a row, which VALUE belongs to, too. */
static int callers__add(struct callers *c, uint32_t cell, uint32_t frame, uint32_t site,
			const struct site_live *value)
{
	struct rows *r = c->rows;
	uint32_t id = rows__find(r, &c->namer, cell, site, &c->text);
	struct row *row;

	if (id == HASHMAP_NONE)
		return -ENOMEM;
	row = &r->at[id];
	row__name_func(row, c->a, site, 0);
	if (row->last_cell == cell + 1) { /* it called itself */
		if (r->want_parts)
			r->parts[row->last_part].outer = frame;
		return 0;
	}
	row->last_cell = cell + 1;
	site_live__add(&row->with_callees, value);
	return callers__add_part(r, id, cell, frame);
}

static int callers__add_cell(struct callers *c, uint32_t cell, const struct site_live *value)
{
	uint32_t frames[STACK_DEPTH_MAX + 1], i;
	size_t n = aggregate__frames(c->a, cell, frames);
	int err = 0;

	for (i = 0; i < n && !err; i++)
		if (frames[i] != SITE_NONE)
			err = callers__add(c, cell, i, frames[i], value);
	return err;
}

int rows__add_callers(struct rows *r, const struct aggregate *a, u128 (*value)(const struct row *),
		      u128 (*blocks)(const struct row *), row_frame_fn name, const void *ctx)
{
	struct callers c = { r, a, { .frame = name, .ctx = ctx }, STRBUF_INIT };
	struct site_live sum;
	struct row one;
	uint32_t cell;
	int err = 0;

	for (cell = 0; !err && cell < a->n_stats; cell++) {
		if (r->of_cell[cell] == HASHMAP_NONE)
			continue;
		row__of_cell(&one, a, cell);
		sum = (struct site_live){ value(&one), (uint64_t)blocks(&one) };
		if (sum.blocks)
			err = callers__add_cell(&c, cell, &sum);
	}
	strbuf__exit(&c.text);
	return err ? rows__no_memory() : 0;
}

int rows__cmp_names(const struct rows *r, const struct row *a, const struct row *b)
{
	const struct str *x = rows__name(r, a), *y = rows__name(r, b);
	size_t min = x->len < y->len ? x->len : y->len;
	int cmp = memcmp(x->s, y->s, min);

	return cmp ? cmp : x->len < y->len ? -1 : x->len > y->len;
}
