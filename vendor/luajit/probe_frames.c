/* probe_frames.c - finds how C frames of the interpreter are chained, and which
 * of them have no frame on the Lua stack: the VM makes such a one to load a
 * chunk, to dump one, and for the like (lj_vm_cpcall() in vm_x64.dasc).  The
 * frame then has a negative count of results, that is the distance from the top
 * of the Lua stack to its start, which the probe knows.
 */
#include "vendor/luajit/probe.h"

#include <string.h>

static void compare_words(struct probe *p, const uint64_t *words)
{
	int32_t halves[2 * PROBE_CF_WORDS];
	uint32_t x;

	memcpy(halves, words, sizeof(halves));
	for (x = 0; x < PROBE_CF_WORDS; x++)
		p->prev_ok[x] &= (words[x] & ~UINT64_C(3)) == (uint64_t)(uintptr_t)p->outer;
	for (x = 0; x < 2 * PROBE_CF_WORDS; x++)
		p->nres_ok[x] &= halves[x] == p->nres;
}

/* A chunk is loaded by a C function, in a frame without a function. */
void probe_frames__alloc(struct probe *p)
{
	const uint8_t *here = __builtin_frame_address(0), *frame = lj_cframe(p->lay, p->co);
	uint64_t words[PROBE_CF_WORDS];

	if (frame == p->outer || frame <= here || frame + sizeof(words) > p->stack_top ||
	    !lj_read(words, frame, sizeof(words)))
		return;
	compare_words(p, words);
	p->seen++;
}

/* The C function's own frame: it is on the Lua stack. */
static void compare_own(struct probe *p)
{
	int32_t halves[2 * PROBE_CF_WORDS];
	uint32_t x;

	if (!lj_read(halves, p->outer, sizeof(halves))) {
		memset(p->nres_ok, false, sizeof(p->nres_ok));
		return;
	}
	for (x = 0; x < 2 * PROBE_CF_WORDS; x++)
		p->nres_ok[x] &= halves[x] >= 0;
}

static int c_load(lua_State *L)
{
	struct probe *p = probe__self(L);

	p->co = L;
	p->outer = lj_cframe(p->lay, L);
	p->nres = (int32_t)(lj_u64(L, p->lay->l_stack) - lj_u64(L, p->lay->l_top));
	compare_own(p);
	p->watch = WATCH_FRAMES;
	probe__load(p, L, "local a, b = {}, function() end", "=ljperf probe");
	p->watch = WATCH_NOTHING;
	return 0;
}

/* From two depths of the stack, and by both ways to call a C function. */
static int watch_loads(struct probe *p)
{
	memset(p->prev_ok, true, sizeof(p->prev_ok));
	memset(p->nres_ok, true, sizeof(p->nres_ok));
	p->stack_top = __builtin_frame_address(0);
	p->seen = 0;
	if (p->api->lua_cpcall(p->L, c_load, NULL) != 0)
		return probe__fail(p, "a C function of the probe fails");
	probe__push_self(p, p->L, c_load);
	p->api->lua_setfield(p->L, LUA_GLOBALSINDEX, "probe_load");
	return probe__run(p, p->L, "probe_load(1, 2, 3, 4, 5)", "=ljperf probe");
}

/* Only needed for native call stacks: those are cut where it was not found. */
int probe_frames__find(struct probe *p)
{
	unsigned n_prev = 0, n_nres = 0;
	uint32_t x;

	if (!p->lay->has_cframe_pc)
		return 0;
	if (watch_loads(p))
		return -1;
	for (x = 0; x < 2 * PROBE_CF_WORDS; x++) {
		if (x < PROBE_CF_WORDS && p->prev_ok[x]) {
			p->lay->cframe_prev = x * 8;
			n_prev++;
		}
		if (p->nres_ok[x]) {
			p->lay->cframe_nres = x * 4;
			n_nres++;
		}
	}
	p->lay->has_cframe_chain = p->seen >= 4 && n_prev == 1 && n_nres == 1;
	return 0;
}
