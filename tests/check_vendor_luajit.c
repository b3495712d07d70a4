/* check_vendor_luajit.c - the layout probe and what is read by it, in the
 * LuaJIT that the tests are linked with.
 */
#include <check.h>
#include <dlfcn.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

#include "vendor/luajit/names.h"
#include "vendor/luajit/walk.h"
#include "tests/lib_suite.h"

static struct lj_api api;
static struct lj_layout lay;
static struct lj_builtins builtins;

static void probe(void)
{
	char why[200] = "";

	/* Keeps the library in the process: nothing else here calls it by name. */
	ck_assert_ptr_nonnull((void *)(uintptr_t)luaL_newstate);
	ck_assert_ptr_null(lj_api__load(&api, RTLD_DEFAULT));
	ck_assert_msg(lj_layout__probe(&lay, &builtins, &api, why, sizeof(why)) == 0, "%s", why);
}

/* ---- an allocator that looks at every allocation ---- */

struct watcher {
	struct lj_layout lay; /* what the fast path believes */
	const uint8_t *g;
	lua_Alloc alloc;
	void *ud;
	unsigned compared, wrong;
};

static void *watch(void *ud, void *ptr, size_t osize, size_t nsize)
{
	struct watcher *w = ud;
	struct lj_place fast = { 0 }, slow = { 0 };

	lj_locate(&w->lay, &api, w->g, &fast);
	if (fast.L) {
		lj_locate_slow(&lay, &api, fast.L, &slow);
		w->compared++;
		w->wrong += !lj_place_equal(&fast, &slow);
	}
	return w->alloc(w->ud, ptr, osize, nsize);
}

static const char program[] = "local t = {}\n"
			      "for i = 1, 100 do t[i] = { i } end\n"
			      "for i = 1, 100 do t[i] = 'x' .. i end\n"
			      "local function f(...) return { ... } end\n"
			      "for i = 1, 100 do t[i] = f(i, i) end\n";

static struct watcher run_watched(const struct lj_layout *believed)
{
	static struct watcher w;
	lua_State *L = luaL_newstate();
	char why[200];

	memset(&w, 0, sizeof(w));
	w.lay = *believed;
	luaL_openlibs(L);
	w.g = lj_layout__global(&lay, &api, L, why, sizeof(why));
	ck_assert_msg(w.g != NULL, "%s", why);
	w.alloc = lua_getallocf(L, &w.ud);
	ck_assert_int_eq(luaL_loadstring(L, "jit.off()") || lua_pcall(L, 0, 0, 0), 0);
	lua_setallocf(L, watch, &w);
	ck_assert_int_eq(luaL_loadstring(L, program) || lua_pcall(L, 0, 0, 0), 0);
	lua_setallocf(L, w.alloc, w.ud);
	lua_close(L);
	return w;
}

START_TEST(fast_and_slow_path_agree)
{
	struct watcher w;

	probe();
	w = run_watched(&lay);
	ck_assert_uint_gt(w.compared, 300); /* three loops of 100 */
	ck_assert_uint_eq(w.wrong, 0);
}
END_TEST

/* The comparison is worth something: it notices a field that is taken from
 * the wrong place.  numline stands behind firstline in every prototype. */
START_TEST(wrong_layout_is_noticed)
{
	struct lj_layout wrong;

	probe();
	wrong = lay;
	wrong.pt_firstline = lay.pt_numline;
	ck_assert_uint_gt(run_watched(&wrong).wrong, 300);
	wrong = lay;
	wrong.st_lua = lay.st_gc; /* what Lua code does is taken for the collector's */
	wrong.st_gc = lay.st_lua;
	ck_assert_uint_lt(run_watched(&wrong).compared, 300);
}
END_TEST

START_TEST(state_of_no_luajit_is_refused)
{
	static uint64_t rubbish[64];
	lua_State *L = luaL_newstate();
	char why[200] = "";

	probe();
	memcpy(rubbish, L, 96); /* its global state, but another allocator asked */
	ck_assert_ptr_nonnull(lj_layout__global(&lay, &api, L, why, sizeof(why)));
	lay.l_glref += 8;
	ck_assert_ptr_null(lj_layout__global(&lay, &api, L, why, sizeof(why)));
	ck_assert_uint_gt(strlen(why), 10);
	lua_close(L);
}
END_TEST

/* ---- C frames ---- */

/* What an allocator sees while a C function loads a chunk: the VM has a frame of
 * its own for that, and the function's is the one below. */
static struct {
	lua_Alloc alloc;
	void *ud;
	lua_State *L;
	const uint8_t *own; /* frame of the C function, NULL: it does not run */
	unsigned inside, wrong;
} frames;

static void *look_at_frames(void *ud, void *ptr, size_t osize, size_t nsize)
{
	(void)ud;
	if (frames.own) {
		frames.inside += lj_cframe(&lay, frames.L) != frames.own;
		frames.wrong += lj_function_cframe(&lay, frames.L) != frames.own;
	}
	return frames.alloc(frames.ud, ptr, osize, nsize);
}

static int c_load(lua_State *L)
{
	int depth = (int)lua_tointeger(L, 1), i;

	for (i = 0; i < depth; i++)
		lua_pushinteger(L, i);
	frames.L = L;
	frames.own = lj_cframe(&lay, L);
	ck_assert_int_eq(luaL_loadstring(L, "local a, b = {}, function() end"), 0);
	lua_createtable(L, 5, 5);
	frames.own = NULL;
	return 0;
}

static int c_load_outside(lua_State *L)
{
	return lua_cpcall(L, c_load, NULL);
}

START_TEST(frame_of_c_function)
{
	lua_State *L = luaL_newstate();

	probe();
	ck_assert(lay.has_cframe_chain);
	luaL_openlibs(L);
	lua_register(L, "load_at", c_load);
	lua_register(L, "load_outside", c_load_outside);
	frames.alloc = lua_getallocf(L, &frames.ud);
	lua_setallocf(L, look_at_frames, NULL);
	ck_assert_int_eq(luaL_loadstring(L, "for i = 0, 40, 10 do load_at(i) end\n"
					    "load_outside() coroutine.wrap(load_at)(3)\n"
					    "string.gsub('x', 'x', load_outside)") ||
				 lua_pcall(L, 0, 0, 0),
			 0);
	lua_setallocf(L, frames.alloc, frames.ud);
	ck_assert_uint_ge(frames.inside, 8 * 4); /* eight chunks, each some objects */
	ck_assert_uint_eq(frames.wrong, 0);
	lua_close(L);
}
END_TEST

/* ---- names ---- */

/* Every function of the libraries that is no Lua function: its number leads
 * back to the path it was found by. */
static const char walk_program[] =
	"local check, n = ..., 0\n"
	"for _, lib in ipairs { 'string', 'table', 'math', 'io', 'os', 'debug', 'bit', 'jit',\n"
	"    'coroutine', 'package' } do\n"
	"  for k, f in pairs(_G[lib]) do\n"
	"    if type(f) == 'function' and debug.getinfo(f, 'S').what == 'C' then\n"
	"      n = n + 1 check(f, lib .. '.' .. k)\n"
	"    end\n"
	"  end\n"
	"end\n"
	"return n\n";

static int c_check(lua_State *L)
{
	const uint8_t *fn = lua_topointer(L, 1);
	const char *name = lj_builtins__name(&builtins, fn[lay.f_ffid], lj_ptr(fn, lay.f_cfunc));

	ck_assert_msg(name != NULL, "'%s' has no name", lua_tostring(L, 2));
	ck_assert_str_eq(name, lua_tostring(L, 2));
	return 0;
}

START_TEST(library_functions_have_their_names)
{
	lua_State *L = luaL_newstate();

	probe();
	luaL_openlibs(L);
	ck_assert_int_eq(luaL_loadstring(L, walk_program), 0);
	lua_pushcfunction(L, c_check);
	ck_assert_int_eq(lua_pcall(L, 1, 1, 0), 0);
	ck_assert_int_gt(lua_tointeger(L, -1), 100);
	lua_close(L);
}
END_TEST

static int c_one(lua_State *L)
{
	(void)L;
	return 0;
}

static int c_two(lua_State *L)
{
	(void)L;
	return 1;
}

static int c_three(lua_State *L)
{
	(void)L;
	return 2;
}

/* The shortest path from package.loaded or a global names a function; a method of a
 * registered metatable is found through the registry. */
START_TEST(module_functions_are_found)
{
	lua_State *L = luaL_newstate();
	char name[LJ_NAME_MAX];
	const void *registry;
	lua_CFunction f[3] = { c_one, c_two, c_three };
	const void *addr[3];

	memcpy(addr, f, sizeof(addr));
	probe();
	luaL_openlibs(L);
	lua_pushcfunction(L, c_one);
	lua_setglobal(L, "here");
	lua_pushcfunction(L, c_two);
	lua_setglobal(L, "two_of_lua");
	ck_assert_int_eq(
		luaL_loadstring(L,
				"package.loaded.outer = { inner = { one = here }, many = {} }\n"
				"for i = 1, 1000 do package.loaded.outer.many['k' .. i] = i end\n"
				"package.loaded.outer.many.two = two_of_lua\n"
				"here, two_of_lua = nil, nil") ||
			lua_pcall(L, 0, 0, 0),
		0);
	luaL_newmetatable(L, "point");
	lua_newtable(L);
	lua_pushcfunction(L, c_three);
	lua_setfield(L, -2, "length");
	lua_setfield(L, -2, "__index");
	registry = lua_topointer(L, LUA_REGISTRYINDEX);
	ck_assert(lj_name__find(&lay, registry, addr[0], name));
	ck_assert_str_eq(name, "outer.inner.one");
	ck_assert(lj_name__find(&lay, registry, addr[1], name));
	ck_assert_str_eq(name, "outer.many.two");
	ck_assert(lj_name__find(&lay, registry, addr[2], name));
	ck_assert_str_eq(name, "point:length");
	/* A way from a global is preferred to one through a module. */
	ck_assert_int_eq(luaL_loadstring(L, "host = { api = { g = ... } }\n"
					    "package.loaded['host.shared'] = host") ||
				 (lua_pushcfunction(L, c_check), lua_pcall(L, 1, 0, 0)),
			 0);
	f[0] = c_check;
	memcpy(addr, f, sizeof(addr[0]));
	ck_assert(lj_name__find(&lay, registry, addr[0], name));
	ck_assert_str_eq(name, "host.api.g");
	ck_assert(!lj_name__find(&lay, registry, &lay, name));
	lua_close(L);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("vendor_luajit");
	TCase *tc = tcase_create("layout");

	tcase_add_test(tc, fast_and_slow_path_agree);
	tcase_add_test(tc, wrong_layout_is_noticed);
	tcase_add_test(tc, state_of_no_luajit_is_refused);
	tcase_add_test(tc, frame_of_c_function);
	tcase_add_test(tc, library_functions_have_their_names);
	tcase_add_test(tc, module_functions_are_found);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
