/* diff_sides.c - the sides of a diff: naming their files, reading them, and
 * what their amounts are divided by.  Called by the command diff.
 */
#include "report/diff_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/error.h"
#include "util/grow.h"

enum { NS = 1000000000 };

int diff__no_memory(void)
{
	return err__set(-ENOMEM, "out of memory for the comparison");
}

struct diff *diff__new(const struct diff_opts *o)
{
	struct diff *d = calloc(1, sizeof(*d));

	if (!d) {
		diff__no_memory();
		return NULL;
	}
	d->o = *o;
	d->symtab = symtab__new();
	if (!d->symtab) {
		free(d);
		return NULL;
	}
	return d;
}

void diff__delete(struct diff *d)
{
	size_t i;

	if (!d)
		return;
	for (i = 0; i < d->n_parts; i++) {
		rows__exit(&d->parts[i].rows);
		free(d->parts[i].row_of);
		if (d->parts[i].a)
			d->parts[i].a->symtab = NULL; /* it is shared */
		aggregate__delete(d->parts[i].a);
		free(d->parts[i].path);
	}
	for (i = 0; i < d->n_sides; i++)
		free(d->sides[i].name);
	free(d->parts);
	free(d->runs);
	free(d->sides);
	diff_trees__delete(d->trees);
	diff_match__exit(&d->match);
	strpool__exit(&d->names);
	free(d->rows);
	free(d->values);
	free(d->totals);
	free(d->order);
	free(d->has_site);
	symtab__delete(d->symtab);
	free(d);
}

/* ---- naming the files ---- */

static int diff__add_part(struct diff *d, const char *path)
{
	struct diff_part *p;

	if (!*path)
		return err__set(-EINVAL, "the name of a file is empty");
	if (GROW(d->parts, d->cap_parts, d->n_parts))
		return diff__no_memory();
	p = &d->parts[d->n_parts++];
	memset(p, 0, sizeof(*p));
	p->path = strdup(path);
	p->a = p->path ? aggregate__new() : NULL;
	if (!p->a)
		return diff__no_memory();
	symtab__delete(p->a->symtab);
	p->a->symtab = d->symtab;
	p->a->measure = d->o.metric->field->measure;
	p->a->parent = d->o.parent;
	field_list__needs(&d->o.keys, &p->a->measure, &p->a->split);
	if (d->o.tree.print)
		p->a->split |= SPLIT_STACK;
	return 0;
}

/* Calls ADD for each word of LIST between SEP; once for the whole when it is
 * the name of a file. */
static int for_each_word(struct diff *d, const char *list, char sep,
			 int (*add)(struct diff *d, const char *word))
{
	char *copy, *p, *word;
	int err = 0;

	if (!strchr(list, sep) || !access(list, F_OK))
		return add(d, list);
	copy = p = strdup(list);
	if (!copy)
		return diff__no_memory();
	while (!err && (word = p)) {
		p = strchr(p, sep);
		if (p)
			*p++ = '\0';
		err = add(d, word);
	}
	free(copy);
	return err;
}

static int diff__add_run(struct diff *d, const char *spec)
{
	struct diff_side *side = &d->sides[d->n_sides - 1];
	size_t first = d->n_parts;
	int err;

	if (side->n_runs == DIFF_RUNS_MAX)
		return err__set(-E2BIG, "more than %d runs of one side", DIFF_RUNS_MAX);
	if (GROW(d->runs, d->cap_runs, d->n_runs))
		return diff__no_memory();
	err = for_each_word(d, spec, '+', diff__add_part);
	d->runs[d->n_runs++] = (struct diff_run){ first, d->n_parts - first, 1, 1 };
	side->n_runs++;
	side->n_parts += d->n_parts - first;
	return err;
}

int diff__add_side(struct diff *d, const char *spec, bool runs)
{
	struct diff_side *side;
	int err;

	if (GROW(d->sides, d->cap_sides, d->n_sides))
		return diff__no_memory();
	side = &d->sides[d->n_sides++];
	*side = (struct diff_side){ .name = strdup(spec),
				    .first_run = d->n_runs,
				    .first_part = d->n_parts };
	if (!side->name)
		return diff__no_memory();
	err = runs ? for_each_word(d, spec, ',', diff__add_run) : diff__add_run(d, spec);
	d->noise |= side->n_runs > 1;
	return err;
}

/* ---- reading ---- */

static int diff__check_stdin(const struct diff *d)
{
	size_t i, n = 0;

	for (i = 0; i < d->n_parts; i++)
		n += !strcmp(d->parts[i].path, "-");
	return n < 2 ? 0 : err__set(-EINVAL, "standard input can be read only once");
}

static int diff__read_part(const struct diff *d, const struct diff_part *p, bool force)
{
	int err = aggregate__read(p->a, p->path, force);

	aggregate__finish(p->a);
	if (!err && d->o.metric->needs_leaked && !p->a->totals.has_leaked)
		err = err__set(-ENODATA,
			       "'%s' has no full collection, so what leaked is not known "
			       "(--metric live shows what was alive)",
			       p->path);
	if (!err && p->a->split & SPLIT_STACK && p->a->totals.n_alloc && p->a->stacks.n <= 1)
		err = err__set(-ENODATA, "'%s' has no call stacks (ljperf record -g writes them)",
			       p->path);
	return err;
}

int diff__read(struct diff *d, bool force)
{
	int err = diff__check_stdin(d);
	size_t side, i;

	for (side = 0; side < d->n_sides; side++) {
		const struct diff_side *s = &d->sides[side];

		d->symtab->scope = (uint32_t)side;
		for (i = 0; !err && i < s->n_parts; i++)
			err = diff__read_part(d, &d->parts[s->first_part + i], force);
	}
	return err;
}

/* ---- what was read ---- */

/* Marks the places of events, and those of the calls that led to them. */
static void part__find_sites(const struct aggregate *a, bool *has)
{
	uint32_t cell;
	size_t i;

	for (cell = 0; cell < a->n_stats; cell++) {
		const struct site_stats *s = &a->stats[cell];

		if (s->n_alloc || s->n_realloc || s->n_free)
			has[aggregate__cell(a, cell).site] = true;
	}
	for (i = 0; i < a->stacks.n; i++)
		if (a->stacks.at[i].site != SITE_NONE)
			has[a->stacks.at[i].site] = true;
}

int diff__find_sites(struct diff *d)
{
	size_t side, part;

	d->n_sites = d->symtab->n_sites;
	d->has_site = calloc(d->n_sides * d->n_sites + 1, sizeof(*d->has_site));
	if (!d->has_site)
		return diff__no_memory();
	for (side = 0; side < d->n_sides; side++)
		for (part = 0; part < d->sides[side].n_parts; part++)
			part__find_sites(d->parts[d->sides[side].first_part + part].a,
					 &d->has_site[side * d->n_sites]);
	return 0;
}

/* Rows are joined by name, so every C function needs the best one it can get:
 * its address is another one in another build. */
int diff__symbolize(struct diff *d)
{
	return symtab__symbolize_all(d->symtab);
}

/* ---- runs of different length ---- */

/* VMs of one run work at the same time: the longest one counts. */
static uint64_t run__duration(const struct diff *d, const struct diff_run *run)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < run->n_parts; i++) {
		const struct aggregate *a = d->parts[run->first_part + i].a;

		if (a->n_sessions && a->sessions[0].duration_ns > ns)
			ns = a->sessions[0].duration_ns;
	}
	return ns;
}

static uint64_t run__marks(const struct diff *d, const struct diff_run *run)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < run->n_parts; i++) {
		const struct aggregate *a = d->parts[run->first_part + i].a;

		n += a->n_sessions ? a->sessions[0].n_user_marks : 0;
	}
	return n;
}

static int run__by_time(const struct diff *d, struct diff_run *run)
{
	run->mul = NS;
	run->div = run__duration(d, run);
	if (!run->div)
		return err__set(-ENODATA, "'%s' does not tell how long it took",
				d->parts[run->first_part].path);
	return 0;
}

static int run__by_marks(const struct diff *d, struct diff_run *run)
{
	run->div = run__marks(d, run);
	if (!run->div)
		return err__set(-ENODATA, "'%s' has no marks of the program",
				d->parts[run->first_part].path);
	return 0;
}

/* Takes a number and what separates it from the next; 0: there is none. */
static uint64_t next_number(const char **list)
{
	unsigned long long v;
	char *end;

	if (**list < '0' || **list > '9')
		return 0;
	errno = 0;
	v = strtoull(*list, &end, 10);
	if (errno || (*end && (*end != ',' || !end[1])))
		return 0;
	*list = end + (*end == ',');
	return v;
}

static int diff__scale_by_n(struct diff *d)
{
	const char *list = d->o.per;
	uint64_t n = next_number(&list);
	bool one = !*list;
	size_t i, j;

	for (i = 0; n && i < d->n_sides; i++) {
		for (j = 0; j < d->sides[i].n_runs; j++)
			d->runs[d->sides[i].first_run + j].div = n;
		if (!one && i + 1 < d->n_sides)
			n = next_number(&list);
	}
	if (!n || *list)
		return err__set(-EINVAL,
				"'%s' is no count of work: one number above 0, or one for "
				"each of the %zu data files",
				d->o.per, d->n_sides);
	return 0;
}

int diff__scale_runs(struct diff *d)
{
	int err = 0;
	size_t i;

	d->unit = d->noise || d->o.scale != DIFF_PLAIN ? DIFF_UNIT : 1;
	if (d->o.scale == DIFF_PER_N)
		return diff__scale_by_n(d);
	for (i = 0; !err && i < d->n_runs; i++) {
		if (d->o.scale == DIFF_PER_SECOND)
			err = run__by_time(d, &d->runs[i]);
		else if (d->o.scale == DIFF_PER_MARK)
			err = run__by_marks(d, &d->runs[i]);
	}
	return err;
}
