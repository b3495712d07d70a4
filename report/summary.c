/* summary.c - the "#" lines above a table: what was recorded, and the totals.
 * Called by the table view.
 */
#include <stdlib.h>
#include <string.h>

#include "report/view.h"

#define SEPARATOR " \xc2\xb7 " /* a middle dot */

static void add_events(uint64_t n, struct strbuf *out)
{
	strbuf__addu(out, n);
	strbuf__addstr(out, n == 1 ? " event" : " events");
}

static void summary__session(const struct session_summary *s, struct strbuf *out)
{
	strbuf__addstr(out, "# ");
	escape__text(out, s->name, strlen(s->name), 0);
	strbuf__addstr(out, ": ");
	if (s->command && *s->command) {
		strbuf__addstr(out, s->command); /* escaped when it was made */
		strbuf__addstr(out, ", ");
	}
	if (s->vm_version && *s->vm_version) {
		escape__text(out, s->vm_version, strlen(s->vm_version), 0);
		strbuf__addstr(out, ", ");
	}
	if (s->has_time) {
		number__time(out, s->duration_ns);
		strbuf__addstr(out, ", ");
	}
	add_events(s->info.n_events, out);
	strbuf__addch(out, '\n');
}

static void summary__format(const struct session_summary *s, struct strbuf *out)
{
	static const char *const containers[] = {
		[SESSION_RAW] = "plain",
		[SESSION_RAW_ZSTD] = "zstd",
		[SESSION_LJPERF] = "session file",
	};

	strbuf__addf(out, "# format %s (%s), %llu symbols, ", ljm_variant__name(s->info.variant),
		     containers[s->info.container], (unsigned long long)s->info.n_symbols);
	number__bytes(out, s->info.file_bytes);
	if (s->n_after_close)
		strbuf__addf(out, ", %llu events of closing not counted",
			     (unsigned long long)s->n_after_close);
	strbuf__addch(out, '\n');
}

static void summary__peak(const struct totals *t, struct strbuf *out)
{
	strbuf__addstr(out, SEPARATOR "peak ");
	number__bytes(out, t->peak);
	if (t->peak_has_time) {
		strbuf__addstr(out, " at ");
		number__time(out, t->peak_ns);
	} else if (t->peak_event) {
		strbuf__addf(out, " at event %llu", (unsigned long long)t->peak_event);
	}
}

static void add_mark(const char *name, const char *none, struct strbuf *out)
{
	strbuf__addstr(out, name ? "mark " : none);
	if (name)
		escape__text(out, name, strlen(name), 0);
}

/* "# part: 0.50 s to 1.00 s" */
static void summary__window(const struct window *w, struct strbuf *out)
{
	if (w->kind == WINDOW_ALL)
		return;
	strbuf__addstr(out, "# part: ");
	if (w->kind == WINDOW_PERCENT) {
		strbuf__addf(out, "%.4g%% to %.4g%%", w->from_share * 100, w->to_share * 100);
	} else if (w->kind == WINDOW_MARKS) {
		add_mark(w->from, "the begin", out);
		strbuf__addstr(out, " to ");
		add_mark(w->to, "the end", out);
	} else {
		number__time(out, w->from_ns);
		strbuf__addstr(out, " to ");
		if (w->to_ns == UINT64_MAX)
			strbuf__addstr(out, "the end");
		else
			number__time(out, w->to_ns);
	}
	strbuf__addch(out, '\n');
}

static void summary__totals(const struct aggregate *a, struct strbuf *out)
{
	const struct totals *t = &a->totals;

	strbuf__addstr(out, "# allocated ");
	number__bytes(out, t->alloc_bytes + t->realloc_new);
	strbuf__addstr(out, " in ");
	number__count(out, t->n_alloc);
	strbuf__addstr(out, t->n_alloc == 1 ? " allocation" : " allocations");
	if (t->n_realloc) {
		strbuf__addstr(out, " and ");
		number__count(out, t->n_realloc);
		strbuf__addstr(out, t->n_realloc == 1 ? " reallocation" : " reallocations");
	}
	summary__peak(t, out);
	strbuf__addf(out, SEPARATOR "live at %s ",
		     a->window.kind ? "its end"
		     : t->has_exit  ? "exit"
				    : "the end");
	number__bytes(out, t->live_bytes);
	if (t->has_leaked) {
		strbuf__addstr(out, ", after full GC ");
		number__bytes(out, t->leaked_bytes);
	}
	strbuf__addch(out, '\n');
}

/* Behind "# ", on a line with others. */
static void begin_item(struct strbuf *out, size_t start)
{
	strbuf__addstr(out, out->len > start ? SEPARATOR : "# ");
}

static void add_loss(struct strbuf *out, size_t start, uint64_t n, const char *what)
{
	if (!n)
		return;
	begin_item(out, start);
	strbuf__addu(out, n);
	strbuf__addch(out, ' ');
	strbuf__addstr(out, what);
}

/* Blocks of which only the end was seen.  Where events are missing it cannot be
 * told whether they are older. */
static void add_unknown(const struct aggregate *a, struct strbuf *out, size_t start)
{
	const struct totals *t = &a->totals;
	uint64_t n = t->n_unknown_free + t->n_unknown_realloc;
	bool gaps = t->n_pauses || t->lost || t->lost_batches;

	if (!n)
		return;
	begin_item(out, start);
	strbuf__addu(out, n);
	strbuf__addstr(out, n == 1 ? " block" : " blocks");
	if (gaps)
		strbuf__addstr(out, " freed or resized whose allocation was not recorded");
	else
		strbuf__addf(out, " freed or resized that %s allocated before %s",
			     n == 1 ? "was" : "were",
			     a->window.kind ? "this part" : "recording began");
}

static void summary__losses(const struct aggregate *a, struct strbuf *out)
{
	const struct totals *t = &a->totals;
	size_t start = out->len;

	add_unknown(a, out, start);
	add_loss(out, start, t->n_failed, "failed allocations");
	add_loss(out, start, t->n_replaced, "allocations at an address that was alive");
	add_loss(out, start, t->lost, "events lost");
	add_loss(out, start, t->lost_batches, "damaged batches skipped");
	if (out->len > start)
		strbuf__addch(out, '\n');
}

/* Gives what does not fit into COLUMNS lines of its own, where that is possible:
 * the line from START on has items with SEPARATOR between them. */
static void wrap_line(struct strbuf *out, size_t start, unsigned columns)
{
	const size_t gap = sizeof(SEPARATOR) - 1;
	char *line, *item, *end;
	size_t used = 0, width;

	if (!columns || out->failed || out->len == start)
		return;
	line = strdup(out->buf + start);
	if (!line)
		return; /* a long line is no loss */
	out->len = start;
	for (item = line; item; item = end ? end + gap : NULL) {
		end = strstr(item, SEPARATOR);
		width = utf8__width(item, end ? (size_t)(end - item) : strcspn(item, "\n"));
		if (item > line && used + 3 + width > columns) {
			strbuf__addstr(out, "\n# ");
			used = 2;
		} else if (item > line) {
			strbuf__addstr(out, SEPARATOR);
			used += 3;
		}
		strbuf__addmem(out, item, end ? (size_t)(end - item) : strlen(item));
		used += width;
	}
	free(line);
}

/* The header of a recording, each line behind "# ". */
static void summary__features(const struct session_summary *s, struct strbuf *out)
{
	const char *line = s->features ? s->features : "", *nl;

	for (; (nl = strchr(line, '\n')); line = nl + 1) {
		strbuf__addstr(out, "# ");
		strbuf__addmem(out, line, (size_t)(nl + 1 - line));
	}
}

void summary__print(const struct aggregate *a, const struct view_opts *o, unsigned columns,
		    struct strbuf *out)
{
	size_t i, start;

	for (i = 0; i < a->n_sessions; i++) {
		summary__session(&a->sessions[i], out);
		if (o->header || o->header_only)
			summary__features(&a->sessions[i], out);
		if (o->header || o->header_only || o->verbose)
			summary__format(&a->sessions[i], out);
	}
	if (o->header_only)
		return;
	summary__window(&a->window, out);
	start = out->len;
	summary__totals(a, out);
	wrap_line(out, start, columns);
	start = out->len;
	summary__losses(a, out);
	wrap_line(out, start, columns);
	strbuf__addstr(out, "#\n");
}
