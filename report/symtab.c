/* symtab.c - epochs, sites and the tables behind them; see symtab.h. */
#include "report/symtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/grow.h"

enum { GENERATION_BITS = 32 - SYMTAB_SOURCE_BITS };

static int symtab__no_memory(void)
{
	return err__set(-ENOMEM, "out of memory for symbols");
}

/* What the cache holds is of the past: called when an epoch opens. */
static void symtab__new_generation(struct symtab *st)
{
	if (++st->generation >> GENERATION_BITS) {
		memset(st->cache, 0, sizeof(st->cache));
		st->generation = 1;
	}
}

struct symtab *symtab__new(void)
{
	struct symtab *st = calloc(1, sizeof(*st));

	if (!st) {
		symtab__no_memory();
		return NULL;
	}
	symtab__new_generation(st);
	memset(st->internal, 0xff, sizeof(st->internal));
	return st;
}

void symtab__delete(struct symtab *st)
{
	if (!st)
		return;
	strpool__exit(&st->strings);
	cfuncs__exit(&st->cfuncs);
	modules__exit(&st->modules);
	symbolizer__delete(st->symbolizer);
	free(st->sites);
	free(st->protos);
	free(st->traces);
	hashmap__exit(&st->site_map);
	hashmap__exit(&st->proto_map);
	hashmap__exit(&st->trace_map);
	free(st->aliases);
	epochs__exit(&st->cur_proto);
	epochs__exit(&st->cur_trace);
	free(st->pending);
	free(st);
}

void symtab__begin_session(struct symtab *st)
{
	epochs__clear(&st->cur_proto);
	epochs__clear(&st->cur_trace);
	cfuncs__begin_session(&st->cfuncs);
	modules__begin_session(&st->modules);
	st->n_pending = 0;
	st->session++;
	symtab__new_generation(st);
}

/* ---- prototypes ---- */

/* There may be more of them on the line. */
static bool proto__is_one_line(const struct proto *p)
{
	return p->last_line && p->first_line == p->last_line;
}

static uint64_t proto__hash(const struct proto *p)
{
	uint64_t h = hash__u64x2(p->chunk, p->first_line);

	if (proto__is_one_line(p))
		h = hash__u64x2(h, p->func);
	return hash__u64x2(h ^ p->last_line, p->addr ^ p->session);
}

static bool proto__equal(const struct proto *a, const struct proto *b)
{
	return a->chunk == b->chunk && a->first_line == b->first_line &&
	       a->last_line == b->last_line && a->addr == b->addr && a->session == b->session &&
	       (!proto__is_one_line(a) || a->func == b->func);
}

/* A function is where it was written.  What it is called depends on the call
 * that the recorder saw, if any: the first name that there is stays.  Those that
 * are written on one line have nothing but their names to be told apart by. */
static uint32_t symtab__intern_proto(struct symtab *st, const struct proto *p)
{
	uint64_t hash = proto__hash(p);
	uint32_t pos, id;

	for (id = hashmap__first(&st->proto_map, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(&st->proto_map, hash, &pos))
		if (proto__equal(&st->protos[id], p)) {
			if (st->protos[id].func == STR_NONE)
				st->protos[id].func = p->func;
			return id;
		}
	if (GROW(st->protos, st->cap_protos, st->n_protos) ||
	    hashmap__add(&st->proto_map, hash, (uint32_t)st->n_protos))
		return HASHMAP_NONE;
	st->protos[st->n_protos] = *p;
	return (uint32_t)st->n_protos++;
}

/* What is at ADDR now; an address that was never described is a prototype of
 * its own. */
static uint32_t symtab__proto_at(struct symtab *st, uint64_t addr)
{
	struct proto p = { .chunk = STR_NONE, .func = STR_NONE, .addr = addr };
	uint32_t id = epochs__get(&st->cur_proto, addr);

	if (id != HASHMAP_NONE)
		return id;
	p.session = st->session;
	id = symtab__intern_proto(st, &p);
	if (id != HASHMAP_NONE && epochs__set(&st->cur_proto, addr, id))
		return HASHMAP_NONE;
	return id;
}

/* A new string that is many lines of text gets the next alias; the name of a
 * file never does, and neither does stripped bytecode, which is its own name. */
static int symtab__add_chunk(struct symtab *st, const char *s, size_t len, uint32_t *id)
{
	size_t before = st->strings.n;

	*id = strpool__intern(&st->strings, s, len);
	if (*id == STR_NONE)
		return -ENOMEM;
	if (*id < before || !len || memchr("@=\033", s[0], 3) || !memchr(s, '\n', len))
		return 0;
	if (GROW(st->aliases, st->cap_aliases, st->n_aliases))
		return -ENOMEM;
	st->aliases[st->n_aliases++] = *id;
	return 0;
}

static int symtab__add_lua(struct symtab *st, const struct ljm_symbol *sym)
{
	struct proto p = { .func = STR_NONE, .first_line = sym->line, .session = st->scope };
	uint32_t id;

	if (symtab__add_chunk(st, sym->name, sym->name_len, &p.chunk))
		return -ENOMEM;
	if (sym->has_detail) {
		p.last_line = sym->last_line;
		if (sym->func_name_len) {
			p.func = strpool__intern(&st->strings, sym->func_name, sym->func_name_len);
			if (p.func == STR_NONE)
				return -ENOMEM;
		}
	}
	id = symtab__intern_proto(st, &p);
	return id == HASHMAP_NONE ? -ENOMEM : epochs__set(&st->cur_proto, sym->addr, id);
}

size_t symtab__alias(const struct symtab *st, uint32_t chunk)
{
	size_t lo = 0, hi = st->n_aliases, mid;

	while (lo < hi) { /* strings are numbered in order, so aliases ascend */
		mid = lo + (hi - lo) / 2;
		if (st->aliases[mid] == chunk)
			return mid + 1;
		if (st->aliases[mid] < chunk)
			lo = mid + 1;
		else
			hi = mid;
	}
	return 0;
}

/* ---- traces ---- */

static uint64_t trace__hash(const struct trace *t)
{
	uint64_t h = hash__u64x2(t->num, t->mcode);

	h = hash__u64x2(h ^ t->line, (uint64_t)t->proto << 32 | t->parent);
	h = hash__u64x2(h, (uint64_t)t->exit << 32 | t->root);
	return hash__u64x2(h, (uint64_t)t->link << 8 | t->linktype);
}

static bool trace__equal(const struct trace *a, const struct trace *b)
{
	return a->num == b->num && a->mcode == b->mcode && a->line == b->line &&
	       a->proto == b->proto && a->parent == b->parent && a->exit == b->exit &&
	       a->root == b->root && a->link == b->link && a->linktype == b->linktype;
}

static uint32_t symtab__intern_trace(struct symtab *st, const struct trace *t)
{
	uint64_t hash = trace__hash(t);
	uint32_t pos, id;

	for (id = hashmap__first(&st->trace_map, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(&st->trace_map, hash, &pos))
		if (trace__equal(&st->traces[id], t))
			return id;
	if (GROW(st->traces, st->cap_traces, st->n_traces) ||
	    hashmap__add(&st->trace_map, hash, (uint32_t)st->n_traces))
		return HASHMAP_NONE;
	st->traces[st->n_traces] = *t;
	return (uint32_t)st->n_traces++;
}

static int symtab__add_trace(struct symtab *st, const struct ljm_symbol *sym)
{
	struct trace t = { .num = sym->trace_num, .mcode = sym->addr, .line = sym->line };
	uint32_t id;

	t.proto = symtab__proto_at(st, sym->proto_addr);
	if (t.proto == HASHMAP_NONE)
		return -ENOMEM;
	if (sym->has_detail) {
		t.parent = sym->trace_parent;
		t.exit = sym->trace_exit;
		t.root = sym->trace_root;
		t.link = sym->trace_link;
		t.linktype = sym->trace_linktype;
	}
	id = symtab__intern_trace(st, &t);
	return id == HASHMAP_NONE ? -ENOMEM : epochs__set(&st->cur_trace, t.num, id);
}

/* A trace may be described before the prototype it starts in: it is then that
 * of the first name the address gets. */
static uint32_t symtab__settle_trace(struct symtab *st, uint32_t id)
{
	struct trace t = st->traces[id];
	uint32_t now;

	if (st->protos[t.proto].chunk != STR_NONE)
		return id;
	now = epochs__get(&st->cur_proto, st->protos[t.proto].addr);
	if (now == HASHMAP_NONE || now == t.proto)
		return id;
	t.proto = now;
	id = symtab__intern_trace(st, &t);
	return id != HASHMAP_NONE && epochs__set(&st->cur_trace, t.num, id) ? HASHMAP_NONE : id;
}

/* Where the stream tells where the machine code of a trace is, another place
 * is another trace, of which nothing is known. */
static uint32_t symtab__trace_at(struct symtab *st, uint64_t num, uint64_t mcode)
{
	struct trace t = { .num = num, .mcode = mcode, .proto = HASHMAP_NONE };
	uint32_t id = epochs__get(&st->cur_trace, num);

	if (id != HASHMAP_NONE && (!mcode || st->traces[id].mcode == mcode))
		return symtab__settle_trace(st, id);
	return symtab__intern_trace(st, &t);
}

/* ---- symbols ---- */

static int symtab__add_pending(struct symtab *st)
{
	size_t i;

	for (i = 0; i < st->n_pending; i++)
		if (symtab__add_trace(st, &st->pending[i]))
			return -ENOMEM;
	st->n_pending = 0;
	return 0;
}

static int symtab__add(struct symtab *st, const struct ljm_symbol *sym)
{
	uint32_t name;

	if (sym->source == LJM_SRC_TRACE && sym->in_symtab) {
		if (GROW(st->pending, st->cap_pending, st->n_pending))
			return -ENOMEM;
		st->pending[st->n_pending++] = *sym;
		return 0;
	}
	if (!sym->in_symtab && st->n_pending && symtab__add_pending(st))
		return -ENOMEM;
	switch (sym->source) {
	case LJM_SRC_LUA:
		return symtab__add_lua(st, sym);
	case LJM_SRC_TRACE:
		return symtab__add_trace(st, sym);
	case LJM_SRC_C:
		name = strpool__intern(&st->strings, sym->name, sym->name_len);
		return name == STR_NONE ? -ENOMEM
					: cfuncs__symbol(&st->cfuncs, sym->addr, name,
							 modules__find(&st->modules, sym->addr));
	default:
		return 0;
	}
}

int symtab__symbol(struct symtab *st, const struct ljm_symbol *sym)
{
	symtab__new_generation(st);
	return symtab__add(st, sym) ? symtab__no_memory() : 0;
}

void symtab__exact_c(struct symtab *st)
{
	st->cfuncs.exact = true;
}

void symtab__header(struct symtab *st, const struct session_header *h)
{
	if (!h->backend || strcmp(h->backend, "memprof") != 0)
		symtab__exact_c(st);
}

int symtab__module(struct symtab *st, const struct session_module *m)
{
	symtab__new_generation(st);
	return modules__add(&st->modules, &st->strings, m) ? symtab__no_memory() : 0;
}

/* ---- sites ---- */

static uint32_t symtab__intern_site(struct symtab *st, const struct site *s)
{
	uint64_t hash = hash__u64x2((uint64_t)s->source << 32 | s->ref, s->arg);
	uint32_t pos, id;

	for (id = hashmap__first(&st->site_map, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(&st->site_map, hash, &pos))
		if (st->sites[id].source == s->source && st->sites[id].ref == s->ref &&
		    st->sites[id].arg == s->arg)
			return id;
	if (GROW(st->sites, st->cap_sites, st->n_sites) ||
	    hashmap__add(&st->site_map, hash, (uint32_t)st->n_sites))
		return SITE_NONE;
	st->sites[st->n_sites] = *s;
	return (uint32_t)st->n_sites++;
}

static uint32_t symtab__internal(struct symtab *st, unsigned vmstate)
{
	struct site s = { .source = LJM_SRC_INTERNAL };

	if (vmstate >= LJM_VMSTATE_MAX)
		vmstate = LJM_VMSTATE_UNKNOWN;
	s.arg = vmstate;
	if (st->internal[vmstate] == SITE_NONE)
		st->internal[vmstate] = symtab__intern_site(st, &s);
	return st->internal[vmstate];
}

static uint32_t symtab__lookup(struct symtab *st, const struct ljm_loc *loc, unsigned vmstate)
{
	struct site s = { .source = loc->source };

	switch (loc->source) {
	case LJM_SRC_LUA:
		if (ljm_loc__is_unknown_line(loc))
			return symtab__internal(st, LJM_VMSTATE_UNKNOWN);
		s.ref = symtab__proto_at(st, loc->addr);
		s.arg = loc->num;
		break;
	case LJM_SRC_C:
		s.ref = cfuncs__find(&st->cfuncs, loc->addr,
				     modules__find(&st->modules, loc->addr));
		s.arg = loc->addr;
		break;
	case LJM_SRC_NATIVE:
		s.source = LJM_SRC_C;
		s.ref = cfuncs__code(&st->cfuncs, loc->addr,
				     modules__find(&st->modules, loc->addr));
		s.arg = loc->addr;
		break;
	case LJM_SRC_TRACE:
		s.ref = symtab__trace_at(st, loc->num, loc->addr);
		break;
	default:
		return symtab__internal(st, vmstate);
	}
	return s.ref == HASHMAP_NONE ? SITE_NONE : symtab__intern_site(st, &s);
}

uint32_t symtab__resolve(struct symtab *st, const struct ljm_loc *loc, unsigned vmstate)
{
	struct symtab_cached *c = symtab__slot(st, loc);
	uint32_t site = SITE_NONE;

	if (!st->n_pending || !symtab__add_pending(st))
		site = symtab__lookup(st, loc, vmstate);
	if (site == SITE_NONE) {
		symtab__no_memory();
		return SITE_NONE;
	}
	if (loc->source != LJM_SRC_INTERNAL) {
		c->addr = loc->addr;
		c->num = loc->num;
		c->stamp = symtab__stamp(st, loc);
		c->site = site;
	}
	return site;
}

uint32_t symtab__frame(struct symtab *st, const struct ljm_loc *loc)
{
	struct site s = { .source = LJM_SRC_LUA };

	if (!ljm_loc__is_unknown_line(loc))
		return symtab__site(st, loc, LJM_VMSTATE_UNKNOWN);
	if (st->n_pending && symtab__add_pending(st))
		s.ref = HASHMAP_NONE;
	else
		s.ref = symtab__proto_at(st, loc->addr);
	if (s.ref == HASHMAP_NONE) {
		symtab__no_memory();
		return SITE_NONE;
	}
	return symtab__intern_site(st, &s);
}

const struct proto *symtab__proto(const struct symtab *st, const struct site *site)
{
	uint32_t proto;

	if (site->source == LJM_SRC_LUA)
		return &st->protos[site->ref];
	if (site->source != LJM_SRC_TRACE)
		return NULL;
	proto = st->traces[site->ref].proto;
	return proto == HASHMAP_NONE ? NULL : &st->protos[proto];
}

/* ---- C functions ---- */

const struct module *symtab__module_of(const struct symtab *st, const struct site *site)
{
	uint32_t module = site->source == LJM_SRC_C ? st->cfuncs.at[site->ref].module : MODULE_NONE;

	return module == MODULE_NONE ? NULL : &st->modules.at[module];
}

int symtab__symbolize(struct symtab *st, uint32_t site, bool named_too)
{
	const struct site *s = &st->sites[site];
	const struct module *m = symtab__module_of(st, s);

	if (!m || !st->symbolizer || (!named_too && st->cfuncs.at[s->ref].name != STR_NONE))
		return 0;
	return symbolizer__resolve(st->symbolizer, m, s->arg);
}

int symtab__symbolize_all(struct symtab *st)
{
	uint32_t site;
	int err = 0;

	for (site = 0; err >= 0 && site < st->n_sites; site++)
		err = symtab__symbolize(st, site, false);
	return err < 0 ? err : 0;
}

struct symbol symtab__symbol_of(const struct symtab *st, const struct site *site)
{
	const struct module *m = symtab__module_of(st, site);

	return m ? symbolizer__get(st->symbolizer, m, site->arg) : (struct symbol){ NULL, 0 };
}
