/* layout.h - where a LuaJIT build keeps what an allocation hook must read.
 *
 * Offsets are bytes and are found by lj_layout__probe(), never assumed: they
 * differ between Debian's LuaJIT, OpenResty's luajit2, upstream and
 * Tarantool's fork.  What all GC64 builds share is written down here:
 * a value is 8 bytes, a pointer in it has 47 bits, a frame takes two slots
 * (function, then program counter or distance and type), an instruction is
 * 4 bytes with its opcode in the lowest and operand A in the next.
 * Source: lj_obj.h, lj_frame.h and lj_bc.h of LuaJIT 2.1.
 */
#ifndef LJPERF_VENDOR_LUAJIT_LAYOUT_H
#define LJPERF_VENDOR_LUAJIT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vendor/luajit/api.h"

/* A slot of a table's hash part: value, key, link to the next. */
#define LJ_NODE_SIZE 24

struct lj_layout {
	/* lua_State */
	uint32_t l_size, l_glref, l_base, l_top, l_stack, l_cframe, l_status;
	/* C frame of the interpreter, from L->cframe without its two flag bits */
	uint32_t cframe_pc;
	bool has_cframe_pc; /* else the API tells the line: slower, never wrong */
	uint32_t cframe_prev, cframe_nres; /* the one before, with flag bits; results */
	bool has_cframe_chain; /* both were found */

	/* global state */
	uint32_t g_alloc; /* the pair allocf, allocd */
	uint32_t g_main; /* this far behind the main thread's: both are one block */
	uint32_t g_vmstate, g_cur_l;
	int32_t st_lua, st_ffunc, st_c, st_gc; /* values of vmstate */
	bool has_traces; /* false: the JIT compiler did not run in the probe */
	uint32_t g_jit_base; /* slots of the function that runs compiled, 0: not found */
	uint32_t g_trace; /* array of traces; its size (u32) at g_trace + 12 */

	/* functions, prototypes, strings */
	uint32_t f_ffid, f_pc, f_cfunc;
	uint32_t pt_size; /* the bytecode follows at this offset */
	uint32_t pt_chunkname, pt_firstline, pt_numline, pt_lineinfo, pt_sizebc;
	uint32_t str_data, str_len;

	/* tables, and the tags above the 47 bits of a value's pointer */
	uint32_t tab_node, tab_hmask;
	uint32_t tag_str, tag_tab, tag_func;

	/* traces */
	uint32_t t_traceno, t_startpt, t_startpc;
	uint32_t t_link, t_root, t_linktype; /* 0: not found */
	uint32_t t_minsize; /* no trace takes fewer bytes */

	uint64_t probe_ns; /* what the probe cost */
	char version[64]; /* jit.version */
};

struct lj_builtins;

/* Finds the layout of the library behind API in a scratch state of its own,
 * tests it, and collects the names of built-in functions.  0, or -1 with a sentence in WHY: what
 * was not found. */
int lj_layout__probe(struct lj_layout *lay, struct lj_builtins *names, const struct lj_api *api,
		     char *why, size_t why_len);

/* Whether L is a state of the probed library: its global state, or NULL with
 * a sentence in WHY.  Reads L's memory through a checked read. */
void *lj_layout__global(const struct lj_layout *lay, const struct lj_api *api, lua_State *L,
			char *why, size_t why_len);

/* Copies N bytes of this process's own memory; false when some are not mapped,
 * or the kernel does not let us have more than a page of it. */
bool lj_read(void *dst, const void *src, size_t n);

#endif
