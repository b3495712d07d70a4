/* diff_json.c - a diff as one JSON object.  Called by the command diff.
 *
 *	{"metric":"allocated","unit":"bytes","per":null,"compute":"delta-abs",
 *	 "sides":[{"name":"a","files":["a"],"runs":1,"value":704,"allocs":11},
 *	          {"name":"b","files":["b"],"runs":1,"value":640,"allocs":10,
 *	           "delta":-64,"delta_percent":-9.09090909,"allocs_delta":-1}],
 *	 "rows":[{"key":{"source":"lua","symbol":"app.lua:12"},"function":"parse",
 *	          "sides":[...]}]}
 *
 * With -g a row has a "tree", whose nodes have the numbers of their parents, which
 * come before them:
 *
 *	"tree":[{"frame":"parse app.lua:12","parent":null,
 *	         "sides":[{"present":true,"self":0,"value":704},
 *	                  {"present":true,"self":0,"value":640,"delta":-64}]},...]
 *
 * A side of a row has "present" and, where there is one, "marks" as well.
 * Whole numbers are exact and may have more than 64 bits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff_tree.h"
#include "report/diff_view.h"
#include "report/json.h"

enum { FLUSH_BYTES = 1 << 16 };

/* Trees are large.  False when nobody reads any more. */
static bool flush(struct json *j)
{
	return j->out->len < FLUSH_BYTES || term__flush(j->out);
}

static void put_amount(const struct diff *d, struct json *j, const char *key, s128 v)
{
	json__key(j, key);
	json__raw(j);
	diff__put_amount(d, j->out, v, false, DIFF_UNSIGNED, true);
}

static void put_double(struct json *j, const char *key, bool known, double v)
{
	json__key(j, key);
	if (!known) {
		json__null(j);
		return;
	}
	json__raw(j);
	strbuf__addf(j->out, "%.9g", v);
}

static void put_change(const struct diff *d, struct json *j, const struct diff_value *v,
		       const struct diff_value *b)
{
	double percent = 0;
	bool known = diff_value__percent(v, b, &percent);

	put_amount(d, j, "delta", diff_value__delta(v, b));
	put_double(j, "delta_percent", known, percent);
	if (d->o.compute == DIFF_RATIO)
		put_double(j, "ratio", b->v, b->v ? (double)v->v / (double)b->v : 0);
	if (d->o.compute == DIFF_WDIFF)
		put_amount(d, j, "weighted", diff__weighted(d, v, b));
	put_amount(d, j, "allocs_delta", v->allocs - b->allocs);
}

static void put_marks(struct json *j, const struct diff_value *v, const struct diff_value *b)
{
	const char *const marks[] = {
		v->present == b->present ? NULL
		: v->present             ? "new"
					 : "gone",
		v->fuzzy ? "fuzzy" : NULL,
		v->noise ? "noise" : NULL,
	};
	bool any = false;
	size_t i;

	for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (!marks[i])
			continue;
		if (!any) {
			json__key(j, "marks");
			json__open(j, '[');
		}
		json__str(j, marks[i]);
		any = true;
	}
	if (any)
		json__close(j, ']');
}

/* The members of a side, of a row or of the totals. */
static void put_value(const struct diff *d, size_t side, const struct diff_value *values,
		      struct json *j)
{
	const struct diff_value *v = &values[side];

	put_amount(d, j, "value", v->v);
	if (d->sides[side].n_runs > 1) {
		put_amount(d, j, "min", v->min);
		put_amount(d, j, "max", v->max);
	}
	put_amount(d, j, "allocs", v->allocs);
	if (!side)
		return;
	put_change(d, j, v, values);
	put_marks(j, v, values);
}

static void put_side(const struct diff *d, size_t side, struct json *j)
{
	const struct diff_side *s = &d->sides[side];
	size_t i;

	json__open(j, '{');
	json__put_str(j, "name", s->name);
	json__key(j, "files");
	json__open(j, '[');
	for (i = 0; i < s->n_parts; i++)
		json__str(j, d->parts[s->first_part + i].path);
	json__close(j, ']');
	json__put_num(j, "runs", s->n_runs);
	put_value(d, side, d->totals, j);
	json__close(j, '}');
}

/* SELF has room for all sides. */
static void put_node(const struct diff *d, size_t node, struct diff_value *self, struct json *j)
{
	const struct diff_trees *t = d->trees;
	const struct diff_node *n = &t->at[node];
	const struct diff_value *v = diff_trees__value(d, node);
	size_t i;

	memset(self, 0, d->n_sides * sizeof(*self));
	diff__values(d, &t->self[node * d->n_runs], self);
	json__open(j, '{');
	json__put_str(j, "frame", strpool__get(&t->labels, n->label)->s);
	if (n->parent) /* the root is not written */
		json__put_num(j, "parent", n->parent - 1);
	else
		json__put_null(j, "parent");
	json__key(j, "sides");
	json__open(j, '[');
	for (i = 0; i < d->n_sides; i++) {
		json__open(j, '{');
		json__put_bool(j, "present", v[i].present);
		put_amount(d, j, "self", self[i].v);
		put_amount(d, j, "value", v[i].v);
		if (i)
			put_amount(d, j, "delta", diff_value__delta(&v[i], v));
		json__close(j, '}');
	}
	json__close(j, ']');
	json__close(j, '}');
}

static int put_tree(const struct diff *d, size_t row, struct json *j)
{
	struct diff_value *self = malloc(d->n_sides * sizeof(*self));
	int err = self ? diff_trees__build(d, row) : diff__no_memory();
	size_t i;

	json__key(j, "tree");
	json__open(j, '[');
	for (i = 1; !err && i < d->trees->n && flush(j); i++)
		put_node(d, i, self, j);
	json__close(j, ']');
	free(self);
	return err;
}

static int put_row(const struct diff *d, size_t row, struct json *j)
{
	const struct diff_row *r = &d->rows[row];
	const struct diff_value *v = diff__value(d, row, 0);
	size_t i;
	int err = 0;

	json__open(j, '{');
	json__key(j, "key");
	json__open(j, '{');
	for (i = 0; i < d->o.keys.n; i++)
		json__put_str(j, d->o.keys.at[i]->name, diff__key(d, row, i));
	json__close(j, '}');
	if (r->func != STR_NONE) {
		const struct str *func = strpool__get(&d->symtab->strings, r->func);

		json__put_text(j, "function", func->s, func->len);
	}
	json__key(j, "sides");
	json__open(j, '[');
	for (i = 0; i < d->n_sides; i++) {
		json__open(j, '{');
		json__put_bool(j, "present", v[i].present);
		put_value(d, i, v, j);
		json__close(j, '}');
	}
	json__close(j, ']');
	if (d->trees)
		err = put_tree(d, row, j);
	json__close(j, '}');
	return err;
}

int diff_view__json(const struct diff *d, struct strbuf *out)
{
	static const char *const computes[] = {
		[DIFF_DELTA_ABS] = "delta-abs",
		[DIFF_DELTA] = "delta",
		[DIFF_RATIO] = "ratio",
		[DIFF_WDIFF] = "wdiff",
	};
	const char *per = diff__per(d);
	struct json j = { .out = out };
	size_t i;
	int err = 0;

	json__open(&j, '{');
	json__put_str(&j, "metric", d->o.metric->name);
	json__put_str(&j, "unit", diff__in_bytes(d) ? "bytes" : "number");
	if (per)
		json__put_str(&j, "per", per);
	else
		json__put_null(&j, "per");
	json__put_str(&j, "compute", computes[d->o.compute]);
	json__key(&j, "sides");
	json__open(&j, '[');
	for (i = 0; i < d->n_sides; i++)
		put_side(d, i, &j);
	json__close(&j, ']');
	json__key(&j, "rows");
	json__open(&j, '[');
	for (i = 0; !err && i < d->n_order && flush(&j); i++) {
		json__newline(&j);
		err = put_row(d, d->order[i], &j);
	}
	json__close(&j, ']');
	json__close(&j, '}');
	strbuf__addch(out, '\n');
	return err;
}
