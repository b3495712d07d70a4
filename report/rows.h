/* rows.h - the sites of an aggregate put together under the names a view
 * shows.  Used by the views of report.
 */
#ifndef LJPERF_REPORT_ROWS_H
#define LJPERF_REPORT_ROWS_H

#include "report/aggregate.h"

struct row {
	uint32_t site; /* one of its sites, for what its name does not say */
	uint32_t func; /* its Lua function (a name with most bytes), or STR_NONE */
	u128 func_bytes; /* which that function allocated */
	struct site_stats stats;
	struct site_live live, leaked;
};

struct rows {
	struct strpool names; /* the name of row N is string N */
	struct row *at;
	size_t n, cap;
	uint32_t *of_site; /* the row of each site, or HASHMAP_NONE */
};

/* Appends the name of a site; those with equal names are one row. */
typedef void (*row_name_fn)(const void *ctx, uint32_t site, struct strbuf *out);

/* Fills R, all zero before.  0 or -ENOMEM with err__msg(). */
int rows__make(struct rows *r, const struct aggregate *a, row_name_fn name, const void *ctx);
void rows__exit(struct rows *r);

static inline const struct str *rows__name(const struct rows *r, const struct row *row)
{
	return strpool__get(&r->names, (uint32_t)(row - r->at));
}

/* As strcmp() of the names. */
int rows__cmp_names(const struct rows *r, const struct row *a, const struct row *b);

#endif
