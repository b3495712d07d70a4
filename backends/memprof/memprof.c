/* memprof.c - see memprof.h.  The profiler writes to a path, so it gets the path
 * of a pipe; it keeps up to 8 MiB until it is stopped, which happens when the VM
 * is closed or the process exits.
 */
#include "backends/memprof/memprof.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/backend.h"
#include "backends/luajit/agent.h"
#include "backends/luajit/closing.h"
#include "backends/luajit/hello.h"

/* The profiler is one for a process, and so is this. */
static struct {
	const struct lj_api *api;
	lua_State *L; /* NULL: not running */
	const void *registry; /* tells its VM from others */
	pid_t pid;
} running;

bool memprof__is_wanted(void)
{
	return agent__has_joined() && agent_control()->memprof;
}

/* Leaves misc.memprof.NAME on the stack; false, and nothing, when there is none. */
static bool push_function(const struct lj_api *api, lua_State *L, const char *name)
{
	int top = api->lua_gettop(L), i;
	const char *const path[] = { "misc", "memprof", name };

	api->lua_pushvalue(L, LUA_GLOBALSINDEX);
	for (i = 0; i < 3 && api->lua_type(L, -1) == LUA_TTABLE; i++)
		api->lua_getfield(L, -1, path[i]);
	if (i == 3 && api->lua_type(L, -1) == LUA_TFUNCTION)
		return true;
	api->lua_settop(L, top);
	return false;
}

/* ---- the end ---- */

static void stop(lua_State *L)
{
	const struct lj_api *api = running.api;
	int top;

	if (!running.L || running.pid != getpid())
		return; /* a forked child must not write its parent's buffer */
	running.L = NULL;
	top = api->lua_gettop(L);
	if (push_function(api, L, "stop"))
		api->lua_pcall(L, 0, 0, 0);
	api->lua_settop(L, top);
}

static void at_exit(void)
{
	if (running.L)
		stop(running.L);
}

static int c_closing(lua_State *L)
{
	stop(L);
	return 0;
}

void memprof__close(lua_State *L)
{
	if (running.L && running.api->lua_topointer(L, LUA_REGISTRYINDEX) == running.registry)
		stop(L);
}

/* ---- the start ---- */

static void fill_hello(const struct agent_lib *lib, lua_State *L, struct agent_hello *hello)
{
	const struct lj_api *api = &lib->api;
	const char *version;

	hello__fill(hello, MSG_MEMPROF, lib, L);
	api->lua_getfield(L, LUA_GLOBALSINDEX, "jit");
	if (api->lua_type(L, -1) == LUA_TTABLE) {
		api->lua_getfield(L, -1, "version");
		version = api->lua_tolstring(L, -1, NULL);
		snprintf(hello->vm_version, sizeof(hello->vm_version), "%s",
			 version ? version : "");
	}
}

static bool refuse(const char *what, const char *detail)
{
	char why[512];

	snprintf(why, sizeof(why), "%s%s%.300s", what, *detail ? ": " : "", detail);
	agent__refuse(why);
	return false;
}

/* Tells the collector of FDS[0], who reads from it from then on: the profiler,
 * which gets the path of FDS[1], may have more to write than a pipe takes. */
static bool start_into(struct agent_lib *lib, lua_State *L, const int fds[2])
{
	const struct lj_api *api = &lib->api;
	struct agent_hello hello;
	const char *msg;
	char path[64];
	int err;

	fill_hello(lib, L, &hello);
	err = agent_send_hello(&hello, fds[0]);
	if (err)
		return refuse("cannot reach the collector", strerror(-err));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[1]);
	push_function(api, L, "start");
	api->lua_pushlstring(L, path, strlen(path));
	if (api->lua_pcall(L, 1, 2, 0) == 0 && api->lua_toboolean(L, -2))
		return true;
	msg = api->lua_tolstring(L, -1, NULL);
	return refuse("misc.memprof does not start", msg ? msg : "");
}

bool memprof__start(struct agent_lib *lib, lua_State *L)
{
	int fds[2], top;
	bool ok;

	if (running.L && running.pid == getpid())
		return true; /* it can profile one VM only */
	if (!lib || !lib->has_api)
		return refuse(lib ? lib->why : "no memory", "");
	top = lib->api.lua_gettop(L);
	if (!push_function(&lib->api, L, "start"))
		return refuse("this VM has no misc.memprof (without --backend it is not needed)",
			      "");
	if (pipe2(fds, O_CLOEXEC) != 0)
		return refuse("cannot make a pipe", strerror(errno));
	ok = start_into(lib, L, fds);
	close(fds[0]);
	close(fds[1]);
	lib->api.lua_settop(L, top);
	if (!ok)
		return false;
	running.api = &lib->api;
	running.L = L;
	running.registry = lib->api.lua_topointer(L, LUA_REGISTRYINDEX);
	running.pid = getpid();
	agent_watch_close(&lib->api, L, c_closing);
	atexit(at_exit);
	return true;
}
