/* diff_grid.c - a table of texts and its three layouts; see diff_grid.h. */
#include "report/diff_grid.h"

#include <stdlib.h>
#include <string.h>

#include "report/escape.h"
#include "util/grow.h"

enum { FLUSH_BYTES = 1 << 16 };

static const char *const colors[] = {
	[GRID_PLAIN] = NULL,
	[GRID_RED] = "\033[31m",
	[GRID_GREEN] = "\033[32m",
};

void grid__exit(struct grid *g)
{
	free(g->columns);
	free(g->cells);
	strbuf__exit(&g->text);
	memset(g, 0, sizeof(*g));
}

struct grid_column *grid__column(struct grid *g)
{
	if (GROW(g->columns, g->cap_columns, g->n_columns)) {
		g->failed = true;
		return NULL;
	}
	memset(&g->columns[g->n_columns], 0, sizeof(*g->columns));
	return &g->columns[g->n_columns++];
}

void grid__end_cell(struct grid *g, enum grid_color color)
{
	size_t start = g->n_cells ? g->cells[g->n_cells - 1].end : 0;

	if (g->text.failed || GROW(g->cells, g->cap_cells, g->n_cells)) {
		g->failed = true;
		return;
	}
	g->cells[g->n_cells++] = (struct grid_cell){ start, g->text.len, color };
}

static const char *cell__text(const struct grid *g, const struct grid_cell *c)
{
	return c->end > c->start ? g->text.buf + c->start : "";
}

/* Writes what there is, now and then; false when nobody reads any more. */
static bool grid__flush(struct strbuf *out)
{
	return out->len < FLUSH_BYTES || term__flush(out);
}

static bool grid__put_below(const struct grid *g, size_t row, struct strbuf *out)
{
	if (g->below && g->below(g->ctx, row, out))
		out->failed = true;
	return !out->failed;
}

/* ---- aligned ---- */

static void grid__measure(const struct grid *g, size_t *width)
{
	size_t i, w;

	for (i = 0; i < g->n_columns; i++)
		width[i] = strlen(g->columns[i].heading);
	for (i = 0; i < g->n_cells; i++) {
		const struct grid_cell *c = &g->cells[i];

		w = utf8__width(cell__text(g, c), c->end - c->start);
		if (w > width[i % g->n_columns])
			width[i % g->n_columns] = w;
	}
}

/* Appends S in a column of WIDTH; MAX is what the last one may take. */
static void put_aligned(struct strbuf *out, const char *s, size_t len, size_t width, bool left,
			bool last, size_t max)
{
	size_t w = utf8__width(s, len), pad = width > w ? width - w : 0;

	if (!left)
		strbuf__addch_n(out, ' ', pad);
	cut__name(out, s, len, last ? max : SIZE_MAX);
	if (left && !last)
		strbuf__addch_n(out, ' ', pad);
}

/* What a terminal leaves to the last column. */
static size_t grid__room(const struct grid *g, const size_t *width, const struct term *t)
{
	size_t used = 2, i;

	for (i = 0; i + 1 < g->n_columns; i++)
		used += width[i] + 2;
	return !t->columns ? SIZE_MAX : t->columns > used ? t->columns - used : 0;
}

static void grid__put_headings(const struct grid *g, const size_t *width, size_t room,
			       struct strbuf *out)
{
	size_t i, w;

	for (i = 0; i < g->n_columns; i++) {
		const struct grid_column *c = &g->columns[i];

		strbuf__addstr(out, i ? "  " : "# ");
		put_aligned(out, c->heading, strlen(c->heading), width[i], c->text,
			    i + 1 == g->n_columns, SIZE_MAX);
	}
	strbuf__addch(out, '\n');
	for (i = 0; i < g->n_columns; i++) {
		w = i + 1 == g->n_columns && width[i] > room ? room : width[i];
		strbuf__addstr(out, i ? "  " : "# ");
		strbuf__addch_n(out, '.', w);
	}
	strbuf__addstr(out, "\n#\n");
}

/* A line ends where its last text does. */
static void line__trim(struct strbuf *out)
{
	while (out->len && out->buf[out->len - 1] == ' ')
		out->buf[--out->len] = '\0';
	strbuf__addch(out, '\n');
}

static void grid__put_row(const struct grid *g, const struct grid_cell *row, const size_t *width,
			  size_t room, const struct term *t, struct strbuf *out)
{
	size_t i;

	for (i = 0; i < g->n_columns; i++) {
		const char *color = t->color ? colors[row[i].color] : NULL;

		strbuf__addstr(out, "  ");
		strbuf__addstr(out, color ? color : "");
		put_aligned(out, cell__text(g, &row[i]), row[i].end - row[i].start, width[i],
			    g->columns[i].text, i + 1 == g->n_columns, room);
		strbuf__addstr(out, color ? "\033[m" : "");
	}
	line__trim(out);
}

void grid__print(const struct grid *g, bool headings, const struct term *t, struct strbuf *out)
{
	size_t *width = calloc(g->n_columns + 1, sizeof(*width)), i, room;

	if (!width) {
		out->failed = true;
		return;
	}
	grid__measure(g, width);
	room = grid__room(g, width, t);
	if (headings)
		grid__put_headings(g, width, room, out);
	for (i = 0; i + g->n_columns <= g->n_cells; i += g->n_columns) {
		grid__put_row(g, &g->cells[i], width, room, t, out);
		if (!grid__put_below(g, i / g->n_columns, out) || !grid__flush(out))
			break;
	}
	free(width);
}

/* ---- separated ---- */

/* As perf: the separator keeps its meaning. */
static void put_separated(struct strbuf *out, const char *s, size_t len, const char *separator)
{
	size_t start = out->len, i;

	strbuf__addmem(out, s, len);
	if (strlen(separator) != 1)
		return;
	for (i = start; i < out->len; i++)
		if (out->buf[i] == separator[0])
			out->buf[i] = '.';
}

void grid__print_separated(const struct grid *g, bool headings, const char *separator,
			   struct strbuf *out)
{
	size_t i;

	for (i = 0; headings && i < g->n_columns; i++) {
		strbuf__addstr(out, i ? separator : "# ");
		strbuf__addstr(out, g->columns[i].heading);
	}
	if (headings)
		strbuf__addch(out, '\n');
	for (i = 0; i < g->n_cells; i++) {
		const struct grid_cell *c = &g->cells[i];

		strbuf__addstr(out, i % g->n_columns ? separator : "");
		put_separated(out, cell__text(g, c), c->end - c->start, separator);
		if ((i + 1) % g->n_columns)
			continue;
		strbuf__addch(out, '\n');
		if (!grid__put_below(g, i / g->n_columns, out) || !grid__flush(out))
			return;
	}
}

/* ---- Markdown ---- */

/* Whether C can end a code span or a cell, or mean anything inside <code>. */
static bool is_markup(char c)
{
	return c && strchr("|`\\<>&*_[]{}()#!~$\"'", c);
}

/* A name as code.  One that could break out of the span or of the cell is
 * written in HTML, where every such character has a number. */
static void put_code(struct strbuf *out, const char *s, size_t len)
{
	size_t i;

	if (!len)
		return;
	if (!memchr(s, '|', len) && !memchr(s, '`', len)) {
		strbuf__addch(out, '`');
		strbuf__addmem(out, s, len);
		strbuf__addch(out, '`');
		return;
	}
	strbuf__addstr(out, "<code>");
	for (i = 0; i < len; i++)
		if (is_markup(s[i]))
			strbuf__addf(out, "&#%d;", s[i]);
		else
			strbuf__addch(out, s[i]);
	strbuf__addstr(out, "</code>");
}

void grid__print_markdown(const struct grid *g, struct strbuf *out)
{
	size_t i;

	for (i = 0; i < g->n_columns; i++)
		strbuf__addf(out, "| %s ", g->columns[i].heading);
	strbuf__addstr(out, "|\n");
	for (i = 0; i < g->n_columns; i++)
		strbuf__addstr(out, g->columns[i].text ? "|:---" : "|---:");
	strbuf__addstr(out, "|\n");
	for (i = 0; i < g->n_cells; i++) {
		const struct grid_cell *c = &g->cells[i];

		strbuf__addstr(out, "| ");
		if (g->columns[i % g->n_columns].code)
			put_code(out, cell__text(g, c), c->end - c->start);
		else
			strbuf__addmem(out, cell__text(g, c), c->end - c->start);
		strbuf__addstr(out, (i + 1) % g->n_columns ? " " : " |\n");
	}
}
