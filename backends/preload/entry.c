/* entry.c - the agent in any program: it is preloaded, joins the recording
 * before the program starts, and stands in for the functions that make and
 * close VMs, wherever these come from.
 */
#include "backends/preload/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <lauxlib.h>
#include <link.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"
#include "backends/luajit/library.h"
#include "backends/memprof/memprof.h"
#include "record/protocol.h"

/* ---- the functions ---- */

static void begin(lua_State *L, const void *code)
{
	int saved = errno;

	if (L && !agent_inside && agent__has_joined() && !memprof__is_wanted() &&
	    !agent__start(L, code))
		agent__refuse(agent__why());
	errno = saved;
}

typedef lua_State *luaL_newstate_fn(void);
typedef lua_State *lua_newstate_fn(lua_Alloc f, void *ud);
typedef void lua_close_fn(lua_State *L);
typedef void luaL_openlibs_fn(lua_State *L);
typedef lua_Alloc lua_getallocf_fn(lua_State *L, void **ud);
typedef void lua_setallocf_fn(lua_State *L, lua_Alloc f, void *ud);

/* ISO C has no cast from data to a function. */
#define REAL(type, real) (__extension__(type *)(real))

/* It calls lua_newstate(), which comes by here too: still one VM. */
lua_State *preload_luaL_newstate(void *real)
{
	lua_State *L;

	agent_inside++;
	L = REAL(luaL_newstate_fn, real)();
	agent_inside--;
	begin(L, real);
	return L;
}

lua_State *preload_lua_newstate(void *real, lua_Alloc f, void *ud)
{
	lua_State *L = REAL(lua_newstate_fn, real)(f, ud);

	begin(L, real);
	return L;
}

static struct agent_vm *recorded(lua_State *L, const void *code)
{
	int saved = errno;
	struct agent_vm *vm = agent_inside || !agent__has_joined() ? NULL : agent__find(L, code);

	errno = saved;
	return vm;
}

void preload_lua_close(void *real, lua_State *L)
{
	struct agent_vm *vm = recorded(L, real);

	if (vm)
		agent__close(vm, L);
	if (memprof__is_wanted())
		memprof__close(L);
	REAL(lua_close_fn, real)(L);
}

/* A profiler of the VM's own is there when its libraries are open. */
void preload_luaL_openlibs(void *real, lua_State *L)
{
	REAL(luaL_openlibs_fn, real)(L);
	if (!agent_inside && memprof__is_wanted())
		memprof__start(agent_lib__of(real), L);
}

/* The program is to see its own allocator, and the data that it gave it. */
lua_Alloc preload_lua_getallocf(void *real, lua_State *L, void **ud)
{
	struct agent_vm *vm = recorded(L, real);
	struct agent_allocator own;

	if (!vm)
		return REAL(lua_getallocf_fn, real)(L, ud);
	own = agent__allocator(vm);
	if (ud)
		*ud = *own.ud;
	return *own.alloc;
}

void preload_lua_setallocf(void *real, lua_State *L, lua_Alloc f, void *ud)
{
	struct agent_vm *vm = recorded(L, real);
	struct agent_allocator own;

	if (!vm) {
		REAL(lua_setallocf_fn, real)(L, f, ud);
		return;
	}
	own = agent__allocator(vm);
	*own.alloc = f;
	*own.ud = ud;
}

/* ---- standing in ---- */

/* What CALLER would have got without us: a function of the libraries that all
 * see, or one that only the caller's library sees, because it was opened
 * without RTLD_GLOBAL. */
static void *real_function(const char *name, void *caller)
{
	void *real, *handle;
	struct link_map *map;
	Dl_info info;

	agent_inside++;
	real = dlsym(RTLD_NEXT, name);
	if (!real && dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) && map) {
		handle = dlopen(map->l_name && map->l_name[0] ? map->l_name : NULL,
				RTLD_LAZY | RTLD_NOLOAD);
		real = handle ? dlsym(handle, name) : NULL;
		if (handle)
			dlclose(handle);
	}
	agent_inside--;
	if (!real)
		abort(); /* the loader would not have started such a caller */
	return real;
}

PRELOAD_EXPORT lua_State *luaL_newstate(void)
{
	return preload_luaL_newstate(real_function("luaL_newstate", __builtin_return_address(0)));
}

PRELOAD_EXPORT lua_State *lua_newstate(lua_Alloc f, void *ud)
{
	return preload_lua_newstate(real_function("lua_newstate", __builtin_return_address(0)), f,
				    ud);
}

PRELOAD_EXPORT void lua_close(lua_State *L)
{
	preload_lua_close(real_function("lua_close", __builtin_return_address(0)), L);
}

PRELOAD_EXPORT lua_Alloc lua_getallocf(lua_State *L, void **ud)
{
	return preload_lua_getallocf(real_function("lua_getallocf", __builtin_return_address(0)), L,
				     ud);
}

PRELOAD_EXPORT void lua_setallocf(lua_State *L, lua_Alloc f, void *ud)
{
	preload_lua_setallocf(real_function("lua_setallocf", __builtin_return_address(0)), L, f,
			      ud);
}

PRELOAD_EXPORT void luaL_openlibs(lua_State *L)
{
	preload_luaL_openlibs(real_function("luaL_openlibs", __builtin_return_address(0)), L);
}

/* ---- before the program ---- */

__attribute__((constructor)) static void enter(void)
{
	const char *spec = getenv(AGENT_ENV);

	if (!spec || agent__join(spec))
		return; /* the recording is over: the program is on its own */
	agent__settle_environment();
	preload_enter_program();
}
