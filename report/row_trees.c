/* row_trees.c - the call trees below the rows of a table; see row_trees.h. */
#include "report/row_trees.h"

#include <errno.h>
#include <stdlib.h>

#include "util/error.h"

static int row_trees__no_memory(void)
{
	return err__set(-ENOMEM, "out of memory for call trees");
}

void row_trees__exit(struct row_trees *t)
{
	free(t->parts);
	free(t->first);
	tree__exit(&t->tree);
}

/* The parts of R in the order of their rows: COUNT[ROW] is where its next goes. */
static void row_trees__place(struct row_trees *t, const struct rows *r, size_t *next)
{
	uint32_t cell;
	size_t i;

	for (i = 0; t->children && i < r->n_parts; i++)
		t->parts[next[r->parts[i].row]++] = r->parts[i];
	for (cell = 0; !t->children && cell < t->a->n_stats; cell++)
		if (r->of_cell[cell] != HASHMAP_NONE)
			t->parts[next[r->of_cell[cell]]++] =
				(struct row_part){ r->of_cell[cell], cell, 0, 0 };
}

static size_t row_trees__count(const struct row_trees *t, const struct rows *r)
{
	uint32_t cell;
	size_t i, n = 0;

	for (i = 0; t->children && i < r->n_parts; i++, n++)
		t->first[r->parts[i].row + 1]++;
	for (cell = 0; !t->children && cell < t->a->n_stats; cell++)
		if (r->of_cell[cell] != HASHMAP_NONE) {
			t->first[r->of_cell[cell] + 1]++;
			n++;
		}
	for (i = 1; i <= r->n; i++)
		t->first[i] += t->first[i - 1];
	return n;
}

int row_trees__init(struct row_trees *t, const struct rows *r)
{
	size_t *next = calloc(r->n + 1, sizeof(*next)), i;

	t->first = calloc(r->n + 1, sizeof(*t->first));
	if (next && t->first)
		t->parts = malloc((row_trees__count(t, r) + 1) * sizeof(*t->parts));
	if (!t->parts) {
		free(next);
		return row_trees__no_memory();
	}
	for (i = 0; i <= r->n; i++)
		next[i] = t->first[i];
	row_trees__place(t, r, next);
	free(next);
	t->tree.function = t->o->function;
	return 0;
}

static void reverse(uint32_t *a, size_t n)
{
	uint32_t tmp;
	size_t i;

	for (i = 0; i < n / 2; i++) {
		tmp = a[i];
		a[i] = a[n - 1 - i];
		a[n - 1 - i] = tmp;
	}
}

/* The frames of PART that are in the tree of its row: with the caller as the
 * root, those from the row's inwards, all when it is the innermost. */
static int row_trees__add(struct row_trees *t, const struct row_part *part, u128 value)
{
	uint32_t frames[STACK_DEPTH_MAX + 1], *from = frames;
	size_t n = aggregate__frames(t->a, part->cell, frames);

	if (t->o->max_stack && n > t->o->max_stack)
		n = t->o->max_stack;
	if (t->children && t->o->order == TREE_CALLEE) {
		from += part->inner < n ? part->inner : n;
		n -= part->inner < n ? part->inner : n;
	} else if (t->children && part->outer < n) {
		n = part->outer + 1;
	}
	if (t->o->order == TREE_CALLER)
		reverse(from, n);
	return tree__add(&t->tree, t->a->symtab, from, n, value);
}

int row_trees__build(struct row_trees *t, uint32_t row)
{
	struct row one;
	size_t i;
	int err = tree__begin(&t->tree);

	for (i = t->first[row]; !err && i < t->first[row + 1]; i++) {
		row__of_cell(&one, t->a, t->parts[i].cell);
		if (t->metric->blocks(&one))
			err = row_trees__add(t, &t->parts[i], t->metric->field->value(&one));
	}
	return err ? err : tree__finish(&t->tree);
}

int row_trees__put(struct row_trees *t, uint32_t row, u128 total, bool exact, struct strbuf *out)
{
	int err = row_trees__build(t, row);

	if (err)
		return err;
	if (t->o->print == TREE_FOLDED)
		return tree__print_folded(&t->tree, total, exact, out);
	if (!exact)
		tree__print(&t->tree, t->o, total, out);
	return 0;
}
