/* diff_grid.h - a table of texts, printed with aligned columns, with a
 * separator, or as Markdown.  Used by diff.
 */
#ifndef LJPERF_REPORT_DIFF_GRID_H
#define LJPERF_REPORT_DIFF_GRID_H

#include "report/term.h"

enum grid_color { GRID_PLAIN, GRID_RED, GRID_GREEN };

struct grid_column {
	char heading[32];
	bool text; /* aligned to the left; a name */
	bool code; /* a name from a program */
};

struct grid_cell {
	size_t start, end; /* in the text */
	enum grid_color color;
};

/* All zero is empty.  Cells are added row by row. */
struct grid {
	struct grid_column *columns;
	size_t n_columns, cap_columns;
	struct grid_cell *cells;
	size_t n_cells, cap_cells;
	struct strbuf text; /* of all cells; append to it, then end the cell */
	/* Appends what stands below a row; NULL: nothing.  0 or negative. */
	int (*below)(const void *ctx, size_t row, struct strbuf *out);
	const void *ctx;
	bool failed;
};

void grid__exit(struct grid *g);
/* The new column, all zero; NULL: no memory, which is sticky. */
struct grid_column *grid__column(struct grid *g);
void grid__end_cell(struct grid *g, enum grid_color color);

/* Each appends to OUT and may flush it to standard output on the way. */
void grid__print(const struct grid *g, bool headings, const struct term *t, struct strbuf *out);
void grid__print_separated(const struct grid *g, bool headings, const char *separator,
			   struct strbuf *out);
void grid__print_markdown(const struct grid *g, struct strbuf *out);

#endif
