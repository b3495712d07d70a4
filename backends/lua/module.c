/* module.c - the Lua modules "ljperf" and "ljperf.misc": a program that records
 * itself, from where it likes to where it likes.
 *
 * Under "ljperf record" the agent that is there already has the VM: marks go to
 * it.  Else the module's own agent starts, with a collector for this VM alone.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/lua/spawn.h"
#include "backends/luajit/agent.h"
#include "backends/luajit/closing.h"
#include "backends/luajit/library.h"
#include "backends/luajit/ops.h"
#include "formats/session.h"

#define EXPORT __attribute__((visibility("default")))
#define DEFAULT_OUTPUT "ljperf.ljm.zst"
#define DEFAULT_FRAMES 127
#define MOST_FRAMES 1024
#define END_MS 30000 /* for the collector to write what it has */

EXPORT int luaopen_ljperf(lua_State *L);
EXPORT int luaopen_ljperf_misc(lua_State *L);

/* A C function is called by the VM's own code, so where it returns to says
 * which copy of LuaJIT it is. */
#define CALLER __builtin_return_address(0)

static const struct lj_api *api_of(const void *code)
{
	struct agent_lib *lib = agent_lib__of(code);

	return lib && lib->has_api ? &lib->api : NULL;
}

/* The agent of "ljperf record" in this process, NULL: there is none.  It has
 * its own copy of all that is called agent__something here. */
static const struct agent_ops *outer_agent(void)
{
	const struct agent_ops *ops = dlsym(RTLD_DEFAULT, AGENT_OPS_NAME);

	return ops && ops->version == AGENT_OPS_VERSION && ops->has_joined() ? ops : NULL;
}

static bool is_recorded(lua_State *L, const void *code)
{
	const struct agent_ops *outer = outer_agent();

	return agent__find(L, code) || (outer && outer->find(L, code));
}

/* ---- results ---- */

static int fail(const struct lj_api *api, lua_State *L, const char *msg, int errnum)
{
	api->lua_pushnil(L);
	api->lua_pushlstring(L, msg, strlen(msg));
	api->lua_pushinteger(L, errnum);
	return 3;
}

static int fail_file(const struct lj_api *api, lua_State *L, const char *path, int errnum)
{
	char msg[PATH_MAX + 128];

	snprintf(msg, sizeof(msg), "%s: %s", path, strerror(errnum));
	return fail(api, L, msg, errnum);
}

static int succeed(const struct lj_api *api, lua_State *L)
{
	api->lua_pushboolean(L, 1);
	return 1;
}

/* ---- the collector ---- */

/* The program beside this module in the build folder, else the one installed. */
static bool find_collector(char path[PATH_MAX])
{
	static const char here[] = "";
	const char *slash;
	Dl_info info;

	if (dladdr(here, &info) && info.dli_fname) {
		slash = strrchr(info.dli_fname, '/');
		snprintf(path, PATH_MAX, "%.*sljperf",
			 slash ? (int)(slash + 1 - info.dli_fname) : 0, info.dli_fname);
		if (slash && access(path, X_OK) == 0)
			return true;
	}
	snprintf(path, PATH_MAX, "%s/ljperf", LJPERF_BINDIR);
	return access(path, X_OK) == 0;
}

struct start_options {
	const char *output;
	unsigned frames; /* of a call stack, 0: none are recorded */
	bool native; /* and below C functions */
	bool memprof; /* the file is made as misc.memprof makes it */
};

/* 0, -errno of the collector or of the output, or 1: no program to run. */
static int connect_collector(struct channel *ch, const struct start_options *o)
{
	char path[PATH_MAX], pid[16], frames[16];
	char *argv[] = { path,
			 "record",
			 "--collect",
			 pid,
			 (char *)(uintptr_t)o->output,
			 o->memprof ? "memprof" : "session",
			 frames,
			 NULL };
	int socks[2], err;

	if (!find_collector(path))
		return 1;
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	snprintf(frames, sizeof(frames), "%u%s", o->frames, o->native ? ",native" : "");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) != 0)
		return -errno;
	err = spawn_collector(argv, socks[1]);
	close(socks[1]);
	if (!err)
		err = channel__adopt(ch, socks[0]);
	if (err)
		close(socks[0]);
	return err;
}

static int start(const struct lj_api *api, lua_State *L, const void *code,
		 const struct start_options *o)
{
	struct channel ch;
	int err;

	if (agent_inside)
		return fail(api, L, "the VM is being looked at", EBUSY);
	/* Before anything is opened: a VM that cannot be recorded leaves no file. */
	if (!agent_lib__probe(agent_lib__of(code)))
		return fail(api, L, agent_lib__of(code)->why, ENOTSUP);
	err = connect_collector(&ch, o);
	if (err > 0)
		return fail(api, L, "cannot find the program 'ljperf'", ENOENT);
	if (err)
		return fail_file(api, L, o->output, -err);
	agent_watch_close(api, L, agent_closing);
	if (agent_start_alone(L, code, &ch))
		return succeed(api, L);
	channel__close(&ch);
	return fail(api, L, agent__why(), ENOTSUP);
}

/* Ends the recording of VM, and waits until its file is closed. */
static void stop(struct agent_vm *vm)
{
	int fd = fcntl(agent_vm_socket(vm), F_DUPFD_CLOEXEC, 3);
	struct pollfd pfd = { .fd = fd };

	agent__stop(vm);
	if (fd < 0)
		return;
	shutdown(fd, SHUT_WR); /* nothing more comes: the collector finishes */
	poll(&pfd, 1, END_MS);
	close(fd);
}

/* ---- ljperf ---- */

/* A field of the table at 1: its text, or NULL when it is not there. */
static const char *text_field(const struct lj_api *api, lua_State *L, const char *name)
{
	api->lua_getfield(L, 1, name);
	return api->lua_type(L, -1) == LUA_TNIL ? NULL : api->lua_tolstring(L, -1, NULL);
}

/* stacks = true, the most frames of one, or what --call-graph takes. */
static bool take_stacks(const struct lj_api *api, lua_State *L, struct start_options *o)
{
	const char *kind;
	lua_Integer n;

	api->lua_getfield(L, 1, "stacks");
	if (api->lua_type(L, -1) == LUA_TSTRING) {
		kind = api->lua_tolstring(L, -1, NULL);
		o->frames = DEFAULT_FRAMES;
		o->native = strcmp(kind, "lua,native") == 0;
		return o->native || strcmp(kind, "lua") == 0;
	}
	if (api->lua_type(L, -1) == LUA_TNUMBER) {
		n = api->lua_tointeger(L, -1);
		o->frames = (unsigned)n;
		return n >= 1 && n <= MOST_FRAMES;
	}
	o->frames = api->lua_toboolean(L, -1) ? DEFAULT_FRAMES : 0;
	return true;
}

/* events = "alloc" or { "alloc" }. */
static bool take_events(const struct lj_api *api, lua_State *L)
{
	const char *name;

	api->lua_getfield(L, 1, "events");
	if (api->lua_type(L, -1) == LUA_TNIL)
		return true;
	if (api->lua_type(L, -1) == LUA_TTABLE) {
		api->lua_pushinteger(L, 1);
		api->lua_gettable(L, -2);
	}
	name = api->lua_tolstring(L, -1, NULL);
	return name && strcmp(name, "alloc") == 0;
}

/* The first key of the table at 1 that is no option; "" when it is no name, NULL
 * when there is none. */
static const char *unknown_option(const struct lj_api *api, lua_State *L)
{
	static const char *const known[] = { "output", "stacks", "events" };
	const char *key;
	size_t i;

	api->lua_pushnil(L);
	while (api->lua_next(L, 1)) {
		api->lua_settop(L, -2);
		key = api->lua_type(L, -1) == LUA_TSTRING ? api->lua_tolstring(L, -1, NULL) : "";
		for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			if (strcmp(key, known[i]) == 0)
				break;
		if (i == sizeof(known) / sizeof(known[0]))
			return key;
	}
	return NULL;
}

static int fail_option(const struct lj_api *api, lua_State *L, const char *name)
{
	char msg[256];

	snprintf(msg, sizeof(msg), "start has no option '%s', there are output, stacks and events",
		 name);
	return fail(api, L, *name ? msg : "start takes options by their names", EINVAL);
}

/* local ok, err, errno = ljperf.start { output =, stacks =, events = } */
static int l_start(lua_State *L)
{
	const struct lj_api *api = api_of(CALLER);
	struct start_options o = { .output = DEFAULT_OUTPUT };
	const char *output, *unknown;

	if (is_recorded(L, CALLER))
		return fail(api, L, "this VM is recorded already", EALREADY);
	if (api->lua_type(L, 1) != LUA_TNONE && api->lua_type(L, 1) != LUA_TNIL) {
		if (api->lua_type(L, 1) != LUA_TTABLE)
			return fail(api, L, "start takes a table of options", EINVAL);
		unknown = unknown_option(api, L);
		if (unknown)
			return fail_option(api, L, unknown);
		output = text_field(api, L, "output");
		if (output)
			o.output = output;
		if (strcmp(o.output, "-") == 0)
			return fail(api, L, "a recording needs a file", EINVAL);
		if (!take_stacks(api, L, &o))
			return fail(api, L,
				    "stacks is true, a number of frames up to 1024, 'lua' or "
				    "'lua,native'",
				    EINVAL);
		if (!take_events(api, L))
			return fail(api, L, "the only event there is is 'alloc'", EINVAL);
	}
	return start(api, L, CALLER, &o);
}

/* local ok, err, errno = ljperf.stop() */
static int l_stop(lua_State *L)
{
	const struct lj_api *api = api_of(CALLER);
	struct agent_vm *vm = agent__find(L, CALLER);

	if (!vm)
		return fail(api, L,
			    is_recorded(L, CALLER) ? "the recording is not this module's"
						   : "this VM is not recorded",
			    EINVAL);
	stop(vm);
	return succeed(api, L);
}

static int l_running(lua_State *L)
{
	const struct lj_api *api = api_of(CALLER);

	api->lua_pushboolean(L, is_recorded(L, CALLER));
	return 1;
}

/* ljperf.mark(name): whether there is a recording to have it. */
static int l_mark(lua_State *L)
{
	const struct lj_api *api = api_of(CALLER);
	const char *name = api->luaL_checklstring(L, 1, NULL);
	const struct agent_ops *outer = outer_agent();
	struct agent_vm *vm = agent__find(L, CALLER);

	if (vm) {
		agent__mark(vm, SESSION_MARK_USER, name);
	} else if (outer) {
		vm = outer->find(L, CALLER);
		if (vm)
			outer->mark(vm, SESSION_MARK_USER, name);
	}
	api->lua_pushboolean(L, vm != NULL);
	return 1;
}

struct function {
	const char *name;
	lua_CFunction f;
};

static void new_table(const struct lj_api *api, lua_State *L, const struct function *list, int n)
{
	int i;

	api->lua_createtable(L, 0, n);
	for (i = 0; i < n; i++) {
		api->lua_pushcclosure(L, list[i].f, 0);
		api->lua_setfield(L, -2, list[i].name);
	}
}

static int no_luajit(void)
{
	fputs("ljperf: the module works in LuaJIT only\n", stderr);
	return 0;
}

int luaopen_ljperf(lua_State *L)
{
	static const struct function functions[] = {
		{ "start", l_start },
		{ "stop", l_stop },
		{ "running", l_running },
		{ "mark", l_mark },
	};
	const struct lj_api *api = api_of(CALLER);

	if (!api)
		return no_luajit();
	new_table(api, L, functions, sizeof(functions) / sizeof(functions[0]));
	api->lua_pushlstring(L, LJPERF_VERSION, strlen(LJPERF_VERSION));
	api->lua_setfield(L, -2, "version");
	return 1;
}

/* ---- misc.memprof, with the results of Tarantool's ---- */

static int memprof_start(lua_State *L)
{
	const struct lj_api *api = api_of(CALLER);
	struct start_options o = { .memprof = true };

	o.output = api->luaL_checklstring(L, 1, NULL);
	if (is_recorded(L, CALLER))
		return fail(api, L, "profiler is running already", EINVAL);
	return start(api, L, CALLER, &o);
}

static int memprof_stop(lua_State *L)
{
	const struct lj_api *api = api_of(CALLER);
	struct agent_vm *vm = agent__find(L, CALLER);

	if (!vm)
		return fail(api, L, "profiler is not running", EINVAL);
	stop(vm);
	return succeed(api, L);
}

/* Sets the global "misc" and returns it; one that is there gets a memprof, if
 * it has none. */
int luaopen_ljperf_misc(lua_State *L)
{
	static const struct function functions[] = { { "start", memprof_start },
						     { "stop", memprof_stop } };
	const struct lj_api *api = api_of(CALLER);

	if (!api)
		return no_luajit();
	api->lua_getfield(L, LUA_GLOBALSINDEX, "misc");
	if (api->lua_type(L, -1) != LUA_TTABLE) {
		api->lua_createtable(L, 0, 1);
		api->lua_pushvalue(L, -1);
		api->lua_setfield(L, LUA_GLOBALSINDEX, "misc");
	}
	api->lua_getfield(L, -1, "memprof");
	if (api->lua_type(L, -1) == LUA_TNIL) {
		new_table(api, L, functions, 2);
		api->lua_setfield(L, -3, "memprof");
	}
	api->lua_settop(L, -2);
	return 1;
}
