/* probe_watch.c - finds vmstate, cur_L and the PC in the interpreter's C
 * frame: known code allocates while the probe's allocator looks at every word
 * that is still a candidate.
 */
#include "vendor/luajit/probe.h"

#include <string.h>

/* Keeps the words of the global state that held one and the same negative
 * value in every sample of this watch. */
static void watch_vmstate(struct probe *p)
{
	size_t i;

	for (i = 0; i < p->g_words; i++) {
		int32_t v = (int32_t)lj_u32(p->g, (uint32_t)i * 4);

		if (!p->vm_ok[i])
			continue;
		if (p->seen == 0)
			p->vm[p->watch][i] = v;
		if (v >= 0 || v != p->vm[p->watch][i])
			p->vm_ok[i] = false;
	}
}

/* Whether the slots of the loop's function begin at AT, in block STACK. */
static bool is_loop_base(const struct probe *p, const struct block *stack, const uint8_t *at)
{
	const uint8_t *start = block_start(stack);

	return at >= start + 16 && at < start + stack->size && ((uintptr_t)at & 7) == 0 &&
	       LJ_PTR(lj_u64(at - 16, 0)) == p->trace_fn;
}

static void watch_trace(struct probe *p)
{
	const struct block *stack =
		(const struct block *)(const void *)lj_ptr(p->L, p->lay->l_stack) - 1;
	size_t i;

	for (i = 0; i < p->g_words; i++)
		p->hits[p->trace_no][i] += lj_u32(p->g, (uint32_t)i * 4) == p->trace_no;
	for (i = 0; i + 2 <= p->g_words; i += 2)
		p->base_hits[p->trace_no][i] +=
			is_loop_base(p, stack, lj_ptr(p->g, (uint32_t)i * 4));
}

/* jit_base is 0 while nothing compiled runs. */
static void watch_zero(struct probe *p)
{
	size_t i;

	for (i = 0; i + 2 <= p->g_words; i += 2)
		if (lj_u64(p->g, (uint32_t)i * 4) != 0)
			p->zero_ok[i] = false;
}

static void watch_cur_l(struct probe *p)
{
	size_t i;

	for (i = 0; i + 2 <= p->g_words; i += 2)
		if (lj_ptr(p->g, (uint32_t)i * 4) != (uint8_t *)p->co)
			p->cur_ok[i] = false;
}

/* The planted code allocates once on each line, so the PC grows from one
 * sample to the next, and lies in its bytecode. */
static void watch_pc(struct probe *p)
{
	const uint8_t *here = __builtin_frame_address(0), *frame;
	uint32_t w, x;
	uint64_t pc;

	for (w = 1; w < p->lay->l_size / 8; w++) {
		frame = (const uint8_t *)(uintptr_t)(lj_u64(p->co, w * 8) & ~UINT64_C(3));
		for (x = 0; x < PROBE_CF_WORDS; x++) {
			if (!p->pc_ok[w][x])
				continue;
			p->pc_ok[w][x] = false;
			if (frame <= here || frame + x * 8 + 8 > p->stack_top)
				continue;
			if (!lj_read(&pc, frame + x * 8, sizeof(pc)) || pc <= (uintptr_t)p->bc ||
			    pc > (uintptr_t)p->bc_end || pc <= p->last_pc[w][x])
				continue;
			p->pc_ok[w][x] = true;
			p->last_pc[w][x] = pc;
		}
	}
}

void probe_watch__alloc(struct probe *p)
{
	switch (p->watch) {
	case WATCH_LUA:
		watch_pc(p);
		watch_cur_l(p);
		watch_vmstate(p);
		watch_zero(p);
		break;
	case WATCH_CO:
		watch_cur_l(p);
		break;
	case WATCH_FFUNC:
	case WATCH_C:
		watch_vmstate(p);
		break;
	case WATCH_TRACE:
		watch_trace(p);
		break;
	case WATCH_TEST:
		selftest__alloc(p);
		break;
	case WATCH_FRAMES: /* counts those that it can use */
		probe_frames__alloc(p);
		return;
	case WATCH_NOTHING:
	case WATCH_GC:
		return;
	}
	p->seen++;
}

void probe_watch__free(struct probe *p)
{
	if (p->watch == WATCH_TEST)
		selftest__free(p);
	if (p->watch != WATCH_GC)
		return;
	watch_vmstate(p);
	p->seen++;
}

/* Calls the function on top of L's stack while WATCH is on. */
static int watched_call(struct probe *p, lua_State *L, enum watch watch)
{
	int err;

	p->co = L;
	p->seen = 0;
	p->watch = watch;
	err = p->api->lua_pcall(L, 0, 0, 0);
	p->watch = WATCH_NOTHING;
	return err ? probe__fail(p, "the probe's chunk fails: %s",
				 p->api->lua_tolstring(L, -1, NULL))
		   : 0;
}

static int watched(struct probe *p, const char *chunk, enum watch watch, unsigned least)
{
	if (probe__load(p, p->L, chunk, "=ljperf probe") || watched_call(p, p->L, watch))
		return -1;
	return p->seen >= least ? 0 : probe__fail(p, "code of the probe did not allocate");
}

static const char lua_chunk[] =
	"local a = {}\nlocal b = {}\nlocal c = {}\nlocal d = {}\nlocal e = {}\n";

static int watch_lua(struct probe *p)
{
	const uint8_t *pt;

	memset(p->vm_ok, true, sizeof(p->vm_ok));
	memset(p->cur_ok, true, sizeof(p->cur_ok));
	memset(p->pc_ok, true, sizeof(p->pc_ok));
	memset(p->zero_ok, true, sizeof(p->zero_ok));
	if (probe__load(p, p->L, lua_chunk, "=ljperf probe"))
		return -1;
	pt = probe__proto(p, p->L, -1);
	p->bc = pt + p->lay->pt_size;
	p->bc_end = p->bc + lj_u32(pt, p->lay->pt_sizebc) * 4;
	p->stack_top = __builtin_frame_address(0);
	if (watched_call(p, p->L, WATCH_LUA))
		return -1;
	return p->seen >= 5 ? 0 : probe__fail(p, "code of the probe did not allocate");
}

static int c_allocate(lua_State *L)
{
	struct probe *p = probe__self(L);

	p->seen = 0;
	p->watch = WATCH_C;
	p->api->lua_createtable(L, 0, 0);
	p->api->lua_createtable(L, 3, 2);
	p->watch = WATCH_NOTHING;
	return 0;
}

static int watch_c(struct probe *p)
{
	probe__push_self(p, p->L, c_allocate);
	p->api->lua_setfield(p->L, LUA_GLOBALSINDEX, "probe_c");
	if (probe__run(p, p->L, "probe_c()", "=ljperf probe"))
		return -1;
	return p->seen >= 2 ? 0 : probe__fail(p, "code of the probe did not allocate");
}

static int watch_gc(struct probe *p)
{
	p->seen = 0;
	p->watch = WATCH_GC;
	p->api->lua_gc(p->L, LUA_GCCOLLECT, 0);
	p->watch = WATCH_NOTHING;
	p->api->lua_gc(p->L, LUA_GCSTOP, 0);
	return p->seen >= 5 ? 0 : probe__fail(p, "its collector freed nothing");
}

static int watch_coroutine(struct probe *p)
{
	lua_State *co = p->api->lua_newthread(p->L);

	if (probe__load(p, co, lua_chunk, "=ljperf probe"))
		return -1;
	p->co = co;
	p->seen = 0;
	p->watch = WATCH_CO;
	if (p->api->lua_resume(co, 0) != 0)
		return probe__fail(p, "a coroutine of the probe fails");
	p->watch = WATCH_NOTHING;
	return p->seen >= 5 ? 0 : probe__fail(p, "code of the probe did not allocate");
}

/* Loops that a JIT compiler turns into traces 1, 2 and 3; the third has two
 * branches, the second of which becomes trace 4. */
static const char trace_chunk[] =
	"local t = {}\n"
	"local function one(n) for i = 1, n do t[1] = { i } end end\n"
	"local function two(n) for i = 1, n do\nt[2] = { i } end end\n"
	"local function three(n)\n for i = 1, n do if i % 2 == 0 then t[1] = { i } else t[2] = { i } end end end\n"
	"return one, two, three\n";

static int watch_traces(struct probe *p)
{
	unsigned no;

	p->api->lua_settop(p->L, 0);
	if (probe__run(p, p->L, "jit.on() jit.opt.start('hotloop=2', 'hotexit=2')",
		       "=ljperf probe") ||
	    probe__load(p, p->L, trace_chunk, "=ljperf probe"))
		return -1;
	if (p->api->lua_pcall(p->L, 0, 3, 0) != 0)
		return probe__fail(p, "the probe's chunk fails: %s",
				   p->api->lua_tolstring(p->L, -1, NULL));
	for (no = 1; no <= PROBE_TRACES; no++) {
		p->trace_pt[no] = probe__proto(p, p->L, (int)no);
		p->api->lua_pushvalue(p->L, (int)no);
		p->api->lua_pushnumber(p->L, 60);
		p->trace_no = no;
		p->trace_fn = p->api->lua_topointer(p->L, (int)no);
		p->watch = WATCH_TRACE;
		if (p->api->lua_pcall(p->L, 1, 0, 0) != 0)
			return probe__fail(p, "a loop of the probe fails");
		p->watch = WATCH_NOTHING;
	}
	return probe__run(p, p->L, "jit.off()", "=ljperf probe");
}

/* A state of the VM has values of its own in Lua code, C functions and the
 * collector, and is the trace's number in compiled code.  Of 60 rounds of a
 * loop some are run before it is compiled. */
static int choose_vmstate(struct probe *p)
{
	unsigned found = 0, traced = 0, no, t;
	size_t i;

	for (i = 0; i < p->g_words; i++) {
		int32_t lua = p->vm[WATCH_LUA][i], c = p->vm[WATCH_C][i], gc = p->vm[WATCH_GC][i];

		if (!p->vm_ok[i] || lua == c || c == gc || lua == gc || p->vm[WATCH_FFUNC][i] == gc)
			continue;
		for (no = 1, t = 0; no < PROBE_TRACES; no++)
			t += p->hits[no][i] >= 30;
		traced += t == PROBE_TRACES - 1;
		if (found++ && t != PROBE_TRACES - 1)
			continue;
		p->lay->g_vmstate = (uint32_t)i * 4;
		p->lay->st_lua = lua;
		p->lay->st_ffunc = p->vm[WATCH_FFUNC][i];
		p->lay->st_c = c;
		p->lay->st_gc = gc;
	}
	p->lay->has_traces = traced == 1;
	if (traced == 1 || (traced == 0 && found == 1))
		return 0;
	return probe__fail(p, "the state of its VM was not found");
}

static int choose_cur_l(struct probe *p)
{
	unsigned found = 0;
	size_t i;

	for (i = 0; i + 2 <= p->g_words; i += 2) {
		if (!p->cur_ok[i])
			continue;
		p->lay->g_cur_l = (uint32_t)i * 4;
		found++;
	}
	return found == 1 ? 0 : probe__fail(p, "its running thread was not found");
}

static int choose_jit_base(struct probe *p)
{
	unsigned found = 0;
	size_t i;

	for (i = 0; p->lay->has_traces && i + 2 <= p->g_words; i += 2) {
		if (!p->zero_ok[i] || p->base_hits[1][i] < 30 || p->base_hits[2][i] < 30)
			continue;
		p->lay->g_jit_base = (uint32_t)i * 4;
		found++;
	}
	if (found != 1) /* only needed for call stacks */
		p->lay->g_jit_base = 0;
	return 0;
}

/* Two places may hold the PC only if the processor's calling convention is
 * one that nobody has looked at: then the API is asked instead. */
static int choose_pc(struct probe *p)
{
	unsigned found = 0;
	uint32_t w, x;

	for (w = 1; w < p->lay->l_size / 8; w++) {
		for (x = 0; x < PROBE_CF_WORDS; x++) {
			if (!p->pc_ok[w][x])
				continue;
			p->lay->l_cframe = w * 8;
			p->lay->cframe_pc = x * 8;
			found++;
		}
	}
	p->lay->has_cframe_pc = found == 1;
	return 0;
}

static const char ffunc_chunk[] = "for i = 1, 4 do local s = probe_rep('x', 40 + i) end";

int probe_watch__run(struct probe *p)
{
	if (watch_lua(p) || probe__run(p, p->L, "probe_rep = string.rep", "=ljperf probe") ||
	    watched(p, ffunc_chunk, WATCH_FFUNC, 4) || watch_c(p) || watch_gc(p) ||
	    watch_coroutine(p) || watch_traces(p))
		return -1;
	return choose_vmstate(p) || choose_cur_l(p) || choose_pc(p) || choose_jit_base(p) ? -1 : 0;
}
