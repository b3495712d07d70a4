/* vm.h - what the agent keeps for one VM; only for backends/luajit/. */
#ifndef LJPERF_BACKENDS_LUAJIT_VM_H
#define LJPERF_BACKENDS_LUAJIT_VM_H

#include "backends/luajit/known.h"
#include "backends/luajit/producer.h"
#include "vendor/luajit/locate.h"

#define MAX_MODULES 64

struct module_range {
	uint64_t start, end;
};

struct agent_vm {
	/* Read on every event. */
	struct lj_layout lay;
	const volatile uint32_t *alive; /* a page that reads as zero in a forked child */
	lua_Alloc alloc;		/* the program's own allocator */
	void *alloc_ud;
	const uint8_t *g;
	const struct lj_api *api;
	struct producer out;
	const uint8_t *last_pt[2]; /* described: no need to ask known */
	const uint8_t *last_trace;
	const uint8_t *last_cfunc;
	uint32_t min_described;	   /* no prototype or trace takes fewer bytes */
	uint32_t clock_countdown;  /* events until the clock is looked at */
	uint64_t last_time;
	bool oracle;

	lua_State *L; /* main thread */
	void *stack; /* of the main thread when closing began, else NULL */
	struct module_range modules[MAX_MODULES];
	unsigned n_modules;
	struct known known;
};

/* hook.c */
void *agent_hook(void *ud, void *ptr, size_t osize, size_t nsize);

/* describe.c: each makes sure that the stream has told of its argument; false
 * when that had to be dropped. */
bool describe_proto(struct agent_vm *vm, const uint8_t *pt, const struct lj_place *at);
bool describe_trace(struct agent_vm *vm, const struct lj_place *at);
void describe_forget(struct agent_vm *vm, const void *ptr);

/* modules.c */
bool describe_cfunc(struct agent_vm *vm, const uint8_t *addr);

/* agent.c: the VM gives up its stack, the last thing but one in its life. */
void agent_detach(struct agent_vm *vm);

#endif
