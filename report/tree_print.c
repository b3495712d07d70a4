/* tree_print.c - a call tree as text, laid out as perf report does it; see
 * tree.h.
 *
 *	            |
 *	            ---parse_row app.lua:42
 *	               |
 *	               |--30.00%--read_all app.lua:12
 *	               |          main chunk app.lua:80
 *	               |
 *	                --11.20%--reload app.lua:60
 */
#include <errno.h>
#include <stdlib.h>

#include "report/tree.h"
#include "util/error.h"

enum { MARGIN = 12, STEP = 11 };

struct printer {
	const struct tree *t;
	const struct tree_opts *o;
	struct strbuf *out;
	u128 total;
	size_t margin;
	/* Which of the columns of the branches above go on, as '|' or ' '. */
	struct strbuf bars;
};

static double share(u128 v, u128 total)
{
	return total ? 100.0 * (double)v / (double)total : 0.0;
}

/* A branch that is only one stack from here on to NODE, or to where it forks. */
static const struct tree_node *only_child(const struct tree *t, const struct tree_node *node)
{
	const struct tree_node *child = node->first ? &t->at[node->first] : NULL;

	return child && !child->next && !node->self ? child : NULL;
}

static void put_indent(struct printer *p, size_t n_bars)
{
	size_t i;

	strbuf__addch_n(p->out, ' ', p->margin);
	for (i = 0; i < n_bars && !p->bars.failed; i++) {
		strbuf__addch(p->out, p->bars.buf[i]);
		strbuf__addch_n(p->out, ' ', STEP - 1);
	}
}

static void put_label(struct printer *p, uint32_t label)
{
	const struct str *s = strpool__get(&p->t->labels, label);

	strbuf__addmem(p->out, s->s, s->len);
	strbuf__addch(p->out, '\n');
}

/* "|--30.00%--", the last of its siblings without the bar. */
static void put_percent(struct printer *p, double percent)
{
	put_indent(p, p->bars.len);
	if (p->out->failed)
		return;
	p->out->len -= p->bars.len ? STEP - 1 : 0;
	strbuf__addf(p->out, "--%.2f%%--", percent);
}

static void put_children(struct printer *p, const struct tree_node *node, u128 of);

static void put_branch(struct printer *p, const struct tree_node *node, u128 of)
{
	const struct tree_node *next;

	put_percent(p, share(node->total, of));
	put_label(p, node->label);
	for (; (next = only_child(p->t, node)); node = next) {
		put_indent(p, p->bars.len);
		put_label(p, next->label);
	}
	put_children(p, node, p->o->print == TREE_FRACTAL ? node->total : of);
}

static void set_bar(struct printer *p, char c)
{
	if (!p->bars.failed)
		p->bars.buf[p->bars.len - 1] = c;
}

/* The branches of NODE that are large enough, and one for the others; shares
 * are of OF. */
static void put_children(struct printer *p, const struct tree_node *node, u128 of)
{
	const struct tree_node *child = node->first ? &p->t->at[node->first] : NULL, *next;
	u128 rest = 0;

	for (next = child; next; next = next->next ? &p->t->at[next->next] : NULL)
		if (share(next->total, of) < p->o->min_percent)
			rest += next->total;
	strbuf__addch(&p->bars, '|');
	for (; child && share(child->total, of) >= p->o->min_percent; child = next) {
		next = child->next ? &p->t->at[child->next] : NULL;
		put_indent(p, p->bars.len);
		strbuf__addch(p->out, '\n');
		if (!rest && (!next || share(next->total, of) < p->o->min_percent))
			set_bar(p, ' ');
		put_branch(p, child, of);
	}
	if (rest) {
		put_indent(p, p->bars.len);
		strbuf__addch(p->out, '\n');
		set_bar(p, ' ');
		put_percent(p, share(rest, of));
		strbuf__addstr(p->out, "[...]\n");
	}
	if (!p->bars.failed)
		p->bars.len--;
}

/* The first frames, as long as there is only one stack. */
static const struct tree_node *put_stem(struct printer *p)
{
	const struct tree_node *node = &p->t->at[0], *next;
	bool first = true;

	for (; (next = only_child(p->t, node)); node = next) {
		strbuf__addch_n(p->out, ' ', p->margin);
		if (first) {
			strbuf__addstr(p->out, "|\n");
			strbuf__addch_n(p->out, ' ', p->margin);
			strbuf__addstr(p->out, "---");
			p->margin += 3;
		}
		first = false;
		put_label(p, next->label);
	}
	return node;
}

void tree__print(const struct tree *t, const struct tree_opts *o, u128 total, struct strbuf *out)
{
	struct printer p = { t, o, out, total, MARGIN, STRBUF_INIT };
	const struct tree_node *node = put_stem(&p);

	if (node->first)
		put_children(&p, node, o->print == TREE_FRACTAL ? t->at[0].total : total);
	strbuf__addch(out, '\n');
	strbuf__exit(&p.bars);
}

/* ---- folded ---- */

static void put_folded_frames(const struct tree *t, const struct tree_node *node,
			      struct strbuf *out)
{
	uint32_t path[STACK_DEPTH_MAX + 1];
	size_t n = 0, i;
	const struct str *s;

	for (; node != &t->at[0]; node = &t->at[node->parent])
		path[n++] = node->label;
	while (n) {
		s = strpool__get(&t->labels, path[--n]);
		for (i = 0; i < s->len; i++)
			strbuf__addch(out, s->s[i] == ';' ? ':' : s->s[i]);
		if (n)
			strbuf__addch(out, ';');
	}
}

static int cmp_self(const void *x, const void *y, void *ctx)
{
	const struct tree *t = ctx;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	if (t->at[a].self != t->at[b].self)
		return t->at[a].self > t->at[b].self ? -1 : 1;
	return a < b ? -1 : a > b;
}

int tree__print_folded(const struct tree *t, u128 total, bool exact, struct strbuf *out)
{
	uint32_t *order = malloc(t->n * sizeof(*order));
	size_t i, n = 0;

	if (!order)
		return err__set(-ENOMEM, "out of memory for the call tree");
	for (i = 1; i < t->n; i++)
		if (t->at[i].self)
			order[n++] = (uint32_t)i;
	qsort_r(order, n, sizeof(*order), cmp_self, (void *)t);
	for (i = 0; i < n; i++) {
		if (exact)
			number__dec(out, t->at[order[i]].self);
		else
			strbuf__addf(out, "%.2f%%", share(t->at[order[i]].self, total));
		strbuf__addch(out, ' ');
		put_folded_frames(t, &t->at[order[i]], out);
		strbuf__addch(out, '\n');
	}
	free(order);
	return 0;
}
