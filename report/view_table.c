/* view_table.c - the default view: a table laid out as perf does it.  Called
 * by report.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/names.h"
#include "report/view.h"
#include "util/error.h"

static const char red[] = "\033[31m", green[] = "\033[32m", reset[] = "\033[m";

enum { FLUSH_BYTES = 1 << 16 };

struct table {
	struct aggregate *a;
	const struct view_opts *o;
	struct term *term;
	struct rows rows;
	const struct row **order; /* what is printed, in order */
	size_t n, n_hidden;
	u128 total; /* of the metric, over all rows */
	size_t width[FIELDS_MAX];
	struct strbuf out, cell;
};

static void table__name(const void *ctx, uint32_t site, struct strbuf *out)
{
	const struct table *t = ctx;
	size_t i;

	for (i = 0; i < t->o->keys.n; i++) {
		if (i)
			strbuf__addch(out, '\0');
		t->o->keys.at[i]->text(t->a->symtab, site, out);
	}
}

/* The text that keys ROW in field F, out of the row's name. */
static const char *table__key(const struct table *t, const struct row *row, const struct field *f)
{
	const char *s = rows__name(&t->rows, row)->s;
	size_t i;

	for (i = 0; t->o->keys.at[i] != f; i++)
		s += strlen(s) + 1;
	return s;
}

static double table__percent(const struct table *t, const struct row *row)
{
	u128 v = t->o->metric->field->value(row);

	return t->total ? 100.0 * (double)v / (double)t->total : 0.0;
}

/* ---- cells ---- */

static void cell__text(struct table *t, const struct row *row, const struct field *f)
{
	const struct strpool *strings = &t->a->symtab->strings;
	size_t start = t->cell.len, i;
	char sep;

	if (f->has_func && row->func != STR_NONE) {
		const struct str *func = strpool__get(strings, row->func);

		escape__text(&t->cell, func->s, func->len, 0);
		strbuf__addstr(&t->cell, "  ");
	}
	strbuf__addstr(&t->cell, table__key(t, row, f));
	if (f->has_func && t->o->verbose)
		names__detail(t->a->symtab, row->site, &t->cell);
	if (!t->o->separator || strlen(t->o->separator) != 1)
		return;
	sep = t->o->separator[0];
	for (i = start; i < t->cell.len; i++) /* as perf: the separator keeps its meaning */
		if (t->cell.buf[i] == sep)
			t->cell.buf[i] = '.';
}

/* Puts the text of a cell into t->cell.  Numbers are exact for a program that
 * splits lines at a separator. */
static void table__cell(struct table *t, const struct row *row, const struct field *f)
{
	strbuf__reset(&t->cell);
	switch (f->type) {
	case FIELD_PERCENT:
		strbuf__addf(&t->cell, "%.2f%%", table__percent(t, row));
		break;
	case FIELD_BYTES:
		(t->o->separator ? number__dec : number__bytes)(&t->cell, f->value(row));
		break;
	case FIELD_COUNT:
		(t->o->separator ? number__dec : number__count)(&t->cell, f->value(row));
		break;
	default:
		cell__text(t, row, f);
	}
}

static const char *percent__color(double percent)
{
	return percent > 5.0 ? red : percent > 0.5 ? green : NULL;
}

/* Cuts t->cell to MAX columns, never inside a character. */
static void cell__cut(struct strbuf *cell, size_t max)
{
	size_t i;

	if (utf8__width(cell->buf, cell->len) <= max || max < 4)
		return;
	for (i = 0, max -= 3; max; max--)
		for (i++; i < cell->len && ((unsigned char)cell->buf[i] & 0xc0) == 0x80;)
			i++;
	cell->len = i;
	strbuf__addstr(cell, "...");
}

static void table__put_cell(struct table *t, const struct row *row, size_t column, size_t used)
{
	const struct field *f = t->o->columns.at[column];
	bool last = column + 1 == t->o->columns.n;
	const char *color = NULL;
	size_t width;

	table__cell(t, row, f);
	if (last && t->term->columns && strbuf__str(&t->cell)[0])
		cell__cut(&t->cell, t->term->columns > used ? t->term->columns - used : 0);
	width = utf8__width(strbuf__str(&t->cell), t->cell.len);
	width = t->width[column] > width ? t->width[column] - width : 0;
	if (f->type == FIELD_PERCENT && t->term->color)
		color = percent__color(table__percent(t, row));
	if (f->type != FIELD_TEXT)
		strbuf__addch_n(&t->out, ' ', width);
	strbuf__addstr(&t->out, color ? color : "");
	strbuf__addmem(&t->out, t->cell.buf, t->cell.len);
	strbuf__addstr(&t->out, color ? reset : "");
	if (f->type == FIELD_TEXT && !last)
		strbuf__addch_n(&t->out, ' ', width);
}

/* ---- lines ---- */

static void table__measure(struct table *t)
{
	size_t i, j, width;

	for (j = 0; j < t->o->columns.n; j++) {
		t->width[j] = strlen(t->o->columns.at[j]->heading);
		for (i = 0; i < t->n; i++) {
			table__cell(t, t->order[i], t->o->columns.at[j]);
			width = utf8__width(strbuf__str(&t->cell), t->cell.len);
			t->width[j] = width > t->width[j] ? width : t->width[j];
		}
	}
}

static void table__put_row(struct table *t, const struct row *row)
{
	size_t i, used = 2;

	strbuf__addstr(&t->out, t->o->separator ? "" : "  ");
	for (i = 0; i < t->o->columns.n; i++) {
		if (i)
			strbuf__addstr(&t->out, t->o->separator ? t->o->separator : "  ");
		table__put_cell(t, row, i, used);
		used += t->width[i] + 2;
	}
	strbuf__addch(&t->out, '\n');
}

static void table__put_heading(struct table *t)
{
	size_t i, pad;

	strbuf__addstr(&t->out, "# ");
	for (i = 0; i < t->o->columns.n; i++) {
		const struct field *f = t->o->columns.at[i];

		if (i)
			strbuf__addstr(&t->out, t->o->separator ? t->o->separator : "  ");
		pad = t->width[i] > strlen(f->heading) ? t->width[i] - strlen(f->heading) : 0;
		if (f->type != FIELD_TEXT)
			strbuf__addch_n(&t->out, ' ', pad);
		strbuf__addstr(&t->out, f->heading);
		if (f->type == FIELD_TEXT && i + 1 < t->o->columns.n)
			strbuf__addch_n(&t->out, ' ', pad);
	}
	strbuf__addch(&t->out, '\n');
}

static void table__put_dots(struct table *t)
{
	size_t i, width, used = 2;

	strbuf__addstr(&t->out, "# ");
	for (i = 0; i < t->o->columns.n; i++) {
		width = t->width[i];
		if (t->term->columns > used && width > t->term->columns - used)
			width = t->term->columns - used;
		strbuf__addch_n(&t->out, '.', width);
		if (i + 1 < t->o->columns.n)
			strbuf__addstr(&t->out, "  ");
		used += t->width[i] + 2;
	}
	strbuf__addstr(&t->out, "\n#\n");
}

/* ---- which rows, and their order ---- */

static int table__cmp(const void *x, const void *y, void *ctx)
{
	const struct row *a = *(const struct row *const *)x, *b = *(const struct row *const *)y;
	const struct table *t = ctx;
	u128 va = t->o->metric->field->value(a), vb = t->o->metric->field->value(b);

	if (va != vb)
		return va > vb ? -1 : 1;
	if (a->stats.n_alloc != b->stats.n_alloc)
		return a->stats.n_alloc > b->stats.n_alloc ? -1 : 1;
	return rows__cmp_names(&t->rows, a, b);
}

static int table__select(struct table *t)
{
	size_t i, n = 0;

	t->order = malloc((t->rows.n + 1) * sizeof(*t->order));
	if (!t->order)
		return err__set(-ENOMEM, "out of memory for the rows");
	for (i = 0; i < t->rows.n; i++)
		t->total += t->o->metric->field->value(&t->rows.at[i]);
	for (i = 0; i < t->rows.n; i++)
		if (t->o->metric->blocks(&t->rows.at[i])) /* of size 0, too */
			t->order[n++] = &t->rows.at[i];
	qsort_r(t->order, n, sizeof(*t->order), table__cmp, t);
	for (t->n = 0; t->n < n; t->n++) {
		if (t->o->limit && t->n == t->o->limit)
			break;
		if (table__percent(t, t->order[t->n]) < t->o->percent_limit)
			break; /* they descend */
	}
	t->n_hidden = n - t->n;
	return 0;
}

/* Whether names of C functions stand in the rows. */
static bool table__has_names(const struct table *t)
{
	size_t i;

	for (i = 0; i < t->o->keys.n; i++)
		if (t->o->keys.at[i]->has_func)
			return true;
	return false;
}

/* Looks into the modules that rows to be printed need, and into no others.
 * The number of sites that may have got another name, or -ENOMEM. */
static int table__symbolize(struct table *t)
{
	bool *printed = calloc(t->rows.n + 1, sizeof(*printed));
	int n = 0, ret = 0;
	uint32_t site;
	size_t i;

	if (!printed)
		return err__set(-ENOMEM, "out of memory for names");
	for (i = 0; i < t->n; i++)
		printed[t->order[i] - t->rows.at] = true;
	for (site = 0; site < t->a->n_stats && ret >= 0; site++) {
		if (t->rows.of_cell[site] == HASHMAP_NONE || !printed[t->rows.of_cell[site]])
			continue;
		ret = symtab__symbolize(t->a->symtab, site, t->o->verbose);
		n += ret;
	}
	free(printed);
	return ret < 0 ? ret : n;
}

static int table__make_rows(struct table *t)
{
	int err = rows__make(&t->rows, t->a, table__name, t);

	return err ? err : table__select(t);
}

/* Rows have names of their own until those to be printed get better ones: two
 * may become one by that, and others come up in its place. */
static int table__make(struct table *t)
{
	int ret = table__make_rows(t);

	while (!ret && table__has_names(t) && (ret = table__symbolize(t)) > 0) {
		rows__exit(&t->rows);
		free(t->order);
		t->order = NULL;
		t->total = 0;
		ret = table__make_rows(t);
	}
	return ret;
}

/* ---- the whole ---- */

/* The texts of the multi-line chunks that the printed rows name. */
static int table__put_aliases(struct table *t)
{
	const struct symtab *st = t->a->symtab;
	bool *wanted, any = false;
	size_t i, alias;

	wanted = calloc(st->n_aliases + 1, sizeof(*wanted));
	if (!wanted)
		return err__set(-ENOMEM, "out of memory for the aliases");
	for (i = 0; i < t->n; i++) {
		const struct proto *p = symtab__proto(st, &st->sites[t->order[i]->site]);

		alias = p ? symtab__alias(st, p->chunk) : 0;
		if (alias)
			any = wanted[alias - 1] = true;
	}
	if (any) {
		strbuf__addch(&t->out, '\n');
		names__aliases(st, wanted, &t->out);
	}
	free(wanted);
	return 0;
}

static void table__put_nothing(struct table *t)
{
	if (t->o->quiet)
		return;
	if (t->n_hidden)
		strbuf__addf(&t->out, "# all %zu rows are below the limit\n", t->n_hidden);
	else
		strbuf__addf(&t->out, "# there are no %s in this recording\n", t->o->metric->noun);
}

static int table__put(struct table *t)
{
	bool quiet = t->o->quiet;
	size_t i;

	if (!t->n) {
		table__put_nothing(t);
		return 0;
	}
	if (!t->o->separator)
		table__measure(t);
	if (!quiet)
		table__put_heading(t);
	if (!quiet && !t->o->separator)
		table__put_dots(t);
	for (i = 0; i < t->n; i++) {
		table__put_row(t, t->order[i]);
		if (t->out.len > FLUSH_BYTES && !term__flush(&t->out))
			return 0; /* nobody reads any more */
	}
	if (t->n_hidden && !quiet)
		strbuf__addf(&t->out, "#\n# %zu more rows below the limit\n", t->n_hidden);
	return quiet || t->o->separator ? 0 : table__put_aliases(t);
}

static int table__print(struct aggregate *a, const struct view_opts *o, struct term *term)
{
	struct table t = { .a = a, .o = o, .term = term };
	int err = 0;

	if (!o->quiet)
		summary__print(a, o, &t.out);
	if (!o->header_only) {
		err = table__make(&t);
		err = err ? err : table__put(&t);
	}
	if (!err && (t.out.failed || t.cell.failed))
		err = err__set(-ENOMEM, "out of memory for the output");
	if (!err)
		term__flush(&t.out);
	strbuf__exit(&t.out);
	strbuf__exit(&t.cell);
	free(t.order);
	rows__exit(&t.rows);
	return err;
}

const struct view_ops view_table = { .name = "table", .print = table__print };
