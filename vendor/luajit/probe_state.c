/* probe_state.c - finds the fields of lua_State: numbers are planted as
 * arguments of a C function of ours, and states are compared while a thread
 * runs, has yielded and has failed.
 */
#include "vendor/luajit/probe.h"

#include <string.h>

#define THREAD_BYTES 256

/* Doubles that no pointer or count looks like. */
static const double planted[3] = { 1.2345678e201, -7.6543210e-150, 3.1415926e99 };

struct thread_view {
	uint8_t bytes[THREAD_BYTES];
};

static struct thread_view view_running;

static bool holds_planted(const struct probe *p, const uint8_t *at)
{
	return probe__block(p, at, sizeof(planted)) && memcmp(at, planted, sizeof(planted)) == 0;
}

/* Called with the planted numbers: base points at them, top behind them. */
static int c_args(lua_State *L)
{
	struct probe *p = probe__self(L);
	uint32_t off, base = 0, top = 0, n_base = 0, n_top = 0;
	const uint8_t *at = NULL;

	for (off = 8; off + 8 <= p->lay->l_size; off += 8) {
		if (holds_planted(p, lj_ptr(L, off))) {
			at = lj_ptr(L, off);
			base = off;
			n_base++;
		}
	}
	for (off = 8; n_base == 1 && off + 8 <= p->lay->l_size; off += 8) {
		if (lj_ptr(L, off) == at + sizeof(planted)) {
			top = off;
			n_top++;
		}
	}
	if (n_base == 1 && n_top == 1) {
		p->lay->l_base = base;
		p->lay->l_top = top;
	}
	memcpy(view_running.bytes, L, p->lay->l_size);
	return 0;
}

static int call_args(struct probe *p, lua_State *L)
{
	size_t i;

	p->lay->l_base = p->lay->l_top = 0;
	probe__push_self(p, L, c_args);
	for (i = 0; i < 3; i++)
		p->api->lua_pushnumber(L, planted[i]);
	if (p->api->lua_pcall(L, 3, 0, 0) != 0 || !p->lay->l_base)
		return probe__fail(p, "base and top of its stack were not found");
	return 0;
}

/* The stack is a block whose first slot is the thread itself, as a value: a
 * tag stands above the pointer's 47 bits.  (The table of globals starts with
 * a plain pointer to the thread, its neighbour in the collector's list.) */
static int find_stack(struct probe *p)
{
	uint32_t off, found = 0;

	for (off = 8; off + 8 <= p->lay->l_size; off += 8) {
		const uint8_t *at = lj_ptr(p->L, off);

		if (!probe__is_block(p, at, 64) || LJ_PTR(lj_u64(at, 0)) != (uint8_t *)p->L ||
		    lj_u64(at, 0) >> 47 == 0)
			continue;
		p->lay->l_stack = off;
		found++;
	}
	return found == 1 ? 0 : probe__fail(p, "the start of its stack was not found");
}

static lua_State *resumed(struct probe *p, const char *chunk, int want)
{
	lua_State *co = p->api->lua_newthread(p->L);

	if (probe__load(p, co, chunk, "=ljperf probe"))
		return NULL;
	if (p->api->lua_resume(co, 0) != want) {
		probe__fail(p, "a coroutine of the probe did not end as it should");
		return NULL;
	}
	return co;
}

/* status: the byte that is 0, LUA_YIELD and LUA_ERRRUN in turn. */
static int find_status(struct probe *p)
{
	lua_State *yielded = resumed(p, "coroutine.yield()", LUA_YIELD);
	lua_State *failed = yielded ? resumed(p, "error('x')", LUA_ERRRUN) : NULL;
	uint32_t off, found = 0;

	if (!failed)
		return -1;
	for (off = 8; off < p->lay->l_size; off++) {
		if (view_running.bytes[off] != 0 || ((uint8_t *)yielded)[off] != LUA_YIELD ||
		    ((uint8_t *)failed)[off] != LUA_ERRRUN)
			continue;
		p->lay->l_status = off;
		found++;
	}
	return found == 1 ? 0 : probe__fail(p, "the status of its threads was not found");
}

int probe_state__find(struct probe *p)
{
	lua_State *co = p->api->lua_newthread(p->L);
	const struct block *b = probe__block(p, co, 64);
	uint32_t base;

	if (!b || block_start(b) != (uint8_t *)co || b->size > THREAD_BYTES)
		return probe__fail(p, "the size of its threads is unknown");
	p->lay->l_size = (uint32_t)b->size;
	if (call_args(p, p->L))
		return -1;
	base = p->lay->l_base;
	if (call_args(p, co))
		return -1;
	if (base != p->lay->l_base)
		return probe__fail(p, "base of its stack is ambiguous");
	if (find_stack(p) || find_status(p))
		return -1;
	p->api->lua_settop(p->L, 0);
	return 0;
}
