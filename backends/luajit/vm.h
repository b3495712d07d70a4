/* vm.h - what the agent keeps for one VM; only for backends/luajit/. */
#ifndef LJPERF_BACKENDS_LUAJIT_VM_H
#define LJPERF_BACKENDS_LUAJIT_VM_H

#include "backends/luajit/known.h"
#include "backends/luajit/library.h"
#include "backends/luajit/producer.h"
#include "backends/luajit/stacks.h"
#include "backends/luajit/channel.h"
#include "vendor/luajit/locate.h"

#define MAX_MODULES 1024
#define MAX_BUILD_ID 64
#define CFUNC_BITS 10

struct module_range {
	uint64_t start, end;
};

/* /proc/self/maps being read.  Kept here, because the stack of a thread that
 * allocates may be small. */
struct maps_reader {
	int fd;
	size_t at, len;
	uint64_t head_start, head_path; /* the last file's first bytes seen */

	/* The mapping in work. */
	uint64_t start, end, offset;
	uint64_t head; /* where the file's first bytes are mapped, 0: nowhere */
	bool readable, executable;
	size_t path_len;
	char path[4096];
	char buf[2048];
};

struct agent_vm {
	/* Read on every event. */
	struct lj_layout lay;
	volatile uint32_t *alive; /* a page that reads as zero in a forked child */
	const _Atomic uint32_t *epoch; /* of the recording: odd while events are wanted */
	uint32_t epoch_recorded; /* of this VM; another one: see agent_revive() */
	uint32_t epoch_off; /* nothing is to be done in this one; 0: none */
	lua_Alloc alloc; /* the program's own allocator */
	void *alloc_ud;
	const uint8_t *g;
	const struct lj_api *api;
	struct producer out;
	const uint8_t *last_pt[2]; /* described: no need to ask known */
	const uint8_t *last_trace;
	const uint8_t *last_cfunc; /* and its number: built-ins may share an address */
	uint32_t last_ffid;
	uint32_t min_described; /* no prototype or trace takes fewer bytes */
	uint32_t clock_countdown; /* events until the clock is looked at */
	uint32_t clock_every; /* and how many they were at first */
	uint64_t last_look, last_time; /* ns; the time that was told */
	bool oracle;
	struct stacks *stacks; /* NULL: not recorded */
	struct native *native; /* NULL: only Lua stacks */

	lua_State *L; /* main thread */
	const void *registry; /* the table that leads to named functions, or NULL */
	const struct lj_builtins *builtins;
	uint32_t unloads_seen;
	const struct agent_lib *lib;
	struct channel *channel; /* to the collector */
	struct channel own_channel; /* of a VM that has a collector for itself */
	bool closing; /* the program has called lua_close() */
	bool shut; /* never recorded again */
	bool paused; /* events are missing since the last one in the stream */
	struct agent_hello hello;
	struct module_range modules[MAX_MODULES];
	unsigned n_modules;
	struct maps_reader maps;
	uint8_t module_head[4096]; /* of the file being told */
	uint64_t cfuncs[1 << CFUNC_BITS]; /* address and number of those told */
	struct known known;
};

/* hook.c */
void *agent_hook(void *ud, void *ptr, size_t osize, size_t nsize);

/* loads.c: counts the calls of dlopen() and of dlclose() in this process. */
extern _Atomic uint32_t agent_loads, agent_unloads;

/* describe.c: each makes sure that the stream has told of its argument; false
 * when that had to be dropped. */
bool describe_proto(struct agent_vm *vm, const uint8_t *pt, const struct lj_place *at);
bool describe_trace(struct agent_vm *vm, const struct lj_place *at);
void describe_forget(struct agent_vm *vm, const void *ptr);

/* modules.c */
bool describe_cfunc(struct agent_vm *vm, const uint8_t *addr, uint32_t ffid);

/* The same file, for native.c: the mapping that ADDR lies in, false when there
 * is none; tells of every file with code that is mapped and was not told, false
 * when some had to be dropped; and forgets what a dlclose() may have changed. */
bool modules__mapping(struct agent_vm *vm, uint64_t addr, struct module_range *range);
bool modules__tell_all(struct agent_vm *vm);
void modules__forget(struct agent_vm *vm);

static inline void modules__forget_unloaded(struct agent_vm *vm)
{
	if (__builtin_expect(atomic_load_explicit(&agent_unloads, memory_order_relaxed) !=
				     vm->unloads_seen,
			     0))
		modules__forget(vm);
}

/* agent.c: the VM gives up its stack, the last thing but one in its life. */
void agent_detach(struct agent_vm *vm);

/* agent.c: VM's epoch is not the recording's, or it finds itself in a forked
 * child: what is to be done.  True when it is recorded from here on.  Works
 * inside the hook. */
bool agent_revive(struct agent_vm *vm);

static inline bool agent_is_recorded(const struct agent_vm *vm)
{
	return *vm->alive && !vm->out.dead &&
	       atomic_load_explicit(vm->epoch, memory_order_relaxed) == vm->epoch_recorded;
}

#endif
