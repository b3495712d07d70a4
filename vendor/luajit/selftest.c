/* selftest.c - after the probe: runs a script whose allocations are known and
 * compares where locate.h says they happened.  One wrong answer, and nothing
 * is recorded.
 */
#include "vendor/luajit/probe.h"

#include <string.h>

/* What one part of the script must give: EXPECT says where the allocations
 * between two calls of probe_step() stand. */
struct expectation {
	const char *what;
	enum lj_where where;
	uint32_t line; /* LINE: the line; TRACE: the line it starts at */
	unsigned least; /* events there; other places are wrong */
	uint32_t interpreted; /* TRACE: line of the loop's body, before it is compiled */
};

enum { N_STEPS = 8, STEP_COLLECT };

struct selftest {
	unsigned step; /* 0: not in a step */
	unsigned hits[N_STEPS + 1], misses[N_STEPS + 1];
	unsigned slow_wrong, interpreted;
	unsigned gc_frees, other_frees;
};

static const char test_name[] = "=ljperf self-test";

/* Line numbers matter: each step's code stands alone on the line that
 * steps[] below names. */
static const char test_chunk[] =
	"local step, rep, t = probe_step, string.rep, {}\n"
	"local meta = setmetatable({}, { __index = function(_, k)\n"
	"  return { k } end, __concat = string.rep })\n"
	"local function va(...)\n"
	"  local x = { ... } return x end\n"
	"step(1)\n"
	"local a = {}\n" /* 7 */
	"step(2)\n"
	"local b = rep('y', 100)\n" /* 9: built-in function */
	"step(3)\n"
	"local c = meta.field\n" /* metamethod allocates on 3 */
	"step(4)\n"
	"va(1, 2, 3)\n" /* vararg function allocates on 5 */
	"step(5)\n"
	"probe_alloc()\n" /* C function */
	"step(6)\n"
	"coroutine.resume(probe_co, t)\n" /* on line 1 of another chunk */
	"step(7)\n"
	"local ok, s = pcall(rep, 'z', 100)\n" /* built-in called by a built-in */
	"step(8)\n"
	"for i = 1, 100 do\n" /* 21: compiled */
	"  t[1] = { i } end\n"
	"step(0)\n";

static const struct expectation steps[N_STEPS + 1] = {
	[1] = { "a line of Lua code", LJ_AT_LINE, 7, 1, 0 },
	[2] = { "a built-in function", LJ_AT_LINE, 9, 1, 0 },
	[3] = { "a metamethod", LJ_AT_LINE, 3, 1, 0 },
	[4] = { "a vararg function", LJ_AT_LINE, 5, 1, 0 },
	[5] = { "a C function", LJ_AT_CFUNC, 0, 1, 0 },
	[6] = { "a coroutine", LJ_AT_LINE, 1, 1, 0 },
	[7] = { "a built-in function under pcall", LJ_AT_CFUNC, 0, 1, 0 },
	[8] = { "compiled code", LJ_AT_TRACE, 21, 30, 22 },
};

static int c_step(lua_State *L)
{
	struct probe *p = probe__self(L);

	p->test->step = (unsigned)p->api->lua_tointeger(L, 1);
	return 0;
}

static int c_alloc(lua_State *L)
{
	probe__self(L)->api->lua_createtable(L, 0, 0);
	return 0;
}

static bool chunk_is(const struct probe *p, const uint8_t *pt, const char *name)
{
	struct lj_proto_info info;

	lj_proto_info(p->lay, pt, &info);
	return info.chunk_len == strlen(name) && memcmp(info.chunk, name, info.chunk_len) == 0;
}

static bool as_expected(const struct probe *p, const struct lj_place *at)
{
	const struct expectation *want = &steps[p->test->step];
	struct lj_trace_info trace;
	lua_CFunction f = c_alloc;

	if (at->where == LJ_AT_LINE && want->interpreted && at->num == want->interpreted) {
		p->test->interpreted++;
		return chunk_is(p, at->addr, test_name);
	}
	if (at->where != want->where)
		return false;
	switch (at->where) {
	case LJ_AT_LINE:
		return at->num == want->line && chunk_is(p, at->addr, test_name);
	case LJ_AT_CFUNC:
		return p->test->step != 5 || memcmp(&at->addr, &f, sizeof(f)) == 0;
	case LJ_AT_TRACE:
		lj_trace_info(p->lay, at->addr, &trace);
		return trace.line == want->line && chunk_is(p, trace.pt, test_name);
	case LJ_AT_VM:
		break;
	}
	return false;
}

/* The slow path must agree wherever it has a say. */
static bool slow_agrees(const struct probe *p, const struct lj_place *at)
{
	struct lj_place slow = { .L = at->L };

	if (!at->L)
		return true;
	lj_locate_slow(p->lay, p->api, at->L, &slow);
	return lj_place_equal(&slow, at);
}

void selftest__alloc(struct probe *p)
{
	struct lj_place at = { 0 };

	if (!p->test->step || p->test->step > N_STEPS)
		return;
	lj_locate(p->lay, p->api, p->g, &at);
	/* The compiler's own allocations between two rounds of a loop. */
	if (at.where == LJ_AT_VM && steps[p->test->step].where == LJ_AT_TRACE)
		return;
	if (as_expected(p, &at))
		p->test->hits[p->test->step]++;
	else
		p->test->misses[p->test->step]++;
	if (!slow_agrees(p, &at))
		p->test->slow_wrong++;
}

void selftest__free(struct probe *p)
{
	struct lj_place at = { 0 };

	if (p->test->step != STEP_COLLECT)
		return;
	lj_locate(p->lay, p->api, p->g, &at);
	if (at.where == LJ_AT_VM && at.num == LJ_VM_GC)
		p->test->gc_frees++;
	else
		p->test->other_frees++;
}

static int judge(struct probe *p, const struct selftest *t)
{
	unsigned i;

	for (i = 1; i <= N_STEPS; i++) {
		const struct expectation *want = &steps[i];

		if (want->where == LJ_AT_TRACE && !p->lay->has_traces)
			continue;
		if (t->hits[i] - t->interpreted * (i == N_STEPS) < want->least || t->misses[i])
			return probe__fail(p, "the self-test fails at %s", want->what);
	}
	/* One table in each of the 100 rounds, compiled or not: none is lost to
	 * the recorder. */
	if (p->lay->has_traces && p->lay->has_cframe_pc && t->hits[N_STEPS] != 100)
		return probe__fail(p, "the self-test misses allocations of a loop");
	if (t->slow_wrong)
		return probe__fail(p, "the self-test's two paths disagree");
	if (!t->gc_frees || t->other_frees)
		return probe__fail(p, "the self-test fails at the collector");
	return 0;
}

static int set_up(struct probe *p)
{
	lua_State *co;

	probe__push_self(p, p->L, c_step);
	p->api->lua_setfield(p->L, LUA_GLOBALSINDEX, "probe_step");
	probe__push_self(p, p->L, c_alloc);
	p->api->lua_setfield(p->L, LUA_GLOBALSINDEX, "probe_alloc");
	co = p->api->lua_newthread(p->L);
	if (probe__load(p, co, "local t = ... t[2] = { 1 }", test_name))
		return -1;
	p->api->lua_setfield(p->L, LUA_GLOBALSINDEX, "probe_co");
	return probe__run(p, p->L, "jit.flush() jit.on()", "=ljperf probe");
}

int selftest__run(struct probe *p)
{
	struct selftest test = { 0 };
	int err;

	p->api->lua_settop(p->L, 0);
	if (set_up(p) || probe__load(p, p->L, test_chunk, test_name))
		return -1;
	p->test = &test;
	p->watch = WATCH_TEST;
	err = p->api->lua_pcall(p->L, 0, 0, 0);
	test.step = STEP_COLLECT;
	if (!err)
		p->api->lua_gc(p->L, LUA_GCCOLLECT, 0);
	p->watch = WATCH_NOTHING;
	p->test = NULL;
	if (err)
		return probe__fail(p, "the self-test fails: %s",
				   p->api->lua_tolstring(p->L, -1, NULL));
	return judge(p, &test);
}
