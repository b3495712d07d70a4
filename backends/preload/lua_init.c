/* lua_init.c - the way into a program that has LuaJIT inside, such as the
 * luajit command: its calls of the API cannot be seen from outside, but it
 * runs the Lua code in LUA_INIT first.  Ours starts the recording and then
 * does with the user's LUA_INIT what the luajit command does.
 */
#include "backends/preload/preload.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "backends/backend.h"
#include "backends/luajit/closing.h"
#include "backends/luajit/library.h"
#include "backends/memprof/memprof.h"

/* The empty name is that of the program, where preloaded libraries are found
 * too.  A tail call, so that the user's code has no frame of ours above it. */
#define CHUNK "local f=package.loadlib('','ljperf_lua_init')f=f and f()if f then return f()end"

static char *user_init; /* NULL: there is none */

/* ---- before the program ---- */

/* Whether function NAME is in the program itself, and not in a library. */
static bool program_has(const char *name)
{
	struct link_map *program, *map;
	void *f, *start = (void *)getauxval(AT_ENTRY);
	Dl_info info;

	f = dlsym(RTLD_DEFAULT, name);
	return f && dladdr1(f, &info, (void **)&map, RTLD_DL_LINKMAP) &&
	       dladdr1(start, &info, (void **)&program, RTLD_DL_LINKMAP) && map == program;
}

static void refuse_other_lua(void)
{
	char why[512];

	snprintf(why, sizeof(why), "'%.400s' is Lua, but not LuaJIT", program_invocation_name);
	agent__refuse(why);
}

static int find_text(struct dl_phdr_info *info, size_t size, void *found)
{
	static const char name[] = "LUA_INIT";
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && ph->p_flags & PF_R && !(ph->p_flags & PF_W) &&
		    memmem((const void *)(info->dlpi_addr + ph->p_vaddr), ph->p_memsz, name,
			   sizeof(name)))
			*(bool *)found = true;
	}
	return 1; /* the program comes first, nothing else is of interest */
}

void preload_enter_program(void)
{
	const char *init = getenv("LUA_INIT");
	bool heeds = false;

	/* A parent of ours did not come to run it. */
	if (init && strcmp(init, CHUNK) == 0) {
		unsetenv("LUA_INIT");
		init = NULL;
	}
	if (!program_has("lua_newstate"))
		return;
	if (!program_has("luaJIT_setmode")) {
		refuse_other_lua();
		return;
	}
	dl_iterate_phdr(find_text, &heeds);
	if (!heeds) {
		agent__refuse("LuaJIT is inside the program, where its calls cannot be seen "
			      "(use require \"ljperf\" in it)");
		return;
	}
	user_init = init ? strdup(init) : NULL;
	setenv("LUA_INIT", CHUNK, 1);
}

/* ---- when the program runs LUA_INIT ---- */

static void restore_environment(void)
{
	if (user_init)
		setenv("LUA_INIT", user_init, 1);
	else
		unsetenv("LUA_INIT");
}

/* The luajit command prints an error of compiling without a traceback, and
 * nothing at all for an error that is nil. */
static int fail_as_luajit(const struct lj_api *api, lua_State *L)
{
	const char *msg = api->lua_tolstring(L, -1, NULL);

	if (program_invocation_name && *program_invocation_name)
		fprintf(stderr, "%s: ", program_invocation_name);
	fprintf(stderr, "%s\n", msg ? msg : "(error object is not a string)");
	fflush(stderr);
	api->lua_settop(L, 0);
	api->lua_getfield(L, LUA_REGISTRYINDEX, "ljperf.nothing");
	return api->lua_error(L);
}

PRELOAD_EXPORT int ljperf_lua_init(lua_State *L);

/* Returns the user's LUA_INIT as a function, or nothing. */
int ljperf_lua_init(lua_State *L)
{
	const void *code = __builtin_return_address(0);
	struct agent_lib *lib = agent_lib__of(code);
	int err;

	restore_environment();
	if (!lib || !lib->has_api) {
		agent__refuse(lib ? lib->why : "no memory");
		return 0;
	}
	if (memprof__is_wanted())
		memprof__start(lib, L);
	else if (agent__start(L, code))
		agent_watch_close(&lib->api, L, agent_closing);
	else
		agent__refuse(agent__why());
	if (!user_init)
		return 0;
	if (user_init[0] == '@')
		err = lib->api.luaL_loadfile(L, user_init + 1);
	else
		err = lib->api.luaL_loadbuffer(L, user_init, strlen(user_init), "=LUA_INIT");
	return err ? fail_as_luajit(&lib->api, L) : 1;
}
