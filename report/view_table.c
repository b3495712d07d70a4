/* view_table.c - the default view: a table laid out as perf does it.  Called
 * by report.
 */
#include <errno.h>
#include <stdlib.h>

#include "report/names.h"
#include "report/table.h"
#include "util/error.h"

enum { FLUSH_BYTES = 1 << 16 };

/* ---- lines ---- */

static void table__measure(struct table *t)
{
	size_t i, j, width;

	for (j = 0; j < t->o->columns.n; j++) {
		t->width[j] = strlen(table__heading(t, t->o->columns.at[j]));
		for (i = 0; i < t->n; i++) {
			table__cell(t, t->order[i], t->o->columns.at[j]);
			width = utf8__width(strbuf__str(&t->cell), t->cell.len);
			t->width[j] = width > t->width[j] ? width : t->width[j];
		}
	}
}

static void table__put_row(struct table *t, const struct row *row)
{
	size_t i, used = 2;

	strbuf__addstr(&t->out, t->o->separator ? "" : "  ");
	for (i = 0; i < t->o->columns.n; i++) {
		if (i)
			strbuf__addstr(&t->out, t->o->separator ? t->o->separator : "  ");
		table__put_cell(t, row, i, used);
		used += t->width[i] + 2;
	}
	strbuf__addch(&t->out, '\n');
}

static void table__put_heading(struct table *t)
{
	size_t i, pad;

	strbuf__addstr(&t->out, "# ");
	for (i = 0; i < t->o->columns.n; i++) {
		const struct field *f = t->o->columns.at[i];
		const char *heading = table__heading(t, f);

		if (i)
			strbuf__addstr(&t->out, t->o->separator ? t->o->separator : "  ");
		pad = t->width[i] > strlen(heading) ? t->width[i] - strlen(heading) : 0;
		if (f->type != FIELD_TEXT)
			strbuf__addch_n(&t->out, ' ', pad);
		strbuf__addstr(&t->out, heading);
		if (f->type == FIELD_TEXT && i + 1 < t->o->columns.n)
			strbuf__addch_n(&t->out, ' ', pad);
	}
	strbuf__addch(&t->out, '\n');
}

static void table__put_dots(struct table *t)
{
	size_t i, width, used = 2;

	strbuf__addstr(&t->out, "# ");
	for (i = 0; i < t->o->columns.n; i++) {
		width = t->width[i];
		if (t->term->columns > used && width > t->term->columns - used)
			width = t->term->columns - used;
		strbuf__addch_n(&t->out, '.', width);
		if (i + 1 < t->o->columns.n)
			strbuf__addstr(&t->out, "  ");
		used += t->width[i] + 2;
	}
	strbuf__addstr(&t->out, "\n#\n");
}

/* ---- the whole ---- */

/* The texts of the multi-line chunks that the printed rows name. */
static int table__put_aliases(struct table *t)
{
	const struct symtab *st = t->a->symtab;
	bool *wanted, any = false;
	size_t i, alias;

	wanted = calloc(st->n_aliases + 1, sizeof(*wanted));
	if (!wanted)
		return err__set(-ENOMEM, "out of memory for the aliases");
	for (i = 0; i < t->n; i++) {
		const struct proto *p = symtab__proto(st, &st->sites[t->order[i]->site]);

		alias = p ? symtab__alias(st, p->chunk) : 0;
		if (alias)
			any = wanted[alias - 1] = true;
	}
	if (any) {
		strbuf__addch(&t->out, '\n');
		names__aliases(st, wanted, &t->out);
	}
	free(wanted);
	return 0;
}

static void table__put_nothing(struct table *t)
{
	if (t->o->quiet)
		return;
	if (t->n_hidden)
		strbuf__addf(&t->out, "# all rows are below the limit: %zu\n", t->n_hidden);
	else if (!strcmp(t->o->metric->name, "temporary") && !t->o->skip)
		strbuf__addf(&t->out,
			     "# no block was freed before %llu other%s allocated "
			     "(--temporary-threshold)\n",
			     (unsigned long long)t->a->temporary_threshold,
			     t->a->temporary_threshold == 1 ? " was" : "s were");
	else
		strbuf__addf(&t->out, "# there are no %s %s\n", t->o->metric->noun,
			     t->o->skip          ? "that the filters let through"
			     : t->a->window.kind ? "in this part of the recording"
						 : "in this recording");
}

/* What suppressions left out of the metric. */
static void table__put_suppressed(struct table *t)
{
	struct site_live sum = { .blocks = 0 };
	const struct metric *m = t->o->metric;
	struct row one;
	uint32_t cell;

	for (cell = 0; cell < t->a->n_stats; cell++) {
		if (!t->o->suppressed[cell])
			continue;
		row__of_cell(&one, t->a, cell);
		sum.bytes += m->field->value(&one);
		sum.blocks += (uint64_t)m->blocks(&one);
	}
	strbuf__addstr(&t->out, "#\n# suppressed: ");
	(m->field->type == FIELD_BYTES ? number__bytes : number__count)(&t->out, sum.bytes);
	strbuf__addf(&t->out, " of %llu %s\n", (unsigned long long)sum.blocks, m->noun);
}

static int table__put_tree(struct table *t, const struct row *row)
{
	return row_trees__put(&t->trees, (uint32_t)(row - t->rows.at), t->total, t->o->separator,
			      &t->out);
}

static int table__put(struct table *t)
{
	bool quiet = t->o->quiet;
	size_t i;

	if (!t->n) {
		table__put_nothing(t);
		return 0;
	}
	if (!t->o->separator)
		table__measure(t);
	if (!quiet)
		table__put_heading(t);
	if (!quiet && !t->o->separator)
		table__put_dots(t);
	for (i = 0; i < t->n; i++) {
		table__put_row(t, t->order[i]);
		if (t->o->tree.print && table__put_tree(t, t->order[i]))
			return -ENOMEM;
		if (t->out.len > FLUSH_BYTES && !term__flush(&t->out))
			return 0; /* nobody reads any more */
	}
	if (t->n_hidden && !quiet)
		strbuf__addf(&t->out, "#\n# %zu more row%s below the limit\n", t->n_hidden,
			     t->n_hidden == 1 ? "" : "s");
	return quiet || t->o->separator ? 0 : table__put_aliases(t);
}

static int table__print(struct aggregate *a, const struct view_opts *o, struct term *term)
{
	struct table t = { .a = a, .o = o, .term = term };
	int err = 0;

	if (!o->quiet)
		summary__print(a, o, term->columns, &t.out);
	if (!o->header_only) {
		err = table__make(&t);
		err = err ? err : table__put(&t);
		if (!err && o->suppressed && !o->quiet)
			table__put_suppressed(&t);
	}
	if (!err && (t.out.failed || t.cell.failed))
		err = err__set(-ENOMEM, "out of memory for the output");
	if (!err)
		term__flush(&t.out);
	table__exit(&t);
	return err;
}

const struct view_ops view_table = { .name = "table", .print = table__print };
