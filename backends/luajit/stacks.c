/* stacks.c - see stacks.h. */
#include "backends/luajit/stacks.h"

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

/* A Lua function whose PC is unknown may stand at another line by now. */
static bool same_frame(const struct lj_layout *lay, const struct lj_frame *a,
		       const struct lj_frame *b)
{
	return a->at == b->at && a->link == b->link && a->fn == b->fn && a->pc == b->pc &&
	       (a->pc || a->fn[lay->f_ffid] != 0);
}

/* From which frame of NEW on, up to the outermost, it is the same as OLD;
 * *WHERE is that frame in OLD.  The number of frames when none is. */
static unsigned common_tail(const struct lj_layout *lay, const struct stack_walk *new,
			    const struct stack_walk *old, unsigned *where)
{
	unsigned i = new->n, j = old->n;

	if (new->L != old->L || new->below != old->below)
		return new->n;
	while (i && j && same_frame(lay, &new->frames[i - 1], &old->frames[j - 1]))
		i--, j--;
	*where = j;
	return i;
}

/* LEAF is the innermost place.  When it has a thread, frames are levels of the
 * API from 0 on, so that their functions can be asked for their names. */
static uint32_t walk_nodes(struct agent_vm *vm, struct stack_walk *new,
			   const struct stack_walk *old, const struct lj_place *leaf)
{
	struct lj_place at = { .L = leaf->L };
	unsigned where = 0, i = common_tail(&vm->lay, new, old, &where);
	uint32_t node = i < new->n ? old->nodes[where] : new->below, left;

	for (left = new->n; left-- > i;)
		new->nodes[left] = old->nodes[where + (left - i)];
	while (i-- > 0) {
		at.level = (int)i;
		at.num = i == 0 && leaf->where == LJ_AT_LINE && leaf->level == 0 ? leaf->num : 0;
		node = frame_node(vm, node, &new->frames[i], &at);
		if (!node) {
			new->n = 0; /* nothing to be compared with */
			return 0;
		}
		new->nodes[i] = node;
	}
	return node;
}

/* The stack of the thread that resumed L, and of those before it. */
static uint32_t resumer_node(struct agent_vm *vm, lua_State *L, unsigned most)
{
	struct stacks *s = vm->stacks;
	struct lj_frame frames[32];
	lua_State *by = lj_resumer(&vm->lay, vm->L, L, s->ff_resume, s->ff_wrap);
	uint32_t node;
	unsigned n, i;
	bool cut;

	if (!by || !most)
		return 0;
	n = lj_walk(&vm->lay, by, lj_base(&vm->lay, by), NULL, frames, most < 32 ? most : 32, &cut);
	node = cut ? cut_node(vm) : resumer_node(vm, by, most - n);
	for (i = n; i-- > 0;) {
		node = frame_node(vm, node, &frames[i], &(struct lj_place){ 0 });
		if (!node)
			return 0;
	}
	return node;
}

/* The function a trace was entered in is the one it starts in, most often:
 * the trace's own name then says it. */
static void drop_trace_function(struct agent_vm *vm, struct stack_walk *w,
				const struct lj_place *at)
{
	struct lj_trace_info info;
	struct lj_frame_site site;

	if (!w->n)
		return;
	lj_frame_site(&vm->lay, &w->frames[0], &site);
	lj_trace_info(&vm->lay, at->addr, &info);
	if (!site.pt || site.pt != info.pt)
		return;
	memmove(w->frames, w->frames + 1, --w->n * sizeof(w->frames[0]));
}

uint32_t stacks__node(struct agent_vm *vm, const struct lj_place *at)
{
	struct stacks *s = vm->stacks;
	struct stack_walk *old = &s->walk[s->now], *new = &s->walk[s->now ^ 1];
	bool traced = at->where == LJ_AT_TRACE, cut;
	lua_State *L = (lua_State *)lj_ptr(vm->g, vm->lay.g_cur_l);
	const uint64_t *base;
	uint32_t node;

	if (!L || at->where == LJ_AT_VM)
		return 0;
	base = traced ? lj_trace_base(&vm->lay, vm->g) : lj_base(&vm->lay, L);
	if (!base)
		return 0;
	make_space(s);
	new->L = L;
	new->n = lj_walk(&vm->lay, L, base, traced ? NULL : lj_top_pc(&vm->lay, L), new->frames,
			 s->most, &cut);
	if (traced)
		drop_trace_function(vm, new, at);
	new->below = cut ? cut_node(vm) : s->across ? resumer_node(vm, L, s->most - new->n) : 0;
	node = walk_nodes(vm, new, old, at);
	s->now ^= 1;
	if (traced && (node || !new->n))
		node = trace_node(vm, node, at);
	return node;
}
