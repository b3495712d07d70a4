/* native.c - see native.h. */
#include "record/native.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/error.h"
#include "util/hashmap.h"

/* Numbers of registers in the unwind tables (System V ABI, AMD64). */
enum { REG_BP = 6, REG_SP = 7 };

/* So many places are remembered, then all are looked up anew. */
#define RULES_MAX 65536

#define BUILD_ID_MAX 64

struct module {
	uint64_t start, end, bias;
	char *path;
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_len;
};

/* How to get from a frame to the one that called it. */
struct rule {
	uint64_t pc;
	bool usable; /* else the walk ends here */
	bool outermost; /* has no caller, by its own word */
	bool api; /* a function of the VM's interface */
	bool unknown; /* in no module */
	uint64_t module; /* start of it, to tell modules apart */
	uint8_t cfa_reg; /* REG_SP or REG_BP */
	bool cfa_deref; /* the frame's address is stored there */
	int64_t cfa_off;
	int64_t ra_off; /* from the frame's address */
	enum { BP_SAME, BP_SAVED, BP_LOST } bp;
	int64_t bp_off;
};

struct native {
	pid_t pid;
	struct module *modules;
	size_t n_modules, cap_modules;
	Dwfl *dwfl;
	bool changed; /* modules were told that libdwfl does not know */
	struct rule *rules;
	size_t n_rules, cap_rules;
	struct hashmap map;
};

/* ---- modules ---- */

struct native *native__new(pid_t pid)
{
	struct native *n = calloc(1, sizeof(*n));

	if (!n)
		err__set(-ENOMEM, "no memory for native call stacks");
	else
		n->pid = pid;
	return n;
}

static void forget_rules(struct native *n)
{
	hashmap__clear(&n->map);
	n->n_rules = 0;
}

void native__delete(struct native *n)
{
	size_t i;

	if (!n)
		return;
	for (i = 0; i < n->n_modules; i++)
		free(n->modules[i].path);
	free(n->modules);
	free(n->rules);
	hashmap__exit(&n->map);
	if (n->dwfl)
		dwfl_end(n->dwfl);
	free(n);
}

/* What lies where the new one is was unloaded. */
static void drop_overlapped(struct native *n, const struct session_module *m)
{
	size_t i, to = 0;

	for (i = 0; i < n->n_modules; i++) {
		if (n->modules[i].start < m->end && m->start < n->modules[i].end)
			free(n->modules[i].path);
		else
			n->modules[to++] = n->modules[i];
	}
	n->n_modules = to;
}

static int no_memory(void)
{
	return err__set(-ENOMEM, "no memory for native call stacks");
}

int native__module(struct native *n, const struct session_module *m)
{
	struct module *to;

	drop_overlapped(n, m);
	if (n->n_modules == n->cap_modules) {
		size_t cap = n->cap_modules ? n->cap_modules * 2 : 32;

		to = realloc(n->modules, cap * sizeof(*to));
		if (!to)
			return no_memory();
		n->modules = to;
		n->cap_modules = cap;
	}
	to = &n->modules[n->n_modules];
	*to = (struct module){ .start = m->start, .end = m->end, .bias = m->bias };
	to->path = strndup(m->path, m->path_len);
	if (!to->path)
		return no_memory();
	if (m->build_id_len && m->build_id_len <= sizeof(to->build_id)) {
		memcpy(to->build_id, m->build_id, m->build_id_len);
		to->build_id_len = m->build_id_len;
	}
	n->n_modules++;
	n->changed = true;
	forget_rules(n);
	return 0;
}

static const struct module *module_at(const struct native *n, uint64_t pc)
{
	size_t i;

	for (i = 0; i < n->n_modules; i++)
		if (pc >= n->modules[i].start && pc < n->modules[i].end)
			return &n->modules[i];
	return NULL;
}

/* ---- libdwfl ---- */

static int no_debuginfo(Dwfl_Module *mod, void **user, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word crc, char **to)
{
	(void)mod, (void)user, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)to;
	return -1; /* what is loaded has its unwind tables in itself */
}

static int no_elf(Dwfl_Module *mod, void **user, const char *name, Dwarf_Addr base, char **file,
		  Elf **elf)
{
	(void)mod, (void)user, (void)name, (void)base, (void)file, (void)elf;
	return -1; /* files are given when they are reported */
}

static const Dwfl_Callbacks callbacks = { .find_elf = no_elf, .find_debuginfo = no_debuginfo };

/* The file as the process sees it, while it runs; never a device or a FIFO. */
static int open_module(const struct native *n, const struct module *m)
{
	char path[PATH_MAX + 64];
	struct stat st;
	int fd = -1;

	if (m->path[0] != '/')
		return -1;
	if (snprintf(path, sizeof(path), "/proc/%d/root%s", (int)n->pid, m->path) <
	    (int)sizeof(path))
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		fd = open(m->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* The file may have been replaced since it was loaded. */
static bool is_same_file(Dwfl_Module *mod, const struct module *m)
{
	const unsigned char *id;
	GElf_Addr at;
	int len = dwfl_module_build_id(mod, &id, &at);

	return len == (int)m->build_id_len && (len <= 0 || !memcmp(id, m->build_id, (size_t)len));
}

static Dwfl_Module *report(struct native *n, const struct module *m)
{
	int fd = open_module(n, m);
	Dwfl_Module *mod;

	if (fd < 0)
		return NULL;
	mod = dwfl_report_elf(n->dwfl, m->path, m->path, fd, m->bias, true);
	if (!mod)
		close(fd);
	return mod;
}

/* All modules anew: libdwfl does not take a file twice. */
static int report_all(struct native *n)
{
	size_t i;

	if (n->dwfl)
		dwfl_end(n->dwfl);
	n->dwfl = dwfl_begin(&callbacks);
	if (!n->dwfl)
		return no_memory();
	n->changed = false;
	dwfl_report_begin(n->dwfl);
	for (i = 0; i < n->n_modules; i++)
		report(n, &n->modules[i]);
	dwfl_report_end(n->dwfl, NULL, NULL);
	return 0;
}

/* ---- rules ---- */

/* REG + OFFSET, or what is stored there. */
static bool cfa_rule(Dwarf_Frame *frame, struct rule *r)
{
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_cfa(frame, &ops, &n) != 0 || n < 1 || n > 2)
		return false;
	if (ops[0].atom == DW_OP_bregx) {
		r->cfa_reg = (uint8_t)(ops[0].number < 255 ? ops[0].number : 255);
		r->cfa_off = (int64_t)ops[0].number2;
	} else if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
		r->cfa_reg = (uint8_t)(ops[0].atom - DW_OP_breg0);
		r->cfa_off = (int64_t)ops[0].number;
	} else {
		return false;
	}
	r->cfa_deref = n == 2;
	return (r->cfa_reg == REG_SP || r->cfa_reg == REG_BP) &&
	       (n == 1 || ops[1].atom == DW_OP_deref);
}

enum saved { SAVED_AT, SAVED_SAME, SAVED_NOT, SAVED_OTHERWISE };

/* Where the caller's REG is: at the frame's address plus *OFFSET, or untouched. */
static enum saved saved_rule(Dwarf_Frame *frame, int reg, int64_t *offset)
{
	Dwarf_Op mem[3], *ops;
	size_t n;

	if (dwarf_frame_register(frame, reg, mem, &ops, &n) != 0)
		return SAVED_OTHERWISE;
	if (n == 0)
		return ops ? SAVED_NOT : SAVED_SAME;
	*offset = 0;
	if (ops[0].atom != DW_OP_call_frame_cfa || n > 2)
		return SAVED_OTHERWISE;
	if (n == 1)
		return SAVED_AT;
	*offset = (int64_t)ops[1].number;
	return ops[1].atom == DW_OP_plus_uconst ? SAVED_AT : SAVED_OTHERWISE;
}

static void frame_rule(Dwarf_Frame *frame, struct rule *r)
{
	Dwarf_Addr start, end;
	bool signal;
	int ra = dwarf_frame_info(frame, &start, &end, &signal);

	if (ra < 0 || signal)
		return;
	switch (saved_rule(frame, ra, &r->ra_off)) {
	case SAVED_AT:
		break;
	case SAVED_NOT:
		r->outermost = true;
		return;
	default:
		return;
	}
	switch (saved_rule(frame, REG_BP, &r->bp_off)) {
	case SAVED_AT:
		r->bp = BP_SAVED;
		break;
	case SAVED_SAME:
		r->bp = BP_SAME;
		break;
	default:
		r->bp = BP_LOST;
	}
	r->usable = cfa_rule(frame, r);
}

static bool is_api(Dwfl_Module *mod, uint64_t pc)
{
	GElf_Off off;
	GElf_Sym sym;
	const char *name = dwfl_module_addrinfo(mod, pc, &off, &sym, NULL, NULL, NULL);

	return name && off < sym.st_size &&
	       (!strncmp(name, "lua_", 4) || !strncmp(name, "luaL_", 5));
}

static void make_rule(struct native *n, struct rule *r)
{
	const struct module *m = module_at(n, r->pc);
	Dwfl_Module *mod = m ? dwfl_addrmodule(n->dwfl, r->pc) : NULL;
	Dwarf_Frame *frame = NULL;
	Dwarf_CFI *cfi;
	Dwarf_Addr bias;

	r->unknown = !m;
	r->module = m ? m->start : 0;
	if (!mod || !is_same_file(mod, m))
		return;
	r->api = is_api(mod, r->pc);
	cfi = dwfl_module_eh_cfi(mod, &bias);
	if (!cfi || dwarf_cfi_addrframe(cfi, r->pc - bias, &frame) != 0)
		return;
	frame_rule(frame, r);
	free(frame);
}

/* The rule of PC; NULL without memory. */
static const struct rule *rule_of(struct native *n, uint64_t pc)
{
	uint64_t hash = hash__u64(pc);
	uint32_t pos, id;
	struct rule *r;

	for (id = hashmap__first(&n->map, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(&n->map, hash, &pos))
		if (n->rules[id].pc == pc)
			return &n->rules[id];
	if (n->changed && report_all(n))
		return NULL;
	if (n->n_rules >= RULES_MAX)
		forget_rules(n);
	if (n->n_rules == n->cap_rules) {
		size_t cap = n->cap_rules ? n->cap_rules * 2 : 256;

		r = realloc(n->rules, cap * sizeof(*r));
		if (!r)
			return NULL;
		n->rules = r;
		n->cap_rules = cap;
	}
	if (hashmap__add(&n->map, hash, (uint32_t)n->n_rules))
		return NULL;
	r = &n->rules[n->n_rules++];
	*r = (struct rule){ .pc = pc };
	make_rule(n, r);
	return r;
}

/* ---- walking ---- */

struct walk {
	const struct native_sample *sample;
	uint64_t pc, sp, bp;
	bool bp_known;
};

static bool read_stack(const struct native_sample *s, uint64_t at, uint64_t *value)
{
	if (at < s->sp || at - s->sp > s->len || s->len - (at - s->sp) < sizeof(*value))
		return false;
	memcpy(value, s->stack + (at - s->sp), sizeof(*value));
	return true;
}

/* The address of the frame: the caller's stack pointer. */
static bool frame_address(const struct walk *w, const struct rule *r, uint64_t *cfa)
{
	if (r->cfa_reg == REG_BP && !w->bp_known)
		return false;
	*cfa = (r->cfa_reg == REG_BP ? w->bp : w->sp) + (uint64_t)r->cfa_off;
	return (!r->cfa_deref || read_stack(w->sample, *cfa, cfa)) && *cfa > w->sp;
}

/* Moves on to the caller, whose stack pointer is CFA. */
static bool step(struct walk *w, const struct rule *r, uint64_t cfa)
{
	if (!read_stack(w->sample, cfa + (uint64_t)r->ra_off, &w->pc))
		return false;
	if (r->bp == BP_SAVED)
		w->bp_known = read_stack(w->sample, cfa + (uint64_t)r->bp_off, &w->bp);
	else if (r->bp == BP_LOST)
		w->bp_known = false;
	w->sp = cfa;
	w->pc--; /* the call, and not what follows it */
	return w->pc != UINT64_MAX;
}

/* What lies inside of the VM's interface, and the agent that was called there,
 * is not told.  Where the interface has no names, all but the agent stays. */
struct trim {
	uint64_t agent; /* its module */
	bool inside; /* no frame but the agent's was met */
	bool api; /* the last one was of the interface */
	bool past; /* and others came */
};

static void add_frame(struct native_frames *f, struct trim *t, const struct rule *r)
{
	if (t->inside && r->module == t->agent)
		return;
	t->inside = false;
	if (r->api && !t->past) {
		f->n = 0;
		t->api = true;
	} else if (t->api) {
		t->past = true;
	}
	if (f->n < NATIVE_FRAMES)
		f->at[f->n++] = r->pc;
}

int native__walk(struct native *n, const struct native_sample *sample, struct native_frames *f)
{
	struct walk w = { sample, sample->pc, sample->sp, sample->bp, true };
	const struct rule *r;
	struct trim t = { .inside = true };
	uint64_t cfa = 0;

	f->n = 0;
	f->whole = f->unknown_code = false;
	for (;;) {
		r = rule_of(n, w.pc);
		if (!r)
			return no_memory();
		if (w.sp == sample->sp)
			t.agent = r->module;
		f->unknown_code = r->unknown;
		if (r->unknown)
			return 0;
		if (r->usable && !frame_address(&w, r, &cfa))
			return 0;
		if (r->usable && sample->bound && cfa > sample->bound)
			return 0; /* not a frame of the C function's stack */
		if (f->n == NATIVE_FRAMES)
			return 0;
		add_frame(f, &t, r);
		f->whole = r->outermost || (r->usable && cfa == sample->bound);
		if (f->whole || !r->usable || !step(&w, r, cfa))
			return 0;
	}
}
