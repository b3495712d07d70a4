/* table_cells.c - the text of the cells of a table; see table.h. */
#include <string.h>

#include "report/names.h"
#include "report/table.h"

static const char red[] = "\033[31m", green[] = "\033[32m", reset[] = "\033[m";

const char *table__key(const struct table *t, const struct row *row, const struct field *f)
{
	const char *s = rows__name(&t->rows, row)->s;
	size_t i;

	for (i = 0; t->o->keys.at[i] != f; i++)
		s += strlen(s) + 1;
	return s;
}

double table__percent(const struct table *t, const struct row *row, const struct field *f)
{
	u128 v = f->value ? f->value(row) : t->o->metric->field->value(row);

	return t->total ? 100.0 * (double)v / (double)t->total : 0.0;
}

/* As perf: beside the share with callees stands that of the place itself. */
const char *table__heading(const struct table *t, const struct field *f)
{
	return t->o->children && f->type == FIELD_PERCENT && !f->value ? "Self" : f->heading;
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

/* In milliseconds for a program. */
static void cell__time(struct table *t, uint64_t ns)
{
	if (t->o->separator)
		strbuf__addf(&t->cell, "%llu.%06llu", (unsigned long long)(ns / 1000000),
			     (unsigned long long)(ns % 1000000));
	else
		number__time(&t->cell, ns);
}

/* Puts the text of a cell into t->cell.  Numbers are exact for a program that
 * splits lines at a separator. */
void table__cell(struct table *t, const struct row *row, const struct field *f)
{
	strbuf__reset(&t->cell);
	if (f->known && !f->known(row))
		return;
	switch (f->type) {
	case FIELD_PERCENT:
		strbuf__addf(&t->cell, "%.2f%%", table__percent(t, row, f));
		break;
	case FIELD_TIME:
		cell__time(t, (uint64_t)f->value(row));
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

void table__put_cell(struct table *t, const struct row *row, size_t column, size_t used)
{
	const struct field *f = t->o->columns.at[column];
	bool last = column + 1 == t->o->columns.n;
	const char *color = NULL;
	size_t width, room = t->term->columns > used ? t->term->columns - used : 0;

	table__cell(t, row, f);
	width = utf8__width(strbuf__str(&t->cell), t->cell.len);
	width = t->width[column] > width ? t->width[column] - width : 0;
	if (f->type == FIELD_PERCENT && t->term->color)
		color = percent__color(table__percent(t, row, f));
	if (f->type != FIELD_TEXT)
		strbuf__addch_n(&t->out, ' ', width);
	strbuf__addstr(&t->out, color ? color : "");
	cut__name(&t->out, strbuf__str(&t->cell), t->cell.len,
		  last && t->term->columns && !t->o->separator ? room : SIZE_MAX);
	strbuf__addstr(&t->out, color ? reset : "");
	if (f->type == FIELD_TEXT && !last)
		strbuf__addch_n(&t->out, ' ', width);
}
