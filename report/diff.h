/* diff.h - two or more sides of recordings compared, row by row.  Used by the
 * command diff and the files diff_*.c.
 *
 * A side is a column of the table: the first one is the baseline.  It has one
 * or more runs, of which the mean counts; a run has one or more parts, the
 * files of its VMs, which are added up.  All share one symbol table, so a site
 * means the same in each, and rows are joined by the names made from sites.
 *
 * Amounts are whole numbers of 1/unit, so that means and rates need no
 * floating point and plain differences are exact.
 */
#ifndef LJPERF_REPORT_DIFF_H
#define LJPERF_REPORT_DIFF_H

#include "report/diff_match.h"
#include "report/fields.h"
#include "report/rows.h"
#include "report/tree.h"

enum diff_compute { DIFF_DELTA_ABS, DIFF_DELTA, DIFF_RATIO, DIFF_WDIFF, DIFF_COMPUTES };

enum diff_scale { DIFF_PLAIN, DIFF_PER_N, DIFF_PER_SECOND, DIFF_PER_MARK };

enum { DIFF_UNIT = 1000000, DIFF_RUNS_MAX = 64 };

/* Sums of terms from files stay below, so that a difference of two and a sum
 * of DIFF_RUNS_MAX fit 127 bits. */
#define DIFF_AMOUNT_MAX ((s128)1 << 120)

struct diff_opts {
	const struct metric *metric;
	struct field_list keys;
	enum diff_compute compute;
	int64_t w1, w2; /* of DIFF_WDIFF: NEW * w2 - BASELINE * w1 */
	uint64_t order; /* side whose value orders the rows; 0: the baseline */
	bool baseline_only; /* no new rows */
	bool all; /* unchanged rows, too */
	bool fuzzy;
	enum diff_scale scale;
	const char *per; /* DIFF_PER_N: "N" or "N1,N2,..." */
	double percent_limit; /* of the baseline's total */
	uint64_t limit; /* rows; 0: all */
	struct tree_opts tree; /* what is below a row */
	const struct match *parent; /* of the key 'parent' */
	/* How it is shown. */
	bool absolute, formula, quiet, verbose;
	const char *separator; /* NULL: aligned columns */
};

struct diff_part {
	char *path;
	struct aggregate *a; /* its symtab is the diff's */
	struct rows rows;
	uint32_t *row_of; /* the row of the diff of each of rows, or HASHMAP_NONE */
};

struct diff_run {
	size_t first_part, n_parts;
	uint64_t mul, div; /* an amount is the sum * mul / div */
};

struct diff_side {
	char *name;
	size_t first_run, n_runs;
	size_t first_part, n_parts; /* of all its runs */
};

/* What a row, or a branch of its tree, is in one run. */
struct diff_cell {
	u128 value, allocs;
	bool present;
};

/* What a row, a branch or the total is on one side. */
struct diff_value {
	s128 v, min, max; /* of the metric: the mean, and over the runs */
	s128 allocs;
	bool present; /* in any run */
	bool fuzzy; /* joined by its place, not by its name */
	bool noise; /* the change from the baseline is within the spread */
};

/* Row N is named by string N of the diff's names: the texts of the keys, each
 * ended by a NUL. */
struct diff_row {
	uint32_t site, func; /* as in struct row, of the first side that has it */
	uint32_t moved; /* the site of the last side that joined it fuzzily */
};

struct diff {
	struct diff_opts o;
	struct symtab *symtab;
	struct diff_part *parts;
	size_t n_parts, cap_parts;
	struct diff_run *runs;
	size_t n_runs, cap_runs;
	struct diff_side *sides;
	size_t n_sides, cap_sides;
	bool noise; /* a side has several runs */
	uint32_t unit;
	bool *has_site; /* [side * n_sites + site], see diff__has_site() */
	size_t n_sites;
	struct diff_match match;

	struct strpool names;
	struct diff_row *rows;
	size_t n_rows, cap_rows;
	struct diff_value *values; /* [row * n_sides + side] */
	struct diff_value *totals; /* [side] */
	struct diff_trees *trees; /* NULL: none are asked for */
	uint32_t *order; /* rows to show */
	size_t n_order;
	size_t n_same, n_limited, n_new; /* rows left out, and why */
};

/* NULL: no memory, see err__msg().  O is copied. */
struct diff *diff__new(const struct diff_opts *o);
void diff__delete(struct diff *d);

/* Adds a side: "FILE+FILE" are the parts of a run and, with RUNS,
 * "FILE,FILE" are runs.  A file that has such a name is taken whole.
 * 0 or negative with err__msg(). */
int diff__add_side(struct diff *d, const char *spec, bool runs);

/* Reads all files.  0 or negative with err__msg(). */
int diff__read(struct diff *d, bool force);

/* Joins the rows, with names out of d->symtab's symbolizer, computes and sorts them.  0 or negative
 * with err__msg(). */
int diff__make(struct diff *d);

/* ---- for the parts of it ---- */

int diff__no_memory(void);
int diff__find_sites(struct diff *d);
int diff__symbolize(struct diff *d);
int diff__scale_runs(struct diff *d);
int diff__join(struct diff *d);
int diff__select(struct diff *d);

/* Adds what a row, or one cell, has of the metric. */
void diff_cell__add(const struct diff *d, struct diff_cell *c, const struct row *row);
/* Adds N cells to as many others. */
void diff_cells__add(struct diff_cell *to, const struct diff_cell *c, size_t n);
/* Fills VALUES, all zero before, of all sides from the cells of all runs. */
void diff__values(const struct diff *d, const struct diff_cell *cells, struct diff_value *values);
/* As strcmp(): below 0 when the row or branch A comes first, but for their names. */
int diff__cmp_values(const struct diff *d, const struct diff_value *a, const struct diff_value *b);

/* Keys are fields of report; VMs, which are those of one file there, are joined
 * by their labels here. */
extern const struct field diff_field_vm;
int diff__sort(const char *list, struct field_list *keys);

/* Appends the texts of the keys of a cell on a side, each with a NUL. */
void diff_key__put(const struct diff *d, size_t part, size_t side, uint32_t cell,
		   struct strbuf *out);
/* The text of a site as a row's symbol: what is accidental to a run is left
 * out, which are addresses and the numbers of traces. */
void diff_key__symbol(const struct symtab *st, uint32_t site, struct strbuf *out);

/* Whether any part of a side has events of SITE, or calls there. */
static inline bool diff__has_site(const struct diff *d, size_t side, uint32_t site)
{
	return d->has_site[side * d->n_sites + site];
}

/* The row that a cell of a part is in, or HASHMAP_NONE. */
static inline uint32_t diff_part__row(const struct diff_part *p, uint32_t cell)
{
	uint32_t row = p->rows.of_cell[cell];

	return row == HASHMAP_NONE ? row : p->row_of[row];
}

static inline const struct diff_value *diff__value(const struct diff *d, size_t row, size_t side)
{
	return &d->values[row * d->n_sides + side];
}

/* The change of V against the baseline B. */
static inline s128 diff_value__delta(const struct diff_value *v, const struct diff_value *b)
{
	return v->v - b->v;
}

/* In percent of the baseline; false when that is nothing. */
bool diff_value__percent(const struct diff_value *v, const struct diff_value *b, double *out);
/* NEW * w2 - BASELINE * w1, at most +-DIFF_AMOUNT_MAX. */
s128 diff__weighted(const struct diff *d, const struct diff_value *v, const struct diff_value *b);
bool diff__is_changed(const struct diff *d, size_t row);
bool diff_value__is_changed(const struct diff_value *v, const struct diff_value *b);
/* Whether any of the sides differs from the first. */
bool diff_values__are_changed(const struct diff_value *values, size_t n_sides);

#endif
