/* export_firefox.c - a file for the Firefox Profiler.  Called by export.
 *
 * The format is that of "processed" profiles, version 60; the viewer brings
 * older versions up to its own when it loads a file.  Tables are objects whose
 * members are columns, arrays of one length:
 *
 *	{"meta":{"preprocessedProfileVersion":60,...},
 *	 "shared":{"stringArray":[...],"stackTable":{"frame":[],"prefix":[]},
 *	           "frameTable":{...},"funcTable":{...},"sources":{...},...},
 *	 "threads":[{"name":"allocated","nativeAllocations":
 *	            {"time":[],"weight":[],"stack":[],"weightType":"bytes"},...}],
 *	 "counters":[{"category":"Memory","samples":{"time":[],"count":[]},...}]}
 *
 * Each metric is a thread of its own, whose samples are what stacks weigh, as
 * in profiles of other heap profilers.  That of what was allocated has them in
 * time, and what was freed as negative weights; the others have one time.
 * The counter is the size of the heap, as changes from sample to sample.
 */
#include "report/export_firefox.h"

#include <errno.h>
#include <stdlib.h>

#include "report/json.h"
#include "util/error.h"

enum {
	FORMAT_VERSION = 60, /* of processed profiles */
	GECKO_VERSION = 31, /* of those they are made of, in Firefox */
	NS_PER_MS = 1000000,
	EVENTS_PER_MS = 1000, /* where there are no times */
	SLICE = 1000, /* nanoseconds or events, at first */
};

/* ---- values ---- */

static double firefox__ms(const struct firefox *f, uint64_t at)
{
	return (double)at / (f->by_time ? NS_PER_MS : EVENTS_PER_MS);
}

static void put_ms(struct firefox *f, uint64_t at)
{
	json__double(&f->j, firefox__ms(f, at), 3);
}

static void put_empty(struct firefox *f, const char *key)
{
	json__key(&f->j, key);
	json__open(&f->j, '[');
	json__close(&f->j, ']');
}

/* ---- what the times are of ---- */

static int firefox__observe(void *ctx, const struct ljm_event *ev, uint32_t cell, uint64_t at)
{
	struct export *e = ctx;
	struct export_slices *s = &e->slices;
	int err = 0;

	/* Each session has times from its own start. */
	if (s->n_sessions != e->a->n_sessions) {
		s->n_sessions = e->a->n_sessions;
		s->offset = firefox__offset(e->a, s->n_sessions - 1);
	}
	if (ev->kind != LJM_FREE && !ev->new_addr) /* it failed */
		return 0;
	if (ev->kind != LJM_FREE)
		err = export_slices__add(s, at, cell, false, ev->new_size);
	if (!err && ev->kind != LJM_ALLOC)
		err = export_slices__add(s, at, cell, true, ev->old_size);
	return err ? export__no_memory() : 0;
}

static void firefox__prepare(struct export *e)
{
	e->slices.length = SLICE;
	e->a->observe = firefox__observe;
	e->a->observe_ctx = e;
}

/* ---- threads ---- */

static int put_weights(struct firefox *f, const struct export_column *c)
{
	struct row row;
	uint32_t cell;
	int err = 0;

	json__key(&f->j, "weight");
	json__open(&f->j, '[');
	for (cell = 0; !err && cell < f->e->a->n_stats; cell++) {
		row__of_cell(&row, f->e->a, cell);
		if (c->metric->field->value(&row))
			json__num(&f->j, c->metric->field->value(&row));
		err = export__flush(f->e, false);
	}
	json__close(&f->j, ']');
	return err;
}

/* The stacks of the cells that have some of a metric, all at one time. */
static int put_totals(struct firefox *f, const struct export_column *c, uint64_t at)
{
	struct row row;
	size_t n = 0, i;
	uint32_t cell;
	int err = 0;

	json__key(&f->j, "stack");
	json__open(&f->j, '[');
	for (cell = 0; !err && cell < f->e->a->n_stats; cell++) {
		row__of_cell(&row, f->e->a, cell);
		if (!c->metric->field->value(&row))
			continue;
		n++;
		json__num(&f->j, f->stack_of[cell]);
		err = export__flush(f->e, false);
	}
	json__close(&f->j, ']');
	json__key(&f->j, "time");
	json__open(&f->j, '[');
	for (i = 0; !err && i < n; i++) {
		put_ms(f, at);
		err = export__flush(f->e, false);
	}
	json__close(&f->j, ']');
	json__put_num(&f->j, "length", n);
	return err ? err : put_weights(f, c);
}

static int put_slices(struct firefox *f)
{
	const struct export_slices *s = &f->e->slices;
	size_t i;
	int err = 0;

	json__key(&f->j, "time");
	json__open(&f->j, '[');
	for (i = 0; !err && i < s->n; i++) {
		put_ms(f, s->at[i].slice * s->length);
		err = export__flush(f->e, false);
	}
	json__close(&f->j, ']');
	json__key(&f->j, "weight");
	json__open(&f->j, '[');
	for (i = 0; !err && i < s->n; i++) {
		json__signed(&f->j, s->at[i].freed ? -(s128)s->at[i].bytes : (s128)s->at[i].bytes);
		err = export__flush(f->e, false);
	}
	json__close(&f->j, ']');
	json__key(&f->j, "stack");
	json__open(&f->j, '[');
	for (i = 0; !err && i < s->n; i++) {
		json__num(&f->j, f->stack_of[s->at[i].cell]);
		err = export__flush(f->e, false);
	}
	json__close(&f->j, ']');
	json__put_num(&f->j, "length", s->n);
	return err;
}

/* Marks of the program, and the ends of script and collections. */
static void put_markers(struct firefox *f, bool all)
{
	size_t n = all ? f->n_marks : 0, i;

	json__key(&f->j, "markers");
	json__open(&f->j, '{');
	json__key(&f->j, "startTime");
	json__open(&f->j, '[');
	for (i = 0; i < n; i++)
		put_ms(f, f->marks[i].at);
	json__close(&f->j, ']');
	json__key(&f->j, "name");
	json__open(&f->j, '[');
	for (i = 0; i < n; i++)
		json__num(&f->j, f->marks[i].name);
	json__close(&f->j, ']');
	firefox__put_constants(f, "data", n, NULL);
	firefox__put_constants(f, "endTime", n, NULL);
	firefox__put_constants(f, "phase", n, "0");
	firefox__put_constants(f, "category", n, "0");
	json__put_num(&f->j, "length", n);
	json__close(&f->j, '}');
}

/* There are none: weights are those of allocations. */
static void put_samples(struct firefox *f)
{
	json__key(&f->j, "samples");
	json__open(&f->j, '{');
	put_empty(f, "stack");
	put_empty(f, "time");
	json__put_null(&f->j, "weight");
	json__put_str(&f->j, "weightType", "samples");
	json__put_num(&f->j, "length", 0);
	json__close(&f->j, '}');
}

static int put_allocations(struct firefox *f, const struct export_column *c)
{
	int err;

	json__key(&f->j, "nativeAllocations");
	json__open(&f->j, '{');
	json__put_str(&f->j, "weightType", "bytes");
	if (!strcmp(c->metric->name, "allocated"))
		err = put_slices(f);
	else if (!strcmp(c->metric->name, "peak") && f->e->a->n_sessions == 1)
		err = put_totals(f, c,
				 f->by_time ? f->e->a->totals.peak_ns : f->e->a->totals.peak_event);
	else
		err = put_totals(f, c, f->end);
	json__close(&f->j, '}');
	return err;
}

static int put_thread(struct firefox *f, const struct export_column *c, size_t number)
{
	int err;

	json__open(&f->j, '{');
	json__put_str(&f->j, "processType", "default");
	json__put_str(&f->j, "processName", export__title(f->e));
	json__put_num(&f->j, "processStartupTime", 0);
	json__put_null(&f->j, "processShutdownTime");
	json__put_num(&f->j, "registerTime", 0);
	json__put_null(&f->j, "unregisterTime");
	put_empty(f, "pausedRanges");
	json__put_str(&f->j, "name", c->metric->name);
	json__put_bool(&f->j, "isMainThread", !number);
	json__put_str(&f->j, "pid", "0");
	json__put_num(&f->j, "tid", number);
	put_samples(f);
	put_markers(f, !number);
	err = put_allocations(f, c);
	json__close(&f->j, '}');
	return err;
}

/* ---- the size of the heap ---- */

/* A sample has the largest size and, halfway to the next, the last. */
static void heap__points(struct firefox *f, const struct timeline *t, size_t i,
			 struct heap_point points[2])
{
	const struct timeline_sample *s = &t->at[i];
	uint64_t next = i + 1 < t->n ? t->at[i + 1].at : t->end;

	points[0] = (struct heap_point){ s->at + f->offset, s->max };
	points[1] = (struct heap_point){ s->at + f->offset, s->end };
	if (next > s->at)
		points[1].at += (next - s->at) / 2;
}

static int put_heap(struct firefox *f, const struct timeline *t, bool times)
{
	struct heap_point points[2];
	u128 before = 0;
	size_t i, k;
	int err = 0;

	json__key(&f->j, times ? "time" : "count");
	json__open(&f->j, '[');
	for (i = 0; !err && i < t->n; i++) {
		heap__points(f, t, i, points);
		for (k = 0; k < 2; k++) {
			if (times)
				put_ms(f, points[k].at);
			else
				json__signed(&f->j, (s128)points[k].heap - (s128)before);
			before = points[k].heap;
		}
		err = export__flush(f->e, false);
	}
	json__close(&f->j, ']');
	return err;
}

static int put_counter(struct firefox *f, const struct session_summary *s)
{
	int err;

	json__open(&f->j, '{');
	json__put_str(&f->j, "name", s->vm_label && *s->vm_label ? s->vm_label : "heap");
	json__put_str(&f->j, "category", "Memory");
	json__put_str(&f->j, "description", "Memory of the Lua VM");
	json__put_str(&f->j, "color", "orange");
	json__put_str(&f->j, "pid", "0");
	json__put_num(&f->j, "mainThreadIndex", 0);
	json__key(&f->j, "samples");
	json__open(&f->j, '{');
	err = put_heap(f, &s->timeline, true);
	err = err ? err : put_heap(f, &s->timeline, false);
	json__put_num(&f->j, "length", 2 * s->timeline.n);
	json__close(&f->j, '}');
	json__close(&f->j, '}');
	return err;
}

static int put_counters(struct firefox *f)
{
	const struct aggregate *a = f->e->a;
	size_t i;
	int err = 0;

	json__key(&f->j, "counters");
	json__open(&f->j, '[');
	for (i = 0; !err && i < a->n_sessions; i++) {
		f->offset = firefox__offset(a, i);
		if (a->sessions[i].timeline.n)
			err = put_counter(f, &a->sessions[i]);
	}
	json__close(&f->j, ']');
	return err;
}

/* ---- the whole ---- */

static void put_categories(struct firefox *f)
{
	/* By enum ljm_source; a grey one is the default. */
	static const struct {
		const char *name, *color;
	} categories[] = {
		[0] = { "Other", "grey" },
		[LJM_SRC_INTERNAL] = { "VM", "darkgrey" },
		[LJM_SRC_LUA] = { "Lua", "yellow" },
		[LJM_SRC_C] = { "C", "blue" },
		[LJM_SRC_TRACE] = { "Trace", "green" },
	};
	size_t i;

	json__key(&f->j, "categories");
	json__open(&f->j, '[');
	for (i = 0; i < sizeof(categories) / sizeof(categories[0]); i++) {
		json__open(&f->j, '{');
		json__put_str(&f->j, "name", categories[i].name);
		json__put_str(&f->j, "color", categories[i].color);
		json__key(&f->j, "subcategories");
		json__open(&f->j, '[');
		json__str(&f->j, "Other");
		json__close(&f->j, ']');
		json__close(&f->j, '}');
	}
	json__close(&f->j, ']');
}

static void put_meta(struct firefox *f)
{
	const struct session_summary *s = &f->e->a->sessions[0];

	json__key(&f->j, "meta");
	json__open(&f->j, '{');
	json__put_num(&f->j, "version", GECKO_VERSION);
	json__put_num(&f->j, "preprocessedProfileVersion", FORMAT_VERSION);
	json__put_num(&f->j, "interval", 1);
	json__key(&f->j, "startTime");
	json__double(&f->j, (double)s->start_wall_ns / NS_PER_MS, 3);
	json__put_num(&f->j, "processType", 0);
	json__put_str(&f->j, "product", export__title(f->e));
	json__put_str(&f->j, "importedFrom", "ljperf " LJPERF_VERSION);
	json__put_num(&f->j, "stackwalk", 1);
	json__put_bool(&f->j, "symbolicated", true);
	json__put_bool(&f->j, "usesOnlyOneStackType", true);
	json__put_bool(&f->j, "sourceCodeIsNotOnSearchfox", true);
	json__put_bool(&f->j, "keepProfileThreadOrder", true);
	put_empty(f, "markerSchema");
	put_categories(f);
	json__close(&f->j, '}');
}

static int put_threads(struct firefox *f)
{
	size_t i, n = 0;
	int err = 0;

	json__key(&f->j, "threads");
	json__open(&f->j, '[');
	for (i = 0; !err && i < f->e->n_columns; i++)
		if (!f->e->columns[i].blocks)
			err = put_thread(f, &f->e->columns[i], n++);
	json__close(&f->j, ']');
	return err;
}

static int check_metrics(const struct export *e)
{
	size_t i;

	for (i = 0; i < e->n_columns; i++)
		if (!e->columns[i].blocks && !export_column__is_bytes(&e->columns[i]))
			return err__set(-EINVAL, "the format firefox holds bytes only, not '%s'",
					e->columns[i].metric->name);
	return 0;
}

static int firefox__write(struct export *e)
{
	struct firefox f = { .e = e, .j = { .out = &e->out.buf } };
	int err = check_metrics(e);

	export_slices__sort(&e->slices);
	err = err ? err : firefox__begin(&f);
	json__open(&f.j, '{');
	put_meta(&f);
	put_empty(&f, "libs");
	err = err ? err : firefox__put_shared(&f);
	err = err ? err : put_threads(&f);
	err = err ? err : put_counters(&f);
	json__close(&f.j, '}');
	strbuf__addch(&e->out.buf, '\n');
	firefox__end(&f);
	return err;
}

const struct export_ops export_firefox = {
	.name = "firefox",
	.help = "a profile for the Firefox Profiler, with the heap over time",
	.metrics = "allocated,live,peak",
	.measure = MEASURE_TIMELINE,
	.prepare = firefox__prepare,
	.write = firefox__write,
};
