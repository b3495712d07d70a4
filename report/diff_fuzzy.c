/* diff_fuzzy.c - joins lines that moved: those of one function with the same
 * text, and between them those in the same order.  Called by diff_match.c.
 *
 * Where one side has more lines than the other and no text is at hand, lines
 * with the same distance from the function's first line are joined.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff.h"
#include "report/diff_source.h"

enum { LCS_MAX = 4 << 20 }; /* cells of the table */

/* A line of a function (or the start of a trace) on a side. */
struct place {
	uint32_t chunk, canon; /* CANON is the function */
	enum ljm_source source;
	size_t side;
	uint64_t line, first_line;
	uint32_t site;
};

/* The lines of one function on one side; places of a line follow one another. */
struct lines {
	const struct place *at;
	size_t n; /* places */
	const struct place **line; /* the first place of each line */
	size_t n_lines;
};

/* A source file, which stays for the functions of one chunk that follow. */
struct cached {
	struct diff_source source;
	uint32_t chunk;
	bool loaded;
};

struct fuzzy {
	struct diff *d;
	struct place *places;
	size_t n;
	struct cached *sources; /* by side */
	const struct place **lines[2]; /* room for struct lines */
	size_t *joined; /* line of the baseline for each of the other, or SIZE_MAX */
	uint16_t *lcs;
};

#define CMP(a, b) \
	do { \
		if ((a) != (b)) \
			return (a) < (b) ? -1 : 1; \
	} while (0)

static int place__cmp(const void *x, const void *y)
{
	const struct place *a = x, *b = y;

	CMP(a->chunk, b->chunk); /* its file is read once */
	CMP(a->canon, b->canon);
	CMP(a->source, b->source);
	CMP(a->side, b->side);
	CMP(a->line, b->line);
	CMP(a->site, b->site);
	return 0;
}

static uint64_t site__line(const struct symtab *st, const struct site *s)
{
	return s->source == LJM_SRC_TRACE ? st->traces[s->ref].line : s->arg;
}

static void fuzzy__add(struct fuzzy *z, size_t side, uint32_t site, uint32_t func)
{
	const struct symtab *st = z->d->symtab;
	const struct diff_match *m = &z->d->match;

	z->places[z->n++] = (struct place){
		.chunk = m->funcs[func].chunk,
		.canon = diff_match__label(m, side, func)->canon,
		.source = st->sites[site].source,
		.side = side,
		.line = site__line(st, &st->sites[site]),
		.first_line = m->funcs[func].first_line,
		.site = site,
	};
}

static int fuzzy__collect(struct fuzzy *z)
{
	const struct diff *d = z->d;
	uint32_t site, func;
	size_t side;

	z->places = malloc((d->symtab->n_sites * d->n_sides + 1) * sizeof(*z->places));
	if (!z->places)
		return -ENOMEM;
	for (site = 0; site < d->symtab->n_sites; site++) {
		if (!site__line(d->symtab, &d->symtab->sites[site]))
			continue; /* of a call stack: which line is not known */
		func = diff_match__func(d, site);
		for (side = 0; func != HASHMAP_NONE && side < d->n_sides; side++)
			if (diff__has_site(d, side, site))
				fuzzy__add(z, side, site, func);
	}
	qsort(z->places, z->n, sizeof(*z->places), place__cmp);
	return 0;
}

/* ---- text ---- */

static const struct diff_source *fuzzy__source(struct fuzzy *z, size_t side, uint32_t chunk)
{
	const struct diff *d = z->d;
	const struct aggregate *a = d->parts[d->sides[side].first_part].a;
	struct cached *c = &z->sources[side];

	if (c->loaded && c->chunk == chunk)
		return &c->source;
	diff_source__exit(&c->source);
	*c = (struct cached){ .chunk = chunk, .loaded = true };
	if (a->n_sessions)
		diff_source__load(&c->source, strpool__get(&d->symtab->strings, chunk)->s,
				  a->sessions[0].cwd, a->sessions[0].start_wall_ns);
	return &c->source;
}

static bool same_text(const struct diff_source *a, uint64_t line_a, const struct diff_source *b,
		      uint64_t line_b)
{
	size_t len_a, len_b;
	const char *s = diff_source__line(a, line_a, &len_a);
	const char *t = diff_source__line(b, line_b, &len_b);

	return s && t && len_a == len_b && !memcmp(s, t, len_a);
}

/* Joins lines by their longest common sequence of texts. */
static void fuzzy__by_text(struct fuzzy *z, const struct lines *a, const struct lines *b)
{
	const struct diff_source *sa = fuzzy__source(z, a->at->side, a->at->chunk);
	const struct diff_source *sb = fuzzy__source(z, b->at->side, b->at->chunk);
	size_t width = b->n_lines + 1, i, j;
	uint16_t *t = z->lcs;

	if (!sa->text || !sb->text || (a->n_lines + 1) * width > LCS_MAX)
		return;
	memset(t, 0, (a->n_lines + 1) * width * sizeof(*t));
	for (i = a->n_lines; i-- > 0;)
		for (j = b->n_lines; j-- > 0;) {
			uint16_t down = t[(i + 1) * width + j], right = t[i * width + j + 1];
			bool same = same_text(sa, a->line[i]->line, sb, b->line[j]->line);
			uint16_t both = same ? t[(i + 1) * width + j + 1] + 1 : 0;

			t[i * width + j] = both > down ? (both > right ? both : right)
						       : (down > right ? down : right);
		}
	for (i = j = 0; i < a->n_lines && j < b->n_lines;) {
		if (same_text(sa, a->line[i]->line, sb, b->line[j]->line) &&
		    t[i * width + j] == t[(i + 1) * width + j + 1] + 1)
			z->joined[j++] = i++;
		else if (t[(i + 1) * width + j] >= t[i * width + j + 1])
			i++;
		else
			j++;
	}
}

/* ---- order ---- */

static void fuzzy__by_distance(struct fuzzy *z, const struct lines *a, const struct lines *b,
			       size_t from[2], size_t to[2])
{
	size_t i = from[0], j = from[1];

	while (i < to[0] && j < to[1]) {
		uint64_t da = a->line[i]->line - a->line[i]->first_line;
		uint64_t db = b->line[j]->line - b->line[j]->first_line;

		if (da == db)
			z->joined[j++] = i++;
		else if (da < db)
			i++;
		else
			j++;
	}
}

/* Lines FROM to TO of both sides, none of which is joined. */
static void fuzzy__gap(struct fuzzy *z, const struct lines *a, const struct lines *b,
		       size_t from[2], size_t to[2], bool by_text)
{
	size_t i;

	if (to[0] - from[0] == to[1] - from[1])
		for (i = 0; i < to[1] - from[1]; i++)
			z->joined[from[1] + i] = from[0] + i;
	else if (!by_text)
		fuzzy__by_distance(z, a, b, from, to);
}

static void fuzzy__by_order(struct fuzzy *z, const struct lines *a, const struct lines *b)
{
	size_t from[2] = { 0, 0 }, to[2], j;
	bool by_text = false;

	for (j = 0; j < b->n_lines; j++)
		by_text |= z->joined[j] != SIZE_MAX;
	for (j = 0; j <= b->n_lines; j++) {
		if (j < b->n_lines && z->joined[j] == SIZE_MAX)
			continue;
		to[0] = j < b->n_lines ? z->joined[j] : a->n_lines;
		to[1] = j;
		fuzzy__gap(z, a, b, from, to, by_text);
		from[0] = to[0] + 1;
		from[1] = to[1] + 1;
	}
}

/* ---- what it comes to ---- */

static void fuzzy__index(struct lines *l, const struct place **room)
{
	size_t i;

	l->line = room;
	for (i = 0; i < l->n; i++)
		if (!i || l->at[i].line != l->at[i - 1].line)
			l->line[l->n_lines++] = &l->at[i];
}

/* Joins the lines of a function on a side with those of the baseline. */
static void fuzzy__join(struct fuzzy *z, const struct lines *a, struct lines *b)
{
	struct diff_match *m = &z->d->match;
	size_t i, j = 0;

	fuzzy__index(b, z->lines[1]);
	for (i = 0; i < b->n_lines; i++)
		z->joined[i] = SIZE_MAX;
	fuzzy__by_text(z, a, b);
	fuzzy__by_order(z, a, b);
	for (i = 0; i < b->n; i++) {
		const struct place *p = &b->at[i], *base;
		size_t at = p->side * m->n_sites + p->site;

		j += i && p->line != b->at[i - 1].line;
		if (z->joined[j] == SIZE_MAX)
			continue;
		base = a->line[z->joined[j]];
		m->flags[at] = base->line == p->line ? 0 : DIFF_SITE_FUZZY;
		m->target[at] = base->line == p->line ? p->site : base->site;
	}
}

/* The places of one function, the baseline's first. */
static void fuzzy__function(struct fuzzy *z, const struct place *at, size_t n)
{
	struct lines a = { .at = at }, b;
	size_t i;

	while (a.n < n && !at[a.n].side)
		a.n++;
	if (!a.n)
		return;
	fuzzy__index(&a, z->lines[0]);
	for (i = a.n; i < n; i += b.n) {
		b = (struct lines){ .at = at + i };
		while (i + b.n < n && at[i + b.n].side == at[i].side)
			b.n++;
		fuzzy__join(z, &a, &b);
	}
}

/* A line that found nothing to be joined with must not be joined by its number
 * with a line of the baseline that is another one. */
static int by_name(const void *x, const void *y)
{
	const struct place *a = x, *b = y;

	CMP(a->source, b->source);
	CMP(a->chunk, b->chunk);
	CMP(a->line, b->line);
	return 0;
}

static int fuzzy__displace(struct fuzzy *z)
{
	struct diff_match *m = &z->d->match;
	struct place *base = malloc((z->n + 1) * sizeof(*base));
	size_t i, n = 0;

	if (!base)
		return -ENOMEM;
	for (i = 0; i < z->n; i++)
		if (!z->places[i].side)
			base[n++] = z->places[i];
	qsort(base, n, sizeof(*base), by_name);
	for (i = 0; i < z->n; i++) {
		const struct place *p = &z->places[i];
		uint8_t *flags = &m->flags[p->side * m->n_sites + p->site];

		if (p->side && *flags == DIFF_SITE_DISPLACED &&
		    !bsearch(p, base, n, sizeof(*base), by_name))
			*flags = 0;
	}
	free(base);
	return 0;
}

static void fuzzy__run(struct fuzzy *z)
{
	struct diff_match *m = &z->d->match;
	size_t i, end;

	for (i = 0; i < z->n; i++)
		if (z->places[i].side)
			m->flags[z->places[i].side * m->n_sites + z->places[i].site] =
				DIFF_SITE_DISPLACED;
	for (i = 0; i < z->n; i = end) {
		for (end = i; end < z->n && z->places[end].canon == z->places[i].canon &&
			      z->places[end].source == z->places[i].source;)
			end++;
		fuzzy__function(z, z->places + i, end - i);
	}
}

static int fuzzy__alloc(struct fuzzy *z)
{
	struct diff_match *m = &z->d->match;
	size_t n = z->d->n_sides * z->d->symtab->n_sites, i;

	m->n_sites = z->d->symtab->n_sites;
	m->target = malloc((n + 1) * sizeof(*m->target));
	m->flags = calloc(n + 1, sizeof(*m->flags));
	z->sources = calloc(z->d->n_sides, sizeof(*z->sources));
	z->lines[0] = malloc((z->n + 1) * sizeof(*z->lines[0]));
	z->lines[1] = malloc((z->n + 1) * sizeof(*z->lines[1]));
	z->joined = malloc((z->n + 1) * sizeof(*z->joined));
	z->lcs = malloc(LCS_MAX * sizeof(*z->lcs));
	if (!m->target || !m->flags || !z->sources || !z->lines[0] || !z->lines[1] || !z->joined ||
	    !z->lcs)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		m->target[i] = (uint32_t)(i % m->n_sites);
	return 0;
}

int diff_match__lines(struct diff *d)
{
	struct fuzzy z = { .d = d };
	int err = fuzzy__collect(&z);
	size_t i;

	err = err ? err : fuzzy__alloc(&z);
	if (!err) {
		fuzzy__run(&z);
		err = fuzzy__displace(&z);
	}
	for (i = 0; z.sources && i < d->n_sides; i++)
		diff_source__exit(&z.sources[i].source);
	free(z.sources);
	free(z.places);
	free(z.lines[0]);
	free(z.lines[1]);
	free(z.joined);
	free(z.lcs);
	return err;
}
