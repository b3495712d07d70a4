/* aggregate_run.h - the session that an aggregation is reading; what its parts
 * (aggregate.c, aggregate_events.c, aggregate_marks.c) share.
 */
#ifndef LJPERF_REPORT_AGGREGATE_RUN_H
#define LJPERF_REPORT_AGGREGATE_RUN_H

#include "report/aggregate.h"
#include "report/objects.h"

enum { ORIGIN_SEEN = 512, QUEUE = 16 };

/* An event whose cell is known, waiting for its blocks to be looked up. */
struct queued {
	uint64_t old_addr, old_size, new_addr, new_size;
	uint32_t cell;
	enum ljm_kind kind;
	bool gc; /* the collector's; with MEASURE_TIMELINE */
};

/* What cells hold at a mark, as a sum over the sessions so far. */
struct snapshot {
	struct site_live *at;
	size_t n;
	unsigned n_taken;
	uint64_t event_no; /* of the session */
};

enum run_state {
	RUN_COUNTS, /* events count */
	RUN_BEFORE, /* the window has not begun */
	RUN_AFTER, /* it has ended */
	RUN_CLOSED, /* lua_close() has begun */
};

struct aggregate_run {
	struct live live;
	struct session_summary *summary;
	/* A block's slot is far away in memory: events wait here while it is
	 * being fetched.  Event number I is at I % QUEUE. */
	struct queued queue[QUEUE];
	uint64_t n_events; /* that count and came in */
	uint64_t n_done; /* that left the queue */
	uint64_t n_skipped; /* that came before the window */
	enum run_state state;
	bool opened; /* the window has begun */
	struct window window; /* in times or marks */
	bool has_header; /* and so the heap's size at the start */
	s128 heap; /* bytes in use by the VM, as far as known */
	u128 known; /* bytes of blocks made while recording */
	u128 peak;
	uint64_t peak_event, peak_ns;
	uint64_t now_ns;
	struct snapshot start, script_end, full_gc;
	/* Origins noted lately, by kind: most repeat the ones before. */
	uint64_t seen[2][ORIGIN_SEEN];

	/* With MEASURE_LIFETIMES the live blocks' "sites" are objects. */
	struct objects objects;
	uint64_t clock; /* allocations so far */
	uint64_t version; /* of the peak: counts how often it rose, never falls back */
};

int aggregate__no_memory(void);

/* The handlers of events: the one for a plain report does nothing that is not
 * needed for it. */
int aggregate__event(void *ctx, const struct ljm_event *ev);
int aggregate__event_more(void *ctx, const struct ljm_event *ev);

/* Takes all events out of the queue. */
int run__drain(struct aggregate *a);
/* Events are missing: what was alive may be no longer, and is not known; the
 * heap has HEAP bytes now. */
void run__forget_live(struct aggregate *a, uint64_t heap);

/* What the VM has in use, or, where that is not known, what the recording saw
 * it take and not give back. */
static inline u128 run__heap(const struct aggregate_run *run)
{
	return !run->has_header ? run->known : run->heap > 0 ? (u128)run->heap : 0;
}

/* Notes the heap's size when it is the largest. */
static inline void run__note_peak(struct aggregate_run *run)
{
	u128 now = run__heap(run);

	if (now > run->peak) {
		run->peak = now;
		run->peak_event = run->n_done + run->n_skipped;
		run->peak_ns = run->now_ns;
		run->version++;
	}
}

/* The handlers of marks and times. */
int aggregate__mark(void *ctx, const struct session_mark *m);
int aggregate__time(void *ctx, uint64_t time_ns);

/* Counts from the beginning or from a later time or mark, as the window says. */
void run__begin_window(struct aggregate_run *run, const struct window *w);

/* What cells hold now. */
int snapshot__take(struct snapshot *snap, const struct aggregate *a, uint64_t event_no);

#endif
