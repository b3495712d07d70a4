/* names.c - see names.h. */
#include "vendor/luajit/names.h"

#include <stdio.h>
#include <string.h>

#include "vendor/luajit/locate.h"

/* ---- built-in functions, in the scratch state ---- */

/* Calls name(function, text) for all functions of the libraries.  A method
 * stands behind a colon; what a library function returns as an iterator gets
 * that function's name. */
static const char collect_chunk[] =
	"local name = ...\n"
	"package.path, package.cpath = '', '' -- nothing of the program's is to run\n"
	"probe_rep, probe_c, probe_step, probe_alloc, probe_co = nil\n"
	"local getmeta = debug.getmetatable\n"
	"local function all(t, prefix)\n"
	"  if type(t) ~= 'table' then return end\n"
	"  for k, f in pairs(t) do\n"
	"    if type(k) == 'string' and type(f) == 'function' then name(f, prefix .. k) end\n"
	"  end\n"
	"end\n"
	"for _, m in ipairs { 'table.new', 'table.clear', 'ffi', 'jit.util', 'jit.profile', 'string.buffer',\n"
	"    'table.clone', 'table.isempty', 'table.isarray', 'table.nkeys', 'thread.exdata', 'thread.exdata2' } do\n"
	"  local ok, lib = pcall(require, m)\n"
	"  if ok and type(lib) == 'function' then name(lib, m) end\n"
	"end\n"
	"for lib, t in pairs(package.loaded) do if lib ~= '_G' then all(t, lib .. '.') end end\n"
	"all(_G, '')\n"
	"for i, f in ipairs(package.loaders) do name(f, 'package.loaders[' .. i .. ']') end\n"
	"local meta = getmeta(io.stdout)\n"
	"all(meta, 'file:') all(meta.__index, 'file:')\n"
	"local function iterator(of, ...)\n"
	"  local ok, f = pcall(...)\n"
	"  if ok and type(f) == 'function' then name(f, of .. ' iterator') end\n"
	"end\n"
	"iterator('string.gmatch', string.gmatch, '', '')\n"
	"iterator('ipairs', ipairs, {})\n"
	"iterator('io.lines', io.lines, '/dev/null')\n"
	"iterator('coroutine.wrap', coroutine.wrap, print)\n"
	"local ok, ffi = pcall(require, 'ffi')\n"
	"if ok then\n"
	"  all(getmeta(ffi.C), 'ffi.C:')\n"
	"  all(getmeta(ffi.typeof('int')), 'cdata:')\n"
	"  local m = getmeta(ffi.typeof('int'))\n"
	"  if m and type(m.__index) == 'table' then all(m.__index, 'cdata:') end\n"
	"end\n"
	"local ok, buffer = pcall(require, 'string.buffer')\n"
	"if ok then local m = getmeta(buffer.new()) all(m, 'buffer:') all(m.__index, 'buffer:') end\n";

struct collector {
	struct lj_builtins *out;
	const struct lj_layout *lay;
	const struct lj_api *api;
};

/* A C function of Lua code gets no context of ours; the probe runs once at a
 * time. */
static struct collector collecting;

static void add_other(struct lj_builtins *b, const void *f, const char *text)
{
	struct lj_builtin *other;
	unsigned i;

	for (i = 0; i < b->n_others; i++)
		if (b->others[i].f == f)
			return;
	if (b->n_others == sizeof(b->others) / sizeof(b->others[0]))
		return;
	other = &b->others[b->n_others++];
	other->f = f;
	snprintf(other->name, sizeof(other->name), "%s", text);
}

static int c_name(lua_State *L)
{
	const struct lj_api *api = collecting.api;
	const uint8_t *fn = api->lua_topointer(L, 1);
	const char *text = api->lua_tolstring(L, 2, NULL);
	uint8_t ffid = fn[collecting.lay->f_ffid];
	char *name = collecting.out->by_ffid[ffid];

	if (ffid == 1)
		add_other(collecting.out, lj_ptr(fn, collecting.lay->f_cfunc), text);
	else if (ffid > 1 && !name[0])
		snprintf(name, sizeof(collecting.out->by_ffid[0]), "%s", text);
	return 0;
}

void lj_builtins__collect(struct lj_builtins *b, const struct lj_layout *lay,
			  const struct lj_api *api, lua_State *L)
{
	memset(b, 0, sizeof(*b));
	collecting = (struct collector){ b, lay, api };
	if (api->luaL_loadbuffer(L, collect_chunk, sizeof(collect_chunk) - 1, "=ljperf names") ==
	    0) {
		api->lua_pushcclosure(L, c_name, 0);
		api->lua_pcall(L, 1, 0, 0);
	}
	api->lua_settop(L, 0);
}

uint32_t lj_builtins__ffid(const struct lj_builtins *b, const char *name)
{
	uint32_t i;

	for (i = 2; i < 256; i++)
		if (strcmp(b->by_ffid[i], name) == 0)
			return i;
	return 0;
}

const char *lj_builtins__name(const struct lj_builtins *b, uint32_t ffid, const void *f)
{
	unsigned i;

	if (ffid > 1)
		return ffid < 256 && b->by_ffid[ffid][0] ? b->by_ffid[ffid] : NULL;
	for (i = 0; i < b->n_others; i++)
		if (b->others[i].f == f)
			return b->others[i].name;
	return NULL;
}

/* ---- functions of modules, in the recorded state ---- */

#define SLOTS_MAX 50000 /* table slots looked at for one name: some 100 us */
#define DEPTH_MAX 4 /* a.b.c.d */

struct search {
	const struct lj_layout *lay;
	const void *f;
	unsigned slots; /* still to be looked at */
	unsigned limit; /* depth of the tables looked into: shorter names come first */
	const uint8_t *path[DEPTH_MAX + 1]; /* key strings */
	const uint8_t *tables[DEPTH_MAX + 1]; /* on the way, against cycles */
};

static bool on_the_way(const struct search *s, unsigned depth, const uint8_t *tab)
{
	unsigned i;

	for (i = 0; i < depth; i++)
		if (s->tables[i] == tab)
			return true;
	return false;
}

static bool key_is(const struct search *s, const uint8_t *key, const char *text)
{
	return lj_u32(key, s->lay->str_len) == strlen(text) &&
	       memcmp(key + s->lay->str_data, text, strlen(text)) == 0;
}

static const uint8_t *slot(const struct lj_layout *lay, const uint8_t *tab, uint32_t i)
{
	return lj_ptr(tab, lay->tab_node) + (size_t)i * LJ_NODE_SIZE;
}

static bool is_wanted(const struct search *s, uint64_t value)
{
	const uint8_t *fn = LJ_PTR(value);

	return value >> 47 == s->lay->tag_func && fn[s->lay->f_ffid] != 0 &&
	       lj_ptr(fn, s->lay->f_cfunc) == s->f;
}

/* package.preload: a host may keep one function there for many modules, so that
 * a key says nothing of it. */
static bool is_preload(const struct search *s, const uint8_t *key)
{
	return key_is(s, key, "preload") || key_is(s, key, "_PRELOAD");
}

/* Returns the depth of the key that names the function, or -1. */
static int search_table(struct search *s, const uint8_t *tab, unsigned depth)
{
	const struct lj_layout *lay = s->lay;
	uint32_t n = lj_u32(tab, lay->tab_hmask) + 1, i;
	int found;

	s->tables[depth] = tab;
	for (i = 0; depth == s->limit && i < n && s->slots; i++, s->slots--) {
		const uint8_t *node = slot(lay, tab, i);

		if (lj_u64(node, 8) >> 47 != lay->tag_str || !is_wanted(s, lj_u64(node, 0)))
			continue;
		s->path[depth] = LJ_PTR(lj_u64(node, 8));
		return (int)depth;
	}
	for (i = 0; depth < s->limit && i < n && s->slots; i++, s->slots--) {
		const uint8_t *node = slot(lay, tab, i), *sub = LJ_PTR(lj_u64(node, 0));

		if (lj_u64(node, 8) >> 47 != lay->tag_str ||
		    lj_u64(node, 0) >> 47 != lay->tag_tab || on_the_way(s, depth + 1, sub) ||
		    is_preload(s, LJ_PTR(lj_u64(node, 8))))
			continue;
		s->path[depth] = LJ_PTR(lj_u64(node, 8));
		found = search_table(s, sub, depth + 1);
		if (found >= 0)
			return found;
	}
	return -1;
}

static void append(const struct search *s, char name[LJ_NAME_MAX], const char *sep,
		   const uint8_t *key)
{
	size_t at = strlen(name);

	snprintf(name + at, LJ_NAME_MAX - at, "%s%.*s", at ? sep : "",
		 (int)lj_u32(key, s->lay->str_len), (const char *)key + s->lay->str_data);
}

/* "_G" and "__index" are no part of a name; a function of a metatable is a
 * method. */
static void spell(const struct search *s, int depth, bool method, char name[LJ_NAME_MAX])
{
	int i;

	name[0] = 0;
	for (i = 0; i <= depth; i++) {
		if (i < depth && (key_is(s, s->path[i], "_G") || key_is(s, s->path[i], "__index") ||
				  key_is(s, s->path[i], "_LOADED")))
			continue;
		append(s, name, method && i == depth ? ":" : ".", s->path[i]);
	}
}

/* The table under KEY of TAB, or NULL. */
static const uint8_t *table_under(const struct search *s, const uint8_t *tab, const char *key)
{
	const struct lj_layout *lay = s->lay;
	uint32_t n = lj_u32(tab, lay->tab_hmask) + 1, i;

	for (i = 0; i < n; i++) {
		const uint8_t *node = slot(lay, tab, i);

		if (lj_u64(node, 8) >> 47 == lay->tag_str &&
		    lj_u64(node, 0) >> 47 == lay->tag_tab &&
		    key_is(s, LJ_PTR(lj_u64(node, 8)), key))
			return LJ_PTR(lj_u64(node, 0));
	}
	return NULL;
}

static bool search_root(struct search *s, const uint8_t *root, unsigned limit, bool method,
			char name[LJ_NAME_MAX])
{
	int depth;

	s->limit = limit;
	depth = root ? search_table(s, root, 0) : -1;
	if (depth >= 0)
		spell(s, depth, method, name);
	return depth >= 0;
}

/* The shortest name wins.  Of two that are as short, a module's own name for
 * its function is better than that of a global, but a path from a global is
 * better than one through a module: vim.api.f, not vim.shared.api.f. */
bool lj_name__find(const struct lj_layout *lay, const void *registry, const void *f,
		   char name[LJ_NAME_MAX])
{
	struct search s = { .lay = lay, .f = f, .slots = SLOTS_MAX };
	const uint8_t *loaded = table_under(&s, registry, "_LOADED");
	const uint8_t *globals = loaded ? table_under(&s, loaded, "_G") : NULL;
	unsigned limit;

	for (limit = 0; loaded && limit <= DEPTH_MAX; limit++)
		if (search_root(&s, limit < 2 ? loaded : globals, limit, false, name) ||
		    search_root(&s, limit < 2 ? globals : loaded, limit, false, name))
			return true;
	s.slots = SLOTS_MAX;
	for (limit = 0; limit <= DEPTH_MAX; limit++)
		if (search_root(&s, registry, limit, true, name))
			return true;
	return false;
}
