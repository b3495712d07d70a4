/* diff_tree.c - building the call trees of a diff; see diff_tree.h. */
#include "report/diff_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff_frame.h"
#include "util/grow.h"

void diff_trees__delete(struct diff_trees *t)
{
	if (!t)
		return;
	free(t->leaves);
	free(t->first);
	strpool__exit(&t->labels);
	free(t->label_of);
	free(t->at);
	hashmap__exit(&t->map);
	free(t->self);
	free(t->total);
	free(t->values);
	free(t);
}

/* ---- which cells are in the tree of which row ---- */

/* Calls VISIT for each cell that is in a row of the diff. */
static void for_each_leaf(const struct diff *d, struct diff_trees *t,
			  void (*visit)(struct diff_trees *t, uint32_t row, struct diff_leaf leaf))
{
	size_t side, run, part;
	uint32_t cell, row;

	for (side = 0; side < d->n_sides; side++)
		for (run = 0; run < d->sides[side].n_runs; run++) {
			size_t nr = d->sides[side].first_run + run;
			const struct diff_run *r = &d->runs[nr];

			for (part = r->first_part; part < r->first_part + r->n_parts; part++)
				for (cell = 0; cell < d->parts[part].a->n_stats; cell++) {
					row = diff_part__row(&d->parts[part], cell);
					if (row != HASHMAP_NONE)
						visit(t, row,
						      (struct diff_leaf){ (uint32_t)part, cell,
									  (uint32_t)side,
									  (uint32_t)nr });
				}
		}
}

static void count_leaf(struct diff_trees *t, uint32_t row, struct diff_leaf leaf)
{
	(void)leaf;
	t->first[row + 1]++;
}

/* FIRST[row + 1] is where the next one goes, and ends where the next row begins. */
static void place_leaf(struct diff_trees *t, uint32_t row, struct diff_leaf leaf)
{
	t->leaves[t->first[row + 1]++] = leaf;
}

static int trees__find_leaves(const struct diff *d, struct diff_trees *t)
{
	size_t i, n = 0, count;

	t->first = calloc(d->n_rows + 1, sizeof(*t->first));
	if (!t->first)
		return -ENOMEM;
	for_each_leaf(d, t, count_leaf);
	for (i = 0; i < d->n_rows; i++) {
		count = t->first[i + 1];
		t->first[i + 1] = n;
		n += count;
	}
	t->leaves = malloc((n + 1) * sizeof(*t->leaves));
	if (!t->leaves)
		return -ENOMEM;
	for_each_leaf(d, t, place_leaf);
	return 0;
}

struct diff_trees *diff_trees__new(const struct diff *d)
{
	size_t n = d->n_sides * (d->n_sites + 1);
	struct diff_trees *t = calloc(1, sizeof(*t));

	if (!t)
		goto no_memory;
	t->label_of = malloc(n * sizeof(*t->label_of));
	if (!t->label_of || trees__find_leaves(d, t))
		goto no_memory;
	memset(t->label_of, 0xff, n * sizeof(*t->label_of));
	return t;
no_memory:
	diff_trees__delete(t);
	diff__no_memory();
	return NULL;
}

/* ---- frames ---- */

static uint32_t trees__make_label(const struct diff *d, size_t side, uint32_t site)
{
	struct strbuf text = STRBUF_INIT;
	uint32_t label = STR_NONE;

	diff_frame__put(d, side, site, d->o.tree.function, &text);
	if (!text.failed)
		label = strpool__intern(&d->trees->labels, strbuf__str(&text), text.len);
	strbuf__exit(&text);
	return label;
}

static uint32_t trees__label(const struct diff *d, size_t side, uint32_t site)
{
	uint32_t *label = &d->trees->label_of[side * (d->n_sites + 1)];

	if (site != SITE_NONE)
		label += (size_t)site + 1;
	if (*label == STR_NONE)
		*label = trees__make_label(d, side, site);
	return *label;
}

/* ---- nodes ---- */

static int trees__grow(const struct diff *d, struct diff_trees *t)
{
	size_t cap = t->cap_self ? t->cap_self * 2 : 32, n = cap * d->n_runs;
	struct diff_cell *p;

	if (GROW(t->at, t->cap, t->n))
		return -ENOMEM;
	if (t->n < t->cap_self)
		return 0;
	if (cap > SIZE_MAX / sizeof(*p) / d->n_runs)
		return -ENOMEM;
	p = realloc(t->self, n * sizeof(*p));
	if (!p)
		return -ENOMEM;
	t->self = p;
	t->cap_self = cap;
	return 0;
}

/* The new node, or HASHMAP_NONE. */
static uint32_t trees__add_node(const struct diff *d, uint32_t label, uint32_t parent)
{
	struct diff_trees *t = d->trees;

	if (trees__grow(d, t))
		return HASHMAP_NONE;
	memset(&t->self[t->n * d->n_runs], 0, d->n_runs * sizeof(*t->self));
	t->at[t->n] = (struct diff_node){ .label = label, .parent = parent };
	return (uint32_t)t->n++;
}

static uint32_t trees__child(const struct diff *d, uint32_t parent, uint32_t label)
{
	struct diff_trees *t = d->trees;
	uint64_t hash = hash__u64((uint64_t)parent << 32 | label);
	uint32_t pos, id;

	for (id = hashmap__first(&t->map, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(&t->map, hash, &pos))
		if (t->at[id].parent == parent && t->at[id].label == label)
			return id;
	id = trees__add_node(d, label, parent);
	return id != HASHMAP_NONE && hashmap__add(&t->map, hash, id) ? HASHMAP_NONE : id;
}

static int trees__add(const struct diff *d, const struct diff_leaf *leaf, const struct row *row)
{
	const struct tree_opts *o = &d->o.tree;
	uint32_t frames[STACK_DEPTH_MAX + 1], node = 0, label;
	size_t n = aggregate__frames(d->parts[leaf->part].a, leaf->cell, frames), i;

	if (o->max_stack && n > o->max_stack)
		n = o->max_stack;
	for (i = 0; i < n && node != HASHMAP_NONE; i++) {
		label = trees__label(d, leaf->side,
				     frames[o->order == TREE_CALLER ? n - 1 - i : i]);
		node = label == STR_NONE ? HASHMAP_NONE : trees__child(d, node, label);
	}
	if (node == HASHMAP_NONE)
		return -ENOMEM;
	d->trees->at[node].has_self = true;
	diff_cell__add(d, &d->trees->self[node * d->n_runs + leaf->run], row);
	return 0;
}

/* ---- what nodes come to ---- */

s128 diff__change(const struct diff *d, const struct diff_value *values, size_t side)
{
	if (d->o.compute == DIFF_WDIFF)
		return diff__weighted(d, &values[side], &values[0]);
	return diff_value__delta(&values[side], &values[0]);
}

/* What changed in the stacks that end at a node; VALUES has room for all sides. */
static void trees__weigh(const struct diff *d, size_t node, struct diff_value *values)
{
	struct diff_node *n = &d->trees->at[node];
	size_t side;
	s128 v;

	memset(values, 0, d->n_sides * sizeof(*values));
	diff__values(d, &d->trees->self[node * d->n_runs], values);
	for (side = 1; side < d->n_sides; side++) {
		v = diff__change(d, values, side);
		n->weight += v < 0 ? -(double)v : (double)v;
		n->changed |= diff_value__is_changed(&values[side], &values[0]);
	}
}

/* Parents come before their children. */
static void trees__sum(const struct diff *d)
{
	struct diff_trees *t = d->trees;
	struct diff_value *scratch = &t->values[t->n * d->n_sides];
	size_t i, n = d->n_runs;

	memcpy(t->total, t->self, t->n * n * sizeof(*t->total));
	memset(t->values, 0, t->n * d->n_sides * sizeof(*t->values));
	for (i = t->n; i-- > 0;) {
		struct diff_node *node = &t->at[i], *parent = &t->at[node->parent];

		trees__weigh(d, i, scratch);
		diff__values(d, &t->total[i * n], &t->values[i * d->n_sides]);
		if (!i)
			break;
		diff_cells__add(&t->total[node->parent * n], &t->total[i * n], n);
		parent->weight += node->weight;
		parent->changed |= node->changed;
	}
}

/* Siblings in the order of rows. */
static int cmp_nodes(const void *x, const void *y, void *ctx)
{
	const struct diff *d = ctx;
	const struct diff_trees *t = d->trees;
	uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
	int cmp = diff__cmp_values(d, diff_trees__value(d, i), diff_trees__value(d, j));
	const struct str *s, *r;

	if (cmp)
		return cmp;
	s = strpool__get(&t->labels, t->at[i].label);
	r = strpool__get(&t->labels, t->at[j].label);
	cmp = strcmp(s->s, r->s);
	return cmp ? cmp : s->len < r->len ? -1 : s->len > r->len;
}

/* Puts the children of a node in order; ROOM is for all nodes. */
static void node__sort(const struct diff *d, struct diff_node *node, uint32_t *room)
{
	struct diff_node *at = d->trees->at;
	uint32_t child;
	size_t n = 0;

	for (child = node->first; child; child = at[child].next)
		room[n++] = child;
	if (n < 2)
		return;
	qsort_r(room, n, sizeof(*room), cmp_nodes, (void *)(uintptr_t)d);
	node->first = 0;
	while (n) {
		at[room[--n]].next = node->first;
		node->first = room[n];
	}
}

static int trees__sort(const struct diff *d)
{
	struct diff_trees *t = d->trees;
	uint32_t *room = malloc(t->n * sizeof(*room)), i;
	struct diff_node *parent;

	if (!room)
		return -ENOMEM;
	for (i = 1; i < t->n; i++) {
		parent = &t->at[t->at[i].parent];
		t->at[i].next = parent->first;
		parent->first = i;
	}
	for (i = 0; i < t->n; i++)
		node__sort(d, &t->at[i], room);
	free(room);
	return 0;
}

static int trees__finish(const struct diff *d)
{
	struct diff_trees *t = d->trees;

	free(t->total);
	free(t->values);
	t->total = malloc(t->n * d->n_runs * sizeof(*t->total));
	t->values = malloc((t->n + 1) * d->n_sides * sizeof(*t->values));
	if (!t->total || !t->values)
		return -ENOMEM;
	trees__sum(d);
	return trees__sort(d);
}

/* ---- the tree of a row ---- */

int diff_trees__build(const struct diff *d, size_t row)
{
	struct diff_trees *t = d->trees;
	struct row one;
	size_t i;
	int err;

	hashmap__clear(&t->map);
	t->n = 0;
	err = trees__add_node(d, STR_NONE, 0) == HASHMAP_NONE ? -ENOMEM : 0;
	for (i = t->first[row]; !err && i < t->first[row + 1]; i++) {
		row__of_cell(&one, d->parts[t->leaves[i].part].a, t->leaves[i].cell);
		if (d->o.metric->blocks(&one))
			err = trees__add(d, &t->leaves[i], &one);
	}
	err = err ? err : trees__finish(d);
	return err ? diff__no_memory() : 0;
}

int diff_trees__is_changed(const struct diff *d, size_t row)
{
	int err = diff_trees__build(d, row);

	return err ? err : d->trees->at[0].changed;
}
