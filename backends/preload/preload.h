/* preload.h - what the parts of the preloaded agent share: the functions of
 * LuaJIT that it stands in for.
 */
#ifndef LJPERF_BACKENDS_PRELOAD_PRELOAD_H
#define LJPERF_BACKENDS_PRELOAD_PRELOAD_H

#include <lua.h>

#define PRELOAD_EXPORT __attribute__((visibility("default")))

enum preload_function {
	AT_LUAL_NEWSTATE,
	AT_NEWSTATE,
	AT_CLOSE,
	AT_GETALLOCF,
	AT_SETALLOCF,
	AT_OPENLIBS,
	N_PRELOAD_FUNCTIONS
};

/* Each does what NAME does, on the library that REAL, its NAME, is of. */
lua_State *preload_luaL_newstate(void *real);
lua_State *preload_lua_newstate(void *real, lua_Alloc f, void *ud);
void preload_lua_close(void *real, lua_State *L);
lua_Alloc preload_lua_getallocf(void *real, lua_State *L, void **ud);
void preload_lua_setallocf(void *real, lua_State *L, lua_Alloc f, void *ud);

void preload_luaL_openlibs(void *real, lua_State *L);

/* lua_init.c: for a program that has LuaJIT inside, where calls of it are not
 * seen: comes in through LUA_INIT if the program heeds that. */
void preload_enter_program(void);

#endif
