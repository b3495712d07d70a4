/* describe.c - tells the stream what prototypes and traces are, before the
 * first event that names them, and forgets them when their memory is freed.
 */
#include "backends/luajit/vm.h"

#include <string.h>

#include "formats/ljm.h"

static void forget_last(struct agent_vm *vm, const void *ptr)
{
	unsigned i;

	for (i = 0; i < 2; i++)
		if (vm->last_pt[i] == ptr)
			vm->last_pt[i] = NULL;
	if (vm->last_trace == ptr)
		vm->last_trace = NULL;
}

static void add_known(struct agent_vm *vm, const uint8_t *addr, uintptr_t flag)
{
	uintptr_t out = known__add(&vm->known, addr, flag);

	if (out)
		forget_last(vm, (const void *)out);
}

/* The name a traceback would give the running function of AT; "" for a
 * main chunk and for a function nothing in its caller names. */
static const char *function_name(struct agent_vm *vm, const struct lj_place *at, lua_Debug *ar)
{
	if (!at->L || !vm->api->lua_getstack(at->L, at->level, ar) ||
	    !vm->api->lua_getinfo(at->L, "n", ar) || !ar->name)
		return "";
	return ar->name;
}

static bool put_proto(struct agent_vm *vm, const uint8_t *pt, const char *name)
{
	struct lj_proto_info info;
	size_t name_len = strlen(name);
	uint64_t words[5];

	lj_proto_info(&vm->lay, pt, &info);
	words[0] = (uint64_t)(uintptr_t)pt;
	words[1] = (uint64_t)(int64_t)(int32_t)info.firstline;
	words[2] = (uint64_t)info.firstline + info.numline;
	words[3] = info.chunk_len;
	words[4] = name_len;
	return producer__ctl(&vm->out, CTL_PROTO, words, 5) &&
	       producer__string(&vm->out, info.chunk, info.chunk_len) &&
	       producer__string(&vm->out, name, name_len);
}

/* A prototype that was described without its name, as the start of a trace,
 * is described again when it runs and has one. */
bool describe_proto(struct agent_vm *vm, const uint8_t *pt, const struct lj_place *at)
{
	uintptr_t *entry = known__find(&vm->known, pt);
	const char *name;
	lua_Debug ar;

	if (!entry || ((*entry & KNOWN_NAMELESS) && at->L)) {
		name = function_name(vm, at, &ar);
		if ((!entry || name[0]) && !put_proto(vm, pt, name))
			return false;
		if (entry)
			*entry &= ~KNOWN_NAMELESS;
		else
			add_known(vm, pt, at->L ? 0 : KNOWN_NAMELESS);
	}
	vm->last_pt[1] = vm->last_pt[0];
	vm->last_pt[0] = pt;
	return true;
}

/* lj_jit.h's link types in ours, which have one more in front. */
static uint64_t link_type(uint8_t type)
{
	return type < LJM_LINK_STITCH ? (uint64_t)type + 1 : LJM_LINK_UNKNOWN;
}

bool describe_trace(struct agent_vm *vm, const struct lj_place *at)
{
	struct lj_trace_info info;
	uint64_t words[6];

	if (!known__find(&vm->known, at->addr)) {
		lj_trace_info(&vm->lay, at->addr, &info);
		if (!known__find(&vm->known, info.pt)) {
			if (!put_proto(vm, info.pt, ""))
				return false;
			add_known(vm, info.pt, KNOWN_NAMELESS);
		}
		words[0] = (uint64_t)(uintptr_t)info.pt;
		words[1] = info.line;
		words[2] = at->num;
		words[3] = info.root;
		words[4] = info.link;
		words[5] = link_type(info.linktype);
		if (!producer__ctl(&vm->out, CTL_TRACE, words, 6))
			return false;
		add_known(vm, at->addr, 0);
	}
	vm->last_trace = at->addr;
	return true;
}

void describe_forget(struct agent_vm *vm, const void *ptr)
{
	forget_last(vm, ptr);
	if (known__forget(&vm->known, ptr) && vm->stacks)
		stacks__forget(vm->stacks);
}
