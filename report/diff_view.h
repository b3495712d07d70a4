/* diff_view.h - the ways a diff is printed.  Used by the command diff.  */
#ifndef LJPERF_REPORT_DIFF_VIEW_H
#define LJPERF_REPORT_DIFF_VIEW_H

#include "report/diff.h"
#include "report/diff_grid.h"

/* A limit of growth: "10%", "1M" or "64". */
struct diff_limit {
	bool set, in_percent;
	double percent;
	double amount; /* of the metric */
};

/* 0 or -EINVAL with err__msg().  BYTES: K, M, G are powers of 1024. */
int diff_limit__parse(struct diff_limit *l, const char *text, bool bytes);
/* 1 when something grew by more, the total of a side, or with EACH a row, else
 * 0; or -ENOMEM with err__msg().  Says so on stderr, and names the rows. */
int diff_limit__check(const struct diff *d, const struct diff_limit *l, bool each);

/* Each appends to OUT, may flush it, and returns 0 or -ENOMEM with err__msg(). */
int diff_view__table(const struct diff *d, const struct term *t, struct strbuf *out);
int diff_view__markdown(const struct diff *d, struct strbuf *out);
int diff_view__json(const struct diff *d, struct strbuf *out);

/* ---- for the parts of them ---- */

/* The table of the rows to show. */
int diff_grid__fill(const struct diff *d, bool exact, struct grid *g);

/* Appends the call tree of a row.  0 or -ENOMEM with err__msg(). */
int diff_tree__put(const struct diff *d, size_t row, bool exact, struct strbuf *out);

enum diff_sign { DIFF_UNSIGNED, DIFF_SIGNED };

/* An amount for people, or EXACT for programs.  BYTES or a number. */
void diff__put_amount(const struct diff *d, struct strbuf *out, s128 v, bool bytes,
		      enum diff_sign sign, bool exact);
void diff__put_percent(struct strbuf *out, double percent);
bool diff__in_bytes(const struct diff *d);

/* The text of key I of a row, NUL-terminated. */
const char *diff__key(const struct diff *d, size_t row, size_t i);
/* The same as a reader sees it, with the function's name and, of a line that
 * moved, where it is now. */
void diff__put_key(const struct diff *d, size_t row, size_t i, struct strbuf *out);

/* "812.3 MiB -> 700.1 MiB, -112.2 MiB (-13.81%)" of the totals of SIDE. */
void diff__put_totals(const struct diff *d, size_t side, const char *arrow, struct strbuf *out);
/* "per second", "per 1000" or NULL. */
const char *diff__per(const struct diff *d);
/* Sentences on what is not in the table, each behind PREFIX. */
void diff__put_rest(const struct diff *d, const char *prefix, struct strbuf *out);
/* The "#" lines above the table. */
void diff__put_summary(const struct diff *d, struct strbuf *out);

#endif
