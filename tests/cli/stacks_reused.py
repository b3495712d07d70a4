# stacks_reused.py - a closure that a host made where another one was freed is not
# taken for it, though it is called from the same place with the same slots: the
# stack names the function that runs.
import json
import os
import subprocess

from lib_trust import LJPERF, check, compile_c, finish, run, sanitized, skip

# No Lua code runs when the host makes a closure, and that it frees the one before
# makes room for it.  Each calls the same Lua function, which allocates.
HOST = r"""
#include <stdio.h>
#include <lua.h>
#include <lauxlib.h>
#include <luajit.h>
#include <lualib.h>

static int call(lua_State *L)
{
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_call(L, 0, 0);
	return 0;
}

static int odd(lua_State *L)
{
	return call(L);
}

static int even(lua_State *L)
{
	return call(L) + 0;
}

int main(void)
{
	lua_State *L = luaL_newstate();
	const void *seen[400], *at;
	int i, j, distinct = 0;

	luaL_openlibs(L);
	luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF); /* all tables are made */
	if (luaL_loadstring(L, "return function()\n local t = {}\n local u = t\n end"))
		return 1;
	lua_call(L, 0, 1);
	for (i = 1; i <= 200; i++) {
		lua_pushvalue(L, 1);
		lua_pushcclosure(L, i * i % 7 % 2 ? odd : even, 1);
		at = lua_topointer(L, -1);
		for (j = 0; j < distinct && seen[j] != at; j++)
			;
		seen[j] = at;
		distinct += j == distinct;
		lua_call(L, 0, 0);
		lua_gc(L, LUA_GCCOLLECT, 0);
	}
	printf("%d\n", distinct);
	lua_close(L);
	return 0;
}
"""


def callers():
    """Who called the Lua function, in turn."""
    out = run([LJPERF, "script", "--json"])[1]
    for line in out.splitlines():
        ev = json.loads(line)
        if ev.get("event") == "alloc" and ev.get("line") == 2:
            yield ev["frames"][1]["func"]


def main():
    os.chdir(os.environ["TMPDIR"])
    if sanitized():
        skip("closures of a host", "an agent with sanitizers enters no other program")
        finish()
    with open("host.c", "w") as f:
        f.write(HOST)
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "luajit"], capture_output=True, text=True)
    compile_c(os.path.abspath("host.c"), "host", "-fno-optimize-sibling-calls", "-fno-ipa-icf",
              *flags.stdout.split())
    status, out, err = run([LJPERF, "record", "-q", "-g", "--", "./host"])
    check("the host runs", status == 0, err)
    # Else nothing is tested: 200 closures in a few places.
    check("places are used again", 0 < int(out or 0) < 50, out)
    got = list(callers())
    want = ["odd" if i * i % 7 % 2 else "even" for i in range(1, 201)]
    check("the functions that called", got == want, got)
    finish()


main()
