/* diff_text.c - amounts, names and sentences of a diff.  Used by its views. */
#include "report/diff_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/names.h"

/* ---- amounts ---- */

bool diff__in_bytes(const struct diff *d)
{
	return d->o.metric->field->type == FIELD_BYTES;
}

/* V / unit with up to six digits behind the point. */
static void put_exact(const struct diff *d, struct strbuf *out, u128 v)
{
	char digits[16];
	size_t len;

	number__dec(out, v / d->unit);
	if (v % d->unit == 0)
		return;
	len = (size_t)snprintf(digits, sizeof(digits), ".%06u", (unsigned)(v % d->unit));
	while (digits[len - 1] == '0')
		len--;
	strbuf__addmem(out, digits, len);
}

static void put_readable(const struct diff *d, struct strbuf *out, u128 v, bool bytes)
{
	u128 whole = v / d->unit;

	if (whole < 1000 && v % d->unit) {
		strbuf__addf(out, "%.2f%s", (double)v / d->unit, bytes ? " B" : "");
		return;
	}
	whole += v % d->unit * 2 >= d->unit && d->unit > 1;
	(bytes ? number__bytes : number__count)(out, whole);
}

void diff__put_amount(const struct diff *d, struct strbuf *out, s128 v, bool bytes,
		      enum diff_sign sign, bool exact)
{
	if (v < 0)
		strbuf__addch(out, '-');
	else if (v && sign == DIFF_SIGNED)
		strbuf__addch(out, '+');
	if (exact)
		put_exact(d, out, (u128)(v < 0 ? -v : v));
	else
		put_readable(d, out, (u128)(v < 0 ? -v : v), bytes);
}

/* From something tiny to something huge is more digits than a column has. */
void diff__put_percent(struct strbuf *out, double percent)
{
	if (!percent)
		strbuf__addstr(out, "0.00%");
	else
		strbuf__addf(out, fabs(percent) < 1e7 ? "%+.2f%%" : "%+.2e%%", percent);
}

const char *diff__per(const struct diff *d)
{
	static const char *const texts[] = {
		[DIFF_PLAIN] = NULL,
		[DIFF_PER_N] = "per unit of work",
		[DIFF_PER_SECOND] = "per second",
		[DIFF_PER_MARK] = "per mark",
	};

	return texts[d->o.scale];
}

/* ---- names ---- */

const char *diff__key(const struct diff *d, size_t row, size_t i)
{
	const char *s = strpool__get(&d->names, (uint32_t)row)->s;

	for (; i; i--)
		s += strlen(s) + 1;
	return s;
}

void diff__put_key(const struct diff *d, size_t row, size_t i, struct strbuf *out)
{
	const struct field *f = d->o.keys.at[i];
	const struct diff_row *r = &d->rows[row];
	const char *text = diff__key(d, row, i);
	struct strbuf now = STRBUF_INIT;
	const struct str *func;

	if (!strcmp(f->name, "symbol") && f->has_func && r->func != STR_NONE) {
		func = strpool__get(&d->symtab->strings, r->func);
		escape__text(out, func->s, func->len, 0);
		strbuf__addstr(out, "  ");
	}
	strbuf__addstr(out, text);
	if (strcmp(f->name, "symbol") || r->moved == SITE_NONE)
		return;
	diff_key__symbol(d->symtab, r->moved, &now);
	if (strcmp(strbuf__str(&now), text)) {
		strbuf__addstr(out, " -> ");
		strbuf__addmem(out, now.buf, now.len);
	}
	out->failed |= now.failed;
	strbuf__exit(&now);
}

/* ---- sentences ---- */

void diff__put_totals(const struct diff *d, size_t side, const char *arrow, struct strbuf *out)
{
	const struct diff_value *v = &d->totals[side], *b = &d->totals[0];
	bool bytes = diff__in_bytes(d);
	double percent;

	diff__put_amount(d, out, b->v, bytes, DIFF_UNSIGNED, false);
	strbuf__addf(out, " %s ", arrow);
	diff__put_amount(d, out, v->v, bytes, DIFF_UNSIGNED, false);
	strbuf__addstr(out, ", ");
	diff__put_amount(d, out, diff_value__delta(v, b), bytes, DIFF_SIGNED, false);
	if (diff_value__percent(v, b, &percent)) {
		strbuf__addstr(out, " (");
		diff__put_percent(out, percent);
		strbuf__addch(out, ')');
	}
	if (v->noise)
		strbuf__addstr(out, ", within the spread");
}

static void put_rows(struct strbuf *out, const char *prefix, size_t n, const char *one,
		     const char *many)
{
	if (n)
		strbuf__addf(out, "%s%zu %s\n", prefix, n, n == 1 ? one : many);
}

void diff__put_rest(const struct diff *d, const char *prefix, struct strbuf *out)
{
	if (!d->n_rows) {
		strbuf__addf(out, "%sthere is nothing to compare: no %s on any side\n", prefix,
			     d->o.metric->noun);
		return;
	}
	if (d->n_same == d->n_rows)
		strbuf__addf(out, "%snothing differs: all %zu rows are the same\n", prefix,
			     d->n_rows);
	else if (!d->o.all && d->o.compute != DIFF_WDIFF)
		put_rows(out, prefix, d->n_same, "row is the same", "rows are the same");
	put_rows(out, prefix, d->n_new, "row is not in the baseline",
		 "rows are not in the baseline");
	put_rows(out, prefix, d->n_limited, "more row below the limit",
		 "more rows below the limit");
}

/* ---- the lines above the table ---- */

static void put_session(const struct session_summary *s, struct strbuf *out)
{
	if (s->command && *s->command)
		strbuf__addf(out, "%s, ", s->command); /* escaped when it was made */
	if (s->vm_version && *s->vm_version) {
		escape__text(out, s->vm_version, strlen(s->vm_version), 0);
		strbuf__addstr(out, ", ");
	}
	if (s->has_time) {
		number__time(out, s->duration_ns);
		strbuf__addstr(out, ", ");
	}
	strbuf__addu(out, s->info.n_events);
	strbuf__addstr(out, s->info.n_events == 1 ? " event" : " events");
	if (s->info.lost_events)
		strbuf__addf(out, ", %llu lost", (unsigned long long)s->info.lost_events);
	if (s->info.lost_batches)
		strbuf__addf(out, ", %llu damaged batches skipped",
			     (unsigned long long)s->info.lost_batches);
}

/* How a recording was made, each line behind "#". */
static void put_features(const struct session_summary *s, struct strbuf *out)
{
	const char *line = s->features ? s->features : "", *nl;

	for (; (nl = strchr(line, '\n')); line = nl + 1) {
		strbuf__addstr(out, "\n#      ");
		strbuf__addmem(out, line, (size_t)(nl - line));
	}
}

static void put_side(const struct diff *d, size_t side, struct strbuf *out)
{
	const struct diff_side *s = &d->sides[side];
	size_t i;

	strbuf__addf(out, "#  [%zu] ", side);
	escape__text(out, s->name, strlen(s->name), 0);
	strbuf__addstr(out, side ? "" : " (Baseline)");
	if (s->n_runs > 1)
		strbuf__addf(out, ": mean of %zu runs", s->n_runs);
	for (i = s->first_part; i < s->first_part + s->n_parts; i++) {
		const struct aggregate *a = d->parts[i].a;

		if (s->n_parts > 1) {
			strbuf__addstr(out, "\n#      ");
			escape__text(out, d->parts[i].path, strlen(d->parts[i].path), 0);
		}
		strbuf__addstr(out, ": ");
		if (!a->n_sessions)
			continue;
		put_session(&a->sessions[0], out);
		if (d->o.verbose)
			put_features(&a->sessions[0], out);
	}
	strbuf__addch(out, '\n');
}

/* The session that stands for a side; NULL: it has none. */
static const struct session_summary *side__session(const struct diff *d, size_t side)
{
	const struct diff_side *s = &d->sides[side];
	const struct aggregate *a = s->n_parts ? d->parts[s->first_part].a : NULL;

	return a && a->n_sessions ? &a->sessions[0] : NULL;
}

/* The text behind "NAME : " in the header of a recording, to the end of its
 * line; NULL: it has none. */
static const char *session__feature(const struct session_summary *s, const char *name, size_t *len)
{
	const char *line = s && s->features ? s->features : "", *nl;
	size_t n = strlen(name);

	for (; (nl = strchr(line, '\n')); line = nl + 1) {
		if (strncmp(line, name, n) || strncmp(line + n, " : ", 3))
			continue;
		*len = (size_t)(nl - line) - n - 3;
		return line + n + 3;
	}
	return NULL;
}

/* Whether a side says something else there than the baseline. */
static bool differs_in(const struct diff *d, const char *name)
{
	const char *base, *other;
	size_t side, n, m;

	base = session__feature(side__session(d, 0), name, &n);
	for (side = 1; base && side < d->n_sides; side++) {
		other = session__feature(side__session(d, side), name, &m);
		if (other && (m != n || memcmp(base, other, n)))
			return true;
	}
	return false;
}

/* What a change may come from that is none of the program. */
static void put_differences(const struct diff *d, struct strbuf *out)
{
	static const struct {
		const char *name, *words;
	} features[] = {
		{ "cmdline", "command lines" },
		{ "vm", "VMs" },
		{ "vm jit options", "options of the JIT compiler" },
		{ "backend", "options of record" },
	};
	bool any = false;
	size_t i;

	for (i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		if (!differs_in(d, features[i].name))
			continue;
		strbuf__addstr(out, any ? ", " : "# note: different ");
		strbuf__addstr(out, features[i].words);
		any = true;
	}
	strbuf__addstr(out, any ? "\n#\n" : "");
}

void diff__put_summary(const struct diff *d, struct strbuf *out)
{
	const char *per = diff__per(d);
	size_t side;

	strbuf__addstr(out, "# Data files:\n");
	for (side = 0; side < d->n_sides; side++)
		put_side(d, side, out);
	strbuf__addstr(out, "#\n");
	put_differences(d, out);
	for (side = 1; side < d->n_sides; side++) {
		strbuf__addstr(out, "# ");
		if (d->n_sides > 2)
			strbuf__addf(out, "[%zu] ", side);
		strbuf__addf(out, "%s ", d->o.metric->name);
		if (per)
			strbuf__addf(out, "%s ", per);
		diff__put_totals(d, side, "->", out);
		strbuf__addch(out, '\n');
	}
	strbuf__addstr(out, "#\n");
}
