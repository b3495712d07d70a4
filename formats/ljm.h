/* ljm.h - the memory profile stream "ljs" + "ljm": what an event is, and how
 * one is encoded and decoded.
 *
 * Facts were measured on Tarantool's LuaJIT, commits of 2020-12 to 2024-10;
 * the grammar stands in ljm_read.c above the code that reads it and in
 * ljperf-file(5).  This header knows nothing of VMs, reports or processes.
 */
#ifndef LJPERF_FORMATS_LJM_H
#define LJPERF_FORMATS_LJM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ljm_kind { LJM_SYMBOL = 0, LJM_ALLOC = 1, LJM_FREE = 2, LJM_REALLOC = 3 };

enum ljm_source {
	LJM_SRC_INTERNAL = 1, /* the VM itself: collector, JIT compiler, host */
	LJM_SRC_LUA = 2, /* a line of a Lua prototype */
	LJM_SRC_C = 3, /* a C function */
	LJM_SRC_TRACE = 4, /* compiled code of a trace */
	LJM_SRC_NATIVE = 5, /* an address inside of C code; in call stacks only */
};

/* The dialects of the stream, see ljm_read.c. */
enum ljm_variant {
	LJM_V1, /* ljs 1, ljm 1 */
	LJM_V1B, /* ljs 1, ljm 2 */
	LJM_V2, /* ljs 2, ljm 2 */
	LJM_V3A, /* ljs 2, ljm 3, traces with a machine code address */
	LJM_V3B, /* ljs 2, ljm 3, traces without */
	LJM_V4, /* ljs 3, ljm 3: the current one, the only one written */
};

/* Of the VM that made an INTERNAL event; LJM_VMSTATE_UNKNOWN in raw files. */
enum ljm_vmstate {
	LJM_VMSTATE_UNKNOWN = 0,
	LJM_VMSTATE_INTERP = 1, /* Lua or C code was running, place unknown */
	LJM_VMSTATE_C = 2,
	LJM_VMSTATE_GC = 3,
	LJM_VMSTATE_EXIT = 4, /* leaving a trace */
	LJM_VMSTATE_RECORD = 5,
	LJM_VMSTATE_OPT = 6,
	LJM_VMSTATE_ASM = 7,
	LJM_VMSTATE_TRACE = 8, /* compiled code whose trace is unknown */
	LJM_VMSTATE_HOST = 9, /* the host called the API with nothing running */
	LJM_VMSTATE_STACK = 10, /* the VM's own stack was being resized */
	LJM_VMSTATE_MAX = 11,
};

/* Where an event happened.  Lua: addr is the prototype, line its line.
 * C: addr is the function.  Trace: num is the trace number, addr its machine
 * code (V1B, V2, V3A only, else 0).  Unused fields are 0. */
struct ljm_loc {
	enum ljm_source source;
	uint64_t addr;
	uint64_t num; /* line or trace number */
};

/* A line that could not be determined: old VMs wrote 0 or 2^64-1 while a trace
 * was being recorded.  Reader and encoder both make it INTERNAL. */
static inline bool ljm_loc__is_unknown_line(const struct ljm_loc *loc)
{
	return loc->source == LJM_SRC_LUA && loc->num + 1 <= 1;
}

struct ljm_event {
	enum ljm_kind kind; /* never LJM_SYMBOL */
	uint8_t vmstate; /* enum ljm_vmstate; meaningful for INTERNAL only */
	struct ljm_loc loc;
	uint64_t old_addr, old_size; /* FREE, REALLOC; sizes in bytes */
	uint64_t new_addr, new_size; /* ALLOC, REALLOC */
	uint64_t stack; /* ALLOC, REALLOC: node of the call stack, 0 unknown; session files only */
};

/* Names a prototype, a C function or a trace from here on in the stream: a
 * second symbol for the same address or number starts a new epoch of it.
 * Strings are not NUL-terminated and belong to the reader until it returns. */
struct ljm_symbol {
	enum ljm_source source; /* LUA, C or TRACE */
	bool in_symtab; /* from the ljs table before the events */
	uint64_t addr; /* prototype, C function, or mcode of a trace */
	const char *name; /* chunk name, or C symbol; NULL for a trace */
	size_t name_len;
	uint64_t line; /* LUA: first line; TRACE: line it starts at */
	uint64_t trace_num; /* TRACE */
	uint64_t proto_addr; /* TRACE: prototype it starts in */

	/* From the session's side frame; has_detail says whether it is there. */
	bool has_detail;
	const char *func_name; /* LUA: name as a traceback gives it, "" unknown */
	size_t func_name_len;
	uint64_t last_line; /* LUA: 0 unknown */
	uint32_t trace_parent, trace_exit; /* TRACE: 0 for a root trace */
	uint32_t trace_root, trace_link;
	uint8_t trace_linktype; /* enum ljm_linktype */
};

/* How a trace ends; the numbers are ljperf's own, not the VM's. */
enum ljm_linktype {
	LJM_LINK_UNKNOWN,
	LJM_LINK_NONE,
	LJM_LINK_ROOT,
	LJM_LINK_LOOP,
	LJM_LINK_TAILREC,
	LJM_LINK_UPREC,
	LJM_LINK_DOWNREC,
	LJM_LINK_INTERP,
	LJM_LINK_RETURN,
	LJM_LINK_STITCH,
};

/* Longest encoded event (not symbol): header, two words of location, four of
 * blocks, each of at most 10 bytes. */
#define LJM_EVENT_MAX 61

/* Encoders for V4.  Each writes at P, which must have room (LJM_EVENT_MAX,
 * ljm_symbol__size() bytes, 8 and 7), and returns the byte after. */
uint8_t *ljm__put_symtab(uint8_t *p); /* an empty ljs table: 8 bytes */
uint8_t *ljm__put_header(uint8_t *p); /* the ljm header: 7 bytes */
uint8_t *ljm__put_event(uint8_t *p, const struct ljm_event *ev);
uint8_t *ljm__put_symbol(uint8_t *p, const struct ljm_symbol *sym);
size_t ljm_symbol__size(const struct ljm_symbol *sym); /* exact, in bytes */
#define LJM_END 0x80

const char *ljm_variant__name(enum ljm_variant v); /* "ljs 3, ljm 3" ... */

#endif
