/* view_timeline.c - the heap over time as a chart of text.  Called by report.
 *
 *	  24.1 MiB |              .##
 *	           |          :######
 *	  12.0 MiB |      .##########
 *	           |  .:#############
 *	       0 B +-----------------
 *	            0 s        1.15 s
 *	        gc   *   ** *    *
 *	     marks       a         b
 *	                           c
 *	             a  at 0.40 s: loaded
 *	             b  at 1.02 s: saved
 *	             c  at 1.02 s: the script ends
 *
 * A column shows the largest heap of its time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/view.h"
#include "util/error.h"

enum {
	MARGIN = 12, /* columns before the chart */
	COLUMNS_LEAST = 20,
	COLUMNS_MOST = 1000,
	LINES_LEAST = 4,
	LINES_MOST = 200,
	LINES_AROUND = 9, /* of the summary, the axis, and so on */
	MARKS_MAX = 26,
};

struct column {
	u128 max;
	bool gc;
	uint32_t marks; /* a bit for each letter of its marks */
};

struct chart {
	const struct timeline *t;
	struct column *at;
	size_t n, height;
	uint64_t begin, span;
	u128 max;
	struct strbuf *out;
};

/* The column of a time, N when it is behind the last. */
static size_t chart__column(const struct chart *c, uint64_t at)
{
	if (at <= c->begin)
		return 0;
	at -= c->begin;
	return at >= c->span ? c->n - 1 : (size_t)((u128)at * c->n / c->span);
}

/* A heap stays as it is until the next sample. */
static void chart__fill(struct chart *c)
{
	const struct timeline_sample *s;
	u128 heap = 0;
	size_t i, col, done = 0;

	for (i = 0; i < c->t->n; i++) {
		s = &c->t->at[i];
		col = chart__column(c, s->at);
		while (done < col)
			c->at[++done].max = heap;
		c->at[col].max = s->max > c->at[col].max ? s->max : c->at[col].max;
		c->at[col].gc |= s->gc;
		heap = s->end;
	}
	while (done + 1 < c->n)
		c->at[++done].max = heap;
	for (i = 0; i < c->n; i++)
		c->max = c->at[i].max > c->max ? c->at[i].max : c->max;
}

/* ---- the chart ---- */

/* Text right-aligned in the margin. */
static void put_margin(struct chart *c, const struct strbuf *text)
{
	strbuf__addch_n(c->out, ' ', text->len < MARGIN - 2 ? MARGIN - 2 - text->len : 0);
	strbuf__addmem(c->out, text->buf, text->len);
	strbuf__addch(c->out, ' ');
	c->out->failed |= text->failed;
}

static void put_size(struct chart *c, u128 size)
{
	struct strbuf text = STRBUF_INIT;

	number__bytes(&text, size);
	put_margin(c, &text);
	strbuf__exit(&text);
}

static void put_word(struct chart *c, const char *word)
{
	struct strbuf text = STRBUF_INIT;

	strbuf__addstr(&text, word);
	put_margin(c, &text);
	strbuf__exit(&text);
}

/* The height of a column in thirds of a line; what is not nothing is seen. */
static size_t column__thirds(const struct chart *c, const struct column *col)
{
	u128 v = col->max, max = c->max;

	for (; max >> 100; max >>= 1) /* sums of sizes that no machine has */
		v >>= 1;
	return max ? (size_t)((v * c->height * 3 + max - 1) / max) : 0;
}

/* What a column shows in LINE from below. */
static char column__char(const struct chart *c, const struct column *col, size_t line)
{
	size_t thirds = column__thirds(c, col);

	if (thirds <= line * 3)
		return ' ';
	thirds -= line * 3;
	return thirds >= 3 ? '#' : thirds == 2 ? ':' : '.';
}

static void trim_line(struct strbuf *out)
{
	while (out->len && !out->failed && out->buf[out->len - 1] == ' ')
		out->len--;
	strbuf__addch(out, '\n');
}

static void chart__put_body(struct chart *c)
{
	size_t line, i;

	for (line = c->height; line--;) {
		if (line + 1 == c->height || line + 1 == c->height / 2)
			put_size(c, c->max / c->height * (line + 1) +
					    c->max % c->height * (line + 1) / c->height);
		else
			put_word(c, "");
		strbuf__addch(c->out, '|');
		for (i = 0; i < c->n; i++)
			strbuf__addch(c->out, column__char(c, &c->at[i], line));
		trim_line(c->out);
	}
	put_size(c, 0);
	strbuf__addch(c->out, '+');
	strbuf__addch_n(c->out, '-', c->n);
	strbuf__addch(c->out, '\n');
}

static void put_time(const struct chart *c, uint64_t at, struct strbuf *out)
{
	if (c->t->by_time)
		number__time(out, at);
	else
		strbuf__addf(out, "event %llu", (unsigned long long)at);
}

static void chart__put_axis(struct chart *c)
{
	struct strbuf first = STRBUF_INIT, last = STRBUF_INIT;

	put_time(c, c->begin, &first);
	put_time(c, c->begin + c->span, &last);
	strbuf__addch_n(c->out, ' ', MARGIN);
	strbuf__addmem(c->out, first.buf, first.len);
	strbuf__addch_n(c->out, ' ', first.len + last.len < c->n ? c->n - first.len - last.len : 1);
	strbuf__addmem(c->out, last.buf, last.len);
	strbuf__addch(c->out, '\n');
	c->out->failed |= first.failed || last.failed;
	strbuf__exit(&first);
	strbuf__exit(&last);
}

/* ---- collections and marks ---- */

static void chart__put_gc(struct chart *c)
{
	bool any = false;
	size_t i;

	for (i = 0; i < c->n; i++)
		any |= c->at[i].gc;
	if (!any)
		return;
	put_word(c, "gc");
	strbuf__addch(c->out, ' ');
	for (i = 0; i < c->n; i++)
		strbuf__addch(c->out, c->at[i].gc ? '*' : ' ');
	trim_line(c->out);
}

static const char *mark__name(const struct timeline_mark *m)
{
	static const char *const names[SESSION_MARK_MAX] = {
		[SESSION_MARK_USER] = "",
		[SESSION_MARK_SCRIPT_END] = "the script ends",
		[SESSION_MARK_FULL_GC] = "full collection",
		[SESSION_MARK_CLOSE] = "the VM is closed",
		[SESSION_MARK_PAUSE] = "recording pauses",
		[SESSION_MARK_RESUME] = "recording goes on",
	};

	if ((unsigned)m->kind >= SESSION_MARK_MAX || m->kind == SESSION_MARK_USER)
		return m->name;
	return names[m->kind];
}

static bool chart__shows(const struct chart *c, const struct timeline_mark *m)
{
	return m->at >= c->begin && m->at <= c->begin + c->span;
}

static void chart__put_legend(struct chart *c, size_t shown)
{
	const struct timeline_mark *m = c->t->marks;
	size_t i, letter = 0, left = 0;

	for (i = 0; i < c->t->n_marks; i++, m++) {
		if (!chart__shows(c, m))
			continue;
		if (letter == shown) {
			left++;
			continue;
		}
		strbuf__addch_n(c->out, ' ', MARGIN);
		strbuf__addf(c->out, "%c  at ", (char)('a' + letter++));
		put_time(c, m->at, c->out);
		strbuf__addstr(c->out, ": ");
		escape__text(c->out, mark__name(m), strlen(mark__name(m)), 0);
		strbuf__addch(c->out, '\n');
	}
	if (left) {
		strbuf__addch_n(c->out, ' ', MARGIN);
		strbuf__addf(c->out, "and %zu more marks\n", left);
	}
}

/* The first marks get letters; those of one column stand below each other. */
static size_t chart__letter_marks(struct chart *c, size_t most)
{
	size_t i, n = 0;

	for (i = 0; i < c->t->n_marks && n < most; i++)
		if (chart__shows(c, &c->t->marks[i]))
			c->at[chart__column(c, c->t->marks[i].at)].marks |= 1u << n++;
	return n;
}

/* One letter of each column; false when there is none left. */
static bool chart__put_letters(struct chart *c, const char *word)
{
	bool any = false;
	size_t i;

	for (i = 0; i < c->n; i++)
		any |= c->at[i].marks != 0;
	if (!any)
		return false;
	put_word(c, word);
	strbuf__addch(c->out, ' ');
	for (i = 0; i < c->n; i++) {
		uint32_t *marks = &c->at[i].marks;

		strbuf__addch(c->out, *marks ? (char)('a' + __builtin_ctz(*marks)) : ' ');
		*marks &= *marks - 1;
	}
	trim_line(c->out);
	return true;
}

static void chart__put_marks(struct chart *c, size_t letters)
{
	bool more = letters && chart__put_letters(c, "marks");

	while (more)
		more = chart__put_letters(c, "");
	if (letters)
		chart__put_legend(c, letters);
}

/* Most marks of one column. */
static size_t chart__mark_lines(const struct chart *c)
{
	size_t i, n, most = 0;

	for (i = 0; i < c->n; i++) {
		n = (size_t)__builtin_popcount(c->at[i].marks);
		most = n > most ? n : most;
	}
	return most;
}

/* ---- the view ---- */

static size_t clamp(size_t v, size_t least, size_t most)
{
	return v < least ? least : v > most ? most : v;
}

static int timeline__put(const struct timeline *t, const struct view_opts *o, struct strbuf *out)
{
	size_t marks = clamp(t->n_marks, 0, clamp(o->lines / 4, 1, MARKS_MAX)), around;
	struct chart c = { .t = t, .out = out };

	if (!t->n) {
		strbuf__addstr(out, "# there are no events in this recording\n");
		return 0;
	}
	c.n = clamp(o->columns_wide > MARGIN ? o->columns_wide - MARGIN : 0, COLUMNS_LEAST,
		    COLUMNS_MOST);
	c.begin = t->at[0].at;
	c.span = t->end > c.begin ? t->end - c.begin : 1;
	c.at = calloc(c.n, sizeof(*c.at));
	if (!c.at)
		return err__set(-ENOMEM, "out of memory for the timeline");
	chart__fill(&c);
	marks = chart__letter_marks(&c, marks);
	around = LINES_AROUND + marks + (t->n_marks > marks);
	around += marks ? chart__mark_lines(&c) - 1 : 0;
	c.height = clamp(o->lines > around ? o->lines - around : 0, LINES_LEAST, LINES_MOST);
	chart__put_body(&c);
	chart__put_axis(&c);
	chart__put_gc(&c);
	chart__put_marks(&c, marks);
	free(c.at);
	return 0;
}

static int timeline__print(struct aggregate *a, const struct view_opts *o, struct term *term)
{
	struct strbuf out = STRBUF_INIT;
	size_t i;
	int err = 0;

	if (!o->quiet)
		summary__print(a, o, term->columns, &out);
	for (i = 0; i < a->n_sessions && !err && !o->header_only; i++) {
		if (a->n_sessions > 1) {
			strbuf__addstr(&out, i ? "\n# " : "# ");
			escape__text(&out, a->sessions[i].name, strlen(a->sessions[i].name), 0);
			strbuf__addch(&out, '\n');
		}
		err = timeline__put(&a->sessions[i].timeline, o, &out);
	}
	if (!err && out.failed)
		err = err__set(-ENOMEM, "out of memory for the output");
	if (!err)
		term__flush(&out);
	strbuf__exit(&out);
	return err;
}

const struct view_ops view_timeline = {
	.name = "timeline",
	.measure = MEASURE_TIMELINE,
	.plain = true,
	.print = timeline__print,
};
