/* stacks.c - see stacks.h. */
#include "backends/luajit/stacks.h"

#include <limits.h>
#include <sys/mman.h>

#include "backends/luajit/vm.h"
#include "formats/session.h"

/* What a frame is, as one number that is never used again for another: the
 * sequence number stands for a prototype's or trace's life. */
enum { SITE_LUA = 1, SITE_LINE = 2, SITE_C = 3, SITE_TRACE = 4, SITE_CUT = 5 };

static uint64_t site_key(unsigned kind, uint64_t what, uint64_t detail)
{
	return (uint64_t)kind << 60 | (what & ((UINT64_C(1) << 36) - 1)) << 24 |
	       (detail & 0xffffff);
}

/* C functions have 47 bits of address and 8 of number. */
static uint64_t c_key(const struct lj_frame_site *site)
{
	return (uint64_t)SITE_C << 60 | (uint64_t)site->ffid << 48 | (uint64_t)(uintptr_t)site->f;
}

static uint64_t hash(uint64_t site, uint32_t parent)
{
	uint64_t h = (site ^ (uint64_t)parent << 32 ^ parent) * UINT64_C(0x9E3779B97F4A7C15);

	return (h ^ h >> 29) * UINT64_C(0xBF58476D1CE4E5B9) >> (64 - NODE_BITS);
}

/* Nodes told before never come up again. */
static bool tell_forgotten(struct agent_vm *vm)
{
	uint64_t last = vm->stacks->last_id;

	if (vm->stacks->forgotten && producer__ctl(&vm->out, CTL_FORGET, &last, 1))
		vm->stacks->forgotten = false;
	return !vm->stacks->forgotten;
}

static bool put_node(struct agent_vm *vm, uint32_t id, uint32_t parent, const struct ljm_loc *loc)
{
	uint64_t words[5] = { id, parent, loc->source, loc->addr, loc->num };

	return tell_forgotten(vm) && producer__ctl(&vm->out, CTL_STACK, words, 5);
}

void stacks__empty(struct stacks *s)
{
	madvise(s->table, sizeof(s->table), MADV_DONTNEED);
	memset(s->table, 0, sizeof(s->table)); /* the pages at both ends are not whole */
	s->used = 0;
	s->forgotten = s->last_id > 0;
	stacks__forget(s);
}

/* The table is emptied when it is nearly full: nodes that come up again get
 * new numbers, which costs a few records and is right all the same. */
static void make_space(struct stacks *s)
{
	if (s->used >= (3u << NODE_BITS) / 4)
		stacks__empty(s);
}

/* The node of SITE under PARENT, told to the stream if it is new. */
static uint32_t node_of(struct agent_vm *vm, uint32_t parent, uint64_t site,
			const struct ljm_loc *loc)
{
	struct stacks *s = vm->stacks;
	const uint32_t mask = (1u << NODE_BITS) - 1;
	uint32_t i = (uint32_t)hash(site, parent);

	while (s->table[i].id) {
		if (s->table[i].site == site && s->table[i].parent == parent)
			return s->table[i].id;
		i = (i + 1) & mask;
	}
	if (!put_node(vm, s->last_id + 1, parent, loc))
		return 0;
	s->table[i] = (struct stack_key){ site, parent, ++s->last_id };
	s->used++;
	return s->last_id;
}

/* ---- the site of a frame ---- */

/* Where the frame's own PC says nothing (after the exit of a trace, or below a
 * handler that the VM called) AT may still know the line, or the API. */
static uint32_t lua_node(struct agent_vm *vm, uint32_t parent, const struct lj_frame_site *site,
			 const struct lj_place *at)
{
	unsigned kind = SITE_LUA;
	uint64_t detail = site->pos;
	struct ljm_loc loc = { .source = LJM_SRC_LUA, .addr = (uint64_t)(uintptr_t)site->pt };
	uintptr_t *entry;

	if (!describe_proto(vm, site->pt, at))
		return 0;
	entry = known__find(&vm->known, site->pt);
	if (!entry)
		return 0;
	if (site->pos != UINT32_MAX) {
		loc.num = lj_line(&vm->lay, site->pt, site->pos);
	} else {
		loc.num = detail =
			at->num ? at->num
				: lj_line_at_level(&vm->lay, vm->api, at->L, at->level, site->pt);
		kind = SITE_LINE;
	}
	if (loc.num > INT32_MAX)
		loc.num = 0;
	return node_of(vm, parent, site_key(kind, known__seq(&vm->known, entry), detail), &loc);
}

static uint32_t frame_node(struct agent_vm *vm, uint32_t parent, const struct lj_frame *frame,
			   const struct lj_place *at)
{
	struct ljm_loc loc = { .source = LJM_SRC_C };
	struct lj_frame_site site;

	lj_frame_site(&vm->lay, frame, &site);
	if (site.pt)
		return lua_node(vm, parent, &site, at);
	if (!describe_cfunc(vm, site.f, site.ffid))
		return 0;
	loc.addr = (uint64_t)(uintptr_t)site.f;
	return node_of(vm, parent, c_key(&site), &loc);
}

static uint32_t trace_node(struct agent_vm *vm, uint32_t parent, const struct lj_place *at)
{
	struct ljm_loc loc = { .source = LJM_SRC_TRACE, .num = at->num };
	uintptr_t *entry = known__find(&vm->known, at->addr); /* described with the event */

	if (!entry)
		return 0;
	return node_of(vm, parent, site_key(SITE_TRACE, known__seq(&vm->known, entry), at->num),
		       &loc);
}

static uint32_t cut_node(struct agent_vm *vm)
{
	struct ljm_loc loc = { .source = LJM_SRC_INTERNAL, .num = SESSION_STACK_CUT };

	return node_of(vm, 0, site_key(SITE_CUT, 0, 0), &loc);
}

/* ---- walking ---- */

/* How many of the J outermost frames of the last walk a walk that has come to
 * the innermost of them would meet again: all, or those outside of one that it
 * would not.  By itself, because it is the one loop over all frames. */
static __attribute__((noinline)) unsigned still_there(const struct lj_layout *lay,
						      const struct stack_walk *w, unsigned j)
{
	const struct stack_frame *first = w->frames, *frame = first + j;

	while (frame-- > first) {
		if (__builtin_expect(!lj_frame_same(&frame->f), 0))
			return (unsigned)(frame - first);
		if (frame->f.is_special &&
		    !lj_frame_same_special(lay, &frame->f, frame > first ? frame[-1].f.pc : NULL))
			return (unsigned)(frame - first);
	}
	return j;
}

/* What a walk has found. */
struct found {
	unsigned fresh; /* frames, of stacks.fresh */
	unsigned kept; /* frames of the last walk, below them */
	uint32_t calls; /* of the fresh ones */
	bool cut;
};

/* The frames that are kept make a stack of the same length as one of a walk to
 * the end would have. */
static bool may_keep(const struct stacks *s, const struct found *f, unsigned kept)
{
	const struct stack_walk *w = &s->walk;
	uint32_t depth = f->calls + (kept ? w->frames[kept - 1].depth : 0);

	if (f->fresh + kept > WALK_MAX)
		return false;
	return w->cut ? depth == w->depth : depth <= s->most;
}

/* Walks from W on until the rest is as it was the last time.  Where it comes to the
 * place of an old frame, that one and those below it are checked; what is left to
 * compare then is where its function stands, which those that it calls tell. */
static struct found walk(const struct lj_layout *lay, struct stacks *s, struct lj_walk *w)
{
	const struct stack_frame *old = s->walk.frames;
	unsigned j = s->walk.n;
	struct found f = { 0 };
	struct lj_frame *next;
	bool holds = false;

	while (lj_walk__next(lay, w, next = &s->fresh[f.fresh])) {
		f.cut = f.fresh + 1 == WALK_MAX || (next->is_call && f.calls == s->most);
		if (f.cut)
			break;
		while (j && old[j - 1].f.at > next->at)
			j--;
		if (j && old[j - 1].f.at == next->at) {
			unsigned there = holds ? j : still_there(lay, &s->walk, j);

			holds = there == j;
			j = there;
			if (holds && old[j - 1].f.pc == next->pc &&
			    old[j - 1].f.code == next->code && lj_frame_is_known(lay, next) &&
			    may_keep(s, &f, j)) {
				f.kept = j;
				f.cut = s->walk.cut;
				break;
			}
		}
		f.calls += next->is_call;
		f.fresh++;
	}
	return f;
}

/* The stack of the thread that resumed L, and of those before it. */
static uint32_t resumer_node(struct agent_vm *vm, lua_State *L, unsigned most)
{
	struct stacks *s = vm->stacks;
	struct lj_frame frames[32];
	lua_State *by = lj_resumer(&vm->lay, vm->L, L, s->ff_resume, s->ff_wrap);
	unsigned n = 0, room = most < 32 ? most : 32;
	bool cut = false;
	struct lj_frame f;
	struct lj_walk w;
	uint32_t node;

	if (!by || !most)
		return 0;
	w = lj_walk__of(&vm->lay, by, lj_base(&vm->lay, by), NULL);
	while (!cut && lj_walk__next(&vm->lay, &w, &f)) {
		cut = f.is_call && n == room;
		if (f.is_call && !cut)
			frames[n++] = f;
	}
	node = cut ? cut_node(vm) : resumer_node(vm, by, most - n);
	while (n-- > 0) {
		node = frame_node(vm, node, &frames[n], &(struct lj_place){ 0 });
		if (!node)
			return 0;
	}
	return node;
}

/* What is kept stands under another resumer, or the mark of a cut, by now. */
static bool move_kept(struct agent_vm *vm, struct stack_walk *w, unsigned kept, uint32_t below)
{
	uint32_t node = below;
	unsigned i;

	for (i = 0; i < kept; i++) {
		if (w->frames[i].f.is_call) {
			node = frame_node(vm, node, &w->frames[i].f, &(struct lj_place){ 0 });
			if (!node)
				return false;
		}
		w->frames[i].node = node;
	}
	return true;
}

#define NO_FRAME UINT_MAX

/* LEAF is the innermost place.  When it has a thread, frames are levels of the
 * API from 0 on, so that their functions can be asked for their names.  LEFT_OUT
 * is a fresh frame that is not told.  False if a node could not be told. */
static bool add_fresh(struct agent_vm *vm, const struct found *f, const struct lj_place *leaf,
		      unsigned left_out, uint32_t *node)
{
	struct stacks *s = vm->stacks;
	struct stack_frame *to = &s->walk.frames[f->kept];
	struct lj_place at = { .L = leaf->L, .level = (int)f->calls - (left_out != NO_FRAME) };
	uint32_t depth = f->kept ? to[-1].depth : 0;
	unsigned i;

	for (i = f->fresh; i-- > 0; to++) {
		const struct lj_frame *frame = &s->fresh[i];

		if (frame->is_call && i != left_out) {
			at.level--;
			at.num = !at.level && leaf->where == LJ_AT_LINE && !leaf->level ? leaf->num
											: 0;
			*node = frame_node(vm, *node, frame, &at);
			if (!*node)
				return false;
		}
		depth += frame->is_call;
		*to = (struct stack_frame){ *frame, *node, depth };
		/* It may be another place the next time, and so for those it calls. */
		if (!s->walk.n && !lj_frame_is_known(&vm->lay, frame))
			s->walk.n = f->kept + f->fresh - i;
	}
	if (!s->walk.n)
		s->walk.n = f->kept + f->fresh;
	s->walk.depth = depth;
	return true;
}

/* The function a trace was entered in is the one it starts in, most often: the
 * trace's own name then says it.  That frame, or NO_FRAME. */
static unsigned trace_function(struct agent_vm *vm, const struct found *f,
			       const struct lj_place *at)
{
	struct lj_trace_info info;
	struct lj_frame_site site;
	unsigned i = 0;

	while (i < f->fresh && !vm->stacks->fresh[i].is_call)
		i++;
	if (i == f->fresh)
		return NO_FRAME; /* a C function, as the place in others is unknown */
	lj_frame_site(&vm->lay, &vm->stacks->fresh[i], &site);
	lj_trace_info(&vm->lay, at->addr, &info);
	return site.pt && site.pt == info.pt ? i : NO_FRAME;
}

/* Where a walk begins. */
struct start {
	lua_State *L;
	const uint64_t *base;
	const uint8_t *pc, *trace;
	uint32_t trace_no;
};

/* A closure may have been freed and another one made in its place.  Of those that
 * have called others the places tell. */
static bool is_same_function(const struct lj_layout *lay, const struct lj_frame *f)
{
	return !f->code || lj_frame_code(lay, f) == f->code;
}

/* Whether nothing has changed since the last walk, so that its node is right. */
static bool is_same_stack(const struct agent_vm *vm, const struct start *from,
			  const uint64_t *bottom)
{
	const struct stack_walk *w = &vm->stacks->walk;

	return w->all && w->base == from->base && w->pc == from->pc && w->trace == from->trace &&
	       w->trace_no == from->trace_no && w->L == from->L && w->bottom == bottom &&
	       still_there(&vm->lay, w, w->all) == w->all &&
	       is_same_function(&vm->lay, &w->frames[w->all - 1].f);
}

/* All places must be known, but that of the function on top when it is LEFT_OUT. */
static void keep_start(const struct lj_layout *lay, struct stacks *s, const struct start *from,
		       unsigned all, bool left_out, uint32_t node)
{
	struct stack_walk *w = &s->walk;
	const struct stack_frame *last;

	w->base = from->base;
	w->pc = from->pc;
	w->trace = from->trace;
	w->trace_no = from->trace_no;
	w->node = node;
	if (s->across || !w->n)
		return;
	last = &w->frames[w->n - 1];
	if (left_out ? last->depth == w->depth : w->n == all && lj_frame_is_known(lay, &last->f))
		w->all = all;
}

/* Walks and keeps what was found for the next time; the node goes to *NODE: 0 when
 * there is no frame.  False when one could not be told. */
static bool walk_nodes(struct agent_vm *vm, const struct start *from, struct lj_walk *w,
		       const struct lj_place *leaf, uint32_t *node)
{
	struct stacks *s = vm->stacks;
	struct stack_walk *last = &s->walk;
	unsigned left_out;
	struct found f;
	uint32_t below, depth;

	if (last->L != from->L || last->bottom != w->bottom)
		last->n = 0;
	last->L = from->L;
	last->bottom = w->bottom;
	f = walk(&vm->lay, s, w);
	left_out = from->trace ? trace_function(vm, &f, leaf) : NO_FRAME;
	depth = f.calls + (f.kept ? last->frames[f.kept - 1].depth : 0);
	below = f.cut ? cut_node(vm) : s->across ? resumer_node(vm, from->L, s->most - depth) : 0;
	last->n = last->all = 0; /* until all are told */
	last->cut = f.cut;
	if (below != last->below && !move_kept(vm, last, f.kept, below))
		return false;
	last->below = below;
	*node = f.kept ? last->frames[f.kept - 1].node : below;
	if (!add_fresh(vm, &f, leaf, left_out, node))
		return false;
	if (from->trace)
		*node = trace_node(vm, *node, leaf);
	if (*node)
		keep_start(&vm->lay, s, from, f.kept + f.fresh, left_out != NO_FRAME, *node);
	return true;
}

uint32_t stacks__node(struct agent_vm *vm, const struct lj_place *at)
{
	bool traced = at->where == LJ_AT_TRACE;
	struct start from = { .L = (lua_State *)lj_ptr(vm->g, vm->lay.g_cur_l) };
	struct lj_walk w;
	uint32_t node = 0;

	if (!from.L || at->where == LJ_AT_VM)
		return 0;
	from.base = traced ? lj_trace_base(&vm->lay, vm->g) : lj_base(&vm->lay, from.L);
	if (!from.base)
		return 0;
	if (traced) {
		from.trace = at->addr;
		from.trace_no = at->num;
	} else {
		from.pc = lj_top_pc(&vm->lay, from.L);
	}
	make_space(vm->stacks);
	w = lj_walk__of(&vm->lay, from.L, from.base, from.pc);
	if (is_same_stack(vm, &from, w.bottom))
		return vm->stacks->walk.node;
	return walk_nodes(vm, &from, &w, at, &node) ? node : 0;
}
