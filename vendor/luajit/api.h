/* api.h - the LuaJIT API of the process we are in, found by name.
 *
 * The agent links only libc, so that it can enter any process; the functions
 * of whichever LuaJIT is there are looked up once.  Only types come from the
 * LuaJIT headers.
 */
#ifndef LJPERF_VENDOR_LUAJIT_API_H
#define LJPERF_VENDOR_LUAJIT_API_H

#include <lua.h>

/* X(return type, name, (parameters)) */
#define LJ_API_FUNCTIONS(X) \
	X(lua_State *, luaL_newstate, (void)) \
	X(lua_State *, lua_newstate, (lua_Alloc, void *)) \
	X(void, lua_close, (lua_State *)) \
	X(void, luaL_openlibs, (lua_State *)) \
	X(int, luaL_loadbuffer, (lua_State *, const char *, size_t, const char *)) \
	X(int, luaL_loadfile, (lua_State *, const char *)) \
	X(int, lua_cpcall, (lua_State *, lua_CFunction, void *)) \
	X(int, lua_dump, (lua_State *, lua_Writer, void *)) \
	X(void *, lua_newuserdata, (lua_State *, size_t)) \
	X(int, lua_setmetatable, (lua_State *, int)) \
	X(void, lua_pushnil, (lua_State *)) \
	X(void, lua_pushboolean, (lua_State *, int)) \
	X(void, lua_pushinteger, (lua_State *, lua_Integer)) \
	X(int, lua_toboolean, (lua_State *, int)) \
	X(void, lua_gettable, (lua_State *, int)) \
	X(int, lua_next, (lua_State *, int)) \
	X(const char *, luaL_checklstring, (lua_State *, int, size_t *)) \
	X(int, lua_pcall, (lua_State *, int, int, int)) \
	X(int, lua_resume, (lua_State *, int)) \
	X(int, lua_yield, (lua_State *, int)) \
	X(int, lua_error, (lua_State *)) \
	X(int, lua_gc, (lua_State *, int, int)) \
	X(lua_State *, lua_newthread, (lua_State *)) \
	X(void, lua_pushcclosure, (lua_State *, lua_CFunction, int)) \
	X(void, lua_pushnumber, (lua_State *, lua_Number)) \
	X(void, lua_pushlstring, (lua_State *, const char *, size_t)) \
	X(void, lua_pushvalue, (lua_State *, int)) \
	X(void, lua_createtable, (lua_State *, int, int)) \
	X(void, lua_settop, (lua_State *, int)) \
	X(int, lua_gettop, (lua_State *)) \
	X(void, lua_getfield, (lua_State *, int, const char *)) \
	X(void, lua_setfield, (lua_State *, int, const char *)) \
	X(const char *, lua_tolstring, (lua_State *, int, size_t *)) \
	X(lua_Integer, lua_tointeger, (lua_State *, int)) \
	X(int, lua_type, (lua_State *, int)) \
	X(const void *, lua_topointer, (lua_State *, int)) \
	X(lua_CFunction, lua_tocfunction, (lua_State *, int)) \
	X(int, lua_getstack, (lua_State *, int, lua_Debug *)) \
	X(int, lua_getinfo, (lua_State *, const char *, lua_Debug *)) \
	X(lua_Alloc, lua_getallocf, (lua_State *, void **)) \
	X(void, lua_setallocf, (lua_State *, lua_Alloc, void *))

struct lj_api {
#define LJ_API_FIELD(ret, name, params) ret(*name) params;
	LJ_API_FUNCTIONS(LJ_API_FIELD)
#undef LJ_API_FIELD
};

/* Looks the functions up in HANDLE (of dlopen(), or RTLD_DEFAULT).  NULL when
 * all are there, else the name of the first that is not. */
const char *lj_api__load(struct lj_api *api, void *handle);

#endif
