/* native.h - native call stacks in the agent: for an event of a C function, or
 * of the host with nothing running, the registers and the piece of the C stack
 * that the collector needs to find out who called whom.  Unwinding here would
 * take the loader's lock.  Only called by the hook, when asked for.
 */
#ifndef LJPERF_BACKENDS_LUAJIT_NATIVE_H
#define LJPERF_BACKENDS_LUAJIT_NATIVE_H

#include "backends/luajit/vm.h"

#define NATIVE_PIECE_MAX (64u << 10) /* bytes of the stack; frames beyond are left out */
#define NATIVE_STACKS 8 /* mappings with stacks that are remembered */

/* A mapping with a stack in it, and the thread that it was seen in. */
struct native_stack {
	struct module_range range;
	uint64_t thread;
};

struct native {
	struct native_stack stacks[NATIVE_STACKS];
	unsigned n_stacks;
	bool modules_told; /* all code that was mapped when it was last looked at */
	uint32_t loads_seen; /* by then */
	bool unloads_untold; /* the collector takes unloaded files for loaded */
	uint32_t modules_wanted; /* the collector's wish that was fulfilled last */
	char piece[NATIVE_PIECE_MAX];
};

/* Built-in functions are the VM's own code: what they call says nothing. */
static inline bool native__applies(const struct lj_place *at)
{
	return at->where == LJ_AT_CFUNC ? at->num == 1
					: at->where == LJ_AT_VM && at->num == LJ_VM_HOST;
}

/* Tells what the collector needs for the event of BLOCK that comes next and
 * has stack NODE.  False without room, when the event is to be dropped as well: it
 * would look as if nothing native had called it. */
bool native__tell(struct agent_vm *vm, const struct lj_place *at, uint32_t node, const void *block);

#endif
