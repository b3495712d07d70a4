/* fields.c - reading the options that name fields; see fields.h.  The tables are
 * in fields_table.c.
 */
#include "report/fields.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/fields_table.h"
#include "util/error.h"
#include "util/options.h"

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
	char all[400] = "";
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

int fields__separator(const char **sep)
{
	if (*sep && !**sep)
		return err__set(-EINVAL, "the field separator is empty");
	if (*sep && !strcmp(*sep, "\\t"))
		*sep = "\t";
	return 0;
}

int fields__metric(const char *name, const struct metric **out)
{
	size_t i;

	for (i = 0; i < N_METRICS; i++) {
		*out = &metrics[i];
		if (!strcmp(metrics[i].name, name))
			return 0;
	}
	return unknown_word("metric", name, &metrics[0].name, sizeof(metrics[0]), N_METRICS);
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

	for (i = 0; i < N_SORTS; i++) {
		if (strcmp(sorts[i].name, word))
			continue;
		field_list__add(keys, sorts[i].keys[0]);
		field_list__add(keys, sorts[i].keys[1]);
		return 0;
	}
	return unknown_word("sort key", word, &sorts[0].name, sizeof(sorts[0]), N_SORTS);
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

	if (!strcmp(word, "lifetime")) {
		for (i = F_LIFE; i <= F_LIFE99_TIME; i++)
			field_list__add(columns, &fields[i]);
		return 0;
	}

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

void fields__add_children(struct field_list *columns)
{
	struct field_list old = *columns;
	size_t i;

	columns->n = 0;
	field_list__add(columns, &fields[F_CHILDREN]);
	for (i = 0; i < old.n; i++)
		field_list__add(columns, old.at[i]);
}

void field_list__needs(const struct field_list *l, unsigned *measure, unsigned *split)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		*measure |= l->at[i]->measure;
		*split |= l->at[i]->split;
	}
}

void fields__add_others(const struct field_list *keys, const struct symtab *st, uint32_t site,
			struct strbuf *out)
{
	const struct site *s = &st->sites[site];
	const struct str *func;

	if (s->source != LJM_SRC_LUA || !st->protos[s->ref].has_others ||
	    !field_list__has(keys, &fields[F_FUNC]))
		return;
	func = strpool__get(&st->strings, st->protos[s->ref].func);
	strbuf__addch(out, '\0');
	strbuf__addmem(out, func->s, func->len);
}
