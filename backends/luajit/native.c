/* native.c - see native.h. */
#include "backends/luajit/native.h"

#include <errno.h>

#include "vendor/luajit/walk.h"

/* Words that the event and the record before it take at least. */
#define EVENT_WITH_NATIVE 24

struct registers {
	uint64_t pc, sp, bp;
};

#ifdef __x86_64__
static inline __attribute__((always_inline)) void read_registers(struct registers *r)
{
	__asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
			 : "=&r"(r->pc), "=&r"(r->sp), "=&r"(r->bp));
}
#else
static void read_registers(struct registers *r)
{
	*r = (struct registers){ 0 };
}
#endif

/* The mapping that SP lies in; its start may have grown down since. */
static const struct module_range *stack_of(struct native *n, uint64_t sp)
{
	struct module_range *range;
	unsigned i;

	for (i = 0; i < n->n_stacks && i < NATIVE_STACKS; i++)
		if (sp >= n->stacks[i].start && sp < n->stacks[i].end)
			return &n->stacks[i];
	range = &n->stacks[n->n_stacks % NATIVE_STACKS];
	if (!modules__mapping(sp, range))
		return NULL;
	n->n_stacks++;
	return range;
}

/* Where the piece ends: *BOUND is the stack pointer of the VM that has called
 * the C function, 0 when the function has left that stack or there is none. */
static uint64_t piece_end(struct agent_vm *vm, const struct lj_place *at, uint64_t sp,
			  uint64_t *bound)
{
	const struct module_range *range = stack_of(vm->native, sp);
	uint64_t end = range ? range->end : 0, frame = 0;

	*bound = 0;
	if (at->where == LJ_AT_CFUNC && at->L && vm->lay.has_cframe_pc)
		frame = (uint64_t)(uintptr_t)lj_cframe(&vm->lay, at->L);
	if (frame > sp && frame < end)
		*bound = end = frame;
	return end > sp + NATIVE_PIECE_MAX ? sp + NATIVE_PIECE_MAX : end;
}

/* Everything that is mapped by now, and again when the collector met code that
 * it was not told of. */
static bool tell_modules(struct agent_vm *vm)
{
	struct native *n = vm->native;
	uint32_t wanted = atomic_load_explicit(&vm->out.ring->modules_wanted, memory_order_relaxed);

	modules__forget_unloaded(vm);
	if (n->modules_told && wanted == n->modules_wanted)
		return true;
	n->modules_told = modules__tell_all(vm);
	n->modules_wanted = wanted;
	return n->modules_told;
}

void native__tell(struct agent_vm *vm, const struct lj_place *at, uint32_t node, const void *block)
{
	struct registers r;
	uint64_t words[7], bound, end;
	int saved = errno;

	/* Without room the event will be dropped, too. */
	if (!producer__room(&vm->out, EVENT_WITH_NATIVE))
		return;
	read_registers(&r);
	end = piece_end(vm, at, r.sp, &bound);
	/* The mapping may be another by now than the one remembered. */
	if (end > r.sp &&
	    !lj_read(vm->native->piece, (const void *)(uintptr_t)r.sp, (size_t)(end - r.sp)))
		end = vm->native->n_stacks = 0;
	words[0] = node;
	words[1] = (uint64_t)(uintptr_t)block;
	words[2] = r.pc;
	words[3] = r.sp;
	words[4] = r.bp;
	words[5] = bound;
	words[6] = end > r.sp ? end - r.sp : 0;
	if (tell_modules(vm) && producer__ctl(&vm->out, CTL_NATIVE, words, 7))
		producer__string(&vm->out, vm->native->piece, words[6]);
	errno = saved;
}
