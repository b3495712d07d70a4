/* diff_table.c - the columns of a diff, and the views made from them: the
 * table and Markdown.  Called by the command diff.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff_view.h"
#include "report/names.h"
#include "util/error.h"

enum col_kind {
	COL_VALUE,
	COL_ALLOCS,
	COL_SPREAD,
	COL_COMPUTED,
	COL_PERCENT,
	COL_ALLOCS_DELTA,
	COL_FORMULA,
	COL_MARK,
	COL_KEY,
};

struct col {
	enum col_kind kind;
	size_t side, key;
};

struct cols {
	const struct diff *d;
	struct grid *g;
	struct col *at;
	bool exact, marks;
};

static const char *const computed_headings[] = {
	[DIFF_DELTA_ABS] = "Delta Abs",
	[DIFF_DELTA] = "Delta",
	[DIFF_RATIO] = "Ratio",
	[DIFF_WDIFF] = "Weighted Diff",
};

/* ---- cells ---- */

static enum grid_color delta_color(const struct diff_value *v, const struct diff_value *b)
{
	double percent;

	if (v->noise)
		return GRID_PLAIN;
	if (!diff_value__percent(v, b, &percent))
		return v->v > b->v ? GRID_RED : GRID_PLAIN;
	return percent > 5 ? GRID_RED : percent < -0.5 ? GRID_GREEN : GRID_PLAIN;
}

static void put_spread(const struct cols *c, const struct diff_value *v)
{
	bool bytes = diff__in_bytes(c->d);

	if (!v->present)
		return;
	diff__put_amount(c->d, &c->g->text, v->min, bytes, DIFF_UNSIGNED, c->exact);
	strbuf__addstr(&c->g->text, "..");
	diff__put_amount(c->d, &c->g->text, v->max, bytes, DIFF_UNSIGNED, c->exact);
}

static void put_computed(const struct cols *c, const struct diff_value *v,
			 const struct diff_value *b)
{
	const struct diff *d = c->d;
	bool bytes = diff__in_bytes(d);

	switch (d->o.compute) {
	case DIFF_RATIO:
		if (b->v)
			strbuf__addf(&c->g->text,
				     (double)v->v / (double)b->v < 1e12 ? "%.6f" : "%.6e",
				     (double)v->v / (double)b->v);
		break;
	case DIFF_WDIFF:
		diff__put_amount(d, &c->g->text, diff__weighted(d, v, b), bytes, DIFF_SIGNED,
				 c->exact);
		break;
	default:
		diff__put_amount(d, &c->g->text, diff_value__delta(v, b), bytes, DIFF_SIGNED,
				 c->exact);
	}
}

/* As perf: the numbers that the computed column is made from. */
static void put_formula(const struct cols *c, const struct diff_value *v,
			const struct diff_value *b)
{
	const struct diff *d = c->d;
	struct strbuf *out = &c->g->text;
	bool weighted = d->o.compute == DIFF_WDIFF;

	strbuf__addstr(out, weighted ? "(" : "");
	diff__put_amount(d, out, v->v, false, DIFF_UNSIGNED, true);
	if (weighted)
		strbuf__addf(out, " * %lld)", (long long)d->o.w2);
	strbuf__addstr(out, d->o.compute == DIFF_RATIO ? " / " : weighted ? " - (" : " - ");
	diff__put_amount(d, out, b->v, false, DIFF_UNSIGNED, true);
	if (weighted)
		strbuf__addf(out, " * %lld)", (long long)d->o.w1);
}

static void put_mark(struct strbuf *out, const struct diff_value *v, const struct diff_value *b)
{
	size_t start = out->len;

	if (v->present != b->present)
		strbuf__addstr(out, v->present ? "new" : "gone");
	if (v->fuzzy)
		strbuf__addstr(out, out->len > start ? " fuzzy" : "fuzzy");
	if (v->noise)
		strbuf__addstr(out, out->len > start ? " noise" : "noise");
}

static void put_percent(const struct cols *c, const struct diff_value *v,
			const struct diff_value *b)
{
	double percent;

	if (diff_value__percent(v, b, &percent))
		diff__put_percent(&c->g->text, percent);
}

/* A cell of a row that a side does not have is empty; its change is not. */
static void put_cell(const struct cols *c, const struct col *col, size_t row)
{
	const struct diff *d = c->d;
	const struct diff_value *b = diff__value(d, row, 0), *v = &b[col->side];
	struct strbuf *out = &c->g->text;
	enum grid_color color = GRID_PLAIN;

	switch (col->kind) {
	case COL_VALUE:
		if (v->present)
			diff__put_amount(d, out, v->v, diff__in_bytes(d), DIFF_UNSIGNED, c->exact);
		break;
	case COL_ALLOCS:
		if (v->present)
			diff__put_amount(d, out, v->allocs, false, DIFF_UNSIGNED, c->exact);
		break;
	case COL_SPREAD:
		put_spread(c, v);
		break;
	case COL_COMPUTED:
		put_computed(c, v, b);
		break;
	case COL_PERCENT:
		put_percent(c, v, b);
		color = delta_color(v, b);
		break;
	case COL_ALLOCS_DELTA:
		diff__put_amount(d, out, v->allocs - b->allocs, false, DIFF_SIGNED, c->exact);
		break;
	case COL_FORMULA:
		put_formula(c, v, b);
		break;
	case COL_MARK:
		put_mark(out, v, b);
		break;
	case COL_KEY:
		diff__put_key(d, row, col->key, out);
		break;
	}
	grid__end_cell(c->g, color);
}

/* ---- columns ---- */

/* With three data files or more, as perf, headings end in the file's number. */
static void add_column(struct cols *c, enum col_kind kind, size_t side, const char *heading)
{
	struct grid_column *g = grid__column(c->g);

	if (!g)
		return;
	if (c->d->n_sides > 2)
		snprintf(g->heading, sizeof(g->heading), "%s/%zu", heading, side);
	else
		snprintf(g->heading, sizeof(g->heading), "%s", heading);
	g->text = kind == COL_MARK;
	c->at[c->g->n_columns - 1] = (struct col){ kind, side, 0 };
}

static void add_key(struct cols *c, size_t key)
{
	const struct field *f = c->d->o.keys.at[key];
	struct grid_column *g = grid__column(c->g);

	if (!g)
		return;
	snprintf(g->heading, sizeof(g->heading), "%s", f->heading);
	g->text = true;
	g->code = strcmp(f->name, "source");
	c->at[c->g->n_columns - 1] = (struct col){ COL_KEY, 0, key };
}

static void add_baseline(struct cols *c)
{
	add_column(c, COL_VALUE, 0, "Baseline");
	if (c->d->sides[0].n_runs > 1)
		add_column(c, COL_SPREAD, 0, c->d->n_sides > 2 ? "Spread" : "Base Spread");
	if (c->d->o.absolute)
		add_column(c, COL_ALLOCS, 0, c->d->n_sides > 2 ? "Total Allocs" : "Base Allocs");
}

static void add_side(struct cols *c, size_t side)
{
	const struct diff_opts *o = &c->d->o;
	bool runs = c->d->sides[side].n_runs > 1;

	if (o->absolute || runs)
		add_column(c, COL_VALUE, side, "New");
	if (runs)
		add_column(c, COL_SPREAD, side, c->d->n_sides > 2 ? "Spread" : "New Spread");
	if (o->absolute)
		add_column(c, COL_ALLOCS, side, c->d->n_sides > 2 ? "Total Allocs" : "New Allocs");
	add_column(c, COL_COMPUTED, side, computed_headings[o->compute]);
	if (o->compute == DIFF_DELTA || o->compute == DIFF_DELTA_ABS)
		add_column(c, COL_PERCENT, side, "Delta %");
	add_column(c, COL_ALLOCS_DELTA, side, "Allocs");
	if (o->formula)
		add_column(c, COL_FORMULA, side, "Formula");
	if (c->marks)
		add_column(c, COL_MARK, side, "Mark");
}

static bool value__has_mark(const struct diff_value *v, const struct diff_value *b)
{
	return v->present != b->present || v->fuzzy || v->noise;
}

/* Programs can count on the column; people need it when it says something. */
static bool diff__has_marks(const struct diff *d)
{
	const struct diff_value *v;
	size_t i, side;

	for (i = 0; i < d->n_order; i++) {
		v = diff__value(d, d->order[i], 0);
		for (side = 1; side < d->n_sides; side++)
			if (value__has_mark(&v[side], v))
				return true;
	}
	return false;
}

int diff_grid__fill(const struct diff *d, bool exact, struct grid *g)
{
	/* At most 2 for the baseline and 8 for each other side, and the keys. */
	struct cols c = { d, g, calloc(d->n_sides * 8 + d->o.keys.n + 1, sizeof(struct col)), exact,
			  exact || diff__has_marks(d) };
	size_t i, j;

	if (!c.at)
		return diff__no_memory();
	add_baseline(&c);
	for (i = 1; i < d->n_sides; i++)
		add_side(&c, i);
	for (i = 0; i < d->o.keys.n; i++)
		add_key(&c, i);
	for (i = 0; !g->failed && i < d->n_order; i++)
		for (j = 0; j < g->n_columns; j++)
			put_cell(&c, &c.at[j], d->order[i]);
	free(c.at);
	return g->failed ? diff__no_memory() : 0;
}

/* ---- views ---- */

/* The texts of the multi-line chunks that the rows name. */
static int put_aliases(const struct diff *d, struct strbuf *out)
{
	const struct symtab *st = d->symtab;
	bool *wanted = calloc(st->n_aliases + 1, sizeof(*wanted)), any = false;
	size_t i, alias;

	if (!wanted)
		return diff__no_memory();
	for (i = 0; i < d->n_order; i++) {
		const struct proto *p = symtab__proto(st, &st->sites[d->rows[d->order[i]].site]);

		alias = p && p->chunk != STR_NONE ? symtab__alias(st, p->chunk) : 0;
		if (alias)
			any = wanted[alias - 1] = true;
	}
	if (any) {
		strbuf__addch(out, '\n');
		names__aliases(st, wanted, out);
	}
	free(wanted);
	return 0;
}

/* ROW counts the rows that are shown. */
static int below(const void *ctx, size_t row, struct strbuf *out)
{
	const struct diff *d = ctx;

	return diff_tree__put(d, d->order[row], d->o.separator, out);
}

int diff_view__table(const struct diff *d, const struct term *t, struct strbuf *out)
{
	const char *separator = d->o.separator;
	bool quiet = d->o.quiet;
	struct grid g = { 0 };
	int err = diff_grid__fill(d, separator, &g);

	if (err) {
		grid__exit(&g);
		return err;
	}
	if (!quiet)
		diff__put_summary(d, out);
	if (d->trees) {
		g.below = below;
		g.ctx = d;
	}
	if (d->n_order && separator)
		grid__print_separated(&g, !quiet, separator, out);
	else if (d->n_order)
		grid__print(&g, !quiet, t, out);
	grid__exit(&g);
	if (quiet)
		return 0;
	if (d->n_order && (d->n_same || d->n_new || d->n_limited))
		strbuf__addstr(out, "#\n");
	diff__put_rest(d, "# ", out);
	return separator ? 0 : put_aliases(d, out);
}

static void markdown__totals(const struct diff *d, struct strbuf *out)
{
	const char *per = diff__per(d);
	size_t side;

	for (side = 1; side < d->n_sides; side++) {
		strbuf__addstr(out, "**");
		if (d->n_sides > 2)
			strbuf__addf(out, "[%zu] ", side);
		strbuf__addf(out, "%s%s%s:** ", d->o.metric->name, per ? " " : "", per ? per : "");
		diff__put_totals(d, side, "\xe2\x86\x92", out); /* an arrow */
		strbuf__addstr(out, "\n\n");
	}
}

/* The trees of the rows as a block of text.  No line begins with a name, so none
 * can end the block. */
static int markdown__trees(const struct diff *d, struct strbuf *out)
{
	size_t i, j;
	int err = 0;

	strbuf__addstr(out, "```\n");
	for (i = 0; !err && i < d->n_order; i++) {
		for (j = 0; j < d->o.keys.n; j++) {
			strbuf__addstr(out, j ? "  " : "    ");
			diff__put_key(d, d->order[i], j, out);
		}
		strbuf__addch(out, '\n');
		err = diff_tree__put(d, d->order[i], false, out);
	}
	strbuf__addstr(out, "```\n\n");
	return err;
}

int diff_view__markdown(const struct diff *d, struct strbuf *out)
{
	struct grid g = { 0 };
	int err = diff_grid__fill(d, false, &g);

	if (!err) {
		markdown__totals(d, out);
		if (d->n_order) {
			grid__print_markdown(&g, out);
			strbuf__addch(out, '\n');
		}
		if (d->n_order && d->trees)
			err = markdown__trees(d, out);
		diff__put_rest(d, "", out);
	}
	grid__exit(&g);
	return err;
}
