/* view_memprof.c - the text that luajit-parse-memprof prints, with the right
 * values where that tool's are not.  Called by report.
 *
 *	ALLOCATIONS
 *	NAME: N events	+BYTES	-BYTES
 *	(and so REALLOCATIONS and DEALLOCATIONS; a row may be followed by
 *	"Overrides:", the owners of the blocks it resized or freed, and an
 *	empty line)
 *	HEAP SUMMARY:
 *	NAME holds BYTES: N allocs, M frees
 *	ALIASES: the text of multi-line chunks
 *
 * In the summary an alloc is a block that the place sized, and a free one that
 * it owned and lost; so there are N - M live blocks.
 */
#include <errno.h>
#include <stdlib.h>

#include "report/names.h"
#include "report/view.h"
#include "util/error.h"

enum { FLUSH_BYTES = 1 << 16 };

/* An owner in the list of a row; both are rows. */
struct override {
	uint32_t row, owner;
};

struct text {
	struct aggregate *a;
	const struct view_opts *o;
	struct rows rows;
	const struct row **order;
	struct override *overrides; /* of one section, sorted by row, then name */
	size_t n_overrides;
	struct strbuf out;
};

/* A section of events: what a row did of that kind. */
struct section {
	const char *title;
	uint64_t (*events)(const struct row *row);
	u128 (*plus)(const struct row *row);
	u128 (*minus)(const struct row *row);
	bool has_origins;
	enum origin_kind origin;
};

static uint64_t n_alloc(const struct row *r)
{
	return r->stats.n_alloc;
}
static uint64_t n_realloc(const struct row *r)
{
	return r->stats.n_realloc;
}
static uint64_t n_free(const struct row *r)
{
	return r->stats.n_free;
}
static u128 alloc_bytes(const struct row *r)
{
	return r->stats.alloc_bytes;
}
static u128 realloc_new(const struct row *r)
{
	return r->stats.realloc_new;
}
static u128 realloc_old(const struct row *r)
{
	return r->stats.realloc_old;
}
static u128 free_bytes(const struct row *r)
{
	return r->stats.free_bytes;
}

static u128 nothing(const struct row *r)
{
	(void)r;
	return 0;
}

static const struct section sections[] = {
	{ "ALLOCATIONS", n_alloc, alloc_bytes, nothing, false, 0 },
	{ "REALLOCATIONS", n_realloc, realloc_new, realloc_old, true, ORIGIN_REALLOC },
	{ "DEALLOCATIONS", n_free, nothing, free_bytes, true, ORIGIN_FREE },
};

static void text__name(const void *ctx, uint32_t site, struct strbuf *out)
{
	const struct text *t = ctx;

	names__site(t->a->symtab, site, NAME_MEMPROF, out);
}

/* 1536B, or 1.50KiB where a human reads. */
static void text__add_bytes(struct text *t, u128 v)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB" };
	double d = (double)v;
	size_t unit = 0;

	if (!t->o->human_readable || v < 1024) {
		number__dec(&t->out, v);
		strbuf__addch(&t->out, 'B');
		return;
	}
	for (; d >= 1024 && unit < 3; unit++)
		d /= 1024;
	if (v % ((u128)1 << (10 * unit)) == 0)
		number__dec(&t->out, v >> (10 * unit));
	else
		strbuf__addf(&t->out, "%.2f", d);
	strbuf__addstr(&t->out, units[unit]);
}

/* ---- overrides ---- */

static int override__cmp(const void *x, const void *y, void *ctx)
{
	const struct override *a = x, *b = y;
	const struct rows *r = ctx;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	return a->owner == b->owner ? 0 : rows__cmp_names(r, &r->at[a->owner], &r->at[b->owner]);
}

static void text__find_overrides(struct text *t, enum origin_kind kind)
{
	const struct aggregate *a = t->a;
	size_t i, n = 0;

	for (i = 0; i < a->n_origins; i++)
		if (a->origins[i].kind == kind)
			t->overrides[n++] = (struct override){
				t->rows.of_cell[a->origins[i].site],
				t->rows.of_cell[a->origins[i].owner],
			};
	qsort_r(t->overrides, n, sizeof(*t->overrides), override__cmp, &t->rows);
	t->n_overrides = n;
}

/* The first override of ROW or of a later row. */
static size_t text__first_override(const struct text *t, uint32_t row)
{
	size_t lo = 0, hi = t->n_overrides, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (t->overrides[mid].row < row)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void text__put_name(struct text *t, uint32_t row)
{
	const struct str *name = strpool__get(&t->rows.names, row);

	strbuf__addmem(&t->out, name->s, name->len);
}

static void text__put_overrides(struct text *t, uint32_t row)
{
	size_t first = text__first_override(t, row), i;

	for (i = first; i < t->n_overrides && t->overrides[i].row == row; i++) {
		if (i == first)
			strbuf__addstr(&t->out, "\tOverrides:\n");
		else if (t->overrides[i].owner == t->overrides[i - 1].owner)
			continue; /* several sites, one name */
		strbuf__addstr(&t->out, "\t\t");
		text__put_name(t, t->overrides[i].owner);
		strbuf__addch(&t->out, '\n');
	}
	if (i > first)
		strbuf__addch(&t->out, '\n');
}

/* ---- sections ---- */

struct by_events {
	const struct rows *rows;
	const struct section *section;
};

static int by_events__cmp(const void *x, const void *y, void *ctx)
{
	const struct row *a = *(const struct row *const *)x, *b = *(const struct row *const *)y;
	const struct by_events *by = ctx;
	uint64_t na = by->section->events(a), nb = by->section->events(b);

	if (na != nb)
		return na > nb ? -1 : 1;
	return rows__cmp_names(by->rows, a, b);
}

static void text__put_event_row(struct text *t, const struct section *s, const struct row *row)
{
	uint32_t id = (uint32_t)(row - t->rows.at);

	text__put_name(t, id);
	strbuf__addf(&t->out, ": %llu events\t+", (unsigned long long)s->events(row));
	text__add_bytes(t, s->plus(row));
	strbuf__addstr(&t->out, "\t-");
	text__add_bytes(t, s->minus(row));
	strbuf__addch(&t->out, '\n');
	if (s->has_origins)
		text__put_overrides(t, id);
	if (t->out.len > FLUSH_BYTES)
		term__flush(&t->out);
}

static void text__put_section(struct text *t, const struct section *s)
{
	struct by_events by = { &t->rows, s };
	size_t i, n = 0;

	for (i = 0; i < t->rows.n; i++)
		if (s->events(&t->rows.at[i]))
			t->order[n++] = &t->rows.at[i];
	qsort_r(t->order, n, sizeof(*t->order), by_events__cmp, &by);
	t->n_overrides = 0;
	if (s->has_origins)
		text__find_overrides(t, s->origin);
	strbuf__addf(&t->out, "%s\n", s->title);
	for (i = 0; i < n; i++)
		text__put_event_row(t, s, t->order[i]);
	strbuf__addch(&t->out, '\n');
}

static int by_held__cmp(const void *x, const void *y, void *ctx)
{
	const struct row *a = *(const struct row *const *)x, *b = *(const struct row *const *)y;
	u128 va = site_stats__live(&a->stats).bytes, vb = site_stats__live(&b->stats).bytes;

	if (va != vb)
		return va > vb ? -1 : 1;
	return rows__cmp_names(ctx, a, b);
}

static void text__put_heap(struct text *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->rows.n; i++)
		if (site_stats__live(&t->rows.at[i].stats).blocks)
			t->order[n++] = &t->rows.at[i];
	qsort_r(t->order, n, sizeof(*t->order), by_held__cmp, &t->rows);
	strbuf__addstr(&t->out, "HEAP SUMMARY:\n");
	for (i = 0; i < n; i++) {
		const struct site_stats *s = &t->order[i]->stats;

		text__put_name(t, (uint32_t)(t->order[i] - t->rows.at));
		strbuf__addstr(&t->out, " holds ");
		text__add_bytes(t, site_stats__live(s).bytes);
		strbuf__addf(&t->out, ": %llu allocs, %llu frees\n",
			     (unsigned long long)(s->n_alloc + s->n_realloc),
			     (unsigned long long)s->n_out);
	}
	strbuf__addch(&t->out, '\n');
}

static int text__put(struct text *t)
{
	size_t i;

	t->order = malloc((t->rows.n + 1) * sizeof(*t->order));
	t->overrides = malloc((t->a->n_origins + 1) * sizeof(*t->overrides));
	if (!t->order || !t->overrides)
		return err__set(-ENOMEM, "out of memory for the rows");
	for (i = 0; i < sizeof(sections) / sizeof(sections[0]) && !t->o->leak_only; i++)
		text__put_section(t, &sections[i]);
	text__put_heap(t);
	names__aliases(t->a->symtab, NULL, &t->out);
	if (t->out.failed)
		return err__set(-ENOMEM, "out of memory for the output");
	term__flush(&t->out);
	return 0;
}

/* All rows are printed, so all C functions get their names. */
static int text__symbolize(struct aggregate *a)
{
	int ret = 0;
	uint32_t site;

	for (site = 0; site < a->n_stats && ret >= 0; site++)
		ret = symtab__symbolize(a->symtab, site, false);
	return ret < 0 ? ret : 0;
}

static int memprof__print(struct aggregate *a, const struct view_opts *o, struct term *term)
{
	struct text t = { .a = a, .o = o };
	int err = text__symbolize(a);

	(void)term;
	if (!err)
		err = rows__make(&t.rows, a, text__name, &t);
	if (!err)
		err = text__put(&t);
	strbuf__exit(&t.out);
	free(t.order);
	free(t.overrides);
	rows__exit(&t.rows);
	return err;
}

const struct view_ops view_memprof = {
	.name = "memprof",
	.want_origins = true,
	.plain = true,
	.print = memprof__print,
};
