/* filter.c - which cells a report is about; see filter.h. */
#include "report/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/fields_table.h"
#include "report/frames.h"
#include "report/parent.h"
#include "util/error.h"
#include "util/grow.h"

static int filter__no_memory(void)
{
	return err__set(-ENOMEM, "out of memory for filters");
}

int filter__add(struct filter *f, enum filter_kind kind, const char *word)
{
	struct match *m = match__new(word);

	if (!m)
		return -EINVAL;
	if (GROW(f->at[kind], f->cap[kind], f->n[kind])) {
		match__delete(m);
		return filter__no_memory();
	}
	f->at[kind][f->n[kind]++] = m;
	return 0;
}

void filter__exit(struct filter *f)
{
	size_t kind, i;

	for (kind = 0; kind < FILTER_MAX; kind++) {
		for (i = 0; i < f->n[kind]; i++)
			match__delete(f->at[kind][i]);
		free(f->at[kind]);
	}
	*f = (struct filter){ .exclude_other = false };
}

bool filter__is_empty(const struct filter *f)
{
	size_t kind;

	for (kind = 0; kind < FILTER_MAX; kind++)
		if (f->n[kind])
			return false;
	return !f->exclude_other;
}

unsigned filter__split(const struct filter *f)
{
	return (f->n[FILTER_VM] ? SPLIT_VM : 0) | (f->exclude_other ? SPLIT_STACK : 0);
}

/* ---- texts ---- */

static bool filter__any(const struct filter *f, enum filter_kind kind, const struct strbuf *text)
{
	size_t i;

	for (i = 0; i < f->n[kind]; i++)
		if (match__has(f->at[kind][i], strbuf__str(text), text->len))
			return true;
	return false;
}

/* A place is known by its function, by what a table calls it, and by both as
 * they stand in the table. */
static bool filter__symbol(const struct filter *f, const struct symtab *st, uint32_t site,
			   struct strbuf *text)
{
	frame__name(st, site, NAME_TABLE, text);
	if (filter__any(f, FILTER_SYMBOL, text))
		return true;
	strbuf__reset(text);
	fields[F_SYMBOL].text(st, site, text);
	if (filter__any(f, FILTER_SYMBOL, text))
		return true;
	strbuf__reset(text);
	frame__name(st, site, NAME_TABLE, text);
	strbuf__addstr(text, "  ");
	fields[F_SYMBOL].text(st, site, text);
	return filter__any(f, FILTER_SYMBOL, text);
}

/* A VM is known by its label, and by its number alone. */
static bool filter__vm(const struct filter *f, const struct aggregate *a, uint32_t cell,
		       struct strbuf *text)
{
	const char *label = a->sessions[aggregate__cell(a, cell).session].vm_label;
	size_t digits;

	fields[F_VM].cell_text(a, cell, text);
	if (filter__any(f, FILTER_VM, text))
		return true;
	if (!label || strncmp(label, "VM ", 3))
		return false;
	digits = strspn(label + 3, "0123456789");
	strbuf__reset(text);
	strbuf__addmem(text, label + 3, digits);
	return filter__any(f, FILTER_VM, text);
}

static bool filter__text(const struct filter *f, enum filter_kind kind, const struct aggregate *a,
			 uint32_t cell, struct strbuf *text)
{
	static const enum field_id ids[FILTER_MAX] = {
		[FILTER_CHUNK] = F_CHUNK,
		[FILTER_SOURCE] = F_SOURCE,
		[FILTER_MODULE] = F_MODULE,
	};
	uint32_t site = aggregate__cell(a, cell).site;

	strbuf__reset(text);
	if (kind == FILTER_SYMBOL)
		return filter__symbol(f, a->symtab, site, text);
	if (kind == FILTER_VM)
		return filter__vm(f, a, cell, text);
	fields[ids[kind]].text(a->symtab, site, text);
	return filter__any(f, kind, text);
}

/* ---- cells ---- */

static bool filter__passes(const struct filter *f, const struct aggregate *a, uint32_t cell,
			   struct strbuf *text)
{
	enum filter_kind kind;

	for (kind = 0; kind < FILTER_MAX; kind++)
		if (f->n[kind] && !filter__text(f, kind, a, cell, text))
			return false;
	return !f->exclude_other || parent__find(a, cell) != SITE_NONE;
}

int filter__apply(const struct filter *f, struct aggregate *a, bool *skip)
{
	struct strbuf text = STRBUF_INIT;
	uint32_t cell;
	int err = 0;

	for (cell = 0; cell < a->n_stats && err >= 0; cell++) {
		if (f->n[FILTER_SYMBOL])
			err = symtab__symbolize(a->symtab, aggregate__cell(a, cell).site, false);
		if (err >= 0 && !skip[cell])
			skip[cell] = !filter__passes(f, a, cell, &text);
	}
	if (text.failed)
		err = filter__no_memory();
	strbuf__exit(&text);
	return err < 0 ? err : 0;
}
