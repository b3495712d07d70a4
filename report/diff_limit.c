/* diff_limit.c - the limit of growth that a check of every change enforces.
 * Called by the command diff for --fail-above.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff_view.h"
#include "util/error.h"

/* Rows named at most, of each side. */
enum { NAMED_MAX = 20 };

static int bad_limit(const char *text)
{
	return err__set(-EINVAL, "'%s' is no limit of growth: a number such as 10%%, 64 or 1M",
			text);
}

/* The factor of "K", "MiB", "GB" or nothing; 0: none of them. */
static double suffix__factor(const char *s, bool bytes)
{
	static const char letters[] = "KMGT";
	const char *letter = *s ? strchr(letters, *s) : NULL;

	if (!*s || !strcmp(s, "B"))
		return 1;
	if (!letter || (s[1] && strcmp(s + 1, "B") && strcmp(s + 1, "iB")))
		return 0;
	return pow(bytes ? 1024 : 1000, (double)(letter - letters + 1));
}

int diff_limit__parse(struct diff_limit *l, const char *text, bool bytes)
{
	size_t digits = strspn(text, "0123456789.");
	char *end;
	double v, factor;

	v = strtod(text, &end);
	/* Neither signs nor 0x1 nor 1e9 nor infinity. */
	if (!digits || end != text + digits || !isfinite(v))
		return bad_limit(text);
	l->set = true;
	l->in_percent = !strcmp(end, "%");
	l->percent = v;
	if (l->in_percent)
		return 0;
	factor = suffix__factor(end, bytes);
	l->amount = v * factor;
	return factor && isfinite(l->amount) ? 0 : bad_limit(text);
}

/* Growth within the spread of the runs is none. */
static bool limit__exceeds(const struct diff *d, const struct diff_limit *l,
			   const struct diff_value *v, const struct diff_value *b)
{
	long double delta = (long double)diff_value__delta(v, b);

	if (delta <= 0 || v->noise)
		return false;
	if (l->in_percent)
		return delta * 100 > (long double)b->v * l->percent;
	return delta > (long double)l->amount * d->unit;
}

static void put_growth(const struct diff *d, const struct diff_value *v, const struct diff_value *b,
		       struct strbuf *out)
{
	double percent;

	diff__put_amount(d, out, diff_value__delta(v, b), diff__in_bytes(d), DIFF_SIGNED, false);
	if (!diff_value__percent(v, b, &percent))
		return;
	strbuf__addstr(out, " (");
	diff__put_percent(out, percent);
	strbuf__addch(out, ')');
}

static void put_limit(const struct diff *d, const struct diff_limit *l, struct strbuf *out)
{
	if (l->in_percent)
		strbuf__addf(out, "%g%%", l->percent);
	else
		diff__put_amount(d, out,
				 (s128)((long double)l->amount * d->unit > 1e36L
						? 1e36L
						: (long double)l->amount * d->unit),
				 diff__in_bytes(d), DIFF_UNSIGNED, false);
}

/* ---- rows ---- */

struct grown {
	uint32_t row;
	s128 delta;
};

static int grown__cmp(const void *x, const void *y)
{
	const struct grown *a = x, *b = y;

	return (a->delta < b->delta) - (a->delta > b->delta);
}

/* The rows of a side that grew, or that grew above L; largest first. */
static size_t limit__rows(const struct diff *d, const struct diff_limit *l, size_t side,
			  struct grown *grown)
{
	const struct diff_value *v;
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < d->n_rows; i++) {
		s128 delta;

		v = diff__value(d, i, 0);
		delta = diff_value__delta(&v[side], v);
		if (l ? limit__exceeds(d, l, &v[side], v) : delta > 0 && !v[side].noise)
			grown[n++] = (struct grown){ i, delta };
	}
	qsort(grown, n, sizeof(*grown), grown__cmp);
	return n;
}

static void put_rows(const struct diff *d, size_t side, const struct grown *grown, size_t n,
		     struct strbuf *out)
{
	size_t i, j;

	for (i = 0; i < n && i < NAMED_MAX; i++) {
		const struct diff_value *v = diff__value(d, grown[i].row, 0);

		strbuf__addstr(out, "ljperf:   ");
		put_growth(d, &v[side], v, out);
		for (j = 0; j < d->o.keys.n; j++) {
			strbuf__addstr(out, "  ");
			diff__put_key(d, grown[i].row, j, out);
		}
		strbuf__addstr(out, v->present ? "\n" : "  (new)\n");
	}
	if (n > NAMED_MAX)
		strbuf__addf(out, "ljperf:   and %zu more\n", n - NAMED_MAX);
}

/* ---- the check ---- */

static void put_where(const struct diff *d, size_t side, struct strbuf *out)
{
	strbuf__addstr(out, " from '");
	escape__text(out, d->sides[0].name, strlen(d->sides[0].name), 0);
	strbuf__addstr(out, "' to '");
	escape__text(out, d->sides[side].name, strlen(d->sides[side].name), 0);
	strbuf__addstr(out, "', more than ");
}

static bool limit__check_rows(const struct diff *d, const struct diff_limit *l, size_t side,
			      struct grown *grown, struct strbuf *out)
{
	size_t n = limit__rows(d, l, side, grown);

	if (!n)
		return false;
	strbuf__addf(out, "ljperf: %s of %zu %s grew", d->o.metric->name, n,
		     n == 1 ? "row" : "rows");
	put_where(d, side, out);
	put_limit(d, l, out);
	strbuf__addstr(out, ":\n");
	put_rows(d, side, grown, n, out);
	return true;
}

static bool limit__check_total(const struct diff *d, const struct diff_limit *l, size_t side,
			       struct grown *grown, struct strbuf *out)
{
	size_t n;

	if (!limit__exceeds(d, l, &d->totals[side], &d->totals[0]))
		return false;
	strbuf__addf(out, "ljperf: %s grew by ", d->o.metric->name);
	put_growth(d, &d->totals[side], &d->totals[0], out);
	put_where(d, side, out);
	put_limit(d, l, out);
	n = limit__rows(d, NULL, side, grown);
	strbuf__addstr(out, n ? "; what grew:\n" : "\n");
	put_rows(d, side, grown, n, out);
	return true;
}

int diff_limit__check(const struct diff *d, const struct diff_limit *l, bool each)
{
	struct grown *grown = malloc((d->n_rows + 1) * sizeof(*grown));
	struct strbuf out = STRBUF_INIT;
	int exceeded = 0;
	size_t side;

	for (side = 1; grown && side < d->n_sides; side++)
		exceeded |=
			(each ? limit__check_rows : limit__check_total)(d, l, side, grown, &out);
	if (!grown || out.failed) /* a check that did not happen has not passed */
		exceeded = err__set(-ENOMEM, "out of memory for the check of the limit");
	fwrite(strbuf__str(&out), 1, out.len, stderr);
	strbuf__exit(&out);
	free(grown);
	return exceeded;
}
