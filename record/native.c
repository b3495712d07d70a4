/* native.c - see native.h. */
#include "record/native.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "record/unwind_file.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/grow.h"
#include "util/hashmap.h"

/* So many places are remembered, then all are looked up anew. */
#define RULES_MAX 65536

/* A process with more files than this is not believed. */
#define MODULES_MAX 16384
#define BUILD_ID_MAX 64

/* Code in no module: the agent is asked to look again, at first at once, then
 * after twice the time whenever that has brought nothing. */
#define ASK_FIRST_NS UINT64_C(1000000)
#define ASK_MOST_NS UINT64_C(1000000000)

struct module {
	uint64_t start, end, bias, head_sum;
	char *path;
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_len;
	bool stale; /* not told again since something was unloaded */
	bool opened;
	struct unwind_file *file; /* once opened; NULL: it cannot be used */
};

/* How to get from a frame to the one that called it. */
struct rule {
	uint64_t pc;
	bool api; /* a function of the VM's interface */
	bool unknown; /* in no module */
	uint64_t module; /* start of it, to tell modules apart */
	struct eh_rule eh;
};

struct native {
	pid_t pid;
	struct module *modules;
	size_t n_modules, cap_modules;
	struct rule *rules;
	size_t n_rules, cap_rules;
	struct hashmap map;
	uint64_t ask_at, ask_wait; /* ns */
};

/* ---- modules ---- */

static int no_memory(void)
{
	return err__set(-ENOMEM, "no memory for native call stacks");
}

struct native *native__new(pid_t pid)
{
	struct native *n = calloc(1, sizeof(*n));

	if (!n)
		no_memory();
	else
		n->pid = pid;
	return n;
}

static void forget_rules(struct native *n)
{
	hashmap__clear(&n->map);
	n->n_rules = 0;
}

static void module__exit(struct module *m)
{
	unwind_file__delete(m->file);
	free(m->path);
}

void native__delete(struct native *n)
{
	size_t i;

	if (!n)
		return;
	for (i = 0; i < n->n_modules; i++)
		module__exit(&n->modules[i]);
	free(n->modules);
	free(n->rules);
	hashmap__exit(&n->map);
	free(n);
}

static bool overlaps(const struct module *m, const struct session_module *told)
{
	return m->start < told->end && told->start < m->end;
}

static bool is_same(const struct module *m, const struct session_module *told, uint64_t head_sum)
{
	return m->start == told->start && m->end == told->end && m->bias == told->bias &&
	       m->head_sum == head_sum && m->build_id_len == told->build_id_len &&
	       (!m->build_id_len || !memcmp(m->build_id, told->build_id, m->build_id_len)) &&
	       strlen(m->path) == told->path_len && !memcmp(m->path, told->path, told->path_len);
}

/* Leaves out modules: those that TOLD lies over, or, without one, those that
 * have been stale since the last time. */
static void drop_modules(struct native *n, const struct session_module *told)
{
	size_t i, to = 0;

	for (i = 0; i < n->n_modules; i++) {
		if (told ? overlaps(&n->modules[i], told) : n->modules[i].stale)
			module__exit(&n->modules[i]);
		else
			n->modules[to++] = n->modules[i];
	}
	n->n_modules = to;
}

void native__unloads(struct native *n)
{
	size_t i;

	drop_modules(n, NULL);
	for (i = 0; i < n->n_modules; i++)
		n->modules[i].stale = true;
	forget_rules(n);
}

static int add_module(struct native *n, const struct session_module *told, uint64_t head_sum)
{
	struct module *m;

	if (GROW(n->modules, n->cap_modules, n->n_modules))
		return no_memory();
	m = &n->modules[n->n_modules];
	*m = (struct module){
		.start = told->start, .end = told->end, .bias = told->bias, .head_sum = head_sum
	};
	m->path = strndup(told->path, told->path_len);
	if (!m->path)
		return no_memory();
	m->build_id_len = told->build_id_len;
	if (m->build_id_len)
		memcpy(m->build_id, told->build_id, m->build_id_len);
	n->n_modules++;
	return 0;
}

int native__module(struct native *n, const struct session_module *told, uint64_t head_sum,
		   bool *known)
{
	size_t i;

	for (i = 0; i < n->n_modules && !is_same(&n->modules[i], told, head_sum); i++)
		;
	*known = i < n->n_modules;
	if (*known) {
		n->modules[i].stale = false;
		return 0;
	}
	drop_modules(n, told);
	forget_rules(n);
	n->ask_at = n->ask_wait = 0;
	if (n->n_modules >= MODULES_MAX || told->path_len >= PATH_MAX ||
	    told->build_id_len > BUILD_ID_MAX)
		return 0; /* its code is unknown */
	return add_module(n, told, head_sum);
}

static struct module *module_at(const struct native *n, uint64_t pc)
{
	size_t i;

	for (i = 0; i < n->n_modules; i++)
		if (pc >= n->modules[i].start && pc < n->modules[i].end && !n->modules[i].stale)
			return &n->modules[i];
	return NULL;
}

static struct unwind_file *file_of(struct native *n, struct module *m)
{
	struct unwind_want want = { m->path, m->build_id, m->build_id_len, m->head_sum };

	if (!m->opened)
		m->file = unwind_file__open(n->pid, &want);
	m->opened = true;
	return m->file;
}

static bool is_to_be_asked(struct native *n)
{
	uint64_t now = clock__ns(CLOCK_MONOTONIC_COARSE);

	if (now < n->ask_at)
		return false;
	n->ask_wait = n->ask_wait ? n->ask_wait * 2 : ASK_FIRST_NS;
	if (n->ask_wait > ASK_MOST_NS)
		n->ask_wait = ASK_MOST_NS;
	n->ask_at = now + n->ask_wait;
	return true;
}

/* ---- rules ---- */

static void make_rule(struct native *n, struct rule *r)
{
	struct module *m = module_at(n, r->pc);
	struct unwind_file *file = m ? file_of(n, m) : NULL;

	r->unknown = !m;
	r->module = m ? m->start : 0;
	if (!file)
		return;
	r->api = unwind_file__is_api(file, r->pc - m->bias);
	r->eh = unwind_file__rule(file, r->pc - m->bias);
}

/* The rule of PC; NULL without memory. */
static const struct rule *rule_of(struct native *n, uint64_t pc)
{
	uint64_t hash = hash__u64(pc);
	uint32_t pos, id;
	struct rule *r;

	for (id = hashmap__first(&n->map, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(&n->map, hash, &pos))
		if (n->rules[id].pc == pc)
			return &n->rules[id];
	if (n->n_rules >= RULES_MAX)
		forget_rules(n);
	if (GROW(n->rules, n->cap_rules, n->n_rules) ||
	    hashmap__add(&n->map, hash, (uint32_t)n->n_rules))
		return NULL;
	r = &n->rules[n->n_rules++];
	*r = (struct rule){ .pc = pc };
	make_rule(n, r);
	return r;
}

/* ---- walking ---- */

struct walk {
	const struct native_sample *sample;
	uint64_t pc, sp, bp;
	bool bp_known;
};

static bool read_stack(const struct native_sample *s, uint64_t at, uint64_t *value)
{
	if (at < s->sp || at - s->sp > s->len || s->len - (at - s->sp) < sizeof(*value))
		return false;
	memcpy(value, s->stack + (at - s->sp), sizeof(*value));
	return true;
}

/* The address of the frame: the caller's stack pointer. */
static bool frame_address(const struct walk *w, const struct eh_rule *r, uint64_t *cfa)
{
	if (r->cfa_reg == EH_REG_BP && !w->bp_known)
		return false;
	*cfa = (r->cfa_reg == EH_REG_BP ? w->bp : w->sp) + (uint64_t)r->cfa_off;
	return (!r->cfa_deref || read_stack(w->sample, *cfa, cfa)) && *cfa > w->sp;
}

static void find_bp(struct walk *w, const struct eh_rule *r, uint64_t cfa)
{
	switch (r->bp) {
	case EH_BP_SAME:
		break;
	case EH_BP_IN_FRAME:
		w->bp_known = read_stack(w->sample, cfa + (uint64_t)r->bp_off, &w->bp);
		break;
	case EH_BP_BY_BP:
		w->bp_known = w->bp_known &&
			      read_stack(w->sample, w->bp + (uint64_t)r->bp_off, &w->bp);
		break;
	case EH_BP_LOST:
		w->bp_known = false;
	}
}

/* Moves on to the caller, whose stack pointer is CFA. */
static bool step(struct walk *w, const struct eh_rule *r, uint64_t cfa)
{
	if (!read_stack(w->sample, cfa + (uint64_t)r->ra_off, &w->pc))
		return false;
	find_bp(w, r, cfa);
	w->sp = cfa;
	w->pc--; /* the call, and not what follows it */
	return w->pc != UINT64_MAX;
}

/* What lies inside of the VM's interface, and the agent that was called there,
 * is not told.  Where the interface has no names, all but the agent stays. */
struct trim {
	uint64_t agent; /* its module */
	bool inside; /* no frame but the agent's was met */
	bool api; /* the last one was of the interface */
	bool past; /* and others came */
};

static void add_frame(struct native_frames *f, struct trim *t, const struct rule *r)
{
	if (t->inside && r->module == t->agent)
		return;
	t->inside = false;
	if (r->api && !t->past) {
		f->n = 0;
		t->api = true;
	} else if (t->api) {
		t->past = true;
	}
	f->at[f->n++] = r->pc;
}

int native__walk(struct native *n, const struct native_sample *sample, struct native_frames *f)
{
	struct walk w = { sample, sample->pc, sample->sp, sample->bp, true };
	const struct rule *r;
	struct trim t = { .inside = true };
	uint64_t cfa = 0;

	f->n = 0;
	f->whole = f->ask = false;
	for (;;) {
		r = rule_of(n, w.pc);
		if (!r)
			return no_memory();
		if (w.sp == sample->sp)
			t.agent = r->module;
		if (r->unknown) {
			f->ask = is_to_be_asked(n);
			return 0;
		}
		if (r->eh.usable && !frame_address(&w, &r->eh, &cfa))
			return 0;
		if (r->eh.usable && sample->bound && cfa > sample->bound)
			return 0; /* not a frame of the C function's stack */
		if (f->n == NATIVE_FRAMES)
			return 0;
		add_frame(f, &t, r);
		f->whole = r->eh.outermost || (r->eh.usable && cfa == sample->bound);
		if (f->whole || !r->eh.usable || !step(&w, &r->eh, cfa))
			return 0;
	}
}
