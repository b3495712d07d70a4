/* table_rows.c - which rows a table has, and in what order; see table.h. */
#include <errno.h>
#include <stdlib.h>

#include "report/fields_table.h"
#include "report/table.h"
#include "util/error.h"

/* ---- names ---- */

/* The name of the row of CELL if it were at SITE. */
static void table__frame_name(const void *ctx, uint32_t cell, uint32_t site, struct strbuf *out)
{
	const struct table *t = ctx;
	const struct field *f;
	size_t i;

	for (i = 0; i < t->o->keys.n; i++) {
		f = t->o->keys.at[i];
		if (i)
			strbuf__addch(out, '\0');
		if (f->cell_text)
			f->cell_text(t->a, cell, out);
		else
			f->text(t->a->symtab, site, out);
	}
	fields__add_others(&t->o->keys, t->a->symtab, site, out);
}

static void table__name(const void *ctx, uint32_t cell, struct strbuf *out)
{
	const struct table *t = ctx;

	table__frame_name(ctx, cell, aggregate__cell(t->a, cell).site, out);
}

/* ---- order ---- */

/* What a row is ordered by. */
static u128 table__weight(const struct table *t, const struct row *row)
{
	return t->o->children ? row->with_callees.bytes : t->o->metric->field->value(row);
}

static int table__cmp(const void *x, const void *y, void *ctx)
{
	const struct row *a = *(const struct row *const *)x, *b = *(const struct row *const *)y;
	const struct table *t = ctx;
	u128 va = table__weight(t, a), vb = table__weight(t, b);

	if (va != vb)
		return va > vb ? -1 : 1;
	va = t->o->metric->field->value(a);
	vb = t->o->metric->field->value(b);
	if (va != vb)
		return va > vb ? -1 : 1;
	if (a->stats.n_alloc != b->stats.n_alloc)
		return a->stats.n_alloc > b->stats.n_alloc ? -1 : 1;
	return rows__cmp_names(&t->rows, a, b);
}

/* A histogram stands in the order of its sizes. */
static int table__cmp_sizes(const void *x, const void *y, void *ctx)
{
	const struct row *a = *(const struct row *const *)x, *b = *(const struct row *const *)y;
	const struct table *t = ctx;
	uint32_t ca = aggregate__cell(t->a, a->cell).size_class;
	uint32_t cb = aggregate__cell(t->a, b->cell).size_class;

	return ca < cb ? -1 : ca > cb;
}

static void table__sort(struct table *t, size_t n)
{
	bool sizes = t->o->keys.n == 1 && t->o->keys.at[0] == &fields[F_SIZE];

	qsort_r(t->order, n, sizeof(*t->order), sizes ? table__cmp_sizes : table__cmp, t);
}

/* ---- selection ---- */

/* Shares are of all that was read, or, when they are relative, of what is left
 * by filters. */
static void table__sum(struct table *t)
{
	size_t i;

	t->total = t->o->metric->field->value(&t->rows.all);
	if (!t->o->relative)
		return;
	t->total = 0;
	for (i = 0; i < t->rows.n; i++)
		t->total += t->o->metric->field->value(&t->rows.at[i]);
}

static bool table__has(const struct table *t, const struct row *row)
{
	if (t->o->children && row->with_callees.blocks)
		return true;
	return t->o->metric->blocks(row); /* of size 0, too */
}

static bool table__is_small(const struct table *t, const struct row *row)
{
	double weight = (double)table__weight(t, row);

	return t->total && 100.0 * weight / (double)t->total < t->o->percent_limit;
}

static int table__select(struct table *t)
{
	size_t i, n = 0;

	t->order = malloc((t->rows.n + 1) * sizeof(*t->order));
	if (!t->order)
		return err__set(-ENOMEM, "out of memory for the rows");
	table__sum(t);
	for (i = 0; i < t->rows.n; i++)
		if (table__has(t, &t->rows.at[i]))
			t->order[n++] = &t->rows.at[i];
	table__sort(t, n);
	for (i = 0; i < n && (!t->o->limit || t->n < t->o->limit); i++)
		if (!table__is_small(t, t->order[i]))
			t->order[t->n++] = t->order[i];
	t->n_hidden = n - t->n;
	return 0;
}

/* ---- names of C functions ---- */

/* Whether names of C functions are printed. */
static bool table__has_names(const struct table *t)
{
	size_t i;

	if (t->o->tree.print)
		return true;
	for (i = 0; i < t->o->keys.n; i++)
		if (t->o->keys.at[i]->has_func)
			return true;
	return false;
}

/* The number of sites of CELL that may have got another name, or -ENOMEM. */
static int table__symbolize_cell(struct table *t, uint32_t cell, bool *done)
{
	uint32_t frames[STACK_DEPTH_MAX + 1];
	size_t n = 1, i;
	int ret, got = 0;

	frames[0] = aggregate__cell(t->a, cell).site;
	if (t->o->tree.print || t->o->children)
		n = aggregate__frames(t->a, cell, frames);
	for (i = 0; i < n; i++) {
		if (frames[i] == SITE_NONE || done[frames[i]])
			continue;
		done[frames[i]] = true;
		ret = symtab__symbolize(t->a->symtab, frames[i], t->o->verbose);
		if (ret < 0)
			return ret;
		got += ret;
	}
	return got;
}

/* Looks into the modules that rows to be printed need, and into no others. */
static int table__symbolize(struct table *t)
{
	bool *printed = calloc(t->rows.n + 1, sizeof(*printed));
	bool *done = calloc(t->a->symtab->n_sites + 1, sizeof(*done));
	int n = 0, ret = printed && done ? 0 : err__set(-ENOMEM, "out of memory for names");
	uint32_t cell;
	size_t i;

	for (i = 0; !ret && i < t->n; i++)
		printed[t->order[i] - t->rows.at] = true;
	for (cell = 0; cell < t->a->n_stats && ret >= 0; cell++) {
		if (t->rows.of_cell[cell] == HASHMAP_NONE ||
		    (!printed[t->rows.of_cell[cell]] && !t->o->children))
			continue;
		ret = table__symbolize_cell(t, cell, done);
		n += ret;
	}
	free(printed);
	free(done);
	return ret < 0 ? ret : n;
}

/* ---- the whole ---- */

/* Whether cells of one site have one name. */
static bool table__is_by_site(const struct table *t)
{
	size_t i;

	for (i = 0; i < t->o->keys.n; i++)
		if (t->o->keys.at[i]->cell_text)
			return false;
	return true;
}

static int table__make_rows(struct table *t)
{
	const struct metric *m = t->o->metric;
	int err;

	t->rows.skip = t->o->skip;
	t->rows.by_site = table__is_by_site(t);
	t->rows.want_parts = t->o->children && t->o->tree.print;
	err = rows__make(&t->rows, t->a, table__name, t);
	if (!err && t->o->children)
		err = rows__add_callers(&t->rows, t->a, m->field->value, m->blocks,
					table__frame_name, t);
	return err ? err : table__select(t);
}

static void table__forget_rows(struct table *t)
{
	rows__exit(&t->rows);
	free(t->order);
	t->order = NULL;
	t->n = 0;
}

/* Rows have names of their own until those to be printed get better ones: two
 * may become one by that, and others come up in its place. */
int table__make(struct table *t)
{
	int ret = table__make_rows(t);

	while (!ret && table__has_names(t) && (ret = table__symbolize(t)) > 0) {
		table__forget_rows(t);
		ret = table__make_rows(t);
	}
	if (ret || !t->o->tree.print)
		return ret;
	t->trees.a = t->a;
	t->trees.o = &t->o->tree;
	t->trees.metric = t->o->metric;
	t->trees.children = t->o->children;
	return row_trees__init(&t->trees, &t->rows);
}

void table__exit(struct table *t)
{
	table__forget_rows(t);
	row_trees__exit(&t->trees);
	strbuf__exit(&t->out);
	strbuf__exit(&t->cell);
}
