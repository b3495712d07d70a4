/* tree.c - building a call tree; see tree.h. */
#include "report/tree.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/frames.h"
#include "util/error.h"
#include "util/grow.h"
#include "util/options.h"

/* ---- the option ---- */

enum { WORD_MAX = 32 };

static const char *const words[] = {
	"graph", "fractal", "folded", "none", "caller", "callee", "function", "line",
};

static void tree_opts__word(struct tree_opts *o, size_t word)
{
	switch (word) {
	case 0:
		o->print = TREE_GRAPH;
		break;
	case 1:
		o->print = TREE_FRACTAL;
		break;
	case 2:
		o->print = TREE_FOLDED;
		break;
	case 3:
		o->print = TREE_NONE;
		break;
	case 4:
		o->order = TREE_CALLER;
		break;
	case 5:
		o->order = TREE_CALLEE;
		break;
	default:
		o->function = word == 6;
	}
}

static bool read_percent(const char *word, double *v)
{
	char *end;

	if (*word < '0' || *word > '9')
		return false;
	*v = strtod(word, &end);
	return !*end && isfinite(*v);
}

static int tree_opts__add(struct tree_opts *o, const char *word)
{
	const char *near;
	size_t i;

	if (read_percent(word, &o->min_percent))
		return 0;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i], word))
			continue;
		tree_opts__word(o, i);
		return 0;
	}
	near = options__suggest(word, words, sizeof(words) / sizeof(words[0]));
	if (near)
		return err__set(-EINVAL, "unknown kind of tree '%s', did you mean '%s'?", word,
				near);
	return err__set(-EINVAL,
			"unknown kind of tree '%s', known are: graph, fractal, folded, none, "
			"caller, callee, function, line, and a least percentage",
			word);
}

int tree_opts__parse(const char *text, struct tree_opts *o)
{
	char word[WORD_MAX];
	size_t len;
	int err = 0;

	o->print = TREE_GRAPH;
	o->min_percent = 0.5;
	for (; text && *text && !err; text += len + (text[len] == ',')) {
		len = strcspn(text, ",");
		snprintf(word, sizeof(word), "%.*s", len < WORD_MAX ? (int)len : WORD_MAX, text);
		err = tree_opts__add(o, word);
	}
	return err;
}

bool tree_opts__takes(const char *text)
{
	struct tree_opts o = { .print = TREE_NONE };

	return *text && !tree_opts__parse(text, &o);
}

/* ---- the tree ---- */

static int tree__no_memory(void)
{
	return err__set(-ENOMEM, "out of memory for the call tree");
}

void tree__exit(struct tree *t)
{
	strpool__exit(&t->labels);
	free(t->label_of);
	free(t->at);
	hashmap__exit(&t->map);
	*t = (struct tree){ .at = NULL };
}

int tree__begin(struct tree *t)
{
	hashmap__clear(&t->map);
	t->n = 0;
	if (GROW(t->at, t->cap, t->n))
		return tree__no_memory();
	t->at[t->n++] = (struct tree_node){ .label = STR_NONE };
	return 0;
}

static uint32_t tree__make_label(struct tree *t, const struct symtab *st, uint32_t site)
{
	struct strbuf text = STRBUF_INIT;
	uint32_t label = STR_NONE;

	frame__text(st, site, t->function, &text);
	if (!text.failed)
		label = strpool__intern(&t->labels, strbuf__str(&text), text.len);
	strbuf__exit(&text);
	return label;
}

static uint32_t tree__label(struct tree *t, const struct symtab *st, uint32_t site)
{
	size_t i = site == SITE_NONE ? 0 : (size_t)site + 1;

	for (; t->n_label_of <= i; t->n_label_of++) {
		if (GROW(t->label_of, t->cap_label_of, t->n_label_of))
			return STR_NONE;
		t->label_of[t->n_label_of] = STR_NONE;
	}
	if (t->label_of[i] == STR_NONE)
		t->label_of[i] = tree__make_label(t, st, site);
	return t->label_of[i];
}

static uint32_t tree__child(struct tree *t, uint32_t parent, uint32_t label)
{
	uint64_t hash = hash__u64((uint64_t)parent << 32 | label);
	uint32_t pos, id;

	for (id = hashmap__first(&t->map, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(&t->map, hash, &pos))
		if (t->at[id].parent == parent && t->at[id].label == label)
			return id;
	if (GROW(t->at, t->cap, t->n) || hashmap__add(&t->map, hash, (uint32_t)t->n))
		return HASHMAP_NONE;
	t->at[t->n] = (struct tree_node){ .label = label, .parent = parent };
	return (uint32_t)t->n++;
}

int tree__add(struct tree *t, const struct symtab *st, const uint32_t *sites, size_t n, u128 value)
{
	uint32_t node = 0, label;
	size_t i;

	for (i = 0; i < n; i++) {
		label = tree__label(t, st, sites[i]);
		node = label == STR_NONE ? HASHMAP_NONE : tree__child(t, node, label);
		if (node == HASHMAP_NONE)
			return tree__no_memory();
	}
	t->at[node].self += value;
	return 0;
}

static int cmp_nodes(const void *x, const void *y, void *ctx)
{
	const struct tree *t = ctx;
	const struct tree_node *a = &t->at[*(const uint32_t *)x], *b = &t->at[*(const uint32_t *)y];
	const struct str *s, *r;

	if (a->total != b->total)
		return a->total < b->total ? -1 : 1;
	if (a->label == b->label)
		return 0;
	s = strpool__get(&t->labels, a->label);
	r = strpool__get(&t->labels, b->label);
	return strcmp(r->s, s->s);
}

int tree__finish(struct tree *t)
{
	uint32_t *order = malloc(t->n * sizeof(*order)), id;
	struct tree_node *parent;
	size_t i;

	if (!order)
		return tree__no_memory();
	for (i = 0; i < t->n; i++)
		t->at[i].total = t->at[i].self;
	for (i = t->n - 1; i; i--) { /* parents come before their children */
		t->at[t->at[i].parent].total += t->at[i].total;
		order[i - 1] = (uint32_t)i;
	}
	qsort_r(order, t->n - 1, sizeof(*order), cmp_nodes, t);
	for (i = 0; i < t->n - 1; i++) { /* the smallest first, each before its siblings */
		id = order[i];
		parent = &t->at[t->at[id].parent];
		t->at[id].next = parent->first;
		parent->first = id;
	}
	free(order);
	return 0;
}
