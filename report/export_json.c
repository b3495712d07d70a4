/* export_json.c - the table of report as one JSON object, with exact numbers.
 * Called by export.
 *
 *	{"metric":"allocated",
 *	 "files":[{"name":"ljperf.ljm.zst","command":"app.lua","vm":"LuaJIT 2.1",
 *	           "events":13,"complete":true}],
 *	 "totals":{"allocated":704,"allocs":11,"live":0},
 *	 "rows":[{"overhead":90.91,"allocated":640,"allocs":10,"live":0,
 *	          "source":"lua","symbol":"app.lua:42","function":"parse_row"}]}
 *
 * The members of a row are the fields, and "function" where report shows one.
 * Whole numbers may have more than 64 bits.  What is not known is null.
 */
#include "report/export_table.h"
#include "report/json.h"

static void put_files(struct json *j, const struct aggregate *a)
{
	size_t i;

	json__key(j, "files");
	json__open(j, '[');
	for (i = 0; i < a->n_sessions; i++) {
		const struct session_summary *s = &a->sessions[i];

		json__open(j, '{');
		json__put_str(j, "name", s->name);
		if (s->command && *s->command) {
			json__put_str(j, "command", s->command);
		}
		if (s->vm_version && *s->vm_version) {
			json__put_str(j, "vm", s->vm_version);
		}
		json__put_num(j, "events", s->info.n_events);
		json__put_bool(j, "complete", s->info.state == SESSION_COMPLETE);
		json__close(j, '}');
	}
	json__close(j, ']');
}

static void put_value(struct json *j, const struct export_table *t, const struct row *row,
		      const struct field *f)
{
	json__key(j, f->name);
	if (f->type == FIELD_PERCENT)
		json__double(j, export_table__percent(t, row, f), 2);
	else if (f->type == FIELD_TEXT)
		json__str(j, export_table__key(t, row, f));
	else if (field__is_known(f, row))
		json__num(j, f->value(row));
	else
		json__null(j);
}

static void put_function(struct json *j, const struct export_table *t, const struct row *row)
{
	struct strbuf func = STRBUF_INIT;

	export_table__function(t, row, &func);
	if (func.len) {
		json__put_text(j, "function", func.buf, func.len);
	}
	j->out->failed |= func.failed;
	strbuf__exit(&func);
}

static void put_row(struct json *j, const struct export_table *t, const struct row *row)
{
	const struct field_list *columns = &t->e->o->columns;
	bool func = false;
	size_t i;

	json__open(j, '{');
	for (i = 0; i < columns->n; i++) {
		put_value(j, t, row, columns->at[i]);
		func |= columns->at[i]->has_func;
	}
	if (func)
		put_function(j, t, row);
	json__close(j, '}');
}

/* Of the columns that add up. */
static void put_totals(struct json *j, const struct export_table *t)
{
	const struct field_list *columns = &t->e->o->columns;
	size_t i;

	json__key(j, "totals");
	json__open(j, '{');
	for (i = 0; i < columns->n; i++) {
		const struct field *f = columns->at[i];

		if (f->known || (f->type != FIELD_BYTES && f->type != FIELD_COUNT))
			continue;
		json__key(j, f->name);
		json__num(j, f->value(&t->rows.all));
	}
	json__close(j, '}');
}

static int json__write(struct export *e)
{
	struct export_table t = { .e = e };
	struct json j = { .out = &e->out.buf };
	size_t i;
	int err = export_table__make(&t);

	json__open(&j, '{');
	json__put_str(&j, "metric", e->o->metrics[0]->name);
	put_files(&j, e->a);
	put_totals(&j, &t);
	json__key(&j, "rows");
	json__open(&j, '[');
	for (i = 0; !err && i < t.n; i++) {
		json__newline(&j);
		put_row(&j, &t, t.order[i]);
		err = export__flush(e, false);
	}
	json__close(&j, ']');
	json__close(&j, '}');
	strbuf__addch(&e->out.buf, '\n');
	export_table__exit(&t);
	return err;
}

const struct export_ops export_json = {
	.name = "json",
	.help = "the table of report as JSON",
	.metrics = "allocated",
	.one_metric = true,
	.table = true,
	.prepare = export_table__prepare,
	.write = json__write,
};
