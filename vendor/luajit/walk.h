/* walk.h - the whole Lua stack, read directly, for call stacks.  Called by
 * the hook when stacks are recorded; the rules are those of locate.h.
 */
#ifndef LJPERF_VENDOR_LUAJIT_WALK_H
#define LJPERF_VENDOR_LUAJIT_WALK_H

#include "vendor/luajit/locate.h"

/* A frame.  While all four words of it and of all frames below it stay the
 * same, it is the same call at the same place. */
struct lj_frame {
	const uint64_t *at;
	uint64_t link;
	const uint8_t *fn;
	const uint8_t *pc; /* return address in a Lua function, NULL: unknown */
};

/* Fills FRAMES with at most MOST, innermost first, from the one whose slots
 * begin at BASE and whose function stands at PC.  Their number; *CUT tells
 * whether there are more. */
static inline unsigned lj_walk(const struct lj_layout *lay, lua_State *L, const uint64_t *base,
			       const uint8_t *pc, struct lj_frame *frames, unsigned most, bool *cut)
{
	const uint64_t *bottom = (const uint64_t *)lj_ptr(L, lay->l_stack) + 1, *at = base - 1;
	unsigned n = 0;
	uint64_t link;

	*cut = false;
	while (at > bottom) {
		link = *at;
		/* Neither dummy frames, nor vararg ones, nor a built-in that has
		 * put its result over its function. */
		if (at[-1] >> 47 == lay->tag_func && (link & 7) != 3) {
			if (n == most) {
				*cut = true;
				break;
			}
			frames[n++] = (struct lj_frame){ at, link, LJ_PTR(at[-1]), pc };
		}
		if ((link & 3) == 0) { /* called by an instruction of Lua code */
			pc = (const uint8_t *)(uintptr_t)link;
			at -= 2 + pc[-3]; /* operand A of the call */
			continue;
		}
		if ((link & 7) == 2) /* through a metamethod, if it is no special frame */
			pc = at[-3] > 1 ? (const uint8_t *)(uintptr_t)at[-2] : NULL;
		else if ((link & 7) != 3) /* a vararg frame stands at its function's PC */
			pc = NULL;
		at = (const uint64_t *)((const uint8_t *)at - (link & ~UINT64_C(7)));
	}
	return n;
}

/* Where the function on top of L's stack stands, NULL: unknown. */
static inline const uint8_t *lj_top_pc(const struct lj_layout *lay, lua_State *L)
{
	const uint8_t *cframe = lj_cframe(lay, L);

	return lay->has_cframe_pc && cframe ? lj_ptr(cframe, lay->cframe_pc) : NULL;
}

static inline const uint64_t *lj_base(const struct lj_layout *lay, lua_State *L)
{
	return (const uint64_t *)lj_ptr(L, lay->l_base);
}

/* The slots of the function in which the running trace was entered; NULL when
 * the VM does not tell. */
static inline const uint64_t *lj_trace_base(const struct lj_layout *lay, const uint8_t *g)
{
	return lay->g_jit_base ? (const uint64_t *)lj_ptr(g, lay->g_jit_base) : NULL;
}

/* What a frame's function is: prototype and instruction, or C function. */
struct lj_frame_site {
	const uint8_t *pt; /* NULL: a C function */
	uint32_t pos; /* instruction, UINT32_MAX: unknown */
	const uint8_t *f;
	uint32_t ffid;
};

static inline void lj_frame_site(const struct lj_layout *lay, const struct lj_frame *frame,
				 struct lj_frame_site *site)
{
	const uint8_t *bc;

	*site = (struct lj_frame_site){ .ffid = frame->fn[lay->f_ffid], .pos = UINT32_MAX };
	if (site->ffid) {
		site->f = lj_ptr(frame->fn, lay->f_cfunc);
		return;
	}
	bc = lj_ptr(frame->fn, lay->f_pc);
	site->pt = bc - lay->pt_size;
	if (frame->pc > bc && (uint64_t)(frame->pc - bc) / 4 <= lj_u32(site->pt, lay->pt_sizebc))
		site->pos = (uint32_t)((uint64_t)(frame->pc - bc) / 4) - 1;
}

/* Line of prototype PT, whose function runs at LEVEL of thread L (NULL: not to
 * be asked), as the public API tells it; 0: unknown. */
uint32_t lj_line_at_level(const struct lj_layout *lay, const struct lj_api *api, lua_State *L,
			  int level, const uint8_t *pt);

/* The thread that resumed CO with coroutine.resume or a function made by
 * coroutine.wrap (whose numbers are given), found from MAIN on; NULL when it
 * was resumed otherwise. */
lua_State *lj_resumer(const struct lj_layout *lay, lua_State *main, lua_State *co,
		      uint32_t ff_resume, uint32_t ff_wrap);

#endif
