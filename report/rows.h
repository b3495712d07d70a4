/* rows.h - the cells of an aggregate put together under the names a view
 * shows.  Used by the views of report, and by diff.
 */
#ifndef LJPERF_REPORT_ROWS_H
#define LJPERF_REPORT_ROWS_H

#include "report/aggregate.h"

struct row {
	uint32_t site; /* one of its sites, for what its name does not say */
	uint32_t cell; /* one of its cells */
	uint32_t func; /* its Lua function (a name with most bytes), or STR_NONE */
	u128 func_bytes; /* which that function allocated */
	struct site_stats stats;
	struct site_live live, leaked, peak;
	struct measures more; /* the counts; sketches are in rows only */
	/* With what its callees did, for rows__add_callers(). */
	struct site_live with_callees; /* of the metric, and blocks of it */
	uint32_t last_cell; /* of those added there, + 1 */
	uint32_t last_part; /* of the row */
};

/* Where a row stands on the stack of a cell: from frame INNER to OUTER, which
 * differ where it called itself. */
struct row_part {
	uint32_t row, cell;
	uint32_t inner, outer;
};

struct rows {
	/* Set before: the cells left out (NULL: none); whether names depend on the
	 * site alone, so that one is made for each; whether there are to be parts. */
	const bool *skip;
	bool by_site, want_parts;
	struct strpool names; /* the name of row N is string N */
	struct row *at;
	size_t n, cap;
	uint32_t *of_cell; /* the row of each cell, or HASHMAP_NONE */
	struct row all; /* the sum over all cells, those left out, too */
	uint32_t *of_site; /* when they are named by it: as of_cell */
	struct row_part *parts; /* made by rows__add_callers() */
	size_t n_parts, cap_parts;
};

/* Appends the name of a cell; those with equal names are one row.  Where cells
 * are not split, a cell is a site. */
typedef void (*row_name_fn)(const void *ctx, uint32_t cell, struct strbuf *out);

/* Appends the name that a cell would have at another site. */
typedef void (*row_frame_fn)(const void *ctx, uint32_t cell, uint32_t site, struct strbuf *out);

/* Fills R, all zero before but what is to be set.  0 or -ENOMEM with
 * err__msg(). */
int rows__make(struct rows *r, const struct aggregate *a, row_name_fn name, const void *ctx);
void rows__exit(struct rows *r);

/* Adds VALUE and BLOCKS of each cell to the rows of all functions on its stack,
 * once to each; the rows may be new. */
int rows__add_callers(struct rows *r, const struct aggregate *a, u128 (*value)(const struct row *),
		      u128 (*blocks)(const struct row *), row_frame_fn name, const void *ctx);

/* What a cell alone did, sketches left out: a row of one cell. */
void row__of_cell(struct row *row, const struct aggregate *a, uint32_t cell);

static inline const struct str *rows__name(const struct rows *r, const struct row *row)
{
	return strpool__get(&r->names, (uint32_t)(row - r->at));
}

/* As strcmp() of the names. */
int rows__cmp_names(const struct rows *r, const struct row *a, const struct row *b);

#endif
