/* diff_join.c - the rows of all sides joined by name, and what each of them is
 * on each side.  Called by diff__make().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff.h"
#include "util/grow.h"

/* What is being named; see row_name_fn. */
struct namer {
	const struct diff *d;
	size_t part, side;
};

static void join__name(const void *ctx, uint32_t cell, struct strbuf *out)
{
	const struct namer *n = ctx;

	diff_key__put(n->d, n->part, n->side, cell, out);
}

/* ---- rows ---- */

static int join__row(struct diff *d, const struct str *name, const struct row *row, uint32_t *id)
{
	*id = strpool__intern(&d->names, name->s, name->len);
	if (*id == STR_NONE || GROW(d->rows, d->cap_rows, *id))
		return -ENOMEM;
	if (*id == d->n_rows) {
		d->rows[*id] = (struct diff_row){ row->site, STR_NONE, SITE_NONE };
		d->n_rows++;
	}
	if (d->rows[*id].func == STR_NONE)
		d->rows[*id].func = row->func;
	return 0;
}

/* Names the rows of a part, and finds those of the diff that have any of the
 * metric. */
static int join__part(struct diff *d, size_t part, size_t side)
{
	struct diff_part *p = &d->parts[part];
	struct namer n = { d, part, side };
	int err = rows__make(&p->rows, p->a, join__name, &n);
	size_t i;

	p->row_of = malloc((p->rows.n + 1) * sizeof(*p->row_of));
	if (!p->row_of)
		return -ENOMEM;
	for (i = 0; !err && i < p->rows.n; i++) {
		p->row_of[i] = HASHMAP_NONE;
		if (d->o.metric->blocks(&p->rows.at[i]))
			err = join__row(d, rows__name(&p->rows, &p->rows.at[i]), &p->rows.at[i],
					&p->row_of[i]);
	}
	return err;
}

/* ---- values ---- */

/* V * MUL / DIV in units, to the nearest. */
static s128 amount(const struct diff *d, const struct diff_run *run, u128 v)
{
	u128 mul = (u128)run->mul * d->unit, whole, part;

	/* DIV and the remainder are below 2^64, MUL below 2^50. */
	if (__builtin_mul_overflow(v / run->div, mul, &whole) || whole > (u128)DIFF_AMOUNT_MAX)
		return DIFF_AMOUNT_MAX;
	part = (v % run->div * mul + run->div / 2) / run->div;
	whole += part;
	return whole > (u128)DIFF_AMOUNT_MAX ? DIFF_AMOUNT_MAX : (s128)whole;
}

static s128 mean(s128 sum, size_t n)
{
	return (sum + (s128)n / 2) / (s128)n;
}

/* Fills V from the runs of a side; those without the row count as nothing. */
static void value__fill(const struct diff *d, const struct diff_side *side,
			const struct diff_cell *cells, struct diff_value *v)
{
	size_t i;

	for (i = 0; i < side->n_runs; i++) {
		const struct diff_run *run = &d->runs[side->first_run + i];
		const struct diff_cell *c = &cells[side->first_run + i];
		s128 x = amount(d, run, c->value);

		v->v += x;
		v->min = !i || x < v->min ? x : v->min;
		v->max = !i || x > v->max ? x : v->max;
		v->allocs += amount(d, run, c->allocs);
		v->present |= c->present;
	}
	v->v = mean(v->v, side->n_runs);
	v->allocs = mean(v->allocs, side->n_runs);
}

/* A change is noise when a run of one side lies between runs of the other. */
static void value__judge(const struct diff *d, struct diff_value *v, const struct diff_value *b)
{
	v->noise = d->noise && v->v != b->v && v->min <= b->max && b->min <= v->max;
}

void diff__values(const struct diff *d, const struct diff_cell *cells, struct diff_value *values)
{
	size_t side;

	for (side = 0; side < d->n_sides; side++) {
		value__fill(d, &d->sides[side], cells, &values[side]);
		value__judge(d, &values[side], &values[0]);
	}
}

void diff_cell__add(const struct diff *d, struct diff_cell *c, const struct row *row)
{
	c->value += d->o.metric->field->value(row);
	c->allocs += row->stats.n_alloc;
	c->present = true;
}

void diff_cells__add(struct diff_cell *to, const struct diff_cell *c, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		to[i].value += c[i].value;
		to[i].allocs += c[i].allocs;
		to[i].present |= c[i].present;
	}
}

/* CELLS[row * n_runs + run] has room for one more row: the total. */
static void join__fill(struct diff *d, struct diff_cell *cells)
{
	struct diff_cell *total = &cells[d->n_rows * d->n_runs];
	size_t run, i, part;

	for (run = 0; run < d->n_runs; run++)
		for (part = 0; part < d->runs[run].n_parts; part++) {
			const struct diff_part *p = &d->parts[d->runs[run].first_part + part];

			for (i = 0; i < p->rows.n; i++) {
				const struct row *row = &p->rows.at[i];
				uint32_t id = p->row_of[i];

				if (id == HASHMAP_NONE)
					continue;
				diff_cell__add(d, &cells[id * d->n_runs + run], row);
				diff_cell__add(d, &total[run], row);
			}
		}
	for (i = 0; i < d->n_rows; i++)
		diff__values(d, &cells[i * d->n_runs], &d->values[i * d->n_sides]);
	diff__values(d, total, d->totals);
}

/* ---- what was guessed ---- */

static bool keys__have(const struct diff *d, const char *name)
{
	size_t i;

	for (i = 0; i < d->o.keys.n; i++)
		if (!strcmp(d->o.keys.at[i]->name, name))
			return true;
	return false;
}

static void join__guesses(struct diff *d, size_t side, size_t part)
{
	const struct diff_part *p = &d->parts[part];
	bool by_func = keys__have(d, "func");
	bool by_line = keys__have(d, "symbol") || keys__have(d, "trace");
	uint32_t cell, id;

	if (!by_func && !by_line)
		return;
	for (cell = 0; cell < p->a->n_stats; cell++) {
		uint32_t site = aggregate__cell(p->a, cell).site;

		id = diff_part__row(p, cell);
		if (id == HASHMAP_NONE || !diff_match__is_guess(d, side, site, by_func))
			continue;
		d->values[id * d->n_sides + side].fuzzy = true;
		d->rows[id].moved = site;
	}
}

int diff__join(struct diff *d)
{
	struct diff_cell *cells;
	size_t side, part;
	int err = diff_match__make(d);

	for (side = 0; !err && side < d->n_sides; side++)
		for (part = 0; !err && part < d->sides[side].n_parts; part++)
			err = join__part(d, d->sides[side].first_part + part, side);
	if (err)
		return diff__no_memory();
	cells = calloc((d->n_rows + 1) * d->n_runs, sizeof(*cells));
	d->values = calloc(d->n_rows * d->n_sides + 1, sizeof(*d->values));
	d->totals = calloc(d->n_sides + 1, sizeof(*d->totals));
	if (!cells || !d->values || !d->totals) {
		free(cells);
		return diff__no_memory();
	}
	join__fill(d, cells);
	free(cells);
	for (side = 1; side < d->n_sides; side++)
		for (part = 0; part < d->sides[side].n_parts; part++)
			join__guesses(d, side, d->sides[side].first_part + part);
	return 0;
}
