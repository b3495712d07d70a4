/* probe_objects.c - finds the fields of functions, prototypes, strings and
 * traces: each is looked for in objects whose contents the probe has chosen.
 */
#include "vendor/luajit/probe.h"

#include <stdio.h>
#include <string.h>

/* A planted function: LEAD lines before it, then a statement of one
 * instruction on each of the lines in at[] (counted from the function's
 * first), then "end".  It has a constant and an upvalue: empty arrays of them
 * would start where the line numbers start. */
struct planted {
	const char *name;
	unsigned lead;
	uint8_t at[6];
	unsigned n; /* of at[]; the last is the line of "end" */
	const uint8_t *fn, *pt, *bc;
	const struct block *block;
};

static struct planted plants[2] = {
	{ "=ljperf probe A", 40, { 1, 5, 12, 20 }, 4, NULL, NULL, NULL, NULL },
	{ "=ljperf probe, the second", 97, { 2, 3, 17, 40, 41, 66 }, 6, NULL, NULL, NULL, NULL },
};

static int c_nothing(lua_State *L)
{
	(void)L;
	return 0;
}

static void lines(char *buf, size_t len, unsigned n)
{
	size_t at = strlen(buf);

	while (n-- && at + 2 < len)
		buf[at++] = '\n';
	buf[at] = 0;
}

static void add(char *buf, size_t len, const char *text)
{
	size_t at = strlen(buf);

	snprintf(buf + at, len - at, "%s", text);
}

/* Leaves the planted function on the stack. */
static int plant(struct probe *p, struct planted *pl)
{
	static const char *const statement[] = { "local n = 1234567.5 ", "local u = up ",
						 "local x = {} " };
	char src[1024] = "local up ";
	unsigned i, line = 0;

	lines(src, sizeof(src), pl->lead);
	add(src, sizeof(src), "return function(a) ");
	for (i = 0; i < pl->n; i++) {
		lines(src, sizeof(src), pl->at[i] - line);
		line = pl->at[i];
		add(src, sizeof(src), i + 1 == pl->n ? "end" : statement[i < 2 ? i : 2]);
	}
	if (probe__load(p, p->L, src, pl->name))
		return -1;
	if (p->api->lua_pcall(p->L, 0, 1, 0) != 0)
		return probe__fail(p, "the probe's chunk fails");
	pl->fn = p->api->lua_topointer(p->L, -1);
	return 0;
}

/* ffid: 0 in Lua functions, 1 in C functions, other numbers in built-ins.
 * f: the word of a C function that is its address. */
static int find_function(struct probe *p)
{
	const uint8_t *cfn, *rep, *fmt;
	lua_CFunction f = c_nothing;
	uint32_t off, found = 0;

	probe__push_self(p, p->L, c_nothing);
	cfn = p->api->lua_topointer(p->L, -1);
	p->api->lua_getfield(p->L, LUA_GLOBALSINDEX, "string");
	p->api->lua_getfield(p->L, -1, "rep");
	rep = p->api->lua_topointer(p->L, -1);
	p->api->lua_getfield(p->L, -2, "format");
	fmt = p->api->lua_topointer(p->L, -1);
	if (!probe__is_block(p, cfn, 40) || !probe__is_block(p, rep, 40) ||
	    !probe__is_block(p, fmt, 40) || !probe__is_block(p, plants[0].fn, 40))
		return probe__fail(p, "its functions are not objects of their own");
	for (off = 8; off < 16; off++) {
		if (plants[0].fn[off] != 0 || cfn[off] != 1 || rep[off] < 2 || fmt[off] < 2 ||
		    rep[off] == fmt[off])
			continue;
		p->lay->f_ffid = off;
		found++;
	}
	if (found != 1)
		return probe__fail(p, "the kind of its functions was not found");
	for (off = 16, found = 0; probe__block(p, cfn + off, 8); off += 8) {
		if (memcmp(cfn + off, &f, 8) != 0)
			continue;
		p->lay->f_cfunc = off;
		found++;
	}
	return found == 1 ? 0 : probe__fail(p, "the address of its C functions was not found");
}

/* Whether PC is the start of PL's bytecode: its prototype's block names the
 * chunk, and so fills in where. */
static bool find_chunkname(struct probe *p, struct planted *pl, const uint8_t *pc)
{
	const struct block *b = probe__block(p, pc, pl->n * 4 + 4);
	const char *name;
	uint32_t off, found = 0;

	if (!b || pc == block_start(b))
		return false;
	p->api->lua_pushlstring(p->L, pl->name, strlen(pl->name));
	name = p->api->lua_tolstring(p->L, -1, NULL); /* strings are interned */
	for (off = 8; off + 8 <= (size_t)(pc - block_start(b)); off += 8) {
		const uint8_t *str = LJ_PTR(lj_u64(block_start(b), off));

		if (!probe__is_block(p, str, 16) || (const uint8_t *)name <= str ||
		    (const uint8_t *)name - str > 64)
			continue;
		p->lay->str_data = (uint32_t)((const uint8_t *)name - str);
		p->lay->pt_chunkname = off;
		found++;
	}
	p->api->lua_settop(p->L, -2);
	if (found != 1)
		return false;
	pl->block = b;
	pl->pt = block_start(b);
	pl->bc = pc;
	return true;
}

static int find_proto(struct probe *p)
{
	uint32_t off, found = 0, chunkname = 0;

	for (off = 16; probe__block(p, plants[0].fn + off, 8); off += 8) {
		if (!find_chunkname(p, &plants[0], lj_ptr(plants[0].fn, off)))
			continue;
		p->lay->f_pc = off;
		chunkname = p->lay->pt_chunkname;
		found++;
	}
	if (found != 1 || !find_chunkname(p, &plants[1], lj_ptr(plants[1].fn, p->lay->f_pc)) ||
	    chunkname != p->lay->pt_chunkname ||
	    plants[0].bc - plants[0].pt != plants[1].bc - plants[1].pt)
		return probe__fail(p, "the prototypes of its functions were not found");
	p->lay->pt_size = (uint32_t)(plants[0].bc - plants[0].pt);
	return 0;
}

/* The u32 at an offset below LIMIT that has VALUE[i] in OBJ[i]. */
static uint32_t find_u32(const uint8_t *const obj[2], const uint32_t value[2], uint32_t limit,
			 uint32_t *found)
{
	uint32_t off, at = 0;

	for (off = 8, *found = 0; off + 4 <= limit; off += 4) {
		if (lj_u32(obj[0], off) != value[0] || lj_u32(obj[1], off) != value[1])
			continue;
		at = off;
		(*found)++;
	}
	return at;
}

static bool is_lineinfo(const struct planted *pl, const uint8_t *at)
{
	const uint8_t *end = block_start(pl->block) + pl->block->size;

	return at > pl->pt && at < end && (size_t)(end - at) >= pl->n &&
	       memcmp(at, pl->at, pl->n) == 0;
}

static int find_lines(struct probe *p)
{
	const uint8_t *pt[2] = { plants[0].pt, plants[1].pt };
	uint32_t first[2], num[2], bc[2], off, n[3], found = 0;
	unsigned i;

	for (i = 0; i < 2; i++) {
		first[i] = plants[i].lead + 1;
		num[i] = plants[i].at[plants[i].n - 1];
		bc[i] = plants[i].n + 1; /* the function header, and one each */
	}
	p->lay->pt_firstline = find_u32(pt, first, p->lay->pt_size, &n[0]);
	p->lay->pt_numline = find_u32(pt, num, p->lay->pt_size, &n[1]);
	p->lay->pt_sizebc = find_u32(pt, bc, p->lay->pt_size, &n[2]);
	for (off = 8; off + 8 <= p->lay->pt_size; off += 8) {
		if (!is_lineinfo(&plants[0], lj_ptr(pt[0], off)) ||
		    !is_lineinfo(&plants[1], lj_ptr(pt[1], off)))
			continue;
		p->lay->pt_lineinfo = off;
		found++;
	}
	if (n[0] != 1 || n[1] != 1 || n[2] != 1 || found != 1)
		return probe__fail(p, "the line numbers of its prototypes were not found");
	return 0;
}

static int find_string(struct probe *p)
{
	const uint8_t *str[2];
	uint32_t len[2], found, i;

	for (i = 0; i < 2; i++) {
		str[i] = LJ_PTR(lj_u64(plants[i].pt, p->lay->pt_chunkname));
		len[i] = (uint32_t)strlen(plants[i].name);
	}
	p->lay->str_len = find_u32(str, len, p->lay->str_data, &found);
	return found == 1 ? 0 : probe__fail(p, "the length of its strings was not found");
}

int probe_objects__find(struct probe *p)
{
	if (plant(p, &plants[0]) || plant(p, &plants[1]) || find_function(p) || find_proto(p) ||
	    find_lines(p) || find_string(p))
		return -1;
	p->api->lua_settop(p->L, 0);
	return 0;
}

/* ---- traces ---- */

static const uint8_t *trace_object(const struct probe *p, uint32_t array, unsigned no)
{
	const uint8_t *at = lj_ptr(p->g, array);

	return probe__is_block(p, at, (no + 1) * 8) ? lj_ptr(at, no * 8) : NULL;
}

/* The array of traces: slots 1..4 hold one object each, slot 0 none. */
static int find_array(struct probe *p)
{
	uint32_t off, found = 0;
	unsigned no, ok;

	for (off = 8; off / 4 + 4 <= p->g_words; off += 8) {
		for (no = 1, ok = 0; no <= 4 && ok == no - 1; no++)
			ok += probe__is_block(p, trace_object(p, off, no), 64);
		if (ok != 4 || trace_object(p, off, 0) || lj_u32(p->g, off + 12) < 5)
			continue;
		p->lay->g_trace = off;
		found++;
	}
	return found == 1 ? 0 : probe__fail(p, "its traces were not found");
}

/* The one u16 at FROM <= offset < TO that is VALUE[i] in trace i + 1; else 0. */
static uint32_t find_u16(const struct probe *p, const uint16_t value[4], uint32_t from, uint32_t to)
{
	uint32_t off, at = 0;
	unsigned no, ok, found = 0;

	for (off = from; off < to; off += 2) {
		for (no = 1, ok = 0; no <= 4; no++) {
			const uint8_t *t = trace_object(p, p->lay->g_trace, no);

			ok += probe__block(p, t + off, 2) &&
			      *(const uint16_t *)(t + off) == value[no - 1];
		}
		if (ok != 4)
			continue;
		at = off;
		found++;
	}
	return found == 1 ? at : 0;
}

/* startpt is the prototype, startpc lies in its bytecode. */
static int find_start(struct probe *p)
{
	uint32_t off;
	unsigned no, pt_ok, pc_ok, n_pt = 0, n_pc = 0;

	for (off = 8; off < 256; off += 8) {
		for (no = 1, pt_ok = pc_ok = 0; no <= 4; no++) {
			const uint8_t *t = trace_object(p, p->lay->g_trace, no);
			const uint8_t *pt = p->trace_pt[no > 3 ? 3 : no], *at;

			if (!probe__block(p, t + off, 8))
				break;
			at = lj_ptr(t, off);
			pt_ok += LJ_PTR((uintptr_t)at) == pt;
			pc_ok += at >= pt + p->lay->pt_size &&
				 at < pt + p->lay->pt_size + lj_u32(pt, p->lay->pt_sizebc) * 4;
		}
		if (pt_ok == 4) {
			p->lay->t_startpt = off;
			n_pt++;
		} else if (pc_ok == 4) {
			p->lay->t_startpc = off;
			n_pc++;
		}
	}
	if (n_pt != 1 || n_pc != 1)
		return probe__fail(p, "where its traces start was not found");
	return 0;
}

/* The byte that is LOOP (2) in the root traces and ROOT (1) in the side trace
 * (lj_jit.h); builds keep it in different places of the object's head. */
static uint32_t find_linktype(const struct probe *p)
{
	uint32_t off, at = 0, found = 0;
	unsigned no, ok;

	for (off = 8; off < p->lay->t_root + 16; off++) {
		for (no = 1, ok = 0; no <= 4; no++) {
			const uint8_t *t = trace_object(p, p->lay->g_trace, no);

			ok += probe__block(p, t + off, 1) && t[off] == (no < 4 ? 2 : 1);
		}
		if (ok != 4)
			continue;
		at = off;
		found++;
	}
	return found == 1 ? at : 0;
}

/* Loops 1 to 3 are root traces that link to themselves, 4 is a side trace of
 * 3.  Link, root and type are details: not finding them is no failure. */
int probe_traces__find(struct probe *p)
{
	static const uint16_t nos[4] = { 1, 2, 3, 4 }, links[4] = { 1, 2, 3, 3 };
	static const uint16_t roots[4] = { 0, 0, 0, 3 };
	struct lj_layout *lay = p->lay;

	if (!lay->has_traces)
		return 0;
	if (find_array(p))
		return -1;
	lay->t_traceno = find_u16(p, nos, 8, 256);
	if (!lay->t_traceno)
		return probe__fail(p, "the numbers of its traces were not found");
	lay->t_link = find_u16(p, links, lay->t_traceno + 2, lay->t_traceno + 16);
	lay->t_root = find_u16(p, roots, lay->t_traceno + 2, lay->t_traceno + 16);
	if (!lay->t_link || !lay->t_root)
		lay->t_link = lay->t_root = 0;
	else
		lay->t_linktype = find_linktype(p);
	lay->t_minsize = lay->t_traceno + 2;
	return find_start(p);
}
