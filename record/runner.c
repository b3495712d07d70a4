/* runner.c - the embedded VM of "ljperf record script.lua": a program of its
 * own, ljperf-luajit, that runs a script as the luajit command does, with the
 * agent linked in.
 *
 *   ljperf-luajit [-jCMD] [-OOPT] SCRIPT [ARG...]
 *
 * Without LJPERF_AGENT in its environment it records nothing.  SCRIPT "-" is
 * standard input.  What the script can see is what it would see under luajit:
 * arg, LUA_INIT, the texts of errors, the exit status.
 */
#include <dlfcn.h>
#include <lauxlib.h>
#include <lua.h>
#include <luajit.h>
#include <lualib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backends/backend.h"
#include "record/protocol.h"

/* The name that luajit gives itself in messages and in arg. */
#define PROGRAM "luajit"

struct runner {
	struct agent_vm *vm; /* NULL: not recorded */
	bool skip; /* not to be recorded: it cannot be loaded */
	char **jit; /* -j and -O options as they came, n_jit of them */
	int n_jit;
	char **script; /* script and its arguments, NULL at the end */
	int status; /* 0, or what luajit would exit with */
};

static lua_State *interrupted_state;

/* ---- the behaviour of luajit ---- */

static void say(const char *msg)
{
	fprintf(stderr, PROGRAM ": %s\n", msg);
	fflush(stderr);
}

/* Not luaL_error(): a hook is no frame, so level 0 is the interrupted code. */
static void stop_hook(lua_State *L, lua_Debug *ar)
{
	(void)ar;
	lua_sethook(L, NULL, 0, 0);
	luaL_where(L, 0);
	lua_pushliteral(L, "interrupted!");
	lua_concat(L, 2);
	lua_error(L);
}

static void on_sigint(int sig)
{
	signal(sig, SIG_DFL); /* a second one kills */
	lua_sethook(interrupted_state, stop_hook, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 1);
}

/* Prints the error on top of the stack; STATUS as lua_pcall() gives it. */
static int report(lua_State *L, int status)
{
	const char *msg;

	if (status && !lua_isnil(L, -1)) {
		msg = lua_tostring(L, -1);
		say(msg ? msg : "(error object is not a string)");
		lua_pop(L, 1);
	}
	return status;
}

static int add_traceback(lua_State *L)
{
	if (!lua_isstring(L, 1)) {
		if (lua_isnoneornil(L, 1) || !luaL_callmeta(L, 1, "__tostring") ||
		    !lua_isstring(L, -1))
			return 1; /* the object itself is the error */
		lua_remove(L, 1);
	}
	luaL_traceback(L, L, lua_tostring(L, 1), 1);
	return 1;
}

static int call(lua_State *L, int nargs, int nresults)
{
	int handler = lua_gettop(L) - nargs, status;

	lua_pushcfunction(L, add_traceback);
	lua_insert(L, handler);
	signal(SIGINT, on_sigint);
	status = lua_pcall(L, nargs, nresults, handler);
	signal(SIGINT, SIG_DFL);
	lua_remove(L, handler);
	if (status)
		lua_gc(L, LUA_GCCOLLECT, 0); /* as luajit does after an error */
	return status;
}

static int run_luainit(lua_State *L)
{
	const char *init = getenv("LUA_INIT");
	int status;

	if (!init)
		return 0;
	if (init[0] == '@')
		status = luaL_loadfile(L, init + 1);
	else
		status = luaL_loadbuffer(L, init, strlen(init), "=LUA_INIT");
	return report(L, status ? status : call(L, 0, 0));
}

/* arg: the script is 0, its arguments follow, what came before is negative. */
static void set_arg(lua_State *L, const struct runner *r)
{
	int i;

	lua_newtable(L);
	lua_pushstring(L, PROGRAM);
	lua_rawseti(L, -2, -1 - r->n_jit);
	for (i = 0; i < r->n_jit; i++) {
		lua_pushstring(L, r->jit[i]);
		lua_rawseti(L, -2, i - r->n_jit);
	}
	for (i = 0; r->script[i]; i++) {
		lua_pushstring(L, r->script[i]);
		lua_rawseti(L, -2, i);
	}
	lua_setglobal(L, "arg");
}

/* Pushes jit.NAME, or loads the module jit.NAME and pushes its start(). */
static int push_jit_command(lua_State *L, const char *name)
{
	luaL_findtable(L, LUA_REGISTRYINDEX, "_LOADED", 16);
	lua_getfield(L, -1, "jit");
	lua_remove(L, -2);
	lua_getfield(L, -1, name);
	lua_remove(L, -2);
	if (lua_isfunction(L, -1))
		return 0;
	lua_pop(L, 1);
	lua_getglobal(L, "require");
	lua_pushfstring(L, "jit.%s", name);
	if (lua_pcall(L, 1, 1, 0)) {
		const char *msg = lua_tostring(L, -1);

		if (msg && strncmp(msg, "module ", 7) == 0)
			lua_pushliteral(L, "unknown luaJIT command or jit.* modules not installed");
		return report(L, 1);
	}
	lua_getfield(L, -1, "start");
	lua_remove(L, -2);
	return 0;
}

/* Calls the function on top of the stack with the parts of "a,b,c". */
static int call_with_list(lua_State *L, const char *list)
{
	const char *end;
	int n = 0;

	for (; list && *list; list = *end ? end + 1 : end) {
		end = strchr(list, ',');
		if (!end)
			end = list + strlen(list);
		lua_pushlstring(L, list, (size_t)(end - list));
		n++;
	}
	return report(L, lua_pcall(L, n, 0, 0));
}

static int run_jit_option(lua_State *L, const char *opt)
{
	const char *list = opt[1] == 'O' ? opt + 2 : strchr(opt, '=');
	char name[64];

	if (opt[1] == 'O') {
		lua_getglobal(L, "require");
		lua_pushliteral(L, "jit.opt");
		if (lua_pcall(L, 1, 1, 0))
			return report(L, 1);
		lua_getfield(L, -1, "start");
		lua_remove(L, -2);
		return call_with_list(L, list);
	}
	snprintf(name, sizeof(name), "%.*s", list ? (int)(list - opt - 2) : (int)strlen(opt + 2),
		 opt + 2);
	if (push_jit_command(L, name))
		return 1;
	return call_with_list(L, list ? list + 1 : NULL);
}

/* A function of its own, whose name says in reports what the memory is for that
 * the script's code takes. */
static int load_script(lua_State *L)
{
	struct runner *r = lua_touserdata(L, 1);

	r->status = luaL_loadfile(L, strcmp(r->script[0], "-") == 0 ? NULL : r->script[0]);
	return 1;
}

static int run_script(lua_State *L, struct runner *r)
{
	int n = 0;

	lua_pushcfunction(L, load_script);
	lua_pushlightuserdata(L, r);
	lua_call(L, 1, 1);
	while (!r->status && r->script[n + 1]) {
		luaL_checkstack(L, 1, "too many arguments to script");
		lua_pushstring(L, r->script[++n]);
	}
	return report(L, r->status ? r->status : call(L, n, 0));
}

/* An address in the library that has the VM. */
static const void *vm_code(void)
{
	return dlsym(RTLD_DEFAULT, "luaL_newstate");
}

static int protected_main(lua_State *L)
{
	struct runner *r = lua_touserdata(L, 1);
	int i;

	lua_gc(L, LUA_GCSTOP, 0); /* nothing to collect while libraries load */
	luaL_openlibs(L);
	lua_gc(L, LUA_GCRESTART, -1);
	set_arg(L, r);
	if (agent__has_joined() && !r->skip) {
		r->vm = agent__start(L, vm_code());
		if (!r->vm)
			agent__refuse(agent__why());
	}
	r->status = run_luainit(L);
	for (i = 0; !r->status && i < r->n_jit; i++)
		r->status = run_jit_option(L, r->jit[i]);
	if (!r->status)
		r->status = run_script(L, r);
	return 0;
}

/* ---- options ---- */

/* --probe, for ljperf list: one line on stdout, and whether it can record. */
static int print_probe(void)
{
	if (agent__print_probe(stdout, vm_code()))
		return EXIT_SUCCESS;
	puts(agent__why());
	return EXIT_FAILURE;
}

static int usage(void)
{
	fputs("usage: ljperf-luajit [-jCMD] [-OOPT] [--] SCRIPT [ARG...]\n"
	      "Runs a Lua script as luajit does; ljperf record uses it.\n",
	      stderr);
	return EXIT_FAILURE;
}

static bool parse(struct runner *r, char **argv)
{
	char **at = argv + 1;

	r->jit = at;
	while (*at && (strncmp(*at, "-j", 2) == 0 || strncmp(*at, "-O", 2) == 0)) {
		at++;
		r->n_jit++;
	}
	if (*at && strcmp(*at, "--") == 0) {
		r->script = at + 1;
		return at[1];
	}
	r->script = at;
	return *at && (at[0][0] != '-' || at[0][1] == 0);
}

/* A script that is not there or does not compile is not recorded: a slip of
 * the keyboard must not take the place of the last recording.  Only a file that
 * can be read twice is looked at. */
static bool can_start(const struct runner *r)
{
	struct stat st;
	lua_State *L;
	bool ok;

	if (strcmp(r->script[0], "-") == 0)
		return true;
	if (stat(r->script[0], &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return true;
	L = luaL_newstate();
	if (!L)
		return true;
	ok = luaL_loadfile(L, r->script[0]) == 0;
	lua_close(L);
	return ok;
}

int main(int argc, char **argv)
{
	struct runner r = { 0 };
	const char *spec = getenv(AGENT_ENV);
	lua_State *L;
	int status;

	(void)argc;
	if (argv[1] && strcmp(argv[1], "--probe") == 0)
		return print_probe();
	if (!parse(&r, argv))
		return usage();
	if (spec && agent__join(spec) == 0) {
		agent__settle_environment();
		r.skip = !can_start(&r);
		if (r.skip)
			agent__refuse("the script cannot be loaded");
	} else if (spec)
		fprintf(stderr, "ljperf: nothing is recorded: %s\n", agent__why());
	L = luaL_newstate();
	if (!L) {
		say("cannot create state: not enough memory");
		return EXIT_FAILURE;
	}
	interrupted_state = L;
	status = lua_cpcall(L, protected_main, &r);
	report(L, status);
	if (r.vm)
		agent__close(r.vm, L);
	lua_close(L);
	return status || r.status ? EXIT_FAILURE : EXIT_SUCCESS;
}
