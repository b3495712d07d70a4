/* symtab.h - what the addresses and numbers of a stream mean, at the moment
 * they are read.  Used by the aggregation and by script.
 *
 * The same address can be another prototype later, and a trace number another
 * trace: each symbol opens a new epoch of its address or number.  An event's
 * location is turned into a SITE when it is read; a site never changes its
 * meaning.  Epochs with equal names share their site, so memory follows the
 * distinct names and not the number of epochs.  Names as text are made from
 * sites by names.h, only for what is printed.
 */
#ifndef LJPERF_REPORT_SYMTAB_H
#define LJPERF_REPORT_SYMTAB_H

#include "formats/ljm.h"
#include "report/cfuncs.h"
#include "report/epochs.h"
#include "report/modules.h"
#include "report/strpool.h"
#include "report/symbolize.h"
#include "util/hashmap.h"

#define SITE_NONE HASHMAP_NONE

/* Where an event happened.  REF is a number of a proto (LUA), a cfunc (C) or
 * a trace (TRACE); ARG is the line (LUA; 0: unknown, in call stacks only), the
 * address (C) or the enum
 * ljm_vmstate (INTERNAL). */
struct site {
	enum ljm_source source;
	uint32_t ref;
	uint64_t arg;
};

/* A prototype.  One that was never described has no chunk, and its address. */
struct proto {
	uint32_t chunk, func; /* strings, or STR_NONE */
	uint64_t first_line, last_line;
	uint64_t addr; /* 0 when described */
	uint32_t session; /* of what is described: the scope of its name */
	bool has_others; /* see symtab__find_others() */
	bool by_name; /* see symtab__share_names() */
};

struct trace {
	uint64_t num, mcode; /* mcode is 0 where the stream has none */
	uint64_t line; /* where it starts */
	uint32_t proto; /* HASHMAP_NONE: the trace was never described */
	uint32_t parent, exit, root, link;
	uint8_t linktype;
};

/* Of the direct-mapped cache in front of the tables. */
struct symtab_cached {
	uint64_t addr, num;
	uint32_t stamp; /* generation and source */
	uint32_t site;
};

enum { SYMTAB_CACHE_BITS = 10, SYMTAB_CACHE = 1 << SYMTAB_CACHE_BITS, SYMTAB_SOURCE_BITS = 3 };

struct symtab {
	struct strpool strings;
	struct cfuncs cfuncs;
	struct modules modules;
	struct symbolizer *symbolizer; /* owned; NULL: modules are not looked into */
	struct site *sites;
	size_t n_sites, cap_sites;
	struct proto *protos;
	size_t n_protos, cap_protos;
	struct trace *traces;
	size_t n_traces, cap_traces;
	struct hashmap site_map, proto_map, trace_map;
	uint32_t *aliases; /* strings: the multi-line chunk names, in order */
	size_t n_aliases, cap_aliases;

	/* Set before a session: in another scope the same lines may be another
	 * function, because the file was changed in between. */
	uint32_t scope;

	/* Of the session being read. */
	uint32_t session; /* counts from 1 */
	struct epochs cur_proto, cur_trace;
	/* Traces of the table before the events: their prototypes may come
	 * after them in it. */
	struct ljm_symbol *pending;
	size_t n_pending, cap_pending;

	uint32_t generation;
	uint32_t internal[LJM_VMSTATE_MAX];
	struct symtab_cached cache[SYMTAB_CACHE];
};

/* NULL: no memory, see err__msg(). */
struct symtab *symtab__new(void);
void symtab__delete(struct symtab *st);

/* Addresses and trace numbers mean nothing from here on; sites stay. */
void symtab__begin_session(struct symtab *st);

/* 0 or -ENOMEM with err__msg(). */
int symtab__symbol(struct symtab *st, const struct ljm_symbol *sym);
int symtab__module(struct symtab *st, const struct session_module *m);
/* Of the session being read, which is ljperf's own: its C symbols name their
 * addresses, and nothing above them. */
void symtab__exact_c(struct symtab *st);
/* Of the session whose header is H: the same, unless misc.memprof made it, whose
 * symbols stand for what is above them. */
void symtab__header(struct symtab *st, const struct session_header *h);

/* The site of a frame of a call stack: as symtab__site(), but a Lua function
 * whose line is not known is a site with line 0. */
uint32_t symtab__frame(struct symtab *st, const struct ljm_loc *loc);

/* Whether a site is a call inside of C code, from a native call stack, and no
 * C function as the VM knows it. */
static inline bool symtab__is_code(const struct symtab *st, uint32_t site)
{
	return site != SITE_NONE && st->sites[site].source == LJM_SRC_C &&
	       st->cfuncs.at[st->sites[site].ref].code;
}

/* The module that a C function lies in; NULL for others. */
const struct module *symtab__module_of(const struct symtab *st, const struct site *site);

/* Finds out what the symbolizer can about a site, if it is a C function: one
 * without a name, or any when NAMED_TOO.  1 when names.h may say more of it
 * than before, 0, or -ENOMEM with err__msg(). */
int symtab__symbolize(struct symtab *st, uint32_t site, bool named_too);

/* The same of all sites whose C functions have no names, for who looks for a
 * name among them.  0 or -ENOMEM. */
int symtab__symbolize_all(struct symtab *st);

/* What is known of a C function's code; no frames for others. */
struct symbol symtab__symbol_of(const struct symtab *st, const struct site *site);

/* Marks the functions with a name where another scope, or another time, has one
 * with another name that begins on the same line.  0 or -ENOMEM with err__msg(). */
int symtab__find_others(struct symtab *st);

/* For comparing the scopes: a function without a name gets the one that another
 * scope has for its lines, unless its own scope has that elsewhere.  Those whose
 * name is the only one of its chunk in each scope are marked: it is enough to
 * know them by.  0 or -ENOMEM with err__msg(). */
int symtab__share_names(struct symtab *st);

/* The number of the alias of a multi-line chunk name, from 1; 0 for others. */
size_t symtab__alias(const struct symtab *st, uint32_t chunk);

/* The prototype a site belongs to: its own, or the one its trace starts in;
 * NULL for the others. */
const struct proto *symtab__proto(const struct symtab *st, const struct site *site);

static inline struct symtab_cached *symtab__slot(struct symtab *st, const struct ljm_loc *loc)
{
	uint64_t h = (loc->addr ^ loc->num << 40) * 0x9e3779b97f4a7c15;

	return &st->cache[h >> (64 - SYMTAB_CACHE_BITS)];
}

static inline uint32_t symtab__stamp(const struct symtab *st, const struct ljm_loc *loc)
{
	return st->generation << SYMTAB_SOURCE_BITS | (uint32_t)loc->source;
}

uint32_t symtab__resolve(struct symtab *st, const struct ljm_loc *loc, unsigned vmstate);

/* The site of a location now, or SITE_NONE when there is no memory. */
static inline uint32_t symtab__site(struct symtab *st, const struct ljm_loc *loc, unsigned vmstate)
{
	const struct symtab_cached *c = symtab__slot(st, loc);

	if (loc->source == LJM_SRC_INTERNAL) {
		if (vmstate < LJM_VMSTATE_MAX && st->internal[vmstate] != SITE_NONE)
			return st->internal[vmstate];
	} else if (c->addr == loc->addr && c->num == loc->num &&
		   c->stamp == symtab__stamp(st, loc)) {
		return c->site;
	}
	return symtab__resolve(st, loc, vmstate);
}

#endif
