/* locate.c - the slow paths of locate.h: frames that only the public API is
 * trusted with, and what a trace tells about itself.
 */
#include "vendor/luajit/walk.h"

#include <string.h>

/* Function of the frame that lua_getstack() found.  i_ci holds the frame's
 * slot in its low 16 bits; a stack has at most 65500 slots (lua_getstack() in
 * lj_debug.c).  The caller checks what comes out against lua_getinfo(). */
static const uint8_t *frame_function(const struct lj_layout *lay, lua_State *L, const lua_Debug *ar)
{
	const uint64_t *stack = (const uint64_t *)lj_ptr(L, lay->l_stack);
	const uint64_t *base = (const uint64_t *)lj_ptr(L, lay->l_base);
	uint32_t slot = (uint32_t)ar->i_ci & 0xffff;

	if (slot < 1 || slot > (uint64_t)(base - stack))
		return NULL;
	return LJ_PTR(stack[slot - 1]);
}

static bool level_info(const struct lj_api *api, lua_State *L, int level, lua_Debug *ar)
{
	return api->lua_getstack(L, level, ar) && api->lua_getinfo(L, "Sl", ar);
}

/* A Lua function at AR: its line, or "some Lua code" when it has none. */
static void place_lua(const struct lj_layout *lay, lua_State *L, const lua_Debug *ar,
		      struct lj_place *at)
{
	const uint8_t *fn = frame_function(lay, L, ar), *pt;

	at->where = LJ_AT_VM;
	at->num = LJ_VM_LUA;
	if (ar->currentline <= 0 || !fn || fn[lay->f_ffid] != 0)
		return;
	pt = lj_ptr(fn, lay->f_pc) - lay->pt_size;
	if (lj_u32(pt, lay->pt_firstline) != (uint32_t)ar->linedefined)
		return;
	at->where = LJ_AT_LINE;
	at->num = (uint32_t)ar->currentline;
	at->addr = pt;
}

void lj_locate_slow(const struct lj_layout *lay, const struct lj_api *api, lua_State *L,
		    struct lj_place *at)
{
	lua_Debug ar, caller;
	const uint8_t *fn;

	at->where = LJ_AT_VM;
	at->num = LJ_VM_HOST;
	at->level = 0;
	if (!level_info(api, L, 0, &ar))
		return;
	if (strcmp(ar.what, "C") != 0) {
		place_lua(lay, L, &ar, at);
		return;
	}
	fn = frame_function(lay, L, &ar);
	if (!fn || fn[lay->f_ffid] == 0) {
		at->num = LJ_VM_C;
		return;
	}
	if (fn[lay->f_ffid] > 1 && level_info(api, L, 1, &caller) &&
	    strcmp(caller.what, "C") != 0) {
		at->level = 1;
		place_lua(lay, L, &caller, at);
		return;
	}
	at->where = LJ_AT_CFUNC;
	at->num = fn[lay->f_ffid];
	at->addr = lj_ptr(fn, lay->f_cfunc);
}

void lj_trace_info(const struct lj_layout *lay, const uint8_t *trace, struct lj_trace_info *info)
{
	const uint8_t *pc = lj_ptr(trace, lay->t_startpc);
	uint64_t pos;

	info->pt = LJ_PTR(lj_u64(trace, lay->t_startpt));
	pos = (uint64_t)(pc - (info->pt + lay->pt_size)) / 4;
	info->line = pos < lj_u32(info->pt, lay->pt_sizebc) ? lj_line(lay, info->pt, (uint32_t)pos)
							    : 0;
	info->link = info->root = 0;
	info->linktype = 0xff;
	if (!lay->t_link)
		return;
	info->link = *(const uint16_t *)(trace + lay->t_link);
	info->root = *(const uint16_t *)(trace + lay->t_root);
	info->linktype = lay->t_linktype ? trace[lay->t_linktype] : 0xff;
}

uint32_t lj_line_at_level(const struct lj_layout *lay, const struct lj_api *api, lua_State *L,
			  int level, const uint8_t *pt)
{
	struct lj_place at = { 0 };
	lua_Debug ar;

	if (!L || !level_info(api, L, level, &ar) || strcmp(ar.what, "C") == 0)
		return 0;
	place_lua(lay, L, &ar, &at);
	return at.where == LJ_AT_LINE && at.addr == pt ? at.num : 0;
}

/* A chain of this many threads that resumed each other is not believed. */
#define RESUMERS_MAX 200

lua_State *lj_resumer(const struct lj_layout *lay, lua_State *main, lua_State *co,
		      uint32_t ff_resume, uint32_t ff_wrap)
{
	lua_State *at = main;
	unsigned i;

	for (i = 0; i < RESUMERS_MAX && at && at != co; i++) {
		const uint64_t *base = lj_base(lay, at);
		const uint8_t *fn;
		lua_State *next;

		if (base == (const uint64_t *)lj_ptr(at, lay->l_stack) + 2)
			return NULL;
		fn = LJ_PTR(base[-2]);
		if (fn == (const uint8_t *)at)
			return NULL;
		if (fn[lay->f_ffid] == ff_resume)
			next = (lua_State *)LJ_PTR(base[0]);
		else if (fn[lay->f_ffid] == ff_wrap) /* the thread is its one upvalue */
			next = (lua_State *)LJ_PTR(lj_u64(fn, lay->f_cfunc + 8));
		else
			return NULL;
		if (next == co)
			return at;
		at = next;
	}
	return NULL;
}
