/* diff.c - the arithmetic of a diff: changes, their order, and which rows are
 * shown.  Called by the command diff.
 */
#include "report/diff_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool diff_value__percent(const struct diff_value *v, const struct diff_value *b, double *out)
{
	if (!b->v)
		return false;
	*out = 100.0 * (double)diff_value__delta(v, b) / (double)b->v;
	return true;
}

s128 diff__weighted(const struct diff *d, const struct diff_value *v, const struct diff_value *b)
{
	s128 x, y, sum;
	bool over = __builtin_mul_overflow(v->v, (s128)d->o.w2, &x);

	if (over)
		return (d->o.w2 < 0) ? -DIFF_AMOUNT_MAX : DIFF_AMOUNT_MAX;
	over = __builtin_mul_overflow(b->v, (s128)d->o.w1, &y);
	if (over)
		return (d->o.w1 < 0) ? DIFF_AMOUNT_MAX : -DIFF_AMOUNT_MAX;
	if (__builtin_sub_overflow(x, y, &sum) || sum > DIFF_AMOUNT_MAX || sum < -DIFF_AMOUNT_MAX)
		return x > y ? DIFF_AMOUNT_MAX : -DIFF_AMOUNT_MAX;
	return sum;
}

bool diff_value__is_changed(const struct diff_value *v, const struct diff_value *b)
{
	return v->v != b->v || v->allocs != b->allocs || v->present != b->present;
}

bool diff_values__are_changed(const struct diff_value *values, size_t n_sides)
{
	size_t side;

	for (side = 1; side < n_sides; side++)
		if (diff_value__is_changed(&values[side], values))
			return true;
	return false;
}

bool diff__is_changed(const struct diff *d, size_t row)
{
	return diff_values__are_changed(diff__value(d, row, 0), d->n_sides);
}

/* ---- order ---- */

/* Each: below 0 when A comes first. */
#define DESCEND(a, b) (((a) < (b)) - ((a) > (b)))

static s128 magnitude(s128 v)
{
	return v < 0 ? -v : v;
}

/* New rows have no ratio; they grew from nothing, so they come first. */
static int cmp_ratio(const struct diff_value *a, const struct diff_value *b, size_t side)
{
	if (!a->v || !b->v)
		return a->v || b->v ? DESCEND(!a->v, !b->v) : DESCEND(a[side].v, b[side].v);
	return DESCEND((double)a[side].v / (double)a->v, (double)b[side].v / (double)b->v);
}

static int order__cmp_computed(const struct diff *d, const struct diff_value *a,
			       const struct diff_value *b)
{
	size_t side = d->o.order;
	s128 da, db;

	if (!side)
		return DESCEND(a->v, b->v);
	if (d->o.compute == DIFF_RATIO)
		return cmp_ratio(a, b, side);
	if (d->o.compute == DIFF_WDIFF) {
		da = diff__weighted(d, &a[side], a);
		db = diff__weighted(d, &b[side], b);
		return DESCEND(da, db);
	}
	da = diff_value__delta(&a[side], a);
	db = diff_value__delta(&b[side], b);
	if (d->o.compute == DIFF_DELTA_ABS && magnitude(da) != magnitude(db))
		return DESCEND(magnitude(da), magnitude(db));
	return DESCEND(da, db);
}

int diff__cmp_values(const struct diff *d, const struct diff_value *a, const struct diff_value *b)
{
	int cmp = order__cmp_computed(d, a, b);

	return cmp ? cmp : DESCEND(a->v, b->v);
}

static int order__cmp(const void *x, const void *y, void *ctx)
{
	const struct diff *d = ctx;
	uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
	const struct diff_value *a = diff__value(d, i, 0), *b = diff__value(d, j, 0);
	const struct str *s = strpool__get(&d->names, i), *t = strpool__get(&d->names, j);
	size_t min = s->len < t->len ? s->len : t->len;
	int cmp = diff__cmp_values(d, a, b);

	if (!cmp)
		cmp = memcmp(s->s, t->s, min);
	return cmp ? cmp : s->len < t->len ? -1 : s->len > t->len;
}

/* ---- which rows ---- */

/* What the limit in percent is a part of. */
static double diff__reference(const struct diff *d)
{
	s128 max = d->totals[0].v;
	size_t side;

	for (side = 1; !d->totals[0].v && side < d->n_sides; side++)
		max = d->totals[side].v > max ? d->totals[side].v : max;
	return (double)max;
}

static bool row__is_below(const struct diff *d, size_t row, double least)
{
	const struct diff_value *v = diff__value(d, row, 0);
	size_t side;

	for (side = 1; side < d->n_sides; side++)
		if ((double)magnitude(diff_value__delta(&v[side], v)) >= least)
			return false;
	return true;
}

/* 1: a row and what is below it is the same on all sides, 0, or -ENOMEM. */
static int row__is_same(const struct diff *d, size_t row)
{
	int changed = diff__is_changed(d, row);

	if (!changed && d->trees)
		changed = diff_trees__is_changed(d, row);
	return changed < 0 ? changed : !changed;
}

static int diff__select_row(struct diff *d, uint32_t row, bool all, double least)
{
	int same = row__is_same(d, row);

	if (same < 0)
		return same;
	d->n_same += same;
	if (same && !all)
		return 0;
	if (d->o.baseline_only && !diff__value(d, row, 0)->present)
		d->n_new++;
	else if (d->o.percent_limit > 0 && row__is_below(d, row, least))
		d->n_limited++;
	else
		d->order[d->n_order++] = row;
	return 0;
}

int diff__select(struct diff *d)
{
	double least = diff__reference(d) * d->o.percent_limit / 100;
	/* Weights make something of rows that did not change. */
	bool all = d->o.all || d->o.compute == DIFF_WDIFF;
	uint32_t i;
	int err = 0;

	d->order = malloc((d->n_rows + 1) * sizeof(*d->order));
	if (!d->order)
		return diff__no_memory();
	for (i = 0; !err && i < d->n_rows; i++)
		err = diff__select_row(d, i, all, least);
	if (err)
		return err;
	qsort_r(d->order, d->n_order, sizeof(*d->order), order__cmp, d);
	if (d->o.limit && d->n_order > d->o.limit) {
		d->n_limited += d->n_order - d->o.limit;
		d->n_order = d->o.limit;
	}
	return 0;
}

static int diff__make_trees(struct diff *d)
{
	if (!d->o.tree.print)
		return 0;
	d->trees = diff_trees__new(d);
	return d->trees ? 0 : -ENOMEM;
}

int diff__make(struct diff *d)
{
	int err = diff__scale_runs(d);

	err = err ? err : diff__symbolize(d);
	err = err ? err : diff__find_sites(d);
	err = err ? err : diff__join(d);
	err = err ? err : diff__make_trees(d);
	return err ? err : diff__select(d);
}
