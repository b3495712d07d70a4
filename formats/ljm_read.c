/* ljm_read.c - parses every variant of the memory profile stream.  Called by
 * the session reader.
 *
 * Grammar.  Integers are ULEB128 of at most 64 bits; a string is its length
 * and that many bytes.  Bits are written from the high to the low one.
 *
 *   stream   := ljs ljm
 *   ljs      := "ljs" version:u8 reserved[3] symbol* end
 *   symbol   := [0uuuuuTT] body          u: ignored
 *   end      := [1uuuuuuu]
 *   ljm      := "ljm" version:u8 reserved[3] (event | symevent)* 0x80
 *   event    := [000SSSEE] location old? new?
 *   symevent := [000SSS00] body          ljm 3 only; the same bodies by source
 *   EE       := 1 alloc (new) | 2 free (old) | 3 realloc (old new)
 *   old, new := address size
 *   location := S=1 internal: nothing  | S=2 Lua: proto line
 *             | S=3 C: address         | S=4 trace: number mcode?
 *   body     := function: proto string first-line
 *             | C function: address string
 *             | trace: number mcode? proto line
 *
 *   variant  ljs ljm  TT                           S      mcode
 *   V1        1   1   0 function                   1..3   no
 *   V1B       1   2   0 function                   1..4   yes
 *   V2        2   2   0 function, 1 trace          1..4   yes
 *   V3A       2   3   0 function, 1 trace          1..4   yes
 *   V3B       2   3   0 function, 1 trace          1..4   no
 *   V4        3   3   0 function, 1 C, 2 trace     1..4   no
 *
 * V3A and V3B have the same numbers.  The first item with a trace decides: it
 * and what follows in the window are tried as V3B and as V3A, and the one
 * that is valid for longer is taken, V3B if both are.  "Valid for longer" and
 * not just "valid": a size of 128 of V3A reads as the end byte 0x80 of V3B,
 * and rubbish may read as a string longer than the window.
 *
 * A trace location of an old variant may be Lua's with line 0 or 2^64-1: it
 * was written while a trace was being recorded, and is INTERNAL.
 */
#include "formats/ljm_read.h"

#include <stdarg.h>
#include <stdio.h>

enum { HEADER_SIZE = 7 };

/* Event bytes by variant, as Tarantool's parser accepts them. */
#define EVENTS_3_SOURCES 0x0000eee0u /* 05-07, 09-0b, 0d-0f */
#define EVENTS_4_SOURCES (EVENTS_3_SOURCES | 0x000e0000u) /* and 11-13 */
#define EVENTS_AND_SYMBOLS (EVENTS_4_SOURCES | 0x00011100u) /* and 08, 0c, 10 */

static int no_symbol(void *ctx, struct ljm_symbol *sym)
{
	(void)ctx, (void)sym;
	return 0;
}

static int no_event(void *ctx, const struct ljm_event *ev)
{
	(void)ctx, (void)ev;
	return 0;
}

void ljm_parser__init(struct ljm_parser *ps)
{
	*ps = (struct ljm_parser){ .stop_at = UINT64_MAX };
}

void ljm_parser__init_events(struct ljm_parser *ps)
{
	ps->phase = LJM_IN_EVENTS;
	ps->ljs_version = ps->ljm_version = 3;
	ps->mcode = ps->undecided = false;
	ps->events_ok = EVENTS_AND_SYMBOLS;
}

enum ljm_variant ljm_parser__variant(const struct ljm_parser *ps)
{
	if (ps->ljs_version == 1)
		return ps->ljm_version == 2 ? LJM_V1B : LJM_V1;
	if (ps->ljs_version == 2) {
		if (ps->ljm_version == 2)
			return LJM_V2;
		return ps->mcode ? LJM_V3A : LJM_V3B;
	}
	return LJM_V4;
}

const char *ljm_variant__name(enum ljm_variant v)
{
	static const char *const names[] = {
		[LJM_V1] = "ljs 1, ljm 1",  [LJM_V1B] = "ljs 1, ljm 2",
		[LJM_V2] = "ljs 2, ljm 2",  [LJM_V3A] = "ljs 2, ljm 3 with trace addresses",
		[LJM_V3B] = "ljs 2, ljm 3", [LJM_V4] = "ljs 3, ljm 3",
	};

	return (size_t)v < sizeof(names) / sizeof(*names) ? names[v] : "unknown";
}

static enum ljm_status __attribute__((format(printf, 4, 5)))
fail(struct ljm_parser *ps, enum ljm_status status, uint64_t offset, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ps->why, sizeof(ps->why), fmt, ap);
	va_end(ap);
	ps->bad_offset = offset;
	return status;
}

/* The item at START could not be read: C says why.  C goes back to START. */
static enum ljm_status unread(struct ljm_parser *ps, struct cursor *c, const uint8_t *start)
{
	if (c->status == CURSOR_SHORT) {
		ps->need = (uint64_t)(c->end - start) + c->missing;
		c->p = start;
		return LJM_MORE;
	}
	c->p = start;
	return fail(ps, LJM_CORRUPT, ps->offset + (uint64_t)(c->bad - start),
		    "number above 64 bits, or string too long");
}

/* C is at START + some; moves the front of the window to it. */
static void taken(struct ljm_parser *ps, const struct cursor *c, const uint8_t *start)
{
	ps->offset += (uint64_t)(c->p - start);
}

/* ---- headers ---- */

static enum ljm_status read_ljs_header(struct ljm_parser *ps, struct cursor *c)
{
	const uint8_t *start = c->p, *h = cursor__bytes(c, HEADER_SIZE);

	if (cursor__left(&(struct cursor){ .p = start, .end = c->end }) >= 3 &&
	    memcmp(start, "ljs", 3) != 0)
		return fail(ps, LJM_REFUSED, 0, "not a recording of ljperf or misc.memprof");
	if (!h)
		return unread(ps, c, start);
	if (h[3] > 3)
		return fail(ps, LJM_REFUSED, 3,
			    "symbol table version %u is newer than this ljperf knows", h[3]);
	if (h[3] == 0)
		return fail(ps, LJM_REFUSED, 3, "symbol table version 0 is unknown");
	ps->ljs_version = h[3];
	ps->undecided = h[3] == 2;
	ps->phase = LJM_IN_SYMTAB;
	taken(ps, c, start);
	return LJM_MORE;
}

static enum ljm_status check_versions(struct ljm_parser *ps)
{
	unsigned s = ps->ljs_version, m = ps->ljm_version;

	if (m > 3)
		return fail(ps, LJM_REFUSED, ps->offset + 3,
			    "event stream version %u is newer than this ljperf knows", m);
	if (!((s == 1 && (m == 1 || m == 2)) || (s == 2 && (m == 2 || m == 3)) ||
	      (s == 3 && m == 3)))
		return fail(ps, LJM_REFUSED, ps->offset + 3, "unknown variant: ljs %u, ljm %u", s,
			    m);
	if (s == 2 && m == 2 && !ps->undecided && !ps->mcode)
		return fail(ps, LJM_CORRUPT, ps->offset + 3,
			    "ljm 2 has trace addresses, its symbol table has none");
	return LJM_MORE;
}

static enum ljm_status read_ljm_header(struct ljm_parser *ps, struct cursor *c)
{
	const uint8_t *start = c->p, *h = cursor__bytes(c, HEADER_SIZE);
	enum ljm_status status;

	if (!h)
		return unread(ps, c, start);
	c->p = start;
	if (memcmp(h, "ljp", 3) == 0)
		return fail(ps, LJM_REFUSED, ps->offset,
			    "a CPU profile of misc.sysprof, not a memory profile");
	if (memcmp(h, "ljm", 3) != 0)
		return fail(ps, LJM_CORRUPT, ps->offset, "no ljm header after the symbol table");
	ps->ljm_version = h[3];
	status = check_versions(ps);
	if (status != LJM_MORE)
		return status;
	if (ps->ljm_version == 2) {
		ps->mcode = true;
		ps->undecided = false;
	}
	ps->events_ok = ps->ljm_version == 1   ? EVENTS_3_SOURCES
			: ps->ljm_version == 2 ? EVENTS_4_SOURCES
					       : EVENTS_AND_SYMBOLS;
	ps->phase = LJM_IN_EVENTS;
	c->p = start + HEADER_SIZE;
	taken(ps, c, start);
	return LJM_MORE;
}

/* ---- symbols ---- */

static void read_symbol_body(const struct ljm_parser *ps, struct cursor *c, struct ljm_symbol *sym)
{
	switch (sym->source) {
	case LJM_SRC_LUA:
		sym->addr = cursor__uleb(c);
		sym->name = cursor__string(c, &sym->name_len);
		sym->line = cursor__uleb(c);
		break;
	case LJM_SRC_C:
		sym->addr = cursor__uleb(c);
		sym->name = cursor__string(c, &sym->name_len);
		break;
	default:
		sym->trace_num = cursor__uleb(c);
		sym->addr = ps->mcode ? cursor__uleb(c) : 0;
		sym->proto_addr = cursor__uleb(c);
		sym->line = cursor__uleb(c);
		break;
	}
}

/* START is the item's tag, which C has passed. */
static enum ljm_status take_symbol(struct ljm_parser *ps, struct cursor *c, const uint8_t *start,
				   enum ljm_source source)
{
	struct ljm_symbol sym = { .source = source, .in_symtab = ps->phase == LJM_IN_SYMTAB };
	int rc;

	if (ps->undecided && source == LJM_SRC_TRACE) {
		c->p = start;
		return LJM_TRIAL;
	}
	read_symbol_body(ps, c, &sym);
	if (c->status != CURSOR_OK)
		return unread(ps, c, start);
	taken(ps, c, start);
	rc = ps->symbol(ps->ctx, &sym);
	ps->n_symbols++;
	if (rc < 0) {
		ps->rc = rc;
		return LJM_HANDLER;
	}
	return LJM_MORE;
}

/* 0: no such tag in this version of the table */
static enum ljm_source symtab_source(unsigned ljs_version, unsigned tag)
{
	static const enum ljm_source sources[4][4] = {
		[1] = { LJM_SRC_LUA },
		[2] = { LJM_SRC_LUA, LJM_SRC_TRACE },
		[3] = { LJM_SRC_LUA, LJM_SRC_C, LJM_SRC_TRACE },
	};

	return sources[ljs_version][tag & 3];
}

static enum ljm_status read_symtab(struct ljm_parser *ps, struct cursor *c)
{
	enum ljm_status status;

	while (cursor__left(c)) {
		const uint8_t *start = c->p;
		uint8_t tag = cursor__u8(c);
		enum ljm_source source = symtab_source(ps->ljs_version, tag);

		if (tag & 0x80) {
			ps->phase = LJM_IN_LJM_HEADER;
			taken(ps, c, start);
			return LJM_MORE;
		}
		if (!source) {
			c->p = start;
			return fail(ps, LJM_CORRUPT, ps->offset, "bad symbol tag 0x%02x", tag);
		}
		status = take_symbol(ps, c, start, source);
		if (status != LJM_MORE || c->p == start)
			return status;
	}
	ps->need = 1;
	return LJM_MORE;
}

/* ---- events ---- */

static void read_location(struct ljm_loc *loc, struct cursor *c, bool mcode)
{
	loc->addr = loc->num = 0;
	switch (loc->source) {
	case LJM_SRC_INTERNAL:
	case LJM_SRC_NATIVE: /* of no event */
		break;
	case LJM_SRC_LUA:
		loc->addr = cursor__uleb(c);
		loc->num = cursor__uleb(c);
		if (__builtin_expect(ljm_loc__is_unknown_line(loc), 0))
			*loc = (struct ljm_loc){ .source = LJM_SRC_INTERNAL };
		break;
	case LJM_SRC_C:
		loc->addr = cursor__uleb(c);
		break;
	case LJM_SRC_TRACE:
		loc->num = cursor__uleb(c);
		if (mcode)
			loc->addr = cursor__uleb(c);
		break;
	}
}

static inline void read_event_body(struct ljm_event *ev, struct cursor *c, bool mcode)
{
	read_location(&ev->loc, c, mcode);
	ev->old_addr = ev->old_size = ev->new_addr = ev->new_size = 0;
	if (ev->kind & LJM_FREE) {
		ev->old_addr = cursor__uleb(c);
		ev->old_size = cursor__uleb(c);
	}
	if (ev->kind & LJM_ALLOC) {
		ev->new_addr = cursor__uleb(c);
		ev->new_size = cursor__uleb(c);
	}
}

static uint8_t take_vmstate(struct ljm_parser *ps)
{
	if (ps->vmstate_left == 0 && ps->next_vmstate)
		ps->next_vmstate(ps);
	if (ps->vmstate_left == 0)
		return LJM_VMSTATE_UNKNOWN;
	ps->vmstate_left--;
	return ps->vmstate;
}

/* Everything that is no event: end byte, symbols, and rubbish. */
static enum ljm_status take_other(struct ljm_parser *ps, struct cursor *c, unsigned tag)
{
	const uint8_t *start = c->p;

	c->p++;
	if (tag == LJM_END) {
		ps->phase = LJM_AT_END;
		taken(ps, c, start);
		return LJM_END_SEEN;
	}
	if (tag < 32 && (ps->events_ok >> tag & 1))
		return take_symbol(ps, c, start, (enum ljm_source)(tag >> 2));
	c->p = start;
	return fail(ps, LJM_CORRUPT, ps->offset, "bad event header 0x%02x", tag);
}

/* The loop that the speed of all commands rests on: C is a local copy, so that
 * it lives in registers, and PS->offset is settled on the way out. */
static enum ljm_status read_events(struct ljm_parser *ps, struct cursor *cur)
{
	struct cursor c = *cur;
	const uint8_t *settled = c.p; /* ps->offset is the offset of this byte */
	enum ljm_status status = LJM_MORE;
	struct ljm_event ev;

	ps->need = 1;
	while (c.p != c.end) {
		const uint8_t *start = c.p;
		unsigned tag = *start;

		if ((tag & 3) == LJM_SYMBOL || tag >= 32 || !(ps->events_ok >> tag & 1)) {
			ps->offset += (uint64_t)(start - settled);
			status = take_other(ps, &c, tag);
			settled = c.p;
			if (status != LJM_MORE || c.p == start)
				break;
			continue;
		}
		if (ps->n_events == ps->stop_at) {
			status = LJM_STOP;
			break;
		}
		ev.kind = (enum ljm_kind)(tag & 3);
		ev.loc.source = (enum ljm_source)(tag >> 2);
		ev.vmstate = LJM_VMSTATE_UNKNOWN;
		if (ps->undecided && ev.loc.source == LJM_SRC_TRACE) {
			status = LJM_TRIAL;
			break;
		}
		c.p++;
		read_event_body(&ev, &c, ps->mcode);
		if (__builtin_expect(c.status != CURSOR_OK, 0)) {
			ps->offset += (uint64_t)(start - settled);
			settled = start;
			status = unread(ps, &c, start);
			break;
		}
		if (ev.loc.source == LJM_SRC_INTERNAL)
			ev.vmstate = take_vmstate(ps);
		ev.stack = ps->next_stack && (ev.kind & LJM_ALLOC) ? ps->next_stack(ps) : 0;
		ps->n_events++;
		ps->rc = ps->event(ps->event_ctx, &ev);
		if (__builtin_expect(ps->rc < 0, 0)) {
			status = LJM_HANDLER;
			break;
		}
	}
	ps->offset += (uint64_t)(c.p - settled);
	*cur = c;
	return status;
}

/* ---- the whole ---- */

static enum ljm_status read_phases(struct ljm_parser *ps, struct cursor *c)
{
	enum ljm_phase before;
	enum ljm_status status = LJM_MORE;

	do {
		before = ps->phase;
		switch (before) {
		case LJM_IN_LJS_HEADER:
			status = read_ljs_header(ps, c);
			break;
		case LJM_IN_SYMTAB:
			status = read_symtab(ps, c);
			break;
		case LJM_IN_LJM_HEADER:
			status = read_ljm_header(ps, c);
			break;
		case LJM_IN_EVENTS:
			status = read_events(ps, c);
			break;
		case LJM_AT_END:
			return LJM_END_SEEN;
		}
	} while (status == LJM_MORE && ps->phase != before);
	return status;
}

/* How many bytes of the window are valid items of a variant.  An item that
 * the window cuts counts if it may be an event; if it would be longer, it is
 * rather rubbish that reads as the length of a string. */
static size_t try_variant(const struct ljm_parser *ps, const struct cursor *c, bool mcode)
{
	struct ljm_parser dry = *ps;
	struct cursor copy = *c;
	enum ljm_status status;

	dry.undecided = false;
	dry.mcode = mcode;
	dry.symbol = no_symbol;
	dry.event = no_event;
	dry.next_vmstate = NULL;
	dry.next_stack = NULL;
	dry.stop_at = UINT64_MAX;
	status = read_phases(&dry, &copy);
	if (status == LJM_MORE && dry.need <= LJM_EVENT_MAX)
		return cursor__left(c);
	return (size_t)(copy.p - c->p);
}

static void decide(struct ljm_parser *ps, const struct cursor *c)
{
	size_t without = try_variant(ps, c, false);
	size_t with = try_variant(ps, c, true);

	ps->mcode = with > without;
	ps->undecided = false;
}

enum ljm_status ljm_parser__run(struct ljm_parser *ps, const uint8_t *win, size_t len, bool full,
				size_t *used)
{
	struct cursor c = cursor__of(win, len);
	enum ljm_status status;

	if (!ps->symbol)
		ps->symbol = no_symbol;
	if (!ps->event)
		ps->event = no_event;
	status = read_phases(ps, &c);
	if (status == LJM_TRIAL && full) {
		decide(ps, &c);
		status = read_phases(ps, &c);
	}
	*used = (size_t)(c.p - win);
	return status;
}
