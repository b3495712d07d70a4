/* table.h - the table of report while it is made: its rows (table_rows.c), the
 * text of its cells (table_cells.c) and its lines (view_table.c).
 */
#ifndef LJPERF_REPORT_TABLE_H
#define LJPERF_REPORT_TABLE_H

#include "report/row_trees.h"
#include "report/view.h"

struct table {
	struct aggregate *a;
	const struct view_opts *o;
	struct term *term;
	struct rows rows;
	const struct row **order; /* what is printed, in order */
	size_t n, n_hidden;
	u128 total; /* of the metric, that shares are of */
	size_t width[FIELDS_MAX];
	struct row_trees trees;
	struct strbuf out, cell;
};

/* Makes the rows, and chooses and orders those to be printed.  0 or -ENOMEM
 * with err__msg(). */
int table__make(struct table *t);
void table__exit(struct table *t);

/* The text that keys ROW in field F, out of the row's name. */
const char *table__key(const struct table *t, const struct row *row, const struct field *f);

/* The share of ROW that a field of shares shows. */
double table__percent(const struct table *t, const struct row *row, const struct field *f);

/* Puts the text of a cell into t->cell. */
void table__cell(struct table *t, const struct row *row, const struct field *f);

/* Appends the cell to t->out; USED columns of the line are before it. */
void table__put_cell(struct table *t, const struct row *row, size_t column, size_t used);

const char *table__heading(const struct table *t, const struct field *f);

#endif
