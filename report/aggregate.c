/* aggregate.c - one pass over the events; see aggregate.h. */
#include "report/aggregate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/features.h"
#include "report/grow.h"
#include "report/recording.h"
#include "util/error.h"

enum { PROGRESS_EVENTS = 1 << 20, ORIGIN_SEEN = 512, QUEUE = 16 };

/* An event whose site is known, waiting for its blocks to be looked up. */
struct queued {
	uint64_t old_addr, old_size, new_addr, new_size;
	uint32_t site;
	enum ljm_kind kind;
};

/* What sites hold at a mark, as a sum over the sessions so far. */
struct snapshot {
	struct site_live *at;
	size_t n;
	bool taken;
	uint64_t event_no; /* of the session */
};

/* The session being read. */
struct aggregate_run {
	struct live live;
	struct session_summary *summary;
	/* A block's slot is far away in memory: events wait here while it is
	 * being fetched.  Event number I is at I % QUEUE. */
	struct queued queue[QUEUE];
	uint64_t n_events; /* that came in */
	uint64_t n_done;   /* that left the queue */
	bool closed;	 /* lua_close() has begun */
	bool has_header; /* and so the heap's size at the start */
	s128 heap;	 /* bytes in use by the VM, as far as known */
	u128 known;	 /* bytes of blocks made while recording */
	u128 peak;
	uint64_t peak_event, peak_ns;
	uint64_t now_ns;
	struct snapshot start, script_end, full_gc;
	/* Origins noted lately, by kind: most repeat the ones before. */
	uint64_t seen[2][ORIGIN_SEEN];
};

static int aggregate__no_memory(void)
{
	return err__set(-ENOMEM, "out of memory for the report");
}

struct aggregate *aggregate__new(void)
{
	struct aggregate *a = calloc(1, sizeof(*a));

	if (!a) {
		aggregate__no_memory();
		return NULL;
	}
	a->totals.has_leaked = true;
	a->symtab = symtab__new();
	if (!a->symtab) {
		free(a);
		return NULL;
	}
	return a;
}

static void run__delete(struct aggregate_run *run)
{
	if (!run)
		return;
	live__exit(&run->live);
	free(run->start.at);
	free(run->script_end.at);
	free(run->full_gc.at);
	free(run);
}

void aggregate__delete(struct aggregate *a)
{
	size_t i;

	if (!a)
		return;
	run__delete(a->run);
	for (i = 0; i < a->n_sessions; i++) {
		free(a->sessions[i].name);
		free(a->sessions[i].command);
		free(a->sessions[i].vm_version);
		free(a->sessions[i].features);
		free(a->sessions[i].cwd);
		free(a->sessions[i].vm_label);
	}
	free(a->sessions);
	free(a->stats);
	free(a->live);
	free(a->leaked);
	free(a->origins);
	hashmap__exit(&a->origin_map);
	symtab__delete(a->symtab);
	free(a);
}

/* Makes SITE have stats. */
static int aggregate__grow(struct aggregate *a, uint32_t site)
{
	if (GROW(a->stats, a->cap_stats, site))
		return aggregate__no_memory();
	memset(a->stats + a->n_stats, 0, (site + 1 - a->n_stats) * sizeof(*a->stats));
	a->n_stats = (size_t)site + 1;
	return 0;
}

/* ---- origins ---- */

static int origins__add(struct aggregate *a, const struct origin *o)
{
	uint64_t hash = hash__u64x2((uint64_t)o->site << 32 | o->owner, o->kind);
	uint32_t pos, id;

	for (id = hashmap__first(&a->origin_map, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(&a->origin_map, hash, &pos))
		if (a->origins[id].site == o->site && a->origins[id].owner == o->owner &&
		    a->origins[id].kind == o->kind)
			return 0;
	if (GROW(a->origins, a->cap_origins, a->n_origins) ||
	    hashmap__add(&a->origin_map, hash, (uint32_t)a->n_origins))
		return aggregate__no_memory();
	a->origins[a->n_origins++] = *o;
	return 0;
}

static int origins__note(struct aggregate *a, uint32_t site, uint32_t owner, enum origin_kind kind)
{
	struct origin o = { site, owner, kind };
	uint64_t key = (uint64_t)site << 32 | owner;
	uint64_t *seen = &a->run->seen[kind][(site * 31 + owner) % ORIGIN_SEEN];

	if (!a->want_origins || *seen == key)
		return 0;
	*seen = key;
	return origins__add(a, &o);
}

/* ---- events ---- */

/* The owner of B holds it no longer. */
static inline void run__leave(struct aggregate *a, const struct live_block *b)
{
	struct site_stats *owner = &a->stats[b->site];

	owner->n_out++;
	owner->out_bytes += b->size;
	a->run->known -= b->size;
}

static inline int run__enter(struct aggregate *a, const struct queued *ev)
{
	struct live_block b = { ev->new_addr, ev->new_size, ev->site }, old;
	int ret = live__put(&a->run->live, &b, &old);

	if (ret < 0)
		return aggregate__no_memory();
	a->run->known += b.size;
	if (ret) { /* its free was lost, or is of an unusual allocator */
		run__leave(a, &old);
		a->totals.n_replaced++;
	}
	return 0;
}

static inline void run__peak(struct aggregate_run *run)
{
	u128 now = !run->has_header ? run->known : run->heap > 0 ? (u128)run->heap : 0;

	if (now > run->peak) {
		run->peak = now;
		run->peak_event = run->n_done;
		run->peak_ns = run->now_ns;
	}
}

static int run__alloc(struct aggregate *a, const struct queued *ev)
{
	struct site_stats *s = &a->stats[ev->site];

	if (!ev->new_addr) {
		a->totals.n_failed++;
		a->totals.failed_bytes += ev->new_size;
		return 0;
	}
	s->n_alloc++;
	s->alloc_bytes += ev->new_size;
	a->run->heap += ev->new_size;
	if (run__enter(a, ev))
		return -ENOMEM;
	run__peak(a->run);
	return 0;
}

static int run__free(struct aggregate *a, const struct queued *ev)
{
	struct site_stats *s = &a->stats[ev->site];
	struct live_block b;

	s->n_free++;
	s->free_bytes += ev->old_size;
	a->run->heap -= ev->old_size;
	if (!live__take(&a->run->live, ev->old_addr, &b)) {
		a->totals.n_unknown_free++;
		a->totals.unknown_bytes += ev->old_size;
		return 0;
	}
	run__leave(a, &b);
	return origins__note(a, ev->site, b.site, ORIGIN_FREE);
}

static int run__realloc(struct aggregate *a, const struct queued *ev)
{
	struct site_stats *s = &a->stats[ev->site];
	struct live_block b;

	if (!ev->new_addr) { /* failed: the block stays as it was */
		a->totals.n_failed++;
		a->totals.failed_bytes += ev->new_size;
		return 0;
	}
	s->n_realloc++;
	s->realloc_new += ev->new_size;
	s->realloc_old += ev->old_size;
	a->run->heap += (s128)ev->new_size - (s128)ev->old_size;
	if (live__take(&a->run->live, ev->old_addr, &b)) {
		run__leave(a, &b);
		if (origins__note(a, ev->site, b.site, ORIGIN_REALLOC))
			return -ENOMEM;
	} else {
		a->totals.n_unknown_realloc++;
		a->totals.unknown_bytes += ev->old_size;
	}
	if (run__enter(a, ev))
		return -ENOMEM;
	run__peak(a->run);
	return 0;
}

/* Takes the oldest event out of the queue. */
static int run__next(struct aggregate *a)
{
	const struct queued *ev = &a->run->queue[a->run->n_done++ % QUEUE];

	switch (ev->kind) {
	case LJM_ALLOC:
		return run__alloc(a, ev);
	case LJM_FREE:
		return run__free(a, ev);
	case LJM_REALLOC:
		return run__realloc(a, ev);
	default:
		return 0;
	}
}

static int run__drain(struct aggregate *a)
{
	int err = 0;

	while (!err && a->run->n_done < a->run->n_events)
		err = run__next(a);
	return err;
}

static void run__push(struct aggregate_run *run, const struct ljm_event *ev, uint32_t site)
{
	struct queued *q = &run->queue[run->n_events++ % QUEUE];

	*q = (struct queued){ ev->old_addr, ev->old_size, ev->new_addr, ev->new_size, site, ev->kind };
	if (ev->kind != LJM_ALLOC)
		live__prefetch(&run->live, ev->old_addr);
	if (ev->kind != LJM_FREE)
		live__prefetch(&run->live, ev->new_addr);
}

static int aggregate__event(void *ctx, const struct ljm_event *ev)
{
	struct aggregate *a = ctx;
	struct aggregate_run *run = a->run;
	uint32_t site;

	if (run->closed) {
		run->summary->n_after_close++;
		return 0;
	}
	site = symtab__site(a->symtab, &ev->loc, ev->vmstate);
	if (site == SITE_NONE || (site >= a->n_stats && aggregate__grow(a, site)))
		return -ENOMEM;
	run__push(run, ev, site);
	if (!(run->n_events % PROGRESS_EVENTS))
		recording__progress(run->n_events);
	return run->n_events - run->n_done < QUEUE ? 0 : run__next(a);
}

static int aggregate__symbol(void *ctx, const struct ljm_symbol *sym)
{
	struct aggregate *a = ctx;

	return symtab__symbol(a->symtab, sym);
}

static int aggregate__module(void *ctx, const struct session_module *m)
{
	struct aggregate *a = ctx;

	return symtab__module(a->symtab, m);
}

/* ---- marks, times, header and footer ---- */

static int snapshot__take(struct snapshot *snap, const struct aggregate *a, uint64_t event_no)
{
	struct site_live *at;
	size_t i;

	/* A mark repeated with nothing in between costs nothing. */
	if (snap->taken && snap->event_no == event_no)
		return 0;
	at = realloc(snap->at, (a->n_stats + 1) * sizeof(*at));
	if (!at)
		return aggregate__no_memory();
	for (i = 0; i < a->n_stats; i++)
		at[i] = site_stats__live(&a->stats[i]);
	*snap = (struct snapshot){ at, a->n_stats, true, event_no };
	return 0;
}

static int aggregate__mark(void *ctx, const struct session_mark *m)
{
	struct aggregate *a = ctx;
	struct aggregate_run *run = a->run;

	run->summary->n_user_marks += m->kind == SESSION_MARK_USER;
	if (run->closed)
		return 0;
	if (run__drain(a))
		return -ENOMEM;
	switch (m->kind) {
	case SESSION_MARK_SCRIPT_END:
		return snapshot__take(&run->script_end, a, run->n_events);
	case SESSION_MARK_FULL_GC:
		return snapshot__take(&run->full_gc, a, run->n_events);
	case SESSION_MARK_CLOSE:
		run->closed = !a->count_after_close;
		return 0;
	default:
		return 0;
	}
}

static int aggregate__time(void *ctx, uint64_t time_ns)
{
	struct aggregate *a = ctx;
	int err = run__drain(a); /* the queued events are of the time before */

	a->run->now_ns = time_ns;
	a->run->summary->has_time = true;
	return err;
}

/* "VM 2 (worker)": what tells the VMs of a program apart, and is the same when
 * it runs again. */
static char *header__vm_label(const struct session_header *h)
{
	struct strbuf text = STRBUF_INIT;
	char *label;

	if (h->vm_number) {
		strbuf__addstr(&text, "VM ");
		strbuf__addu(&text, h->vm_number);
	}
	if (h->vm_number && h->thread_name && *h->thread_name) {
		strbuf__addstr(&text, " (");
		escape__text(&text, h->thread_name, strlen(h->thread_name), 0);
		strbuf__addch(&text, ')');
	}
	label = strdup(strbuf__str(&text));
	strbuf__exit(&text);
	return label;
}

static int aggregate__header(void *ctx, const struct session_header *h)
{
	struct aggregate *a = ctx;
	struct session_summary *s = a->run->summary;
	struct strbuf text = STRBUF_INIT;

	symtab__exact_c(a->symtab);
	a->run->has_header = true;
	a->run->heap = h->heap_start;
	run__peak(a->run);
	features__command(h, &text);
	s->command = strdup(strbuf__str(&text));
	strbuf__reset(&text);
	features__print(h, &text);
	s->features = strdup(strbuf__str(&text));
	s->vm_version = strdup(h->vm_version ? h->vm_version : "");
	strbuf__exit(&text);
	s->cwd = strdup(h->cwd ? h->cwd : "");
	s->vm_label = header__vm_label(h);
	s->start_wall_ns = h->start_wall_ns;
	return s->command && s->features && s->vm_version && s->cwd && s->vm_label ?
		0 : aggregate__no_memory();
}

static int aggregate__footer(void *ctx, const struct session_footer *f)
{
	struct aggregate *a = ctx;

	a->run->summary->has_time = true;
	a->run->summary->duration_ns = f->duration_ns;
	return 0;
}

/* ---- a session, from begin to end ---- */

static int aggregate__begin(struct aggregate *a, const char *path)
{
	struct session_summary *s;

	if (GROW(a->sessions, a->cap_sessions, a->n_sessions))
		return aggregate__no_memory();
	s = &a->sessions[a->n_sessions++];
	memset(s, 0, sizeof(*s));
	s->name = strdup(strcmp(path, "-") ? path : "standard input");
	a->run = calloc(1, sizeof(*a->run));
	if (!a->run || !s->name)
		return aggregate__no_memory();
	a->run->summary = s;
	memset(a->run->seen, 0xff, sizeof(a->run->seen));
	symtab__begin_session(a->symtab);
	/* Sums go on from the sessions before. */
	return snapshot__take(&a->run->start, a, 0);
}

/* Adds what sites hold at TO, since START, to *SUM of *N sites. */
static int sum__add(struct site_live **sum, size_t *n, const struct snapshot *to,
		    const struct snapshot *start)
{
	struct site_live *p;
	size_t i;

	if (to->n > *n) {
		p = realloc(*sum, to->n * sizeof(*p));
		if (!p)
			return aggregate__no_memory();
		memset(p + *n, 0, (to->n - *n) * sizeof(*p));
		*sum = p;
		*n = to->n;
	}
	for (i = 0; i < to->n; i++) {
		(*sum)[i].bytes += to->at[i].bytes - (i < start->n ? start->at[i].bytes : 0);
		(*sum)[i].blocks += to->at[i].blocks - (i < start->n ? start->at[i].blocks : 0);
	}
	return 0;
}

static void aggregate__add_peak(struct aggregate *a, const struct aggregate_run *run)
{
	if (run->peak <= a->totals.peak)
		return;
	a->totals.peak = run->peak;
	a->totals.peak_event = run->peak_event;
	a->totals.peak_ns = run->peak_ns;
	a->totals.peak_has_time = run->summary->has_time;
}

static int aggregate__end(struct aggregate *a)
{
	struct aggregate_run *run = a->run;
	struct session_summary *s = run->summary;

	if (run__drain(a))
		return -ENOMEM;
	aggregate__add_peak(a, run);
	if (!s->duration_ns)
		s->duration_ns = run->now_ns;
	a->totals.lost += s->info.lost_events;
	a->totals.lost_batches += s->info.lost_batches;
	if (!run->script_end.taken && snapshot__take(&run->script_end, a, run->n_events))
		return -ENOMEM;
	if (sum__add(&a->live, &a->n_live, &run->script_end, &run->start))
		return -ENOMEM;
	if (!run->full_gc.taken) {
		a->totals.has_leaked = false;
		return 0;
	}
	return sum__add(&a->leaked, &a->n_leaked, &run->full_gc, &run->start);
}

int aggregate__read(struct aggregate *a, const char *path, bool force)
{
	static const struct session_handlers handlers = {
		.header = aggregate__header,
		.symbol = aggregate__symbol,
		.event = aggregate__event,
		.mark = aggregate__mark,
		.module = aggregate__module,
		.time = aggregate__time,
		.footer = aggregate__footer,
	};
	int err = aggregate__begin(a, path);

	if (!err)
		err = recording__read(path, force, &handlers, a, &a->run->summary->info);
	if (!err)
		err = aggregate__end(a);
	run__delete(a->run);
	a->run = NULL;
	return err;
}

static void totals__add_site(struct totals *t, const struct site_stats *s)
{
	t->n_alloc += s->n_alloc;
	t->n_realloc += s->n_realloc;
	t->n_free += s->n_free;
	t->alloc_bytes += s->alloc_bytes;
	t->realloc_new += s->realloc_new;
	t->realloc_old += s->realloc_old;
	t->free_bytes += s->free_bytes;
}

void aggregate__finish(struct aggregate *a)
{
	struct totals *t = &a->totals;
	size_t i;

	for (i = 0; i < a->n_stats; i++)
		totals__add_site(t, &a->stats[i]);
	for (i = 0; i < a->n_live; i++) {
		t->live_bytes += a->live[i].bytes;
		t->live_blocks += a->live[i].blocks;
	}
	for (i = 0; i < a->n_leaked; i++) {
		t->leaked_bytes += a->leaked[i].bytes;
		t->leaked_blocks += a->leaked[i].blocks;
	}
}
