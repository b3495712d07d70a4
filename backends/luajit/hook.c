/* hook.c - the allocator that stands in for a recorded VM's own: finds out
 * who asks, calls the real one, and writes one record into the ring.
 *
 * The hot path of ljperf.  It must not allocate, lock, throw or call Lua; it
 * blocks only while the ring is full.
 */
#include "backends/luajit/native.h"

#include <time.h>

#include "formats/ljm.h"
#include "util/clock.h"

/* Most events between two looks at the clock, which cost more than an event
 * does; how long these may take; and how much later it must be to be told. */
#define CLOCK_EVERY 64
#define CLOCK_MOMENT_NS 20000
#define CLOCK_STEP_NS 250000

static const uint8_t vmstates[] = {
	[LJ_VM_UNKNOWN] = LJM_VMSTATE_UNKNOWN, [LJ_VM_HOST] = LJM_VMSTATE_HOST,
	[LJ_VM_LUA] = LJM_VMSTATE_INTERP,      [LJ_VM_C] = LJM_VMSTATE_C,
	[LJ_VM_TRACE] = LJM_VMSTATE_TRACE,     [LJ_VM_GC] = LJM_VMSTATE_GC,
	[LJ_VM_EXIT] = LJM_VMSTATE_EXIT,       [LJ_VM_RECORD] = LJM_VMSTATE_RECORD,
	[LJ_VM_OPT] = LJM_VMSTATE_OPT,         [LJ_VM_ASM] = LJM_VMSTATE_ASM,
};

/* Compares the two ways to find a place; the public API has the last word.
 * It is only asked where a frame was looked at. */
static void check_oracle(struct agent_vm *vm, struct lj_place *at)
{
	struct lj_place slow = { .L = at->L };

	if (!at->L)
		return;
	lj_locate_slow(&vm->lay, vm->api, at->L, &slow);
	atomic_fetch_add_explicit(&vm->out.ring->oracle_compared, 1, memory_order_relaxed);
	if (lj_place_equal(&slow, at))
		return;
	atomic_fetch_add_explicit(&vm->out.ring->oracle_wrong, 1, memory_order_relaxed);
	*at = slow;
}

/* Describes what AT names, once in the life of each prototype and trace.
 * What could not be described must not be named: it is the VM's then. */
static inline void describe(struct agent_vm *vm, struct lj_place *at)
{
	bool ok = true;

	switch (at->where) {
	case LJ_AT_LINE:
		ok = at->addr == vm->last_pt[0] || at->addr == vm->last_pt[1] ||
		     describe_proto(vm, at->addr, at);
		break;
	case LJ_AT_TRACE:
		ok = at->addr == vm->last_trace || describe_trace(vm, at);
		break;
	case LJ_AT_CFUNC:
		ok = describe_cfunc(vm, at->addr, at->num);
		break;
	case LJ_AT_VM:
		break;
	}
	if (__builtin_expect(!ok, 0)) {
		at->where = LJ_AT_VM;
		at->num = LJ_VM_UNKNOWN;
	}
}

/* Looks again after up to CLOCK_EVERY events, but at once when so many take
 * longer than a moment: a slow program gets the time of each event. */
static void look_at_clock(struct agent_vm *vm)
{
	uint64_t now = clock__ns(CLOCK_MONOTONIC);

	if (now - vm->last_look > CLOCK_MOMENT_NS)
		vm->clock_every = 1;
	else if (vm->clock_every < CLOCK_EVERY)
		vm->clock_every *= 2;
	vm->clock_countdown = vm->clock_every;
	vm->last_look = now;
	if (now - vm->last_time < CLOCK_STEP_NS)
		return;
	vm->last_time = now;
	producer__ctl(&vm->out, CTL_TIME, &now, 1);
}

/* Longest record of an event: word0, num and size, place, three of blocks,
 * stack. */
#define EVENT_WORDS 8

/* When nothing is read any more, the collector tells of that. */
static void event_lost(struct agent_vm *vm)
{
	if (vm->out.dead)
		return;
	vm->out.lost++;
	atomic_fetch_add_explicit(&vm->out.ring->lost, 1, memory_order_relaxed);
}

static inline bool event_room(struct agent_vm *vm)
{
	if (__builtin_expect(--vm->clock_countdown == 0, 0))
		look_at_clock(vm);
	if (__builtin_expect(producer__room(&vm->out, EVENT_WORDS), 1))
		return true;
	event_lost(vm);
	return false;
}

/* A record being written: its words become visible when it is published.
 * Kept in registers, where the words cannot alias the producer's fields. */
struct record {
	uint64_t *data, mask, head;
};

static inline struct record record_begin(const struct producer *out)
{
	return (struct record){ out->data, out->mask, out->head };
}

static inline void record_put(struct record *r, uint64_t word)
{
	r->data[r->head++ & r->mask] = word;
}

static inline void record_end(const struct record *r, struct producer *out)
{
	out->head = r->head;
	producer__publish(out);
}

/* word0 and what belongs to it: size is the new one, of a free the old one. */
static inline void put_head(struct record *r, unsigned type, const struct lj_place *at,
			    uint64_t size)
{
	static const uint8_t sources[] = {
		[LJ_AT_VM] = LJM_SRC_INTERNAL,
		[LJ_AT_LINE] = LJM_SRC_LUA,
		[LJ_AT_CFUNC] = LJM_SRC_C,
		[LJ_AT_TRACE] = LJM_SRC_TRACE,
	};
	unsigned source = sources[at->where], part = 0;
	uint64_t num = at->num;

	if (at->where == LJ_AT_VM)
		part = vmstates[num];
	if (at->where == LJ_AT_VM || at->where == LJ_AT_CFUNC)
		num = 0;
	if (__builtin_expect(num > RING_NUM_MAX || size > RING_SIZE_MAX, 0)) {
		record_put(r, ring_word0(type, source, part, 0, 0) | RING_WIDE);
		record_put(r, num);
		record_put(r, size);
	} else {
		record_put(r, ring_word0(type, source, part, num, size));
	}
	if (at->where == LJ_AT_LINE || at->where == LJ_AT_CFUNC)
		record_put(r, (uint64_t)(uintptr_t)at->addr);
}

static inline void emit(struct agent_vm *vm, unsigned type, const struct lj_place *at,
			uint64_t size, const void *addr, uint32_t stack)
{
	struct record r;

	if (!event_room(vm))
		return;
	r = record_begin(&vm->out);
	put_head(&r, type, at, size);
	record_put(&r, (uint64_t)(uintptr_t)addr);
	if (type & RING_WITH_STACK)
		record_put(&r, stack);
	record_end(&r, &vm->out);
}

/* Whether the event may follow; else it is lost. */
static bool tell_native(struct agent_vm *vm, const struct lj_place *at, uint32_t stack,
			const void *block)
{
	if (!native__applies(at) || native__tell(vm, at, stack, block))
		return true;
	event_lost(vm);
	return false;
}

/* Only called when stacks are recorded, as most programs are not. */
static inline void emit_alloc(struct agent_vm *vm, const struct lj_place *at, const void *new,
			      uint64_t size, uint32_t stack)
{
	if (__builtin_expect(vm->native != NULL, 0) && !tell_native(vm, at, stack, new))
		return;
	emit(vm, RING_ALLOC_STACK, at, size, new, stack);
}

static void emit_realloc(struct agent_vm *vm, const struct lj_place *at, const void *old,
			 uint64_t osize, const void *new, uint64_t nsize, uint32_t stack)
{
	struct record r;

	if (__builtin_expect(vm->native != NULL, 0) && !tell_native(vm, at, stack, new))
		return;
	if (!event_room(vm))
		return;
	r = record_begin(&vm->out);
	put_head(&r, vm->stacks ? RING_REALLOC_STACK : RING_REALLOC, at, nsize);
	record_put(&r, (uint64_t)(uintptr_t)old);
	record_put(&r, (uint64_t)(uintptr_t) new);
	record_put(&r, osize);
	if (vm->stacks)
		record_put(&r, stack);
	record_end(&r, &vm->out);
}

/* A free by the collector, which most are: nothing is to be found out. */
static inline void emit_collected(struct agent_vm *vm, const void *addr, uint64_t size)
{
	struct record r;

	if (!event_room(vm))
		return;
	r = record_begin(&vm->out);
	record_put(&r, ring_word0(RING_FREE, LJM_SRC_INTERNAL, LJM_VMSTATE_GC, 0, size));
	record_put(&r, (uint64_t)(uintptr_t)addr);
	record_end(&r, &vm->out);
}

/* Finds the place, which has to be done first of all: while the VM's stack
 * moves, the old frames are gone after the call. */
static inline void find_place(struct agent_vm *vm, struct lj_place *at)
{
	lj_locate(&vm->lay, vm->api, vm->g, at);
	if (__builtin_expect(vm->oracle, 0))
		check_oracle(vm, at);
	describe(vm, at);
}

/* A large enough block may be a prototype or a trace, or, while the VM is
 * being closed, the main thread's stack. */
static void *hook_free(struct agent_vm *vm, void *ptr, size_t size)
{
	lua_Alloc alloc = vm->alloc;
	void *ud = vm->alloc_ud;
	struct lj_place at;

	if (size >= vm->min_described)
		describe_forget(vm, ptr);
	if (lj_is_collecting(&vm->lay, vm->g) && size <= RING_SIZE_MAX) {
		emit_collected(vm, ptr, size);
		return alloc(ud, ptr, size, 0);
	}
	find_place(vm, &at);
	emit(vm, RING_FREE, &at, size, ptr, 0);
	if (__builtin_expect(vm->closing, 0) && ptr == lj_stack(&vm->lay, vm->L))
		agent_detach(vm); /* VM is not ours to use after this */
	return alloc(ud, ptr, size, 0);
}

/* A VM that is not recorded now; it may be closed all the same. */
static void *pass_on(struct agent_vm *vm, void *ptr, size_t osize, size_t nsize)
{
	lua_Alloc alloc = vm->alloc;
	void *ud = vm->alloc_ud;

	if (__builtin_expect(vm->closing, 0) && nsize == 0 && ptr &&
	    ptr == lj_stack(&vm->lay, vm->L))
		agent_detach(vm); /* VM is not ours to use after this */
	return alloc(ud, ptr, osize, nsize);
}

__attribute__((noinline)) static void *record(struct agent_vm *vm, void *ptr, size_t osize,
					      size_t nsize)
{
	struct lj_place at;
	uint32_t stack = 0;
	void *new;

	if (__builtin_expect(!agent_is_recorded(vm), 0) && !agent_revive(vm))
		return pass_on(vm, ptr, osize, nsize);
	if (nsize == 0)
		return ptr ? hook_free(vm, ptr, osize) : vm->alloc(vm->alloc_ud, NULL, osize, 0);
	find_place(vm, &at);
	if (vm->stacks)
		stack = stacks__node(vm, &at);
	new = vm->alloc(vm->alloc_ud, ptr, osize, nsize);
	if (__builtin_expect(!new, 0))
		return NULL; /* no event: nothing has changed */
	if (ptr)
		emit_realloc(vm, &at, ptr, osize, new, nsize, stack);
	else if (vm->stacks)
		emit_alloc(vm, &at, new, nsize, stack);
	else
		emit(vm, RING_ALLOC, &at, nsize, new, 0);
	return new;
}

/* While recording is off the first test is all: there is nothing to save and
 * restore around it. */
void *agent_hook(void *ud, void *ptr, size_t osize, size_t nsize)
{
	struct agent_vm *vm = ud;

	if (atomic_load_explicit(vm->epoch, memory_order_relaxed) == vm->epoch_off)
		return vm->alloc(vm->alloc_ud, ptr, osize, nsize);
	return record(vm, ptr, osize, nsize);
}
