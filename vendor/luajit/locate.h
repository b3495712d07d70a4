/* locate.h - where the VM stands at this moment, read directly from its
 * memory.  Called by the allocation hook on every event and by the probe's
 * self-test; must not allocate, lock, throw or block.
 *
 * The rules are those of lj_debug.c (lj_debug_frame, debug_framepc,
 * lj_debug_line) for the two top frames.  Whatever is not plain is left to
 * lj_locate_slow(), which only uses the public API.
 */
#ifndef LJPERF_VENDOR_LUAJIT_LOCATE_H
#define LJPERF_VENDOR_LUAJIT_LOCATE_H

#include <stddef.h>

#include "vendor/luajit/layout.h"

enum lj_where {
	LJ_AT_VM, /* in the VM itself: state says which part */
	LJ_AT_LINE, /* prototype and line */
	LJ_AT_CFUNC, /* address of a C function */
	LJ_AT_TRACE, /* trace number and object */
};

/* Parts of the VM; the order after LJ_VM_GC is that of lj_obj.h's enum of
 * VM states, which every build seen keeps. */
enum lj_vm_part {
	LJ_VM_UNKNOWN,
	LJ_VM_HOST,
	LJ_VM_LUA,
	LJ_VM_C,
	LJ_VM_TRACE,
	LJ_VM_GC,
	LJ_VM_EXIT,
	LJ_VM_RECORD,
	LJ_VM_OPT,
	LJ_VM_ASM,
};

struct lj_place {
	enum lj_where where;
	uint32_t num; /* line, trace number, enum lj_vm_part, or number of a built-in */
	const uint8_t *addr; /* prototype, C function, or trace object; not of the VM */
	lua_State *L; /* the running thread, NULL when not known */
	int level; /* of the API's stack levels: where the line was found */
};

static inline bool lj_place_equal(const struct lj_place *a, const struct lj_place *b)
{
	return a->where == b->where && a->num == b->num &&
	       (a->where == LJ_AT_VM || a->addr == b->addr);
}

#define LJ_PTR(v) ((uint8_t *)(uintptr_t)((v) & ((UINT64_C(1) << 47) - 1)))

static inline uint64_t lj_u64(const void *p, uint32_t off)
{
	return *(const uint64_t *)((const uint8_t *)p + off);
}

static inline uint32_t lj_u32(const void *p, uint32_t off)
{
	return *(const uint32_t *)((const uint8_t *)p + off);
}

static inline uint8_t *lj_ptr(const void *p, uint32_t off)
{
	return *(uint8_t *const *)((const uint8_t *)p + off);
}

/* The block that holds L's stack. */
static inline void *lj_stack(const struct lj_layout *lay, lua_State *L)
{
	return lj_ptr(L, lay->l_stack);
}

static inline lua_State *lj_main_thread(const struct lj_layout *lay, const uint8_t *g)
{
	return (lua_State *)(uintptr_t)(g - lay->g_main);
}

/* The interpreter's frame on the C stack that runs L: the stack pointer when it
 * calls a C function.  NULL: L does not run. */
static inline uint8_t *lj_cframe(const struct lj_layout *lay, lua_State *L)
{
	return LJ_PTR(lj_u64(L, lay->l_cframe) & ~UINT64_C(3));
}

/* The C frame of the VM that has called the C function on top of L's stack: those
 * inside of it that have no frame on the Lua stack are passed over. */
static inline const uint8_t *lj_function_cframe(const struct lj_layout *lay, lua_State *L)
{
	const uint8_t *frame = lj_cframe(lay, L);

	while (frame && (int32_t)lj_u32(frame, lay->cframe_nres) < 0)
		frame = LJ_PTR(lj_u64(frame, lay->cframe_prev) & ~UINT64_C(3));
	return frame;
}

/* Whether L has neither yielded nor failed. */
static inline bool lj_can_run(const struct lj_layout *lay, lua_State *L)
{
	return ((const uint8_t *)L)[lay->l_status] == 0;
}

/* Line of instruction POS of prototype PT; 0 when it has none (stripped). */
static inline uint32_t lj_line(const struct lj_layout *lay, const uint8_t *pt, uint32_t pos)
{
	const void *info = lj_ptr(pt, lay->pt_lineinfo);
	uint32_t first = lj_u32(pt, lay->pt_firstline);
	uint32_t lines = lj_u32(pt, lay->pt_numline);

	if (!info)
		return 0;
	if (pos == lj_u32(pt, lay->pt_sizebc))
		return first + lines;
	if (pos-- == 0)
		return first;
	if (lines < 256)
		return first + ((const uint8_t *)info)[pos];
	if (lines < 65536)
		return first + ((const uint16_t *)info)[pos];
	return first + ((const uint32_t *)info)[pos];
}

void lj_locate_slow(const struct lj_layout *lay, const struct lj_api *api, lua_State *L,
		    struct lj_place *at);

/* Fills AT when PC is the return address in Lua function FN; else false. */
static inline bool lj_locate__pc(const struct lj_layout *lay, const uint8_t *fn, const uint8_t *pc,
				 struct lj_place *at)
{
	const uint8_t *bc = lj_ptr(fn, lay->f_pc);
	const uint8_t *pt = bc - lay->pt_size;
	/* PC is that of the next instruction. */
	uint64_t next = (uint64_t)(pc - bc) / 4;

	if (pc <= bc || next > lj_u32(pt, lay->pt_sizebc))
		return false;
	at->num = lj_line(lay, pt, (uint32_t)next - 1);
	if (at->num == 0 || at->num > INT32_MAX) {
		at->where = LJ_AT_VM;
		at->num = LJ_VM_LUA;
		return true;
	}
	at->where = LJ_AT_LINE;
	at->addr = pt;
	return true;
}

/* A built-in function on top counts as the Lua line that called it. */
static inline bool lj_locate__caller(const struct lj_layout *lay, const uint64_t *base,
				     struct lj_place *at)
{
	const uint64_t *frame = base - 1, *prev;
	const uint8_t *pc, *fn;
	uint64_t link = *frame;

	if ((link & 3) == 0) { /* called by an instruction of Lua code */
		pc = (const uint8_t *)(uintptr_t)link;
		prev = frame - 2 - pc[-3]; /* operand A of the call */
	} else if ((link & 7) == 2) { /* through a metamethod */
		if (frame[-3] <= 1) /* tail call or FFI callback: no plain frame */
			return false;
		pc = (const uint8_t *)(uintptr_t)frame[-2];
		prev = (const uint64_t *)((const uint8_t *)frame - (link & ~UINT64_C(7)));
	} else {
		return false;
	}
	fn = LJ_PTR(prev[-1]);
	at->level = 1;
	return prev[-1] >> 47 == lay->tag_func && fn[lay->f_ffid] == 0 &&
	       lj_locate__pc(lay, fn, pc, at);
}

static inline void lj_locate__frame(const struct lj_layout *lay, const struct lj_api *api,
				    lua_State *L, struct lj_place *at)
{
	const uint64_t *base = (const uint64_t *)lj_ptr(L, lay->l_base);
	const uint8_t *fn, *cframe;

	at->level = 0;
	if (base == (const uint64_t *)lj_ptr(L, lay->l_stack) + 2) {
		at->num = LJ_VM_HOST; /* the bottom frame: nothing runs */
		return;
	}
	fn = LJ_PTR(base[-2]);
	if (fn == (const uint8_t *)L)
		goto slow; /* a dummy frame of an error about to be raised */
	if (base[-2] >> 47 != lay->tag_func) {
		/* A built-in has put a result over its own function, and the
		 * API must not look at that either.  (Some handlers do so
		 * before they allocate: ffh_resume() in lib_base.c.) */
		at->L = NULL;
		at->num = LJ_VM_C;
		lj_locate__caller(lay, base, at);
		return;
	}
	if (fn[lay->f_ffid] == 1) {
		at->where = LJ_AT_CFUNC;
		at->num = 1;
		at->addr = lj_ptr(fn, lay->f_cfunc);
		return;
	}
	if (fn[lay->f_ffid] > 1) {
		if (lj_locate__caller(lay, base, at))
			return;
		goto slow;
	}
	cframe = lj_cframe(lay, L);
	if (lay->has_cframe_pc && cframe &&
	    lj_locate__pc(lay, fn, lj_ptr(cframe, lay->cframe_pc), at))
		return;
slow:
	lj_locate_slow(lay, api, L, at);
}

/* While a trace is recorded the VM's state says so all the time: the code
 * runs in the interpreter, and before each instruction the recorder is
 * called.  The recorder runs in a protected call, whose C frame has L in the
 * place of the PC ("any value outside of bytecode", vm_cpcall in
 * vm_x64.dasc). */
static inline bool lj_is_recorder(const struct lj_layout *lay, lua_State *L)
{
	const uint8_t *cframe = lj_cframe(lay, L);

	return !lay->has_cframe_pc || !cframe || lj_ptr(cframe, lay->cframe_pc) == (uint8_t *)L;
}

/* Part of the VM for a negative vmstate that is not Lua or C code. */
static inline uint32_t lj_vm_part(const struct lj_layout *lay, int32_t st)
{
	int32_t nth = lay->st_gc - st; /* states count downwards: ~0, ~1, ... */

	return nth >= 0 && nth <= LJ_VM_ASM - LJ_VM_GC ? LJ_VM_GC + (uint32_t)nth : LJ_VM_UNKNOWN;
}

/* The compiled code that runs: AT gets its trace, unless the number is not
 * (or no longer) that of a trace, as while traces are flushed. */
static inline void lj_locate__trace(const struct lj_layout *lay, const uint8_t *g, uint32_t no,
				    struct lj_place *at)
{
	const uint8_t *trace;

	at->num = LJ_VM_TRACE;
	if (!lay->has_traces || no >= lj_u32(g, lay->g_trace + 12))
		return;
	trace = lj_ptr(lj_ptr(g, lay->g_trace), no * 8);
	if (!trace || *(const uint16_t *)(trace + lay->t_traceno) != no)
		return;
	at->where = LJ_AT_TRACE;
	at->num = no;
	at->addr = trace;
}

/* Whether the collector is at work: then there is no place to look for. */
static inline bool lj_is_collecting(const struct lj_layout *lay, const uint8_t *g)
{
	return *(const volatile int32_t *)(g + lay->g_vmstate) == lay->st_gc;
}

/* A thread without a C frame does not run: it has yielded, failed or returned,
 * and the host works on another one that the VM has not noted.  (Its status
 * tells less: it is LUA_ERRERR while an error handler runs, see lj_err_run().) */
static inline bool lj_runs(const struct lj_layout *lay, lua_State *L)
{
	uint8_t status = ((const uint8_t *)L)[lay->l_status];

	return lay->has_cframe_pc ? lj_u64(L, lay->l_cframe) != 0
				  : status == 0 || status == LUA_ERRERR;
}

static inline void lj_locate(const struct lj_layout *lay, const struct lj_api *api,
			     const uint8_t *g, struct lj_place *at)
{
	int32_t st = *(const volatile int32_t *)(g + lay->g_vmstate);

	at->where = LJ_AT_VM;
	at->L = NULL;
	if (st == lay->st_gc) {
		at->num = LJ_VM_GC;
	} else if (st == lay->st_lua || st == lay->st_c || st == lay->st_ffunc ||
		   st == lay->st_gc - (LJ_VM_RECORD - LJ_VM_GC)) {
		lua_State *L = (lua_State *)lj_ptr(g, lay->g_cur_l);

		if (L && lj_vm_part(lay, st) == LJ_VM_RECORD && lj_is_recorder(lay, L)) {
			at->num = LJ_VM_RECORD;
			return;
		}
		at->num = LJ_VM_HOST;
		if (L && lj_runs(lay, L)) {
			at->L = L;
			lj_locate__frame(lay, api, L, at);
		}
	} else if (st >= 0) {
		lj_locate__trace(lay, g, (uint32_t)st, at);
	} else {
		at->num = lj_vm_part(lay, st);
	}
}

/* What names a prototype; strings live in the VM. */
struct lj_proto_info {
	const char *chunk;
	uint32_t chunk_len;
	uint32_t firstline, numline;
};

static inline void lj_proto_info(const struct lj_layout *lay, const uint8_t *pt,
				 struct lj_proto_info *info)
{
	const uint8_t *str = LJ_PTR(lj_u64(pt, lay->pt_chunkname));

	info->chunk = (const char *)str + lay->str_data;
	info->chunk_len = lj_u32(str, lay->str_len);
	info->firstline = lj_u32(pt, lay->pt_firstline);
	info->numline = lj_u32(pt, lay->pt_numline);
}

struct lj_trace_info {
	const uint8_t *pt; /* prototype it starts in */
	uint32_t line; /* 0: unknown */
	uint16_t link, root;
	uint8_t linktype; /* lj_jit.h's numbering; 0xff unknown */
};

void lj_trace_info(const struct lj_layout *lay, const uint8_t *trace, struct lj_trace_info *info);

#endif
