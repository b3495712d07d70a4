/* diff_json.c - a diff as one JSON object.  Called by the command diff.
 *
 *	{"metric":"allocated","unit":"bytes","per":null,"compute":"delta-abs",
 *	 "sides":[{"name":"a","files":["a"],"runs":1,"value":704,"allocs":11},
 *	          {"name":"b","files":["b"],"runs":1,"value":640,"allocs":10,
 *	           "delta":-64,"delta_percent":-9.09090909,"allocs_delta":-1}],
 *	 "rows":[{"key":{"source":"lua","symbol":"app.lua:12"},"function":"parse",
 *	          "sides":[...]}]}
 *
 * A side of a row has "present" and, where there is one, "marks" as well.
 * Whole numbers are exact and may have more than 64 bits.
 */
#include <errno.h>
#include <string.h>

#include "report/diff_view.h"

/* ,"KEY": */
static void put_name(struct strbuf *out, const char *key)
{
	char last = out->len ? out->buf[out->len - 1] : '{';

	strbuf__addf(out, "%s\"%s\":", last == '{' || last == '[' ? "" : ",", key);
}

static void put_text(struct strbuf *out, const char *key, const char *text)
{
	put_name(out, key);
	escape__json(out, text, strlen(text));
}

static void put_amount(const struct diff *d, struct strbuf *out, const char *key, s128 v)
{
	put_name(out, key);
	diff__put_amount(d, out, v, false, DIFF_UNSIGNED, true);
}

static void put_double(struct strbuf *out, const char *key, bool known, double v)
{
	put_name(out, key);
	if (known)
		strbuf__addf(out, "%.9g", v);
	else
		strbuf__addstr(out, "null");
}

static void put_change(const struct diff *d, struct strbuf *out, const struct diff_value *v,
		       const struct diff_value *b)
{
	double percent = 0;
	bool known = diff_value__percent(v, b, &percent);

	put_amount(d, out, "delta", diff_value__delta(v, b));
	put_double(out, "delta_percent", known, percent);
	if (d->o.compute == DIFF_RATIO)
		put_double(out, "ratio", b->v, b->v ? (double)v->v / (double)b->v : 0);
	if (d->o.compute == DIFF_WDIFF)
		put_amount(d, out, "weighted", diff__weighted(d, v, b));
	put_amount(d, out, "allocs_delta", v->allocs - b->allocs);
}

static void put_marks(struct strbuf *out, const struct diff_value *v, const struct diff_value *b)
{
	const char *const marks[] = {
		v->present == b->present ? NULL
		: v->present             ? "new"
					 : "gone",
		v->fuzzy ? "fuzzy" : NULL,
		v->noise ? "noise" : NULL,
	};
	size_t i, n = 0;

	for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (!marks[i])
			continue;
		if (!n++) {
			put_name(out, "marks");
			strbuf__addch(out, '[');
		}
		strbuf__addf(out, "%s\"%s\"", n > 1 ? "," : "", marks[i]);
	}
	if (n)
		strbuf__addch(out, ']');
}

/* The members of a side, of a row or of the totals. */
static void put_value(const struct diff *d, size_t side, const struct diff_value *values,
		      struct strbuf *out)
{
	const struct diff_value *v = &values[side];

	put_amount(d, out, "value", v->v);
	if (d->sides[side].n_runs > 1) {
		put_amount(d, out, "min", v->min);
		put_amount(d, out, "max", v->max);
	}
	put_amount(d, out, "allocs", v->allocs);
	if (!side)
		return;
	put_change(d, out, v, values);
	put_marks(out, v, values);
}

static void put_side(const struct diff *d, size_t side, struct strbuf *out)
{
	const struct diff_side *s = &d->sides[side];
	size_t i;

	strbuf__addstr(out, side ? ",{" : "{");
	put_text(out, "name", s->name);
	put_name(out, "files");
	for (i = 0; i < s->n_parts; i++) {
		const char *path = d->parts[s->first_part + i].path;

		strbuf__addch(out, i ? ',' : '[');
		escape__json(out, path, strlen(path));
	}
	strbuf__addf(out, "],\"runs\":%zu", s->n_runs);
	put_value(d, side, d->totals, out);
	strbuf__addch(out, '}');
}

static void put_row(const struct diff *d, size_t row, struct strbuf *out)
{
	const struct diff_row *r = &d->rows[row];
	const struct diff_value *v = diff__value(d, row, 0);
	size_t i;

	strbuf__addch(out, '{');
	put_name(out, "key");
	strbuf__addch(out, '{');
	for (i = 0; i < d->o.keys.n; i++)
		put_text(out, d->o.keys.at[i]->name, diff__key(d, row, i));
	strbuf__addch(out, '}');
	if (r->func != STR_NONE) {
		const struct str *func = strpool__get(&d->symtab->strings, r->func);

		put_name(out, "function");
		escape__json(out, func->s, func->len);
	}
	put_name(out, "sides");
	for (i = 0; i < d->n_sides; i++) {
		strbuf__addstr(out, i ? ",{" : "[{");
		put_name(out, "present");
		strbuf__addstr(out, v[i].present ? "true" : "false");
		put_value(d, i, v, out);
		strbuf__addch(out, '}');
	}
	strbuf__addstr(out, "]}");
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
	size_t i;

	strbuf__addch(out, '{');
	put_text(out, "metric", d->o.metric->name);
	put_text(out, "unit", diff__in_bytes(d) ? "bytes" : "number");
	put_name(out, "per");
	if (per)
		escape__json(out, per, strlen(per));
	else
		strbuf__addstr(out, "null");
	put_text(out, "compute", computes[d->o.compute]);
	put_name(out, "sides");
	strbuf__addch(out, '[');
	for (i = 0; i < d->n_sides; i++)
		put_side(d, i, out);
	strbuf__addstr(out, "],\"rows\":[");
	for (i = 0; i < d->n_order; i++) {
		strbuf__addstr(out, i ? ",\n" : "\n");
		put_row(d, d->order[i], out);
	}
	strbuf__addstr(out, "]}\n");
	return 0;
}
