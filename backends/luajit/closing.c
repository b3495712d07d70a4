/* closing.c - see closing.h. */
#include "backends/luajit/closing.h"

#include "backends/backend.h"

#define KEY "ljperf.close"

int agent_closing(lua_State *L)
{
	struct agent_vm *vm = agent__find(L, __builtin_return_address(0));

	if (vm)
		agent__close(vm, L);
	return 0;
}

void agent_watch_close(const struct lj_api *api, lua_State *L, lua_CFunction finalizer)
{
	bool there;

	api->lua_getfield(L, LUA_REGISTRYINDEX, KEY);
	there = api->lua_type(L, -1) == LUA_TUSERDATA;
	api->lua_settop(L, -2);
	if (there)
		return; /* a second one would be collected, and so end the first */
	api->lua_newuserdata(L, 0);
	api->lua_createtable(L, 0, 1);
	api->lua_pushcclosure(L, finalizer, 0);
	api->lua_setfield(L, -2, "__gc");
	api->lua_setmetatable(L, -2);
	api->lua_setfield(L, LUA_REGISTRYINDEX, KEY);
}
