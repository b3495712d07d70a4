/* annotate_print.c - source lines with numbers beside them; see annotate.h.
 *
 *	# app.lua: allocated 7.1 MiB, 23.31 %
 *	#
 *	# Overhead  Allocated  Allocs     Live  Line  Source
 *	# ........  .........  ......  .......  ....  ......
 *	#
 *	                                            1  local sum = 0
 *	    22.94%    7.0 MiB  0.10 M  1.3 MiB      2  for line in io.lines() do
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/annotate.h"
#include "report/names.h"
#include "util/error.h"

enum { FLUSH_BYTES = 1 << 16, NOBODY_READS = -EPIPE };

/* A line that is about to be printed. */
struct out_line {
	const struct annotate_file *file;
	uint64_t line;
	const struct row *row; /* NULL: it has no numbers */
};

static bool is_aligned(const struct annotate *an)
{
	return !an->o->view.separator;
}

static void put_separator(struct annotate *an)
{
	strbuf__addstr(&an->t.out, is_aligned(an) ? "  " : an->o->view.separator);
}

/* ---- columns ---- */

static void width__of_row(struct annotate *an, const struct row *row)
{
	size_t i, width;

	for (i = 0; i < an->o->view.columns.n; i++) {
		table__cell(&an->t, row, an->o->view.columns.at[i]);
		width = utf8__width(strbuf__str(&an->t.cell), an->t.cell.len);
		if (width > an->t.width[i])
			an->t.width[i] = width;
	}
}

/* The widths of the columns, all files alike. */
static void annotate__measure(struct annotate *an)
{
	size_t i, k;

	for (i = 0; i < an->o->view.columns.n; i++)
		an->t.width[i] = strlen(an->o->view.columns.at[i]->heading);
	for (i = 0; i < an->n; i++)
		for (k = 0; an->files[i].wanted && k < an->files[i].n; k++)
			width__of_row(an, an->files[i].lines[k].row);
}

static size_t digits(uint64_t v)
{
	size_t n = 1;

	while (v /= 10)
		n++;
	return n;
}

/* The columns of text behind the numbers: what names the line, and its width. */
struct place {
	bool file; /* "app.lua:42", else the number of the line alone */
	size_t width;
};

static size_t place__width(const struct place *p, const struct out_line *l)
{
	size_t n = digits(l->line);

	return p->file ? utf8__width(l->file->name, strlen(l->file->name)) + 1 + n : n;
}

static void put_heading(struct annotate *an, const struct place *p)
{
	const struct field_list *columns = &an->o->view.columns;
	struct strbuf *out = &an->t.out;
	const char *name = p->file && is_aligned(an) ? "File:Line" : "Line";
	size_t i, pad;

	if (an->o->view.quiet)
		return;
	strbuf__addstr(out, "# ");
	for (i = 0; i < columns->n; i++) {
		pad = is_aligned(an) ? an->t.width[i] - strlen(columns->at[i]->heading) : 0;
		strbuf__addch_n(out, ' ', pad);
		strbuf__addstr(out, columns->at[i]->heading);
		put_separator(an);
	}
	if (!is_aligned(an)) {
		strbuf__addstr(out, "File");
		put_separator(an);
	}
	pad = is_aligned(an) && p->width > strlen(name) ? p->width - strlen(name) : 0;
	strbuf__addch_n(out, ' ', p->file ? 0 : pad);
	strbuf__addstr(out, name);
	strbuf__addch_n(out, ' ', p->file ? pad : 0);
	put_separator(an);
	strbuf__addstr(out, "Source\n");
	if (!is_aligned(an))
		return;
	strbuf__addstr(out, "# ");
	for (i = 0; i < columns->n; i++) {
		strbuf__addch_n(out, '.', an->t.width[i]);
		put_separator(an);
	}
	strbuf__addch_n(out, '.', p->width);
	strbuf__addstr(out, "  ......\n#\n");
}

static void put_numbers(struct annotate *an, const struct row *row)
{
	const struct field_list *columns = &an->o->view.columns;
	size_t i;

	if (is_aligned(an))
		strbuf__addstr(&an->t.out, "  ");
	for (i = 0; i < columns->n; i++) {
		if (row)
			table__put_cell(&an->t, row, i, 0);
		else if (is_aligned(an))
			strbuf__addch_n(&an->t.out, ' ', an->t.width[i]);
		put_separator(an);
	}
}

/* As report: the separator keeps its meaning. */
static void put_name(struct annotate *an, const char *name)
{
	const char *sep = an->o->view.separator;

	for (; *name; name++)
		strbuf__addch(&an->t.out, strlen(sep) == 1 && *name == *sep ? '.' : *name);
}

static void put_place(struct annotate *an, const struct place *p, const struct out_line *l)
{
	struct strbuf *out = &an->t.out;
	size_t width = place__width(p, l), pad = p->width > width ? p->width - width : 0;

	if (!is_aligned(an)) {
		put_name(an, l->file->name);
		put_separator(an);
		strbuf__addu(out, l->line);
		return;
	}
	if (!p->file)
		strbuf__addch_n(out, ' ', pad);
	else
		strbuf__addf(out, "%s:", l->file->name);
	strbuf__addu(out, l->line);
	if (p->file)
		strbuf__addch_n(out, ' ', pad);
}

static int put_line(struct annotate *an, const struct place *p, const struct out_line *l)
{
	size_t len = 0;
	const char *text = source__line(&l->file->source, l->line, &len);

	put_numbers(an, l->row);
	put_place(an, p, l);
	if (!is_aligned(an) || (text && len))
		put_separator(an);
	while (text && p->file && len &&
	       (*text == ' ' || *text == '\t')) /* the depth says nothing */
		text++, len--;
	if (text)
		escape__text(&an->t.out, text, len, ESCAPE_KEEP_TAB);
	strbuf__addch(&an->t.out, '\n');
	if (an->t.out.len < FLUSH_BYTES)
		return 0;
	return term__flush(&an->t.out) ? 0 : NOBODY_READS;
}

/* ---- a file, line by line ---- */

static bool is_above_limit(const struct annotate *an, const struct row *row)
{
	u128 v = an->o->view.metric->field->value(row);

	return an->t.total ? 100.0 * (double)v / (double)an->t.total >= an->o->view.percent_limit
			   : an->o->view.percent_limit <= 0;
}

static void put_share(struct annotate *an, u128 v)
{
	struct strbuf *out = &an->t.out;

	(an->o->view.metric->field->type == FIELD_BYTES ? number__bytes : number__count)(out, v);
	if (an->t.total)
		strbuf__addf(out, ", %.2f%%", 100.0 * (double)v / (double)an->t.total);
}

static void put_file_head(struct annotate *an, const struct annotate_file *f)
{
	struct strbuf *out = &an->t.out;

	if (an->o->view.quiet)
		return;
	strbuf__addf(out, "# %s: %s ", f->name, an->o->view.metric->name);
	put_share(an, f->value);
	strbuf__addch(out, '\n');
	if (f->path) {
		strbuf__addstr(out, "# source: ");
		escape__text(out, f->path, strlen(f->path), 0);
		strbuf__addch(out, '\n');
	} else if (!f->source.text) {
		strbuf__addstr(out, "# the source is not at hand\n");
	}
	if (f->traces) {
		strbuf__addstr(out,
			       "# of that, compiled code (at the line where its trace starts): ");
		put_share(an, f->traces);
		strbuf__addch(out, '\n');
	}
	strbuf__addstr(out, "#\n");
}

/* The lines of source that are printed: those around the ones with numbers, or
 * all there are. */
static bool is_shown(const struct annotate *an, const struct annotate_file *f, size_t next,
		     uint64_t line)
{
	uint64_t around = an->o->context;

	if (!an->o->has_context)
		return true;
	if (next < f->n && f->lines[next].line - line <= around)
		return true;
	return next && line - f->lines[next - 1].line <= around;
}

static int put_file_lines(struct annotate *an, const struct annotate_file *f, const struct place *p)
{
	uint64_t n_lines = f->source.n_lines, line;
	size_t next = 0;
	bool gap = false;
	int err = 0;

	for (line = 1; !err && line <= n_lines; line++) {
		struct out_line l = { f, line, NULL };

		if (next < f->n && f->lines[next].line == line)
			l.row = f->lines[next++].row;
		if (l.row && !is_above_limit(an, l.row))
			l.row = NULL;
		if (!l.row && !is_shown(an, f, next, line)) {
			gap = true;
			continue;
		}
		if (gap && is_aligned(an) && an->o->has_context && line > 1)
			strbuf__addstr(&an->t.out, "  ...\n");
		gap = false;
		err = put_line(an, p, &l);
	}
	/* Of a text that is not the one that ran, or none. */
	for (; !err && next < f->n; next++) {
		struct out_line l = { f, f->lines[next].line, f->lines[next].row };

		if (is_above_limit(an, l.row))
			err = put_line(an, p, &l);
	}
	return err;
}

static int put_file(struct annotate *an, const struct annotate_file *f)
{
	uint64_t last = f->n ? f->lines[f->n - 1].line : 0;
	struct place p = { .width = strlen("Line") };

	last = f->source.n_lines > last ? f->source.n_lines : last;
	if (digits(last) > p.width)
		p.width = digits(last);
	put_file_head(an, f);
	put_heading(an, &p);
	return put_file_lines(an, f, &p);
}

static int put_files(struct annotate *an)
{
	bool first = true;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < an->n; i++) {
		if (!an->files[i].wanted)
			continue;
		if (!first && is_aligned(an))
			strbuf__addch(&an->t.out, '\n');
		first = false;
		err = put_file(an, &an->files[i]);
	}
	return err;
}

/* ---- the hottest lines ---- */

static int hottest__cmp(const void *x, const void *y, void *ctx)
{
	const struct out_line *a = x, *b = y;
	const struct annotate *an = ctx;
	u128 va = an->o->view.metric->field->value(a->row);
	u128 vb = an->o->view.metric->field->value(b->row);
	int cmp = strcmp(a->file->name, b->file->name);

	if (va != vb)
		return va > vb ? -1 : 1;
	return cmp ? cmp : a->line < b->line ? -1 : a->line > b->line;
}

static struct out_line *hottest__collect(const struct annotate *an, size_t *n)
{
	struct out_line *lines;
	size_t i, k, max = 0;

	for (i = 0; i < an->n; i++)
		max += an->files[i].n;
	lines = malloc((max + 1) * sizeof(*lines));
	for (*n = i = 0; lines && i < an->n; i++) {
		const struct annotate_file *f = &an->files[i];

		for (k = 0; f->wanted && k < f->n; k++)
			if (an->o->view.metric->blocks(f->lines[k].row) &&
			    is_above_limit(an, f->lines[k].row))
				lines[(*n)++] =
					(struct out_line){ f, f->lines[k].line, f->lines[k].row };
	}
	return lines;
}

static int put_hottest(struct annotate *an)
{
	struct place p = { .file = true, .width = strlen("File:Line") };
	size_t n, i, width;
	struct out_line *lines = hottest__collect(an, &n);
	int err = 0;

	if (!lines)
		return annotate__no_memory();
	qsort_r(lines, n, sizeof(*lines), hottest__cmp, an);
	if (an->o->view.limit && n > an->o->view.limit)
		n = (size_t)an->o->view.limit;
	for (i = 0; i < n; i++) {
		width = place__width(&p, &lines[i]);
		p.width = width > p.width ? width : p.width;
	}
	put_heading(an, &p);
	for (i = 0; !err && i < n; i++)
		err = put_line(an, &p, &lines[i]);
	free(lines);
	return err;
}

/* ---- the whole ---- */

/* What is of no line of any file. */
static void put_nowhere(struct annotate *an)
{
	static const char *const names[NOWHERE_MAX] = {
		[NOWHERE_VM] = "the VM itself",
		[NOWHERE_C] = "C functions",
		[NOWHERE_LUA] = "Lua functions whose lines are not known",
	};
	size_t i;

	for (i = 0; i < NOWHERE_MAX; i++) {
		if (!an->nowhere[i])
			continue;
		strbuf__addf(&an->t.out, "# %s, at no line: ", names[i]);
		put_share(an, an->nowhere[i]);
		strbuf__addch(&an->t.out, '\n');
	}
}

static void annotate__warn(const struct annotate *an)
{
	char more[64] = "";

	if (!an->n_newer)
		return;
	if (an->n_newer > 1)
		snprintf(more, sizeof(more), ", and so %s %zu more",
			 an->n_newer > 2 ? "were" : "was", an->n_newer - 1);
	err__print("warning: '%s' was changed after the recording%s; its lines may be others",
		   an->newer->path, more);
}

int annotate__print(struct annotate *an)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < an->n; i++)
		if (an->files[i].wanted)
			err = annotate__find_source(an, &an->files[i]);
	if (err)
		return err;
	if (!an->o->view.quiet)
		annotate__warn(an);
	if (!an->o->view.quiet)
		summary__print(an->a, &an->o->view, an->t.term->columns, &an->t.out);
	if (!an->o->view.quiet && !an->o->n_names) {
		put_nowhere(an);
		strbuf__addstr(&an->t.out, "#\n");
	}
	if (is_aligned(an))
		annotate__measure(an);
	err = an->o->hottest ? put_hottest(an) : put_files(an);
	if (!err && (an->t.out.failed || an->t.cell.failed))
		err = annotate__no_memory();
	if (!err)
		term__flush(&an->t.out);
	return err == NOBODY_READS ? 0 : err;
}
