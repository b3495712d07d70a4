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

/* Where glibc keeps what belongs to the thread: at the top of its stack. */
static uint64_t thread_pointer(void)
{
	uint64_t tp;

	__asm__ volatile("mov %%fs:0, %0" : "=r"(tp));
	return tp;
}

/* Parts of other functions' frames are not for anybody to read, as far as
 * sanitizers that stand in for memcpy() know. */
static void copy_stack(char *to, uint64_t from, size_t len)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(len) : : "memory");
}
#else
static void read_registers(struct registers *r)
{
	*r = (struct registers){ 0 };
}

static uint64_t thread_pointer(void)
{
	return 0;
}

static void copy_stack(char *to, uint64_t from, size_t len)
{
	(void)to, (void)from, (void)len;
}
#endif

/* Where the main thread's stack began, before its arguments and environment;
 * glibc's, and not everywhere. */
extern void *__libc_stack_end __attribute__((weak));

static uint64_t main_stack_end(void)
{
	return &__libc_stack_end ? (uint64_t)(uintptr_t)__libc_stack_end : 0;
}

/* ---- the stack ---- */

/* The mapping that SP lies in; its start may have grown down since. */
static const struct module_range *stack_of(struct agent_vm *vm, uint64_t sp, uint64_t thread)
{
	struct native *n = vm->native;
	struct native_stack *s;
	unsigned i;

	for (i = 0; i < n->n_stacks && i < NATIVE_STACKS; i++) {
		s = &n->stacks[i];
		if (s->thread == thread && sp >= s->range.start && sp < s->range.end)
			return &s->range;
	}
	s = &n->stacks[n->n_stacks % NATIVE_STACKS];
	s->thread = thread;
	if (!modules__mapping(vm, sp, &s->range))
		return NULL;
	n->n_stacks++;
	return &s->range;
}

/* Where the C function's frames end, if it runs on the stack that ends at END:
 * the stack pointer of the VM that has called it, else 0. */
static uint64_t function_end(struct agent_vm *vm, const struct lj_place *at, uint64_t sp,
			     uint64_t end)
{
	uint64_t frame;

	if (at->where != LJ_AT_CFUNC || !at->L || !vm->lay.has_cframe_chain)
		return 0;
	frame = (uint64_t)(uintptr_t)lj_function_cframe(&vm->lay, at->L);
	return frame > sp && frame < end ? frame : 0;
}

/* Copies the piece of the stack that has the frames; *BOUND is where those of
 * the C function end, 0 when that is not known.  The number of bytes. */
static size_t take_piece(struct agent_vm *vm, const struct lj_place *at, uint64_t sp,
			 uint64_t *bound)
{
	uint64_t thread = thread_pointer(), first = main_stack_end(), end;
	const struct module_range *range = stack_of(vm, sp, thread);
	bool own;

	*bound = 0;
	if (!range)
		return 0;
	/* A thread's own stack is there, whole, as long as the thread is. */
	end = range->end;
	own = thread > sp && thread < end;
	if (own) {
		end = thread;
	} else if (first > sp && first < end) {
		own = true;
		end = first;
	}
	*bound = function_end(vm, at, sp, end);
	if (*bound)
		end = *bound;
	if (end - sp > NATIVE_PIECE_MAX)
		end = sp + NATIVE_PIECE_MAX;
	if (own) {
		copy_stack(vm->native->piece, sp, (size_t)(end - sp));
	} else if (!lj_read(vm->native->piece, (const void *)(uintptr_t)sp, (size_t)(end - sp))) {
		vm->native->n_stacks = 0; /* the mapping is another by now */
		return 0;
	}
	return (size_t)(end - sp);
}

/* ---- telling ---- */

/* Everything that is mapped by now, and again when more was loaded, or the
 * collector met code that it was not told of. */
static bool tell_modules(struct agent_vm *vm)
{
	struct native *n = vm->native;
	uint32_t wanted = atomic_load_explicit(&vm->out.ring->modules_wanted, memory_order_relaxed);
	uint32_t loads = atomic_load_explicit(&agent_loads, memory_order_relaxed);

	modules__forget_unloaded(vm);
	if (n->modules_told && wanted == n->modules_wanted && loads == n->loads_seen)
		return true;
	n->modules_told = modules__tell_all(vm);
	n->modules_wanted = wanted;
	n->loads_seen = loads;
	return n->modules_told;
}

bool native__tell(struct agent_vm *vm, const struct lj_place *at, uint32_t node, const void *block)
{
	struct registers r;
	uint64_t words[7];
	int saved = errno;
	bool told;

	if (!producer__room(&vm->out, EVENT_WITH_NATIVE))
		return false;
	read_registers(&r);
	words[0] = node;
	words[1] = (uint64_t)(uintptr_t)block;
	words[2] = r.pc;
	words[3] = r.sp;
	words[4] = r.bp;
	words[6] = take_piece(vm, at, r.sp, &words[5]);
	told = tell_modules(vm) && producer__ctl(&vm->out, CTL_NATIVE, words, 7) &&
	       producer__string(&vm->out, vm->native->piece, words[6]);
	errno = saved;
	return told;
}
