/* walk.h - the whole Lua stack, read directly, for call stacks.  Called by
 * the hook when stacks are recorded; the rules are those of locate.h.
 */
#ifndef LJPERF_VENDOR_LUAJIT_WALK_H
#define LJPERF_VENDOR_LUAJIT_WALK_H

#include "vendor/luajit/locate.h"

/* A frame that a walk passes. */
struct lj_frame {
	const uint64_t *at;
	uint64_t link, slot; /* the two words that make it */
	const uint8_t *pc; /* return address in a Lua function, NULL: unknown */
	const uint8_t *code; /* of its function: C function, or first instruction */
	uint8_t ffid; /* the number of a C function, 0 in a Lua function */
	bool is_special; /* its words do not say all of it */
	bool is_call; /* neither a dummy frame nor a vararg one, nor that of a built-in
		       * that has put its result over its function */
};

/* What the function that stands in the frame's slot is by now. */
static inline const uint8_t *lj_frame_code(const struct lj_layout *lay, const struct lj_frame *f)
{
	return lj_ptr(LJ_PTR(f->slot), f->ffid ? lay->f_cfunc : lay->f_pc);
}

/* Goes from frame to frame, the innermost first. */
struct lj_walk {
	const uint64_t *at, *bottom;
	const uint8_t *pc;
};

/* From the frame whose slots begin at BASE and whose function stands at PC. */
static inline struct lj_walk lj_walk__of(const struct lj_layout *lay, lua_State *L,
					 const uint64_t *base, const uint8_t *pc)
{
	return (struct lj_walk){ base - 1, (const uint64_t *)lj_ptr(L, lay->l_stack) + 1, pc };
}

/* Fills *F; false when there are no more. */
static inline bool lj_walk__next(const struct lj_layout *lay, struct lj_walk *w, struct lj_frame *f)
{
	const uint64_t *at = w->at;
	uint64_t link;

	if (at <= w->bottom)
		return false;
	link = *at;
	*f = (struct lj_frame){ .at = at, .link = link, .slot = at[-1], .pc = w->pc };
	if (f->slot >> 47 == lay->tag_func) {
		f->ffid = LJ_PTR(f->slot)[lay->f_ffid];
		f->code = lj_frame_code(lay, f);
		f->is_call = (link & 7) != 3;
	}
	f->is_special = f->ffid || (link & 7) == 2;
	if ((link & 3) == 0) { /* called by an instruction of Lua code */
		w->pc = (const uint8_t *)(uintptr_t)link;
		w->at = at - 2 - w->pc[-3]; /* operand A of the call */
		return true;
	}
	if ((link & 7) == 2) /* through a metamethod, if it is no special frame */
		w->pc = at[-3] > 1 ? (const uint8_t *)(uintptr_t)at[-2] : NULL;
	else if ((link & 7) != 3) /* a vararg frame stands at its function's PC */
		w->pc = NULL;
	w->at = (const uint64_t *)((const uint8_t *)at - (link & ~UINT64_C(7)));
	return true;
}

/* Whether a walk that comes to where F was goes on from there as the one that
 * met F did.  No word that this reads depends on one of another frame, as those
 * that a walk reads do: frames are checked faster than walked. */
static inline bool lj_frame_same(const struct lj_frame *f)
{
	return ((*f->at ^ f->link) | (f->at[-1] ^ f->slot)) == 0;
}

/* The rest of it, for a special frame: the place of the frame that it leads to,
 * which is BELOW; and a C function, of which another closure may have been made
 * where the old one was freed.  (Of a Lua function the place in it tells.) */
static inline bool lj_frame_same_special(const struct lj_layout *lay, const struct lj_frame *f,
					 const uint8_t *below)
{
	if (f->ffid &&
	    (LJ_PTR(f->slot)[lay->f_ffid] != f->ffid || lj_frame_code(lay, f) != f->code))
		return false;
	return (f->link & 7) != 2 ||
	       below == (f->at[-3] > 1 ? (const uint8_t *)(uintptr_t)f->at[-2] : NULL);
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

/* Number of the instruction that a call in a Lua function is, UINT32_MAX when its
 * PC is unknown, or none of the function's: that of the function on top may be
 * left over from another one. */
static inline uint32_t lj_frame_pos(const struct lj_layout *lay, const struct lj_frame *f)
{
	uint64_t pos = (uint64_t)(f->pc - f->code) / 4;

	return f->pc > f->code && pos <= lj_u32(f->code - lay->pt_size, lay->pt_sizebc)
		       ? (uint32_t)pos - 1
		       : UINT32_MAX;
}

/* Whether the frame tells its place; else it may be another one the next time. */
static inline bool lj_frame_is_known(const struct lj_layout *lay, const struct lj_frame *f)
{
	return !f->is_call || f->ffid || lj_frame_pos(lay, f) != UINT32_MAX;
}

static inline void lj_frame_site(const struct lj_layout *lay, const struct lj_frame *f,
				 struct lj_frame_site *site)
{
	*site = (struct lj_frame_site){ .ffid = f->ffid, .pos = UINT32_MAX };
	if (f->ffid) {
		site->f = f->code;
		return;
	}
	site->pt = f->code - lay->pt_size;
	site->pos = lj_frame_pos(lay, f);
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
