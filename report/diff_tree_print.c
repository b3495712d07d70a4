/* diff_tree_print.c - the call tree of a row of a diff as text.  Called by the
 * views of diff.  The layout is that of report, with changes for shares:
 *
 *	            |
 *	            ---parse_row app.lua:42
 *	               |
 *	               |--+30.0 MiB--read_all app.lua:12
 *	               |             main chunk app.lua:80
 *	               |
 *	                ---+1.2 MiB--reload app.lua:60  (new)
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff_tree.h"
#include "report/diff_view.h"

enum { MARGIN = 12, AROUND = 5 }; /* "|--" before an amount, "--" behind it */

struct printer {
	const struct diff *d;
	const struct diff_trees *t;
	struct strbuf *out;
	size_t margin, width; /* of amounts */
	struct strbuf amount;
	/* Which of the columns of the branches above go on, as '|' or ' '. */
	struct strbuf bars;
	/* Of branches that are put together. */
	struct diff_cell *cells;
	struct diff_value *values;
};

/* ---- nodes ---- */

static const struct diff_node *node__at(const struct printer *p, uint32_t id)
{
	return id ? &p->t->at[id] : NULL;
}

static size_t node__id(const struct printer *p, const struct diff_node *node)
{
	return (size_t)(node - p->t->at);
}

/* Whether a branch is to be seen at all: alone, or among others. */
static bool node__counts(const struct printer *p, const struct diff_node *node)
{
	return node->changed || p->d->o.all || p->d->o.compute == DIFF_WDIFF;
}

/* What did not change has been asked for. */
static bool node__is_large(const struct printer *p, const struct diff_node *node)
{
	double all = p->t->at[0].weight;

	return node__counts(p, node) &&
	       (!node->changed || !all || 100.0 * node->weight / all >= p->d->o.tree.min_percent);
}

/* The next sibling from NODE on that is printed; NULL: none. */
static const struct diff_node *next_large(const struct printer *p, const struct diff_node *node)
{
	while (node && !node__is_large(p, node))
		node = node__at(p, node->next);
	return node;
}

/* A branch that is only one stack from here on to NODE, or to where it forks. */
static const struct diff_node *only_child(const struct printer *p, const struct diff_node *node)
{
	const struct diff_node *child = node__at(p, node->first);

	return child && !child->next && !node->has_self ? child : NULL;
}

/* ---- texts ---- */

static void put_amounts(const struct diff *d, const struct diff_value *values, bool exact,
			struct strbuf *out)
{
	size_t side;

	for (side = 1; side < d->n_sides; side++) {
		if (side > 1)
			strbuf__addstr(out, exact ? "," : ", ");
		diff__put_amount(d, out, diff__change(d, values, side), diff__in_bytes(d),
				 DIFF_SIGNED, exact);
	}
}

static void put_label(struct printer *p, const struct diff_node *node)
{
	strbuf__addstr(p->out, strpool__get(&p->t->labels, node->label)->s);
}

/* A mark of one of several sides ends in its number. */
static void put_mark(struct printer *p, const char *mark, size_t side)
{
	strbuf__addf(p->out, "  (%s", mark);
	if (p->d->n_sides > 2)
		strbuf__addf(p->out, "/%zu", side);
	strbuf__addch(p->out, ')');
}

/* A branch is marked where it begins to be new or gone: not below that. */
static void put_marks(struct printer *p, const struct diff_node *node)
{
	const struct diff_value *v = diff_trees__value(p->d, node__id(p, node));
	const struct diff_value *above = diff_trees__value(p->d, node->parent);
	size_t side;

	for (side = 1; side < p->d->n_sides; side++)
		if (v[side].present != v->present && above[side].present == above->present)
			put_mark(p, v[side].present ? "new" : "gone", side);
}

static void put_noise(struct printer *p, const struct diff_node *node)
{
	const struct diff_value *v = diff_trees__value(p->d, node__id(p, node));
	size_t side;

	for (side = 1; side < p->d->n_sides; side++)
		if (v[side].noise)
			put_mark(p, "noise", side);
}

/* ---- branches ---- */

static void put_indent(struct printer *p, size_t n_bars)
{
	size_t i;

	strbuf__addch_n(p->out, ' ', p->margin);
	for (i = 0; i < n_bars && !p->bars.failed; i++) {
		strbuf__addch(p->out, p->bars.buf[i]);
		strbuf__addch_n(p->out, ' ', p->width + AROUND - 1);
	}
}

static void put_gap(struct printer *p)
{
	put_indent(p, p->bars.len - 1);
	strbuf__addstr(p->out, "|\n");
}

/* "|--+30.0 MiB--", the last of its siblings without the bar.  A minus stands apart
 * from the dashes: "|- -30.0 MiB--". */
static void put_change(struct printer *p, const struct diff_value *values, bool last)
{
	bool minus;
	size_t width;

	if (p->bars.failed)
		return;
	if (last)
		p->bars.buf[p->bars.len - 1] = ' ';
	put_indent(p, p->bars.len - 1);
	strbuf__reset(&p->amount);
	put_amounts(p->d, values, false, &p->amount);
	width = utf8__width(strbuf__str(&p->amount), p->amount.len);
	minus = strbuf__str(&p->amount)[0] == '-';
	strbuf__addstr(p->out, last ? " -" : "|-");
	strbuf__addch_n(p->out, minus ? ' ' : '-', width < p->width ? p->width - width + 1 : 1);
	strbuf__addstr(p->out, strbuf__str(&p->amount));
	strbuf__addstr(p->out, "--");
}

static void put_children(struct printer *p, const struct diff_node *node);

static void put_branch(struct printer *p, const struct diff_node *node, bool last)
{
	const struct diff_node *next;

	put_change(p, diff_trees__value(p->d, node__id(p, node)), last);
	put_label(p, node);
	put_marks(p, node);
	put_noise(p, node);
	strbuf__addch(p->out, '\n');
	for (; (next = only_child(p, node)); node = next) {
		put_indent(p, p->bars.len);
		put_label(p, next);
		strbuf__addch(p->out, '\n');
	}
	put_children(p, node);
}

/* Adds up the children that count and are too small to be printed. */
static bool sum_small(struct printer *p, const struct diff_node *node)
{
	const struct diff_node *child;
	size_t n = p->d->n_runs;
	bool any = false;

	memset(p->cells, 0, n * sizeof(*p->cells));
	for (child = node__at(p, node->first); child; child = node__at(p, child->next)) {
		if (!node__counts(p, child) || node__is_large(p, child))
			continue;
		diff_cells__add(p->cells, &p->t->total[node__id(p, child) * n], n);
		any = true;
	}
	return any;
}

static void put_small(struct printer *p, const struct diff_node *node)
{
	if (!sum_small(p, node))
		return;
	memset(p->values, 0, p->d->n_sides * sizeof(*p->values));
	diff__values(p->d, p->cells, p->values);
	put_gap(p);
	put_change(p, p->values, true);
	strbuf__addstr(p->out, "[...]\n");
}

/* The branches of NODE that are large enough, and one for the others. */
static void put_children(struct printer *p, const struct diff_node *node)
{
	const struct diff_node *child = next_large(p, node__at(p, node->first)), *next;
	bool small = sum_small(p, node);

	strbuf__addch(&p->bars, '|');
	for (; child; child = next) {
		next = next_large(p, node__at(p, child->next));
		put_gap(p);
		put_branch(p, child, !next && !small);
	}
	put_small(p, node);
	if (!p->bars.failed)
		p->bars.len--;
}

/* The first frames, as long as there is only one stack. */
static const struct diff_node *put_stem(struct printer *p)
{
	const struct diff_node *node = &p->t->at[0], *next;
	bool first = true;

	for (; (next = only_child(p, node)); node = next) {
		strbuf__addch_n(p->out, ' ', p->margin);
		if (first) {
			strbuf__addstr(p->out, "|\n");
			strbuf__addch_n(p->out, ' ', p->margin);
			strbuf__addstr(p->out, "---");
			p->margin += 3;
		}
		first = false;
		put_label(p, next);
		strbuf__addch(p->out, '\n');
	}
	return node;
}

/* The width of the amounts that are printed. */
static void printer__measure(struct printer *p)
{
	size_t i, width;

	for (i = 1; i < p->t->n; i++) {
		const struct diff_node *node = &p->t->at[i];

		if (!node__is_large(p, node) || only_child(p, &p->t->at[node->parent]))
			continue;
		strbuf__reset(&p->amount);
		put_amounts(p->d, diff_trees__value(p->d, i), false, &p->amount);
		width = utf8__width(strbuf__str(&p->amount), p->amount.len);
		p->width = width > p->width ? width : p->width;
	}
}

static void put_graph(struct printer *p)
{
	printer__measure(p);
	put_children(p, put_stem(p));
	strbuf__addch(p->out, '\n');
}

/* ---- folded ---- */

static void put_frames(struct printer *p, const struct diff_node *node)
{
	uint32_t path[STACK_DEPTH_MAX + 1];
	size_t n = 0;
	const char *s;

	for (; node != &p->t->at[0]; node = &p->t->at[node->parent])
		path[n++] = node->label;
	while (n) {
		for (s = strpool__get(&p->t->labels, path[--n])->s; *s; s++)
			strbuf__addch(p->out, *s == ';' ? ':' : *s);
		if (n)
			strbuf__addch(p->out, ';');
	}
}

/* A line for each stack: its change and, with semicolons between, its frames. */
static void put_folded(struct printer *p, bool exact)
{
	const struct diff *d = p->d;
	size_t i;

	for (i = 1; i < p->t->n; i++) {
		if (!p->t->at[i].has_self)
			continue;
		memset(p->values, 0, d->n_sides * sizeof(*p->values));
		diff__values(d, &p->t->self[i * d->n_runs], p->values);
		if (!d->o.all && d->o.compute != DIFF_WDIFF &&
		    !diff_values__are_changed(p->values, d->n_sides))
			continue;
		put_amounts(d, p->values, exact, p->out);
		strbuf__addch(p->out, ' ');
		put_frames(p, &p->t->at[i]);
		strbuf__addch(p->out, '\n');
	}
}

/* ---- the tree of a row ---- */

int diff_tree__put(const struct diff *d, size_t row, bool exact, struct strbuf *out)
{
	struct printer p = { .d = d, .t = d->trees, .out = out, .margin = MARGIN };
	int err = diff_trees__build(d, row);

	if (err)
		return err;
	p.cells = malloc(d->n_runs * sizeof(*p.cells));
	p.values = malloc(d->n_sides * sizeof(*p.values));
	if (!p.cells || !p.values)
		out->failed = true;
	else if (d->o.tree.print == TREE_FOLDED)
		put_folded(&p, exact);
	else if (!exact)
		put_graph(&p);
	out->failed |= p.bars.failed || p.amount.failed;
	free(p.cells);
	free(p.values);
	strbuf__exit(&p.bars);
	strbuf__exit(&p.amount);
	return 0;
}
