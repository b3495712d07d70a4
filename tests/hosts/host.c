/* host.c - a program that embeds LuaJIT in the ways that hosts do; the first
 * argument says which.  Started by tests/cli/any_hosts.sh, alone and under
 * ljperf record: it prints what it sees, and that must be the same.
 */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- an allocator of its own, without data ---- */

static long long in_use, calls;
static size_t limit = SIZE_MAX;

static void *own_alloc(void *ud, void *ptr, size_t osize, size_t nsize)
{
	void *new;

	if (ud) {
		puts("the allocator got data that is not its own");
		exit(3);
	}
	calls++;
	if (nsize == 0) {
		if (ptr)
			in_use -= (long long)osize;
		free(ptr);
		return NULL;
	}
	if (nsize > limit)
		return NULL;
	new = realloc(ptr, nsize);
	if (new)
		in_use += (long long)nsize - (ptr ? (long long)osize : 0);
	return new;
}

static void *other_alloc(void *ud, void *ptr, size_t osize, size_t nsize)
{
	++*(int *)ud;
	return own_alloc(NULL, ptr, osize, nsize);
}

static void run(lua_State *L, const char *name, const char *chunk)
{
	if (luaL_loadbuffer(L, chunk, strlen(chunk), name) || lua_pcall(L, 0, 0, 0)) {
		printf("%s: %s\n", name, lua_tostring(L, -1));
		lua_pop(L, 1);
	}
}

static void check_allocator(lua_State *L, lua_Alloc want, void *want_ud)
{
	void *ud = &ud;
	lua_Alloc f = lua_getallocf(L, &ud);

	printf("allocator %s, data %s\n", f == want ? "own" : "wrong",
	       ud == want_ud ? "own" : "wrong");
}

static int own_allocator(void)
{
	lua_State *L = lua_newstate(own_alloc, NULL);
	int n = 0;

	if (!L)
		return 1;
	luaL_openlibs(L);
	check_allocator(L, own_alloc, NULL);
	run(L, "@own.lua", "jit.off()\nlocal t\nfor i = 1, 1000 do t = { i } end\n");
	lua_setallocf(L, other_alloc, &n);
	check_allocator(L, other_alloc, &n);
	run(L, "@other.lua", "jit.off()\nlocal t\nfor i = 1, 1000 do t = { i } end\n");
	lua_setallocf(L, own_alloc, NULL);
	check_allocator(L, own_alloc, NULL);
	limit = 100000;
	run(L, "@limit.lua", "local s = ('x'):rep(200000)\n");
	limit = SIZE_MAX;
	lua_close(L);
	printf("the other one was called: %s, left in use: %lld\n", n > 1000 ? "yes" : "no",
	       in_use);
	return 0;
}

/* ---- threads that are made, used and dropped ---- */

static int threads(void)
{
	lua_State *L = luaL_newstate(), *co;
	int i;

	luaL_openlibs(L);
	for (i = 0; i < 200; i++) {
		co = lua_newthread(L);
		luaL_loadstring(co, "local t = {} for i = 1, 10 do t[i] = { i } end return t");
		if (lua_pcall(co, 0, 1, 0))
			return 1;
		lua_settop(L, 0); /* the thread is garbage now */
		run(L, "@after.lua", "local u = { 1 }\nerror('after a dropped thread')\n");
		lua_gc(L, LUA_GCCOLLECT, 0);
	}
	/* One that has failed, one that waits; the state is closed on top. */
	co = lua_newthread(L);
	luaL_loadstring(co, "local t = { 1, 2 } error('in a thread')");
	printf("resume: %d\n", lua_resume(co, 0));
	run(L, "@after.lua", "local u = {}\nfor i = 1, 50 do u[i] = { i } end\n");
	co = lua_newthread(L);
	luaL_loadstring(co, "local t = { 1 } coroutine.yield(t) return { 2 }");
	printf("resume: %d\n", lua_resume(co, 0));
	lua_createtable(L, 100, 100); /* the host, with nothing running */
	lua_gc(L, LUA_GCCOLLECT, 0);
	lua_close(co); /* any thread will do */
	return 0;
}

/* ---- finalizers at work while the state is closed ---- */

static int close_finalizers(void)
{
	lua_State *L = luaL_newstate();

	luaL_openlibs(L);
	run(L, "@final.lua",
	    "for i = 1, 100 do\n"
	    "  local p = newproxy(true)\n"
	    "  getmetatable(p).__gc = function()\n"
	    "    local t = {} for j = 1, 100 do t[j] = { j } end\n"
	    "    if i % 10 == 0 then error('in a finalizer') end\n"
	    "    if i % 7 == 0 then kept = newproxy(p) end\n"
	    "  end\n"
	    "  _G['p' .. i] = p\n"
	    "end\n");
	lua_close(L);
	puts("closed");
	return 0;
}

/* ---- a state made before a fork ---- */

static int forked(void)
{
	lua_State *L = luaL_newstate();
	int status, i;
	pid_t pid;

	luaL_openlibs(L);
	run(L, "@before.lua", "jit.off()\nbefore = 1\nfor i = 1, 100 do before = { i } end\n");
	for (i = 0; i < 2; i++) {
		fflush(stdout);
		pid = fork();
		if (pid == 0) {
			/* One child closes its state, one does not. */
			run(L, "@child.lua",
			    "jit.off()\nlocal t\nfor i = 1, 1000 do t = { i } end\n");
			if (i == 0)
				lua_close(L);
			_exit(7 + i);
		}
		run(L, "@parent.lua", "jit.off()\nlocal t\nfor i = 1, 500 do t = { i } end\n");
		waitpid(pid, &status, 0);
		printf("child: %d\n", WEXITSTATUS(status));
	}
	/* A child that does not touch its state, and one that execs. */
	fflush(stdout);
	if (fork() == 0)
		_exit(0);
	wait(NULL);
	if (fork() == 0) {
		execlp("true", "true", (char *)NULL);
		_exit(1);
	}
	wait(NULL);
	run(L, "@parent.lua", "jit.off()\nlocal t\nfor i = 1, 500 do t = { i } end\n");
	lua_close(L);
	return 0;
}

/* ---- a daemon: it has nothing left of what it was started with ---- */

static int dropped(void)
{
	lua_State *L;
	int fd;

	for (fd = 3; fd < 1024; fd++)
		close(fd);
	clearenv();
	if (chdir("/") != 0 || (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)))
		return 1;
	L = luaL_newstate();
	luaL_openlibs(L);
	run(L, "@dropped.lua", "jit.off()\nlocal t\nfor i = 1, 1000 do t = { i } end\n");
	fd = dup(0);
	printf("the next descriptor is %d\n", fd);
	lua_close(L);
	return 0;
}

/* ---- a state in each thread ---- */

static void *thread_main(void *arg)
{
	int rounds = *(int *)arg, i;
	lua_State *L;

	for (i = 0; i < rounds; i++) {
		L = luaL_newstate();
		luaL_openlibs(L);
		run(L, "@thread.lua",
		    "jit.off()\n"
		    "local t\n"
		    "for i = 1, 20000 do t = { i, 'x' } end\n");
		lua_close(L);
	}
	return NULL;
}

static int many(int n, int rounds)
{
	pthread_t threads_of[64];
	int i;

	for (i = 0; i < n; i++)
		pthread_create(&threads_of[i], NULL, thread_main, &rounds);
	for (i = 0; i < n; i++)
		pthread_join(threads_of[i], NULL);
	puts("joined");
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "own") == 0)
		return own_allocator();
	if (strcmp(what, "threads") == 0)
		return threads();
	if (strcmp(what, "close") == 0)
		return close_finalizers();
	if (strcmp(what, "fork") == 0)
		return forked();
	if (strcmp(what, "dropped") == 0)
		return dropped();
	if (strcmp(what, "many") == 0)
		return many(8, 1);
	if (strcmp(what, "row") == 0)
		return many(1, 100);
	if (strcmp(what, "none") == 0)
		return 0;
	return 2;
}
