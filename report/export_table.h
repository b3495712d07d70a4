/* export_table.h - the rows of a report for the formats that are tables.  Used
 * by export_csv.c and export_json.c.
 */
#ifndef LJPERF_REPORT_EXPORT_TABLE_H
#define LJPERF_REPORT_EXPORT_TABLE_H

#include "report/export.h"

struct export_table {
	struct export *e;
	struct rows rows;
	const struct row **order; /* those that have some of the metric, the most first */
	size_t n;
};

/* T is all zero but for E.  0 or -ENOMEM with err__msg(). */
int export_table__make(struct export_table *t);
void export_table__exit(struct export_table *t);

/* Before reading. */
void export_table__prepare(struct export *e);

/* The share in percent that a row has by a field of that type. */
double export_table__percent(const struct export_table *t, const struct row *row,
			     const struct field *f);

/* The text by which a row is keyed in a field. */
const char *export_table__key(const struct export_table *t, const struct row *row,
			      const struct field *f);

/* Appends the function's name, escaped, if the row has one. */
void export_table__function(const struct export_table *t, const struct row *row,
			    struct strbuf *out);

/* Whether a row has a value in a field of numbers. */
static inline bool field__is_known(const struct field *f, const struct row *row)
{
	return !f->known || f->known(row);
}

#endif
