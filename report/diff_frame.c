/* diff_frame.c - the names of frames in a diff; see diff_frame.h. */
#include "report/diff_frame.h"

#include "report/frames.h"

/* The function of a Lua frame as the first side that has it knows it; *BY_NAME
 * says whether its first line may differ.  False for other frames. */
static bool frame__func(const struct diff *d, size_t side, uint32_t site, struct proto *p,
			bool *by_name)
{
	const struct diff_label *label;
	const struct diff_func *f;
	uint32_t id;

	if (d->symtab->sites[site].source != LJM_SRC_LUA)
		return false;
	id = diff_match__func(d, site);
	if (id == HASHMAP_NONE)
		return false;
	label = diff_match__label(&d->match, side, id);
	f = &d->match.funcs[label->used ? label->canon : id];
	*p = (struct proto){ .chunk = f->chunk, .func = f->name, .first_line = f->first_line };
	*by_name = label->by_name;
	return true;
}

void diff_frame__put_name(const struct diff *d, size_t side, uint32_t site, struct strbuf *out)
{
	struct proto p;
	bool by_name;

	if (site == SITE_NONE)
		frame__name(d->symtab, site, NAME_TABLE, out);
	else if (frame__func(d, side, site, &p, &by_name))
		frame__proto_name(d->symtab, &p, NAME_TABLE, out);
	else
		diff_key__symbol(d->symtab, site, out);
}

/* A line of a function, or a trace, where the baseline has it if it is the same. */
static void put_line(const struct diff *d, size_t side, uint32_t site, struct strbuf *out)
{
	const struct diff_match *m = &d->match;
	size_t at = side * m->n_sites + site;
	struct proto p;
	bool by_name;

	if (m->target && m->target[at] != site) {
		put_line(d, 0, m->target[at], out);
		return;
	}
	diff_frame__put_name(d, side, site, out);
	if (frame__func(d, side, site, &p, &by_name))
		frame__proto_place(d->symtab, &p, d->symtab->sites[site].arg, out);
	if (m->flags && m->flags[at] & DIFF_SITE_DISPLACED) {
		strbuf__addch(out, '\0');
		strbuf__addu(out, side);
	}
}

void diff_frame__put(const struct diff *d, size_t side, uint32_t site, bool function,
		     struct strbuf *out)
{
	struct proto p;
	bool by_name;

	if (site != SITE_NONE && !function) {
		put_line(d, side, site, out);
		return;
	}
	diff_frame__put_name(d, side, site, out);
	if (site != SITE_NONE && frame__func(d, side, site, &p, &by_name))
		frame__proto_place(d->symtab, &p, by_name ? 0 : p.first_line, out);
}
