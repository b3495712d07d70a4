/* rows.c - sites put together under names; see rows.h. */
#include "report/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/grow.h"
#include "util/error.h"

void rows__exit(struct rows *r)
{
	strpool__exit(&r->names);
	free(r->at);
	free(r->of_site);
	memset(r, 0, sizeof(*r));
}

static bool stats__is_empty(const struct site_stats *s)
{
	return !s->n_alloc && !s->n_realloc && !s->n_free;
}

static void stats__add(struct site_stats *to, const struct site_stats *s)
{
	to->n_alloc += s->n_alloc;
	to->n_realloc += s->n_realloc;
	to->n_free += s->n_free;
	to->n_out += s->n_out;
	to->alloc_bytes += s->alloc_bytes;
	to->realloc_new += s->realloc_new;
	to->realloc_old += s->realloc_old;
	to->free_bytes += s->free_bytes;
	to->out_bytes += s->out_bytes;
}

static void live__add(struct site_live *to, const struct site_live *from)
{
	to->bytes += from->bytes;
	to->blocks += from->blocks;
}

/* One line may be of several functions: the row is called after the one that
 * allocated most there, and among equals after the one seen first. */
static void row__name_func(struct row *row, const struct aggregate *a, uint32_t site)
{
	const struct site *s = &a->symtab->sites[site];
	const struct site_stats *st = &a->stats[site];
	u128 bytes = st->alloc_bytes + st->realloc_new;
	uint32_t func;

	if (s->source != LJM_SRC_LUA)
		return;
	func = a->symtab->protos[s->ref].func;
	if (func == STR_NONE || (row->func != STR_NONE && bytes <= row->func_bytes))
		return;
	row->func = func;
	row->func_bytes = bytes;
}

static void row__add(struct row *row, const struct aggregate *a, uint32_t site)
{
	stats__add(&row->stats, &a->stats[site]);
	if (site < a->n_live)
		live__add(&row->live, &a->live[site]);
	if (site < a->n_leaked)
		live__add(&row->leaked, &a->leaked[site]);
	row__name_func(row, a, site);
}

static int rows__add(struct rows *r, const struct aggregate *a, uint32_t site, struct strbuf *name)
{
	uint32_t id;

	if (name->failed)
		return -ENOMEM;
	id = strpool__intern(&r->names, strbuf__str(name), name->len);
	if (id == STR_NONE || GROW(r->at, r->cap, id))
		return -ENOMEM;
	if (id == r->n) {
		memset(&r->at[id], 0, sizeof(r->at[id]));
		r->at[id].site = site;
		r->at[id].func = STR_NONE;
		r->n++;
	}
	r->of_site[site] = id;
	row__add(&r->at[id], a, site);
	return 0;
}

int rows__make(struct rows *r, const struct aggregate *a, row_name_fn name, const void *ctx)
{
	struct strbuf text = STRBUF_INIT;
	uint32_t site;
	int err = 0;

	r->of_site = malloc((a->n_stats + 1) * sizeof(*r->of_site));
	if (!r->of_site)
		err = -ENOMEM;
	for (site = 0; !err && site < a->n_stats; site++) {
		r->of_site[site] = HASHMAP_NONE;
		if (stats__is_empty(&a->stats[site]))
			continue;
		strbuf__reset(&text);
		name(ctx, site, &text);
		err = rows__add(r, a, site, &text);
	}
	strbuf__exit(&text);
	return err ? err__set(-ENOMEM, "out of memory for the rows") : 0;
}

int rows__cmp_names(const struct rows *r, const struct row *a, const struct row *b)
{
	const struct str *x = rows__name(r, a), *y = rows__name(r, b);
	size_t min = x->len < y->len ? x->len : y->len;
	int cmp = memcmp(x->s, y->s, min);

	return cmp ? cmp : x->len < y->len ? -1 : x->len > y->len;
}
