/* probe.h - what the parts of the layout probe share.  Only for probe*.c and
 * selftest.c.
 *
 * The probe works on a scratch state whose allocator is its own, so it knows
 * every block of the VM's memory: a word is followed only when it points into
 * one of them.  Nothing else is ever read through.
 */
#ifndef LJPERF_VENDOR_LUAJIT_PROBE_H
#define LJPERF_VENDOR_LUAJIT_PROBE_H

#include <stdalign.h>
#include <stddef.h>

#include "vendor/luajit/locate.h"
#include "vendor/luajit/names.h"

struct block {
	struct block *prev, *next;
	size_t size;
	uint64_t pad; /* keeps the 16 bytes of malloc's alignment */
};

/* What the allocator watches for at the moment. */
enum watch {
	WATCH_NOTHING,
	WATCH_LUA, /* allocations of interpreted Lua code */
	WATCH_FFUNC, /* of a built-in function called from Lua */
	WATCH_C, /* of a C function */
	WATCH_GC, /* frees of the collector */
	WATCH_CO, /* allocations of Lua code in a coroutine */
	WATCH_TRACE, /* of compiled code */
	WATCH_FRAMES, /* of a chunk that a C function loads */
	WATCH_TEST, /* self-test */
};

#define PROBE_RESERVE 65536 /* bytes; a new state takes about 20 thousand */
#define PROBE_TRACES 3
#define PROBE_L_WORDS 32
#define PROBE_CF_WORDS 16
#define PROBE_G_WORDS 1024 /* how far into the global state offsets are sought */

struct probe {
	const struct lj_api *api;
	struct lj_layout *lay;
	struct lj_builtins *names;
	char *why;
	size_t why_len;
	struct block head; /* ring of all blocks */
	uintptr_t lowest, highest; /* no block ever lay outside */
	lua_State *L;
	int result; /* of the protected call that finds all */
	bool out_of_memory; /* the allocator has said no */
	size_t reserved; /* bytes given out from the next */
	alignas(16) uint8_t reserve[PROBE_RESERVE];
	uint8_t *g;
	size_t g_words; /* 4-byte words from g to the end of its block */
	enum watch watch;
	unsigned seen; /* allocations or frees seen by this watch */
	lua_State *co; /* the thread that allocations run on */

	/* Candidates for vmstate and cur_L, by 4-byte word from g: whether it
	 * is still possible, and the one value seen by each watch. */
	bool vm_ok[PROBE_G_WORDS], cur_ok[PROBE_G_WORDS];
	int32_t vm[WATCH_TEST][PROBE_G_WORDS];
	unsigned hits[PROBE_TRACES + 1][PROBE_G_WORDS]; /* word was the trace's number */
	unsigned base_hits[PROBE_TRACES + 1][PROBE_G_WORDS]; /* word was the loop's base */
	bool zero_ok[PROBE_G_WORDS]; /* word was 0 in the interpreter */
	unsigned trace_no; /* that is watched */
	const uint8_t *trace_fn; /* function of the loop */

	/* Candidates for the PC of the running function, by word of lua_State
	 * (it may be the C frame) and word of that C frame. */
	const uint8_t *bc, *bc_end; /* its bytecode */
	const uint8_t *stack_top; /* C stack below this belongs to the probe */
	bool pc_ok[PROBE_L_WORDS][PROBE_CF_WORDS];
	uint64_t last_pc[PROBE_L_WORDS][PROBE_CF_WORDS];

	/* Candidates for what leads to the C frame before, by word of a C frame,
	 * and for its count of results, by half of a word. */
	const uint8_t *outer; /* C frame of the function that loads a chunk */
	int32_t nres; /* what its own have in that place */
	bool prev_ok[PROBE_CF_WORDS], nres_ok[2 * PROBE_CF_WORDS];

	const uint8_t *trace_pt[PROBE_TRACES + 1]; /* prototypes of the loops */
	struct selftest *test;
};

/* Fails with a sentence: always -1. */
int probe__fail(struct probe *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The block that holds N bytes at PTR, or NULL. */
const struct block *probe__block(const struct probe *p, const void *ptr, size_t n);
static inline const uint8_t *block_start(const struct block *b)
{
	return (const uint8_t *)(b + 1);
}

/* Whether PTR is the start of a block of at least N bytes. */
bool probe__is_block(const struct probe *p, const void *ptr, size_t n);

/* Loads CHUNK under NAME and leaves the function on the stack. */
int probe__load(struct probe *p, lua_State *L, const char *chunk, const char *name);
/* Loads and calls it with no results. */
int probe__run(struct probe *p, lua_State *L, const char *chunk, const char *name);
void probe__push_self(struct probe *p, lua_State *L, lua_CFunction f);
struct probe *probe__self(lua_State *L);

const uint8_t *probe__proto(struct probe *p, lua_State *L, int idx); /* of a Lua function */

int probe_state__find(struct probe *p); /* probe_state.c */
int probe_objects__find(struct probe *p); /* probe_objects.c */
int probe_tables__find(struct probe *p); /* probe_tables.c */
int probe_traces__find(struct probe *p); /* probe_objects.c */
int probe_watch__run(struct probe *p); /* probe_watch.c */
void probe_watch__alloc(struct probe *p);
void probe_watch__free(struct probe *p);
int probe_frames__find(struct probe *p); /* probe_frames.c */
void probe_frames__alloc(struct probe *p);
int selftest__run(struct probe *p); /* selftest.c */
void selftest__alloc(struct probe *p);
void selftest__free(struct probe *p);

#endif
