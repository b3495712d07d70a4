/* cmod_load.c - a C module for Lua that loads and unloads other ones, so that
 * two files can lie at one address one after the other; for names_turns.sh.
 *
 *	local load = require "cmod_load"
 *	load.open("./cmod.so", "cmod_make")	address, and a function
 *	load.close()				unloads the last one
 *
 * The functions must not be called after that.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lua_State lua_State;
typedef int (*lua_CFunction)(lua_State *L);

const char *luaL_checklstring(lua_State *L, int arg, size_t *len);
int luaL_error(lua_State *L, const char *fmt, ...);
void lua_createtable(lua_State *L, int narr, int nrec);
void lua_pushnumber(lua_State *L, double n);
void lua_pushcclosure(lua_State *L, lua_CFunction f, int n);
void lua_setfield(lua_State *L, int idx, const char *k);
int luaopen_cmod_load(lua_State *L);

static void *last;

static int load_open(lua_State *L)
{
	lua_CFunction f = NULL;

	last = dlopen(luaL_checklstring(L, 1, NULL), RTLD_NOW | RTLD_LOCAL);
	if (last)
		*(void **)&f = dlsym(last, luaL_checklstring(L, 2, NULL));
	if (!f)
		return luaL_error(L, "cannot load: %s", dlerror());
	lua_pushnumber(L, (double)(uintptr_t)f);
	lua_pushcclosure(L, f, 0);
	return 2;
}

static int load_close(lua_State *L)
{
	if (last && dlclose(last))
		return luaL_error(L, "cannot unload: %s", dlerror());
	last = NULL;
	return 0;
}

int luaopen_cmod_load(lua_State *L)
{
	lua_createtable(L, 0, 2);
	lua_pushcclosure(L, load_open, 0);
	lua_setfield(L, -2, "open");
	lua_pushcclosure(L, load_close, 0);
	lua_setfield(L, -2, "close");
	return 1;
}
