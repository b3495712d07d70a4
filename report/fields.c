/* fields.c - fields, metrics and sort keys; see fields.h. */
#include "report/fields.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/names.h"
#include "util/error.h"
#include "util/options.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- values ---- */

static u128 get_allocated(const struct row *r)
{
	return r->stats.alloc_bytes + r->stats.realloc_new;
}

static u128 get_allocs(const struct row *r)
{
	return r->stats.n_alloc;
}
static u128 get_reallocs(const struct row *r)
{
	return r->stats.n_realloc;
}
static u128 get_count(const struct row *r)
{
	return (u128)r->stats.n_alloc + r->stats.n_realloc;
}
static u128 get_freed(const struct row *r)
{
	return r->stats.out_bytes;
}
static u128 get_frees(const struct row *r)
{
	return r->stats.n_out;
}
static u128 get_live(const struct row *r)
{
	return r->live.bytes;
}
static u128 get_blocks(const struct row *r)
{
	return r->live.blocks;
}
static u128 get_leaked(const struct row *r)
{
	return r->leaked.bytes;
}
static u128 get_leaked_blocks(const struct row *r)
{
	return r->leaked.blocks;
}

static u128 get_events(const struct row *r)
{
	return get_count(r) + r->stats.n_free;
}

/* ---- texts ---- */

static void put_source(const struct symtab *st, uint32_t site, struct strbuf *out)
{
	strbuf__addstr(out, names__source(st->sites[site].source));
}

static void put_symbol(const struct symtab *st, uint32_t site, struct strbuf *out)
{
	names__site(st, site, NAME_TABLE, out);
}

/* What is of no chunk stands in brackets, as perf does. */
static void put_chunk(const struct symtab *st, uint32_t site, struct strbuf *out)
{
	const struct proto *p = symtab__proto(st, &st->sites[site]);

	if (p)
		names__chunk(st, p, NAME_TABLE, out);
	else
		strbuf__addf(out, "[%s]", names__source(st->sites[site].source));
}

static void put_module(const struct symtab *st, uint32_t site, struct strbuf *out)
{
	const struct module *m = symtab__module_of(st, &st->sites[site]);

	if (m)
		names__module(st, m, out);
	else
		strbuf__addf(out, "[%s]", names__source(st->sites[site].source));
}

static void put_trace(const struct symtab *st, uint32_t site, struct strbuf *out)
{
	if (st->sites[site].source == LJM_SRC_TRACE)
		names__site(st, site, NAME_TABLE, out);
	else
		strbuf__addstr(out, "[no trace]");
}

static void put_vmstate(const struct symtab *st, uint32_t site, struct strbuf *out)
{
	const struct site *s = &st->sites[site];

	if (s->source == LJM_SRC_INTERNAL)
		strbuf__addstr(out, names__vmstate((unsigned)s->arg));
	else
		strbuf__addf(out, "[%s]", names__source(s->source));
}

/* ---- the tables ---- */

enum field_id {
	F_OVERHEAD,
	F_ALLOCATED,
	F_ALLOCS,
	F_REALLOCS,
	F_COUNT,
	F_LIVE,
	F_BLOCKS,
	F_LEAKED,
	F_LEAKED_BLOCKS,
	F_FREED,
	F_FREES,
	F_EVENTS,
	F_SOURCE,
	F_SYMBOL,
	F_FUNC,
	F_CHUNK,
	F_MODULE,
	F_TRACE,
	F_VMSTATE,
	F_MAX,
};

#define BYTES(n, h, f) \
	{ \
		.name = (n), .heading = (h), .type = FIELD_BYTES, .value = (f) \
	}
#define NUMBER(n, h, f) \
	{ \
		.name = (n), .heading = (h), .type = FIELD_COUNT, .value = (f) \
	}
#define TEXT(n, h, f) \
	{ \
		.name = (n), .heading = (h), .type = FIELD_TEXT, .text = (f) \
	}

static const struct field fields[F_MAX] = {
	[F_OVERHEAD] = { .name = "overhead", .heading = "Overhead", .type = FIELD_PERCENT },
	[F_ALLOCATED] = BYTES("allocated", "Allocated", get_allocated),
	[F_ALLOCS] = NUMBER("allocs", "Allocs", get_allocs),
	[F_REALLOCS] = NUMBER("reallocs", "Reallocs", get_reallocs),
	[F_COUNT] = NUMBER("count", "Count", get_count),
	[F_LIVE] = BYTES("live", "Live", get_live),
	[F_BLOCKS] = NUMBER("blocks", "Blocks", get_blocks),
	[F_LEAKED] = BYTES("leaked", "Leaked", get_leaked),
	[F_LEAKED_BLOCKS] = NUMBER("leaked-blocks", "Leaked Blocks", get_leaked_blocks),
	[F_FREED] = BYTES("freed", "Freed", get_freed),
	[F_FREES] = NUMBER("frees", "Frees", get_frees),
	[F_EVENTS] = NUMBER("events", "Events", get_events),
	[F_SOURCE] = TEXT("source", "Source", put_source),
	[F_SYMBOL] = { .name = "symbol",
		       .heading = "Symbol",
		       .type = FIELD_TEXT,
		       .text = put_symbol,
		       .has_func = true },
	[F_FUNC] = { .name = "func",
		     .heading = "Function",
		     .type = FIELD_TEXT,
		     .text = names__func,
		     .has_func = true },
	[F_CHUNK] = TEXT("chunk", "Chunk", put_chunk),
	[F_MODULE] = TEXT("module", "Module", put_module),
	[F_TRACE] = TEXT("trace", "Trace", put_trace),
	[F_VMSTATE] = TEXT("vmstate", "VM State", put_vmstate),
};

static const struct metric metrics[] = {
	{ "allocated", "allocations", &fields[F_ALLOCATED], get_count, false },
	{ "live", "live blocks", &fields[F_LIVE], get_blocks, false },
	{ "leaked", "leaked blocks", &fields[F_LEAKED], get_leaked_blocks, true },
	{ "freed", "freed blocks", &fields[F_FREED], get_frees, false },
	{ "count", "allocations", &fields[F_COUNT], get_count, false },
};

/* Known words that cannot be had yet. */
static const char *const later_metrics[] = { "peak", "temporary" };

static const struct {
	const char *name;
	const struct field *keys[2];
} sorts[] = {
	{ "line", { &fields[F_SOURCE], &fields[F_SYMBOL] } },
	{ "symbol", { &fields[F_SYMBOL] } },
	{ "func", { &fields[F_SOURCE], &fields[F_FUNC] } },
	{ "chunk", { &fields[F_CHUNK] } },
	{ "source", { &fields[F_SOURCE] } },
	{ "module", { &fields[F_MODULE] } },
	{ "trace", { &fields[F_TRACE] } },
	{ "vmstate", { &fields[F_VMSTATE] } },
};

/* ---- reading options ---- */

bool field_list__has(const struct field_list *l, const struct field *f)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (l->at[i] == f)
			return true;
	return false;
}

/* There are fewer fields than FIELDS_MAX, and each is in a list once. */
_Static_assert((int)F_MAX <= (int)FIELDS_MAX, "a list holds all fields");

static void field_list__add(struct field_list *l, const struct field *f)
{
	if (f && !field_list__has(l, f))
		l->at[l->n++] = f;
}

/* STRIDE bytes apart from FIRST on stand N names. */
static int unknown_word(const char *what, const char *word, const char *const *first, size_t stride,
			size_t n)
{
	const char *names[FIELDS_MAX], *near;
	char all[240] = "";
	size_t i, len = 0;

	for (i = 0; i < n; i++) {
		names[i] = *(const char *const *)((const char *)first + i * stride);
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", i ? ", " : "",
					names[i]);
		if (len >= sizeof(all))
			len = sizeof(all) - 1;
	}
	near = options__suggest(word, names, n);
	if (near)
		return err__set(-EINVAL, "unknown %s '%s', did you mean '%s'?", what, word, near);
	return err__set(-EINVAL, "unknown %s '%s', known are: %s", what, word, all);
}

int fields__metric(const char *name, const struct metric **out)
{
	size_t i;

	for (i = 0; i < COUNT(metrics); i++) {
		*out = &metrics[i];
		if (!strcmp(metrics[i].name, name))
			return 0;
	}
	for (i = 0; i < COUNT(later_metrics); i++)
		if (!strcmp(later_metrics[i], name))
			return err__set(-EINVAL, "this version cannot report the metric '%s'",
					name);
	return unknown_word("metric", name, &metrics[0].name, sizeof(metrics[0]), COUNT(metrics));
}

/* Copies the next word of a comma-separated list; false at the end.  A word
 * that does not fit is cut, and then known to nobody. */
static bool next_word(const char **list, char *word, size_t size)
{
	size_t len = strcspn(*list, ",");

	if (!**list)
		return false;
	snprintf(word, size, "%.*s", (int)(len < 4096 ? len : 4096), *list);
	*list += len;
	*list += **list == ',';
	return true;
}

static int sort__add(const char *word, struct field_list *keys)
{
	size_t i;

	for (i = 0; i < COUNT(sorts); i++) {
		if (strcmp(sorts[i].name, word))
			continue;
		field_list__add(keys, sorts[i].keys[0]);
		field_list__add(keys, sorts[i].keys[1]);
		return 0;
	}
	return unknown_word("sort key", word, &sorts[0].name, sizeof(sorts[0]), COUNT(sorts));
}

int fields__sort(const char *list, struct field_list *keys)
{
	char word[64];

	keys->n = 0;
	while (next_word(&list, word, sizeof(word)))
		if (sort__add(word, keys))
			return -EINVAL;
	return keys->n ? 0 : err__set(-EINVAL, "no sort key is given");
}

static int columns__add(const char *word, struct field_list *keys, struct field_list *columns)
{
	size_t i;

	for (i = 0; i < F_MAX; i++) {
		if (strcmp(fields[i].name, word))
			continue;
		field_list__add(columns, &fields[i]);
		if (fields[i].type == FIELD_TEXT)
			field_list__add(keys, &fields[i]);
		return 0;
	}
	return unknown_word("field", word, &fields[0].name, sizeof(fields[0]), F_MAX);
}

static void columns__default(const struct metric *m, struct field_list *columns)
{
	field_list__add(columns, &fields[F_OVERHEAD]);
	field_list__add(columns, &fields[F_ALLOCATED]);
	field_list__add(columns, &fields[F_ALLOCS]);
	field_list__add(columns, &fields[F_LIVE]);
	field_list__add(columns, m->field);
}

static bool has_text(const struct field_list *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (l->at[i]->type == FIELD_TEXT)
			return true;
	return false;
}

int fields__columns(const char *spec, const struct metric *m, struct field_list *keys,
		    struct field_list *columns)
{
	struct field_list sort_keys = *keys;
	bool add = !spec || *spec == '+';
	char word[64];
	size_t i;

	columns->n = 0;
	if (add)
		columns__default(m, columns);
	spec = !spec ? "" : spec + add;
	while (next_word(&spec, word, sizeof(word)))
		if (columns__add(word, keys, columns))
			return -EINVAL;
	/* A list without a name would be numbers of nobody knows what. */
	if (add || !has_text(columns))
		for (i = 0; i < sort_keys.n; i++)
			field_list__add(columns, sort_keys.at[i]);
	return 0;
}

void fields__add_events(struct field_list *columns)
{
	struct field_list old = *columns;
	size_t i = 0;

	columns->n = 0;
	for (; i < old.n && old.at[i]->type != FIELD_TEXT; i++)
		field_list__add(columns, old.at[i]);
	field_list__add(columns, &fields[F_EVENTS]);
	for (; i < old.n; i++)
		field_list__add(columns, old.at[i]);
}
