/* diff_match.c - which functions of two sides are the same; see diff_match.h.
 *
 * On one side a function is what has the same chunk and lines, whatever name it
 * was called by; of one line there may be several, and then it is its name, too.  A name is known
 * only when the function was seen running, and a trace tells of functions that were not: such a one
 * is given the name that another side has for its lines, unless its own side has that elsewhere.
 */
#include "report/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

/* A function on a side, for sorting. */
struct seen {
	struct diff_func f;
	uint32_t func;
	size_t side;
};

/* The functions of one chunk and name: sides follow one another. */
struct group {
	const struct seen *at;
	size_t n;
};

void diff_match__exit(struct diff_match *m)
{
	free(m->funcs);
	hashmap__exit(&m->map);
	hashmap__exit(&m->names);
	free(m->of_proto);
	free(m->labels);
	free(m->target);
	free(m->flags);
	memset(m, 0, sizeof(*m));
}

/* ---- functions out of prototypes ---- */

/* The first function with the lines of P, or HASHMAP_NONE. */
static uint32_t match__head(const struct diff_match *m, const struct proto *p, uint64_t hash)
{
	uint32_t pos, id;

	for (id = hashmap__first(&m->map, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(&m->map, hash, &pos))
		if (m->funcs[id].chunk == p->chunk && m->funcs[id].first_line == p->first_line &&
		    m->funcs[id].last_line == p->last_line)
			return id;
	return HASHMAP_NONE;
}

static uint32_t match__intern(struct diff_match *m, const struct proto *p)
{
	uint64_t hash = hash__u64x2(hash__u64x2(p->chunk, p->first_line), p->last_line);
	uint32_t head = match__head(m, p, hash), last = head, id;

	for (id = head; id != HASHMAP_NONE; last = id, id = m->funcs[id].next)
		if (m->funcs[id].name == p->func)
			return id;
	id = (uint32_t)m->n_funcs;
	if (GROW(m->funcs, m->cap_funcs, id) ||
	    (head == HASHMAP_NONE && hashmap__add(&m->map, hash, id)))
		return HASHMAP_NONE;
	if (last != HASHMAP_NONE)
		m->funcs[last].next = id;
	m->funcs[id] = (struct diff_func){ .chunk = p->chunk,
					   .name = p->func,
					   .first_line = p->first_line,
					   .last_line = p->last_line,
					   .head = head == HASHMAP_NONE ? id : head,
					   .next = HASHMAP_NONE };
	m->n_funcs++;
	return id;
}

static int match__add_protos(struct diff *d)
{
	const struct symtab *st = d->symtab;
	struct diff_match *m = &d->match;
	size_t i;

	m->of_proto = malloc((st->n_protos + 1) * sizeof(*m->of_proto));
	if (!m->of_proto)
		return -ENOMEM;
	for (i = 0; i < st->n_protos; i++) {
		const struct proto *p = &st->protos[i];

		m->of_proto[i] = HASHMAP_NONE;
		if (p->chunk == STR_NONE)
			continue;
		m->of_proto[i] = match__intern(m, p);
		if (m->of_proto[i] == HASHMAP_NONE)
			return -ENOMEM;
	}
	return 0;
}

uint32_t diff_match__func(const struct diff *d, uint32_t site)
{
	const struct symtab *st = d->symtab;
	const struct proto *p = symtab__proto(st, &st->sites[site]);

	return p ? d->match.of_proto[p - st->protos] : HASHMAP_NONE;
}

/* ---- which functions each side has ---- */

static void match__mark_used(struct diff *d)
{
	struct diff_match *m = &d->match;
	uint32_t site, func;
	size_t side;

	for (site = 0; site < d->symtab->n_sites; site++) {
		func = diff_match__func(d, site);
		for (side = 0; func != HASHMAP_NONE && side < d->n_sides; side++)
			m->labels[side * m->n_funcs + func].used |= diff__has_site(d, side, site);
	}
}

#define NAME_SINGLE (STR_NONE - 1)

/* Main chunks and built-in functions are the only ones of their chunk; who
 * calls them may do so under any name. */
static uint32_t func__name(const struct diff_func *f)
{
	return f->first_line + 1 > 1 ? f->name : NAME_SINGLE;
}

/* ---- the name a function has on a side ---- */

static struct diff_label *match__at(struct diff_match *m, size_t side, uint32_t func)
{
	return &m->labels[side * m->n_funcs + func];
}

static uint64_t name__hash(const struct diff_func *f, size_t side)
{
	return hash__u64x2((uint64_t)f->chunk << 32 | f->name, side);
}

/* Notes the names that each side has. */
static int match__add_names(struct diff *d)
{
	struct diff_match *m = &d->match;
	size_t i, n = d->n_sides * m->n_funcs;

	if (n >= HASHMAP_NONE)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		const struct diff_func *f = &m->funcs[i % m->n_funcs];

		if (m->labels[i].used && f->name != STR_NONE &&
		    hashmap__add(&m->names, name__hash(f, i / m->n_funcs), (uint32_t)i))
			return -ENOMEM;
	}
	return 0;
}

static bool match__has_name(const struct diff_match *m, size_t side, const struct diff_func *f)
{
	uint64_t hash = name__hash(f, side);
	uint32_t pos, id;

	for (id = hashmap__first(&m->names, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(&m->names, hash, &pos)) {
		const struct diff_func *g = &m->funcs[id % m->n_funcs];

		if (id / m->n_funcs == side && g->chunk == f->chunk && g->name == f->name)
			return true;
	}
	return false;
}

/* Others may be on that line, too. */
static bool func__is_one_line(const struct diff_func *f)
{
	return f->last_line && f->first_line == f->last_line;
}

static uint32_t match__self(struct diff_match *m, size_t side, uint32_t func)
{
	uint32_t head = m->funcs[func].head, id;
	bool one_line = func__is_one_line(&m->funcs[func]);

	if (one_line && m->funcs[func].name != STR_NONE)
		return func;
	for (id = one_line ? HASHMAP_NONE : head; id != HASHMAP_NONE; id = m->funcs[id].next)
		if (m->funcs[id].name != STR_NONE && match__at(m, side, id)->used)
			return id;
	for (id = head; id != HASHMAP_NONE; id = m->funcs[id].next)
		if (m->funcs[id].name != STR_NONE && !match__has_name(m, side, &m->funcs[id]))
			return id;
	return func;
}

static int match__find_selves(struct diff *d)
{
	struct diff_match *m = &d->match;
	uint32_t func;
	size_t side;

	if (match__add_names(d))
		return -ENOMEM;
	for (side = 0; side < d->n_sides; side++)
		for (func = 0; func < m->n_funcs; func++) {
			struct diff_label *l = match__at(m, side, func);

			if (!l->used)
				continue;
			l->self = match__self(m, side, func);
			match__at(m, side, l->self)->is_self = true;
		}
	return 0;
}

/* What has another name takes the label of that. */
static void match__copy_labels(struct diff *d)
{
	struct diff_match *m = &d->match;
	uint32_t func;
	size_t side;

	for (side = 0; side < d->n_sides; side++)
		for (func = 0; func < m->n_funcs; func++) {
			struct diff_label *l = match__at(m, side, func);
			const struct diff_label *self;

			if (!l->used)
				continue;
			self = match__at(m, side, l->self);
			l->canon = self->canon;
			l->by_name = self->by_name;
		}
}

/* ---- functions of one name ---- */

#define CMP(a, b) \
	do { \
		if ((a) != (b)) \
			return (a) < (b) ? -1 : 1; \
	} while (0)

static int seen__cmp(const void *x, const void *y)
{
	const struct seen *a = x, *b = y;

	CMP(a->f.chunk, b->f.chunk);
	CMP(func__name(&a->f), func__name(&b->f));
	CMP(a->side, b->side);
	CMP(a->f.first_line, b->f.first_line);
	CMP(a->f.last_line, b->f.last_line);
	return 0;
}

static bool seen__same_group(const struct seen *a, const struct seen *b)
{
	return a->f.chunk == b->f.chunk && func__name(&a->f) == func__name(&b->f);
}

/* ---- a group ---- */

/* How many functions the side that begins at entry I has. */
static size_t group__run(const struct group *g, size_t i)
{
	size_t n = 1;

	while (i + n < g->n && g->at[i + n].side == g->at[i].side)
		n++;
	return n;
}

/* Every side that has any has as many as the first. */
static bool group__is_even(const struct group *g, size_t n)
{
	size_t i;

	for (i = 0; i < g->n; i += n)
		if (group__run(g, i) != n)
			return false;
	return true;
}

static uint64_t func__lines(const struct diff_func *f)
{
	return f->last_line - f->first_line;
}

/* Each function has as many lines as the first side's of the same order. */
static bool group__same_lines(const struct group *g, size_t n)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		if (!g->at[i].f.last_line ||
		    func__lines(&g->at[i].f) != func__lines(&g->at[i % n].f))
			return false;
	return true;
}

/* The first of the group that begins at the line of entry I: a function that
 * only grew at its end keeps its name. */
static uint32_t group__same_first(const struct group *g, size_t i)
{
	size_t j;

	for (j = 0; g->at[j].f.first_line != g->at[i].f.first_line; j++)
		;
	return g->at[j].func;
}

static void group__label(struct diff *d, const struct group *g)
{
	struct diff_match *m = &d->match;
	uint32_t name = func__name(&g->at[0].f);
	bool single = name == NAME_SINGLE, named = !single && name != STR_NONE;
	size_t n = group__run(g, 0), i;
	bool even = group__is_even(g, n);
	bool in_order = !single && even && (named || d->o.fuzzy || group__same_lines(g, n));

	for (i = 0; i < g->n; i++) {
		struct diff_label *l = &m->labels[g->at[i].side * m->n_funcs + g->at[i].func];

		l->by_name = named && (n == 1 || !even);
		l->canon = l->by_name || in_order ? g->at[in_order ? i % n : 0].func
						  : group__same_first(g, i);
	}
}

static void match__label_groups(struct diff *d, const struct seen *seen, size_t n)
{
	size_t i, end;

	for (i = 0; i < n; i = end) {
		struct group g = { seen + i, 0 };

		for (end = i; end < n && seen__same_group(&seen[i], &seen[end]);)
			end++;
		g.n = end - i;
		group__label(d, &g);
	}
}

static int match__label(struct diff *d)
{
	struct diff_match *m = &d->match;
	size_t n = d->n_sides * m->n_funcs, i, n_seen = 0;
	struct seen *seen = malloc((n + 1) * sizeof(*seen));

	if (!seen)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		uint32_t func = (uint32_t)(i % m->n_funcs);

		if (m->labels[i].is_self)
			seen[n_seen++] = (struct seen){ m->funcs[func], func, i / m->n_funcs };
	}
	qsort(seen, n_seen, sizeof(*seen), seen__cmp);
	match__label_groups(d, seen, n_seen);
	free(seen);
	return 0;
}

int diff_match__make(struct diff *d)
{
	struct diff_match *m = &d->match;

	if (match__add_protos(d))
		return diff__no_memory();
	m->labels = calloc(d->n_sides * m->n_funcs + 1, sizeof(*m->labels));
	if (!m->labels)
		return diff__no_memory();
	match__mark_used(d);
	if (match__find_selves(d) || match__label(d))
		return diff__no_memory();
	match__copy_labels(d);
	if (d->o.fuzzy && diff_match__lines(d))
		return diff__no_memory();
	return 0;
}

bool diff_match__is_guess(const struct diff *d, size_t side, uint32_t site, bool by_func)
{
	const struct diff_match *m = &d->match;
	const struct diff_label *l;
	uint32_t func;

	if (m->flags && site < m->n_sites && m->flags[side * m->n_sites + site] & DIFF_SITE_FUZZY)
		return true;
	func = by_func ? diff_match__func(d, site) : HASHMAP_NONE;
	if (func == HASHMAP_NONE)
		return false;
	l = diff_match__label(m, side, func);
	return l->used && !l->by_name && m->funcs[l->canon].first_line != m->funcs[func].first_line;
}
