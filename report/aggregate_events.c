/* aggregate_events.c - what an event changes; see aggregate.h.  Called by the
 * reader of a session for each event.
 *
 * There are two handlers out of one source: the plain one, and the one with
 * MORE, which splits cells and measures what was asked for.
 */
#include <errno.h>
#include <string.h>

#include "report/aggregate_run.h"
#include "report/recording.h"
#include "util/grow.h"

enum { PROGRESS_EVENTS = 1 << 20 };

#define always_inline __attribute__((always_inline)) static inline

/* Makes CELL have stats, and measures where there are any. */
static int aggregate__grow(struct aggregate *a, uint32_t cell)
{
	if (GROW(a->stats, a->cap_stats, cell))
		return aggregate__no_memory();
	memset(a->stats + a->n_stats, 0, (cell + 1 - a->n_stats) * sizeof(*a->stats));
	a->n_stats = (size_t)cell + 1;
	if (!a->measure)
		return 0;
	if (GROW(a->more, a->cap_more, cell))
		return aggregate__no_memory();
	memset(a->more + a->n_more, 0, (cell + 1 - a->n_more) * sizeof(*a->more));
	a->n_more = (size_t)cell + 1;
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

/* ---- what is measured on demand ---- */

/* CELL is about to hold more or less.  What it holds is what it held at the
 * latest peak, if it has not changed since: so each peak costs nothing. */
static void more__touch(struct aggregate *a, uint32_t cell)
{
	struct measures *m = &a->more[cell];

	if (m->version == a->run->version)
		return;
	m->version = a->run->version;
	m->at_peak = site_stats__live(&a->stats[cell]);
}

/* A block of SIZE bytes was resized by EV. */
static void more__resized(struct aggregate *a, const struct queued *ev, bool known, uint32_t owner,
			  uint64_t size)
{
	struct measures *m = &a->more[ev->cell];

	if (ev->new_addr != ev->old_addr)
		m->copied += ev->new_size < ev->old_size ? ev->new_size : ev->old_size;
	if (!known)
		return;
	a->more[owner].n_moved++;
	a->more[owner].moved_bytes += size;
}

static int more__freed(struct aggregate *a, const struct live_block *b)
{
	const struct object *o = &a->run->objects.at[b->site];
	struct measures *m = &a->more[o->cell];
	uint64_t age = a->run->clock - o->born, now = a->run->now_ns;

	if (o->born == BORN_UNKNOWN)
		return 0;
	if (age < a->temporary_threshold) {
		m->temporary.blocks++;
		m->temporary.bytes += b->size;
	}
	if (sketch__add(&m->life, age) ||
	    sketch__add(&m->life_ns, now > o->born_ns ? now - o->born_ns : 0))
		return aggregate__no_memory();
	return 0;
}

/* The cell that owns a block out of the map. */
always_inline uint32_t run__owner(const struct aggregate *a, const struct live_block *b, bool more)
{
	if (more && a->measure & MEASURE_LIFETIMES)
		return a->run->objects.at[b->site].cell;
	return b->site;
}

static int more__sample(struct aggregate *a, bool gc)
{
	struct aggregate_run *run = a->run;
	struct timeline *t = &run->summary->timeline;

	if (timeline__add(t, t->by_time ? run->now_ns : run->n_done + run->n_skipped,
			  run__heap(run), gc))
		return aggregate__no_memory();
	return 0;
}

/* ---- events ---- */

/* The owner of B holds it no longer. */
always_inline void run__leave(struct aggregate *a, const struct live_block *b, uint32_t cell,
			      bool more)
{
	struct site_stats *owner = &a->stats[cell];

	if (more && a->measure & MEASURE_PEAK)
		more__touch(a, cell);
	owner->n_out++;
	owner->out_bytes += b->size;
	a->run->known -= b->size;
}

/* What stands in the map for the owner of a block that EV makes or resizes:
 * its cell, or its object, OBJECT of those there are.  SITE_NONE: no memory. */
always_inline uint32_t run__holder(struct aggregate *a, const struct queued *ev, uint32_t object,
				   bool more)
{
	struct object new = { a->run->clock, a->run->now_ns, ev->cell };

	if (!more || !(a->measure & MEASURE_LIFETIMES))
		return ev->cell;
	if (object != OBJECT_NONE) {
		a->run->objects.at[object].cell = ev->cell;
		return object;
	}
	if (ev->kind == LJM_REALLOC)
		new.born = BORN_UNKNOWN;
	return objects__new(&a->run->objects, &new);
}

always_inline int run__enter(struct aggregate *a, const struct queued *ev, uint32_t object,
			     bool more)
{
	struct live_block b = { ev->new_addr, ev->new_size, run__holder(a, ev, object, more) }, old;
	int ret = b.site == SITE_NONE ? -ENOMEM : live__put(&a->run->live, &b, &old);

	if (ret < 0)
		return aggregate__no_memory();
	a->run->known += b.size;
	if (ret) { /* its free was lost, or is of an unusual allocator */
		run__leave(a, &old, run__owner(a, &old, more), more);
		if (more && a->measure & MEASURE_LIFETIMES)
			objects__free(&a->run->objects, old.site);
		a->totals.n_replaced++;
	}
	return 0;
}

always_inline int run__failed(struct aggregate *a, const struct queued *ev)
{
	a->totals.n_failed++;
	a->totals.failed_bytes += ev->new_size;
	return 0;
}

always_inline int run__alloc(struct aggregate *a, const struct queued *ev, bool more)
{
	struct site_stats *s = &a->stats[ev->cell];

	if (!ev->new_addr)
		return run__failed(a, ev);
	if (more && a->measure & MEASURE_PEAK)
		more__touch(a, ev->cell);
	s->n_alloc++;
	s->alloc_bytes += ev->new_size;
	a->run->heap += ev->new_size;
	a->run->clock++;
	if (run__enter(a, ev, OBJECT_NONE, more))
		return -ENOMEM;
	run__note_peak(a->run);
	return 0;
}

always_inline int run__free(struct aggregate *a, const struct queued *ev, bool more)
{
	struct site_stats *s = &a->stats[ev->cell];
	struct live_block b;
	uint32_t owner;
	int err = 0;

	s->n_free++;
	s->free_bytes += ev->old_size;
	a->run->heap -= ev->old_size;
	if (!live__take(&a->run->live, ev->old_addr, &b)) {
		a->totals.n_unknown_free++;
		a->totals.unknown_bytes += ev->old_size;
		return 0;
	}
	owner = run__owner(a, &b, more);
	run__leave(a, &b, owner, more);
	if (more && a->measure & MEASURE_LIFETIMES) {
		err = more__freed(a, &b);
		objects__free(&a->run->objects, b.site);
	}
	return err ? err : origins__note(a, ev->cell, owner, ORIGIN_FREE);
}

always_inline int run__realloc(struct aggregate *a, const struct queued *ev, bool more)
{
	struct site_stats *s = &a->stats[ev->cell];
	uint32_t owner = ev->cell, object = OBJECT_NONE;
	struct live_block b = { .size = 0 };
	bool known;

	if (!ev->new_addr) /* the block stays as it was */
		return run__failed(a, ev);
	known = live__take(&a->run->live, ev->old_addr, &b);
	if (known) {
		object = b.site;
		owner = run__owner(a, &b, more);
		run__leave(a, &b, owner, more);
		if (origins__note(a, ev->cell, owner, ORIGIN_REALLOC))
			return -ENOMEM;
	} else {
		a->totals.n_unknown_realloc++;
		a->totals.unknown_bytes += ev->old_size;
	}
	if (more && a->measure & MEASURE_PEAK)
		more__touch(a, ev->cell);
	if (more && a->measure & MEASURE_CHAINS)
		more__resized(a, ev, known, owner, b.size);
	s->n_realloc++;
	s->realloc_new += ev->new_size;
	s->realloc_old += ev->old_size;
	a->run->heap += (s128)ev->new_size - (s128)ev->old_size;
	if (run__enter(a, ev, object, more))
		return -ENOMEM;
	run__note_peak(a->run);
	return 0;
}

/* Takes the oldest event out of the queue. */
always_inline int run__next(struct aggregate *a, bool more)
{
	const struct queued *ev = &a->run->queue[a->run->n_done++ % QUEUE];
	int err = 0;

	switch (ev->kind) {
	case LJM_ALLOC:
		err = run__alloc(a, ev, more);
		break;
	case LJM_FREE:
		err = run__free(a, ev, more);
		break;
	case LJM_REALLOC:
		err = run__realloc(a, ev, more);
		break;
	default:
		break;
	}
	if (more && a->measure & MEASURE_TIMELINE && !err)
		err = more__sample(a, ev->gc);
	return err;
}

int run__drain(struct aggregate *a)
{
	int err = 0;

	while (!err && a->run->n_done < a->run->n_events)
		err = run__next(a, true);
	return err;
}

static void run__forget(void *ctx, const struct live_block *b)
{
	struct aggregate *a = ctx;

	run__leave(a, b, run__owner(a, b, true), true);
	if (a->measure & MEASURE_LIFETIMES)
		objects__free(&a->run->objects, b->site);
}

void run__forget_live(struct aggregate *a, uint64_t heap)
{
	live__drop(&a->run->live, run__forget, a);
	a->run->heap = heap;
	run__note_peak(a->run);
}

always_inline int run__push(struct aggregate *a, const struct ljm_event *ev, uint32_t cell,
			    bool more)
{
	struct aggregate_run *run = a->run;
	struct queued *q = &run->queue[run->n_events++ % QUEUE];

	*q = (struct queued){ ev->old_addr, ev->old_size, ev->new_addr, ev->new_size,
			      cell,         ev->kind,     false };
	if (more)
		q->gc = ev->loc.source == LJM_SRC_INTERNAL && ev->vmstate == LJM_VMSTATE_GC;
	if (ev->kind != LJM_ALLOC)
		live__prefetch(&run->live, ev->old_addr);
	if (ev->kind != LJM_FREE)
		live__prefetch(&run->live, ev->new_addr);
	if (!(run->n_events % PROGRESS_EVENTS))
		recording__progress(run->n_events);
	return run->n_events - run->n_done < QUEUE ? 0 : run__next(a, more);
}

/* An event outside of what counts: the heap is to be right where that begins. */
static int run__skip(struct aggregate_run *run, const struct ljm_event *ev)
{
	if (run->state == RUN_CLOSED)
		run->summary->n_after_close++;
	if (run->state != RUN_BEFORE)
		return 0;
	run->n_skipped++;
	if (ev->kind == LJM_FREE || ev->new_addr)
		run->heap += (s128)ev->new_size - (s128)ev->old_size;
	return 0;
}

/* The cell of an event of SITE. */
static uint32_t aggregate__split(struct aggregate *a, const struct ljm_event *ev, uint32_t site)
{
	struct cell_key c = { .site = site };

	if (a->split & SPLIT_STACK)
		c.node = stacks__node(&a->stacks, ev->stack);
	if (a->split & SPLIT_SIZE)
		c.size_class = size_class__of(ev->kind == LJM_FREE ? ev->old_size : ev->new_size);
	if (a->split & SPLIT_VM)
		c.session = (uint32_t)a->n_sessions - 1;
	return cells__get(&a->cells, &c);
}

/* When an event happens that comes in, as a timeline has it. */
static uint64_t run__coming(const struct aggregate_run *run)
{
	return run->summary->timeline.by_time ? run->now_ns : run->n_events + run->n_skipped;
}

always_inline int aggregate__take(struct aggregate *a, const struct ljm_event *ev, bool more)
{
	uint32_t cell;

	if (a->run->state != RUN_COUNTS)
		return run__skip(a->run, ev);
	cell = symtab__site(a->symtab, &ev->loc, ev->vmstate);
	if (cell == SITE_NONE)
		return -ENOMEM;
	if (more && a->split) {
		cell = aggregate__split(a, ev, cell);
		if (cell == HASHMAP_NONE)
			return aggregate__no_memory();
	}
	if (cell >= a->n_stats && aggregate__grow(a, cell))
		return -ENOMEM;
	if (more && a->observe && a->observe(a->observe_ctx, ev, cell, run__coming(a->run)))
		return -ENOMEM;
	return run__push(a, ev, cell, more);
}

int aggregate__event(void *ctx, const struct ljm_event *ev)
{
	return aggregate__take(ctx, ev, false);
}

int aggregate__event_more(void *ctx, const struct ljm_event *ev)
{
	return aggregate__take(ctx, ev, true);
}
