/* diff_key.c - what rows of a diff are joined by: names made from sites, in
 * which nothing is left that differs from run to run.  Called by diff_join.c.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/diff_frame.h"
#include "report/fields_table.h"
#include "report/names.h"
#include "report/parent.h"
#include "util/error.h"

/* Its text depends on the file and not on the site. */
const struct field diff_field_vm = { .name = "vm", .heading = "VM", .type = FIELD_TEXT };

static bool proto__is_unknown(const struct symtab *st, const struct site *s)
{
	const struct proto *p = symtab__proto(st, s);

	return p && p->chunk == STR_NONE;
}

/* "TRACE [7] 0x41b3 started at app.lua:3" without number and address: both are
 * others in the next run. */
static void key__trace(const struct symtab *st, uint32_t site, struct strbuf *out)
{
	const struct trace *t = &st->traces[st->sites[site].ref];
	struct strbuf text = STRBUF_INIT;
	const char *place;

	names__site(st, site, NAME_TABLE, &text);
	place = strstr(strbuf__str(&text), " started at ");
	if (!place)
		strbuf__addf(out, "TRACE [%llu]", (unsigned long long)t->num);
	else if (proto__is_unknown(st, &st->sites[site]))
		strbuf__addf(out, "TRACE started at [unknown]:%llu", (unsigned long long)t->line);
	else
		strbuf__addf(out, "TRACE%s", place);
	out->failed |= text.failed;
	strbuf__exit(&text);
}

static void key__c(const struct symtab *st, uint32_t site, struct strbuf *out)
{
	static const char nameless[] = "CFUNC 0x";
	size_t start = out->len;

	names__site(st, site, NAME_TABLE, out);
	if (out->len > start && st->cfuncs.at[st->sites[site].ref].name == STR_NONE &&
	    !strncmp(out->buf + start, nameless, strlen(nameless))) {
		out->len = start;
		strbuf__addstr(out, "CFUNC [unknown]");
	}
}

void diff_key__symbol(const struct symtab *st, uint32_t site, struct strbuf *out)
{
	const struct site *s = &st->sites[site];

	if (s->source == LJM_SRC_TRACE)
		key__trace(st, site, out);
	else if (s->source == LJM_SRC_C)
		key__c(st, site, out);
	else if (proto__is_unknown(st, s))
		strbuf__addf(out, "[unknown]:%llu", (unsigned long long)s->arg);
	else
		names__site(st, site, NAME_TABLE, out);
}

/* "parse_row  app.lua", with its first line where the name is not enough. */
static void key__func(const struct diff *d, size_t side, uint32_t site, struct strbuf *out)
{
	const struct symtab *st = d->symtab;
	const struct site *s = &st->sites[site];
	uint32_t id = s->source == LJM_SRC_LUA ? diff_match__func(d, site) : HASHMAP_NONE;
	const struct diff_label *label;
	const struct diff_func *f;

	if (id == HASHMAP_NONE) {
		if (proto__is_unknown(st, s) && s->source == LJM_SRC_LUA)
			strbuf__addstr(out, "[unknown]");
		else
			diff_key__symbol(st, site, out);
		return;
	}
	label = diff_match__label(&d->match, side, id);
	f = &d->match.funcs[label->canon];
	if (f->name != STR_NONE && f->first_line + 1 > 1) {
		const struct str *name = strpool__get(&st->strings, f->name);

		escape__text(out, name->s, name->len, 0);
		strbuf__addstr(out, "  ");
	} else if (!f->first_line) {
		strbuf__addstr(out, "main chunk  ");
	}
	names__chunk(st, &(struct proto){ .chunk = f->chunk, .first_line = f->first_line },
		     NAME_TABLE, out);
	if (!label->by_name && f->first_line + 1 > 1)
		strbuf__addf(out, ":%llu", (unsigned long long)f->first_line);
}

/* Whose key is made. */
struct key_of {
	size_t part, side;
	uint32_t cell;
};

static void key__vm(const struct diff *d, size_t part, struct strbuf *out)
{
	const struct aggregate *a = d->parts[part].a;
	const char *label = a->n_sessions ? a->sessions[0].vm_label : NULL;

	strbuf__addstr(out, label && *label ? label : "[unknown]");
}

static void key__parent(const struct diff *d, const struct key_of *k, struct strbuf *out)
{
	uint32_t site = parent__find(d->parts[k->part].a, k->cell);

	if (site == SITE_NONE)
		strbuf__addstr(out, "[other]");
	else
		diff_frame__put_name(d, k->side, site, out);
}

static void key__field(const struct diff *d, const struct key_of *k, uint32_t site,
		       const struct field *f, struct strbuf *out)
{
	const struct site *s = &d->symtab->sites[site];

	if (f == &diff_field_vm)
		key__vm(d, k->part, out);
	else if (f == &fields[F_PARENT])
		key__parent(d, k, out);
	else if (f->cell_text)
		f->cell_text(d->parts[k->part].a, k->cell, out);
	else if (!strcmp(f->name, "func"))
		key__func(d, k->side, site, out);
	else if (!strcmp(f->name, "symbol") ||
		 (!strcmp(f->name, "trace") && s->source == LJM_SRC_TRACE))
		diff_key__symbol(d->symtab, site, out);
	else if (!strcmp(f->name, "chunk") && proto__is_unknown(d->symtab, s))
		strbuf__addstr(out, "[unknown]");
	else
		f->text(d->symtab, site, out);
}

void diff_key__put(const struct diff *d, size_t part, size_t side, uint32_t cell,
		   struct strbuf *out)
{
	const struct diff_match *m = &d->match;
	const struct key_of k = { part, side, cell };
	uint32_t site = aggregate__cell(d->parts[part].a, cell).site;
	size_t at = side * m->n_sites + site, i;
	bool line = false, displaced = m->flags && m->flags[at] & DIFF_SITE_DISPLACED;
	const struct field *f;

	for (i = 0; i < d->o.keys.n; i++) {
		f = d->o.keys.at[i];
		if (!strcmp(f->name, "symbol") || !strcmp(f->name, "trace")) {
			line = true;
			key__field(d, &k, m->target ? m->target[at] : site, f, out);
		} else {
			key__field(d, &k, site, f, out);
		}
		strbuf__addch(out, '\0');
	}
	if (displaced && line) /* another line than the one with its number */
		strbuf__addu(out, side);
}

/* ---- the option ---- */

static int keys__add(struct field_list *keys, const struct field *f)
{
	if (field_list__has(keys, f))
		return 0;
	if (keys->n == FIELDS_MAX)
		return err__set(-E2BIG, "too many sort keys");
	keys->at[keys->n++] = f;
	return 0;
}

static int keys__add_word(struct field_list *keys, const char *word)
{
	struct field_list more = { .n = 0 };
	int err;
	size_t i;

	if (!strcmp(word, diff_field_vm.name))
		return keys__add(keys, &diff_field_vm);
	err = fields__sort(word, &more);
	for (i = 0; !err && i < more.n; i++)
		err = keys__add(keys, more.at[i]);
	return err;
}

int diff__sort(const char *list, struct field_list *keys)
{
	char word[64];
	size_t len;
	int err = 0;

	keys->n = 0;
	for (; !err && *list; list += list[len] ? len + 1 : len) {
		len = strcspn(list, ",");
		snprintf(word, sizeof(word), "%.*s", len < sizeof(word) ? (int)len : 63, list);
		err = keys__add_word(keys, word);
	}
	return err || keys->n ? err : err__set(-EINVAL, "no sort key is given");
}
