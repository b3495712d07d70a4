/* export_csv.c - the table of report as comma-separated values (RFC 4180), with
 * exact numbers.  Called by export.
 *
 * The first line names the fields.  Behind a field that shows the name of the
 * function in report, there is one for the name alone.
 */
#include "report/export_table.h"

/* Text with what means something to a reader in quotes. */
static void put_text(struct strbuf *out, const char *s, size_t len)
{
	size_t i;

	if (!memchr(s, ',', len) && !memchr(s, '"', len)) {
		strbuf__addmem(out, s, len);
		return;
	}
	strbuf__addch(out, '"');
	for (i = 0; i < len; i++) {
		if (s[i] == '"')
			strbuf__addch(out, '"');
		strbuf__addch(out, s[i]);
	}
	strbuf__addch(out, '"');
}

static void put_heading(struct export *e)
{
	const struct field_list *columns = &e->o->columns;
	struct strbuf *out = &e->out.buf;
	size_t i;

	for (i = 0; i < columns->n; i++) {
		if (i)
			strbuf__addch(out, ',');
		strbuf__addstr(out, columns->at[i]->name);
		if (columns->at[i]->has_func)
			strbuf__addstr(out, ",function");
	}
	strbuf__addstr(out, "\r\n");
}

static void put_texts(struct export_table *t, const struct row *row, const struct field *f)
{
	struct strbuf *out = &t->e->out.buf, func = STRBUF_INIT;
	const char *key = export_table__key(t, row, f);

	put_text(out, key, strlen(key));
	if (!f->has_func)
		return;
	strbuf__addch(out, ',');
	export_table__function(t, row, &func);
	put_text(out, strbuf__str(&func), func.len);
	out->failed |= func.failed;
	strbuf__exit(&func);
}

static void put_row(struct export_table *t, const struct row *row)
{
	const struct field_list *columns = &t->e->o->columns;
	struct strbuf *out = &t->e->out.buf;
	size_t i;

	for (i = 0; i < columns->n; i++) {
		const struct field *f = columns->at[i];

		if (i)
			strbuf__addch(out, ',');
		if (f->type == FIELD_TEXT)
			put_texts(t, row, f);
		else if (f->type == FIELD_PERCENT)
			strbuf__addf(out, "%.2f", export_table__percent(t, row, f));
		else if (field__is_known(f, row))
			number__dec(out, f->value(row));
	}
	strbuf__addstr(out, "\r\n");
}

static int csv__write(struct export *e)
{
	struct export_table t = { .e = e };
	size_t i;
	int err = export_table__make(&t);

	if (!err)
		put_heading(e);
	for (i = 0; !err && i < t.n; i++) {
		put_row(&t, t.order[i]);
		err = export__flush(e, false);
	}
	export_table__exit(&t);
	return err;
}

const struct export_ops export_csv = {
	.name = "csv",
	.help = "the table of report as comma-separated values",
	.metrics = "allocated",
	.one_metric = true,
	.table = true,
	.prepare = export_table__prepare,
	.write = csv__write,
};
