/* local.c - a program that opens LuaJIT itself, so that nothing else sees its
 * functions.  Arguments: the libraries, each of which gets a VM.  Started by
 * tests/cli/any_hosts.sh.
 */
#include <dlfcn.h>
#include <lua.h>
#include <stdio.h>
#include <string.h>

static void *function(void *lib, const char *name)
{
	void *f = dlsym(lib, name);

	if (!f)
		printf("no %s\n", name);
	return f;
}

static int use(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	lua_State *(*newstate)(void), *L;
	void (*openlibs)(lua_State *);
	int (*load)(lua_State *, const char *, size_t, const char *);
	int (*call)(lua_State *, int, int, int);
	void (*close)(lua_State *);
	static const char chunk[] = "jit.off()\nlocal t\nfor i = 1, 100 do t = { i } end\n";

	if (!lib) {
		printf("%s\n", dlerror());
		return 1;
	}
	*(void **)&newstate = function(lib, "luaL_newstate");
	*(void **)&openlibs = function(lib, "luaL_openlibs");
	*(void **)&load = function(lib, "luaL_loadbuffer");
	*(void **)&call = function(lib, "lua_pcall");
	*(void **)&close = function(lib, "lua_close");
	L = newstate();
	openlibs(L);
	if (load(L, chunk, strlen(chunk), "@local.lua") || call(L, 0, 0, 0))
		return 1;
	close(L);
	dlclose(lib);
	return 0;
}

int main(int argc, char **argv)
{
	int i, bad = 0;
	void *f;

	for (i = 1; i < argc; i++)
		bad |= use(argv[i]);
	/* What is not there is not there, and says so to whom asked. */
	f = dlsym(RTLD_DEFAULT, "luaL_newstate_");
	printf("%s, %s\n", f ? "there" : "not there", dlerror() ? "with an error" : "without");
	return bad;
}
