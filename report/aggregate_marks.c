/* aggregate_marks.c - what a mark or a time changes: snapshots of what is alive,
 * and where the window begins and ends.  Called by the reader of a session.
 */
#include <stdlib.h>
#include <string.h>

#include "report/aggregate_run.h"

/* A program closes its VM once. */
enum { SNAPSHOTS_MAX = 1000 };

int snapshot__take(struct snapshot *snap, const struct aggregate *a, uint64_t event_no)
{
	struct site_live *at;
	size_t i;

	/* A mark repeated with nothing in between costs nothing, and none is so
	 * often there that all of them would take for ever. */
	if ((snap->n_taken && snap->event_no == event_no) || snap->n_taken == SNAPSHOTS_MAX)
		return 0;
	at = realloc(snap->at, (a->n_stats + 1) * sizeof(*at));
	if (!at)
		return aggregate__no_memory();
	for (i = 0; i < a->n_stats; i++)
		at[i] = site_stats__live(&a->stats[i]);
	*snap = (struct snapshot){ at, a->n_stats, snap->n_taken + 1, event_no };
	return 0;
}

/* ---- the window ---- */

void run__begin_window(struct aggregate_run *run, const struct window *w)
{
	run->window = *w;
	if ((w->kind == WINDOW_TIME && w->from_ns) || (w->kind == WINDOW_MARKS && w->from))
		run->state = RUN_BEFORE;
	run->opened = run->state != RUN_BEFORE;
}

/* Events number the samples of a recording without times. */
static uint64_t run__now(const struct aggregate_run *run)
{
	return run->summary->timeline.by_time ? run->now_ns : run->n_events + run->n_skipped;
}

/* From FROM on events count: the heap is as large as it is. */
static int run__open(struct aggregate *a, uint64_t from)
{
	struct aggregate_run *run = a->run;

	run->state = RUN_COUNTS;
	run->opened = true;
	run->peak = 0;
	run__note_peak(run);
	if (!(a->measure & MEASURE_TIMELINE))
		return 0;
	if (timeline__add(&run->summary->timeline, from, run__heap(run), false))
		return aggregate__no_memory();
	return 0;
}

static int run__window_time(struct aggregate *a)
{
	struct aggregate_run *run = a->run;
	const struct window *w = &run->window;
	int err = 0;

	if (w->kind != WINDOW_TIME)
		return 0;
	if (run->state == RUN_BEFORE && run->now_ns >= w->from_ns)
		err = run__open(a, w->from_ns);
	if (run->state == RUN_COUNTS && run->now_ns >= w->to_ns) {
		run->state = RUN_AFTER;
		run->summary->timeline.end = w->to_ns;
	}
	return err;
}

static bool mark__is(const struct session_mark *m, const char *name)
{
	return m->kind == SESSION_MARK_USER && strlen(name) == m->name_len &&
	       !memcmp(name, m->name, m->name_len);
}

/* Of a mark whose name is a number. */
static uint64_t mark__number(const struct session_mark *m)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < m->name_len && i < 18 && m->name[i] >= '0' && m->name[i] <= '9'; i++)
		n = n * 10 + (uint64_t)(m->name[i] - '0');
	return n;
}

static int run__window_mark(struct aggregate *a, const struct session_mark *m)
{
	struct aggregate_run *run = a->run;
	const struct window *w = &run->window;

	if (w->kind != WINDOW_MARKS)
		return 0;
	if (run->state == RUN_BEFORE && mark__is(m, w->from))
		return run__open(a, run__now(run));
	if (run->state == RUN_COUNTS && w->to && mark__is(m, w->to)) {
		run->state = RUN_AFTER;
		run->summary->timeline.end = run__now(run);
	}
	return 0;
}

/* ---- the handlers ---- */

static int run__note_mark(struct aggregate *a, const struct session_mark *m)
{
	struct aggregate_run *run = a->run;
	struct timeline *t = &run->summary->timeline;

	run->summary->n_user_marks += m->kind == SESSION_MARK_USER;
	if (!(a->measure & MEASURE_TIMELINE))
		return 0;
	if (timeline__mark(t, t->by_time ? m->time_ns : run__now(run), m))
		return aggregate__no_memory();
	return 0;
}

int aggregate__mark(void *ctx, const struct session_mark *m)
{
	struct aggregate *a = ctx;
	struct aggregate_run *run = a->run;
	int err = run__note_mark(a, m);

	if (err || run->state == RUN_CLOSED)
		return err;
	err = run__drain(a);
	err = err ? err : run__window_mark(a, m);
	if (err)
		return err;
	if (m->kind == SESSION_MARK_RESUME) {
		a->totals.n_pauses++;
		run__forget_live(a, mark__number(m));
	}
	if (m->kind == SESSION_MARK_CLOSE && !a->count_after_close)
		run->state = run->state == RUN_COUNTS ? RUN_CLOSED : RUN_AFTER;
	if (run->state != RUN_COUNTS)
		return 0;
	if (m->kind == SESSION_MARK_SCRIPT_END)
		return snapshot__take(&run->script_end, a, run->n_events);
	if (m->kind == SESSION_MARK_FULL_GC)
		return snapshot__take(&run->full_gc, a, run->n_events);
	return 0;
}

int aggregate__time(void *ctx, uint64_t time_ns)
{
	struct aggregate *a = ctx;
	int err = run__drain(a); /* the queued events are of the time before */

	a->run->now_ns = time_ns;
	a->run->summary->has_time = true;
	a->run->summary->timeline.by_time = true;
	return err ? err : run__window_time(a);
}
