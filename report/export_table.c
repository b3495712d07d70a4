/* export_table.c - the rows of a report; see export_table.h. */
#include "report/export_table.h"

#include <stdlib.h>

#include "util/error.h"

/* What a row with callees is counted by. */
static bool has_callers(const struct export_opts *o)
{
	size_t i;

	for (i = 0; i < o->columns.n; i++)
		if (!strcmp(o->columns.at[i]->name, "children"))
			return true;
	return false;
}

void export_table__prepare(struct export *e)
{
	if (has_callers(e->o))
		e->a->split |= SPLIT_STACK;
}

static void table__frame_name(const void *ctx, uint32_t cell, uint32_t site, struct strbuf *out)
{
	const struct export_table *t = ctx;
	const struct field_list *keys = &t->e->o->keys;
	size_t i;

	for (i = 0; i < keys->n; i++) {
		if (i)
			strbuf__addch(out, '\0');
		if (keys->at[i]->cell_text)
			keys->at[i]->cell_text(t->e->a, cell, out);
		else
			keys->at[i]->text(t->e->a->symtab, site, out);
	}
	fields__add_others(keys, t->e->a->symtab, site, out);
}

static void table__name(const void *ctx, uint32_t cell, struct strbuf *out)
{
	const struct export_table *t = ctx;

	table__frame_name(ctx, cell, aggregate__cell(t->e->a, cell).site, out);
}

static const struct metric *table__metric(const struct export_table *t)
{
	return t->e->o->metrics[0];
}

/* As report sorts its rows. */
static int row__cmp(const void *x, const void *y, void *ctx)
{
	const struct row *a = *(const struct row *const *)x, *b = *(const struct row *const *)y;
	const struct export_table *t = ctx;
	u128 va = a->with_callees.bytes, vb = b->with_callees.bytes;

	if (va != vb) /* 0 unless they are asked for */
		return va > vb ? -1 : 1;
	va = table__metric(t)->field->value(a);
	vb = table__metric(t)->field->value(b);
	if (va != vb)
		return va > vb ? -1 : 1;
	if (a->stats.n_alloc != b->stats.n_alloc)
		return a->stats.n_alloc > b->stats.n_alloc ? -1 : 1;
	return rows__cmp_names(&t->rows, a, b);
}

int export_table__make(struct export_table *t)
{
	const struct metric *m = table__metric(t);
	size_t i;
	int err = rows__make(&t->rows, t->e->a, table__name, t);

	if (!err && has_callers(t->e->o))
		err = rows__add_callers(&t->rows, t->e->a, m->field->value, m->blocks,
					table__frame_name, t);
	if (err)
		return err;
	t->order = malloc((t->rows.n + 1) * sizeof(*t->order));
	if (!t->order)
		return export__no_memory();
	for (i = 0; i < t->rows.n; i++)
		if (m->blocks(&t->rows.at[i]) || t->rows.at[i].with_callees.blocks)
			t->order[t->n++] = &t->rows.at[i];
	qsort_r(t->order, t->n, sizeof(*t->order), row__cmp, t);
	return 0;
}

void export_table__exit(struct export_table *t)
{
	free(t->order);
	rows__exit(&t->rows);
}

double export_table__percent(const struct export_table *t, const struct row *row,
			     const struct field *f)
{
	u128 (*value)(const struct row *r) = table__metric(t)->field->value;
	u128 total = value(&t->rows.all), part = f->value ? f->value(row) : value(row);

	return total ? 100.0 * (double)part / (double)total : 0.0;
}

const char *export_table__key(const struct export_table *t, const struct row *row,
			      const struct field *f)
{
	const char *s = rows__name(&t->rows, row)->s;
	size_t i;

	for (i = 0; t->e->o->keys.at[i] != f; i++)
		s += strlen(s) + 1;
	return s;
}

void export_table__function(const struct export_table *t, const struct row *row, struct strbuf *out)
{
	const struct str *func;

	if (row->func == STR_NONE)
		return;
	func = strpool__get(&t->e->a->symtab->strings, row->func);
	escape__text(out, func->s, func->len, 0);
}
