/* aggregate.c - one pass over the events; see aggregate.h. */
#include "report/aggregate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/aggregate_run.h"
#include "report/features.h"
#include "report/recording.h"
#include "util/error.h"
#include "util/grow.h"

int aggregate__no_memory(void)
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
	a->totals.has_leaked = a->totals.has_exit = true;
	a->temporary_threshold = 1;
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
	objects__exit(&run->objects);
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
		timeline__exit(&a->sessions[i].timeline);
	}
	for (i = 0; i < a->n_more; i++)
		measures__exit(&a->more[i]);
	free(a->more);
	free(a->sessions);
	free(a->stats);
	free(a->live);
	free(a->leaked);
	free(a->peak);
	free(a->origins);
	hashmap__exit(&a->origin_map);
	cells__exit(&a->cells);
	stacks__exit(&a->stacks);
	symtab__delete(a->symtab);
	free(a);
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

static int aggregate__stack(void *ctx, const struct session_stack *node)
{
	struct aggregate *a = ctx;

	return stacks__add(&a->stacks, a->symtab, node);
}

/* ---- header and footer ---- */

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

	symtab__header(a->symtab, h);
	a->run->has_header = true;
	a->run->heap = h->heap_start;
	run__note_peak(a->run);
	if (a->measure & MEASURE_TIMELINE && a->run->state == RUN_COUNTS &&
	    timeline__add(&s->timeline, 0, run__heap(a->run), false))
		return aggregate__no_memory();
	features__command(h, &text);
	s->command = strdup(strbuf__str(&text));
	strbuf__reset(&text);
	features__print(h, &text);
	s->features = strdup(strbuf__str(&text));
	s->vm_version = strdup(h->vm_version ? h->vm_version : "");
	strbuf__exit(&text);
	s->cwd = strdup(h->cwd ? h->cwd : "");
	s->vm_label = header__vm_label(h);
	s->pid = h->pid;
	s->start_wall_ns = h->start_wall_ns;
	return s->command && s->features && s->vm_version && s->cwd && s->vm_label
		       ? 0
		       : aggregate__no_memory();
}

static int aggregate__footer(void *ctx, const struct session_footer *f)
{
	struct aggregate *a = ctx;

	/* One that was imported has none. */
	a->run->summary->has_time |= f->duration_ns != 0;
	a->run->summary->duration_ns = f->duration_ns;
	return 0;
}

/* ---- a session, from begin to end ---- */

static int aggregate__begin(struct aggregate *a, const char *path, const struct window *w)
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
	a->run->objects.free = OBJECT_NONE;
	a->run->version = ++a->n_peaks;
	memset(a->run->seen, 0xff, sizeof(a->run->seen));
	run__begin_window(a->run, w);
	symtab__begin_session(a->symtab);
	if (stacks__begin_session(&a->stacks))
		return -ENOMEM;
	/* Sums go on from the sessions before. */
	return snapshot__take(&a->run->start, a, 0);
}

/* Adds what cells hold at TO, since START, to *SUM of *N cells. */
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

/* What cells held at the peak of this session. */
static int aggregate__sum_peak(struct aggregate *a)
{
	struct snapshot at_peak = { .n_taken = 0 };
	size_t i;
	int err = snapshot__take(&at_peak, a, a->run->n_events);

	for (i = 0; !err && i < a->n_more; i++)
		if (a->more[i].version == a->run->version)
			at_peak.at[i] = a->more[i].at_peak;
	err = err ? err : sum__add(&a->peak, &a->n_peak, &at_peak, &a->run->start);
	free(at_peak.at);
	return err;
}

static int aggregate__add_peak(struct aggregate *a, const struct aggregate_run *run)
{
	a->n_peaks = run->version;
	if (a->measure & MEASURE_PEAK && aggregate__sum_peak(a))
		return -ENOMEM;
	if (run->peak <= a->totals.peak)
		return 0;
	a->totals.peak = run->peak;
	a->totals.peak_event = run->peak_event;
	a->totals.peak_ns = run->peak_ns;
	a->totals.peak_has_time = run->summary->has_time;
	return 0;
}

/* A window that never began is a mistake, except past the end. */
static int aggregate__check_window(const struct aggregate_run *run)
{
	const char *name = run->window.from;

	if (run->window.kind != WINDOW_MARKS)
		return 0;
	if (run->opened) {
		if (!run->window.to || run->state == RUN_AFTER)
			return 0;
		name = run->window.to;
	}
	return err__set(-ENOENT, "'%s' has no mark '%s'%s (report --timeline shows all)",
			run->summary->name, name, run->opened ? " behind the beginning" : "");
}

static int aggregate__end(struct aggregate *a)
{
	struct aggregate_run *run = a->run;
	struct session_summary *s = run->summary;
	int err = run__drain(a);

	err = err ? err : aggregate__check_window(run);
	err = err ? err : aggregate__add_peak(a, run);
	if (err)
		return err;
	if (!s->duration_ns)
		s->duration_ns = run->now_ns;
	if (run->state != RUN_AFTER) /* else it ends with the window */
		s->timeline.end = s->timeline.by_time ? s->duration_ns
						      : run->n_events + run->n_skipped;
	a->totals.lost += s->info.lost_events;
	a->totals.lost_batches += s->info.lost_batches;
	a->totals.has_exit &= run->script_end.n_taken > 0;
	if (!run->script_end.n_taken && snapshot__take(&run->script_end, a, run->n_events))
		return -ENOMEM;
	if (sum__add(&a->live, &a->n_live, &run->script_end, &run->start))
		return -ENOMEM;
	if (!run->full_gc.n_taken) {
		a->totals.has_leaked = false;
		return 0;
	}
	return sum__add(&a->leaked, &a->n_leaked, &run->full_gc, &run->start);
}

int aggregate__read(struct aggregate *a, const char *path, bool force)
{
	struct session_handlers handlers = {
		.header = aggregate__header,
		.symbol = aggregate__symbol,
		.event = a->split || a->measure ? aggregate__event_more : aggregate__event,
		.mark = aggregate__mark,
		.module = aggregate__module,
		.time = aggregate__time,
		.stack = a->split & SPLIT_STACK ? aggregate__stack : NULL,
		.footer = aggregate__footer,
	};
	struct window w;
	int err = window__find(&a->window, path, force, &w);

	err = err ? err : aggregate__begin(a, path, &w);
	if (!err)
		err = recording__read(path, force, &handlers, a, &a->run->summary->info);
	if (!err)
		err = aggregate__end(a);
	run__delete(a->run);
	a->run = NULL;
	return err;
}

/* Whether native frames follow SITE; some between may have been left out. */
static bool is_native(const struct aggregate *a, const uint32_t *sites, size_t n, uint32_t site)
{
	size_t i = 0;

	while (i < n && symtab__is_code(a->symtab, sites[i]))
		i++;
	if (i < n && sites[i] == SITE_NONE)
		i++;
	return i && i < n && sites[i] == site;
}

size_t aggregate__frames(const struct aggregate *a, uint32_t cell, uint32_t *sites)
{
	struct cell_key c = aggregate__cell(a, cell);
	size_t n = a->split & SPLIT_STACK ? stacks__path(&a->stacks, c.node, sites) : 0;
	bool builtin = n > 1 && sites[0] != SITE_NONE && sites[1] == c.site &&
		       a->symtab->sites[sites[0]].source == LJM_SRC_C;

	if (n && (sites[0] == c.site || builtin || is_native(a, sites, n, c.site)))
		return n;
	/* The VM itself, in the name of the program, or a stack of nothing. */
	memmove(sites + 1, sites, n * sizeof(*sites));
	sites[0] = c.site;
	return n + 1;
}

static void totals__add_cell(struct totals *t, const struct site_stats *s)
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
		totals__add_cell(t, &a->stats[i]);
	for (i = 0; i < a->n_live; i++) {
		t->live_bytes += a->live[i].bytes;
		t->live_blocks += a->live[i].blocks;
	}
	for (i = 0; i < a->n_leaked; i++) {
		t->leaked_bytes += a->leaked[i].bytes;
		t->leaked_blocks += a->leaked[i].blocks;
	}
}
