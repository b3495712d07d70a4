# native_modules.py - native frames in libraries of every kind: those that cannot
# be walked through end the stack, and nothing is made up.
import json
import os
import shutil
import subprocess

from lib_trust import LJPERF, SOURCE, check, finish, run, skip

LEFT_OUT = "[frames left out]"
CC = os.environ.get("CC", "gcc").split()

# PAD makes the frames of another size.  A name like those of the API makes no API.
MODULE = r"""
typedef struct lua_State lua_State;
void lua_createtable(lua_State *L, int narr, int nrec);
int f(lua_State *L);
static __attribute__((noinline)) void lua_inner(lua_State *L)
{
	PAD
	lua_createtable(L, ROOM, 0);
	__asm__ volatile("" ::: "memory");
}
static __attribute__((noinline)) void below(lua_State *L)
{
	PAD
	lua_inner(L);
	__asm__ volatile("" ::: "memory");
}
int f(lua_State *L)
{
	PAD
	below(L);
	__asm__ volatile("" ::: "memory");
	return 1;
}
"""
INNER, BELOW, F = ("lua_inner", 8), ("below", 14), ("f", 20)  # what calls, and where
API, C = ("lua_createtable", None), ("f", None)
WHOLE = [API, INNER, BELOW, F, C]
NO_TABLES = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]
OTHER = ["-DPAD=volatile char pad[500]; pad[0] = pad[1];"]
NO_ID = ["-Wl,--build-id=none"]

# Loads the library, does something to the file, and only then calls.
SCRIPT = r"""
local file, what, other = ...
local f = assert(package.loadlib("./" .. file, "f"))
if what == "remove" then assert(os.remove(file)) end
if what == "replace" then assert(os.rename(other, file)) end
f()
"""

# A function of one unit that is inlined into one of another.
UNITS = {
    "unit1.c": r"""
typedef struct lua_State lua_State;
void lua_createtable(lua_State *L, int narr, int nrec);
void helper(lua_State *L);
__attribute__((always_inline)) inline void helper(lua_State *L)
{
	lua_createtable(L, ROOM, 0);
	__asm__ volatile("" ::: "memory");
}
void helper(lua_State *L);
""",
    "unit2.c": r"""
typedef struct lua_State lua_State;
void helper(lua_State *L);
int f(lua_State *L);
int f(lua_State *L)
{
	helper(L);
	__asm__ volatile("" ::: "memory");
	return 1;
}
""",
}

PLUG = r"""
void through(void (*f)(void *, int), void *L, int n);
void through(void (*f)(void *, int), void *L, int n)
{
	f(L, n);
	__asm__ volatile("" ::: "memory");
}
"""


def write(name, text):
    with open(name, "w") as f:
        f.write(text)


def build(output, sources, *flags, cc=CC, shared=True):
    cmd = [*cc, "-g", "-O2", *(["-shared", "-fPIC"] if shared else []), *flags, "-o", output, *sources]
    done = subprocess.run(cmd, capture_output=True, text=True)
    check("it compiles: " + output, done.returncode == 0, done.stderr)


# A table for N elements takes 8 bytes for each, and for element 0 (lj_tab.c).
def frames_of(room):
    for line in run([LJPERF, "script", "--no-symbol-cache", "--json"])[1].splitlines():
        ev = json.loads(line)
        if ev.get("event") == "alloc" and ev["new_size"] == 8 * (room + 1):
            return ev.get("frames", [])
    return []


def places(room):
    return [(f.get("func"), f.get("line")) for f in frames_of(room)]


def record(*cmd):
    return run([LJPERF, "record", "-q", "--call-graph", "lua,native", *cmd])


def walk(name, want, *args):
    record("load.lua", *args)
    got = places(2001)[:len(want)]
    check(name, got == want, (got, want))


def try_kinds():
    cut = [API, INNER, (LEFT_OUT, None)]
    for name, flags, want in (
            ("plain.so", [], WHOLE),
            ("no_tables.so", NO_TABLES, cut),
            ("frame_pointers.so", NO_TABLES + ["-fno-omit-frame-pointer"], cut),
            ("no_id.so", NO_ID, WHOLE),
            ("with space.so", OTHER, WHOLE)):
        pad = [] if flags == OTHER else ["-DPAD="]
        build(name, ["module.c"], "-DROOM=2001", *pad, *flags)
        walk(name, want, name)
    if shutil.which("clang") and CC[0] != "clang":
        build("clang.so", ["module.c"], "-DROOM=2001", *OTHER, cc=["clang"])
        walk("clang.so", WHOLE, "clang.so")
    else:
        skip("clang.so", "clang is not installed")


# The name of the frame's function is that of the loaded file, or of the new one,
# or none: there is a build id only in some.
def ends_there(name, *args):
    record("load.lua", *args)
    got = places(2001)
    check(name, got[:1] == [API] and got[2:3] == [(LEFT_OUT, None)], got)


def try_changed_files():
    for kind, flags in (("with a build id", []), ("without a build id", NO_ID)):
        build("old.so", ["module.c"], "-DROOM=2001", "-DPAD=", *flags)
        ends_there("a file that was removed, " + kind, "old.so", "remove")
        build("old.so", ["module.c"], "-DROOM=2001", "-DPAD=", *flags)
        build("new.so", ["module.c"], "-DROOM=2001", *OTHER, *flags)
        ends_there("a file that was replaced, " + kind, "old.so", "replace", "new.so")


def try_units():
    for name, text in UNITS.items():
        write(name, text)
    build("units.so", list(UNITS), "-flto", "-DROOM=2001")
    record("load.lua", "units.so")
    frame = (frames_of(2001) + [{}, {}])[1]
    inlined = [(f.get("func"), f.get("line")) for f in frame.get("inlined", [])]
    check("a function inlined from another unit", (frame.get("func"), frame.get("line"), inlined) ==
          ("f", 7, [("helper", 7)]), frame)


def try_plug():
    libs = subprocess.run(["pkg-config", "--cflags", "--libs", "luajit"], capture_output=True, text=True)
    write("plug.c", PLUG)
    build("plug.so", ["plug.c"])
    build("plugs", [SOURCE + "/tests/hosts/plugs.c", *libs.stdout.split()], "-D_GNU_SOURCE", shared=False)
    status = record("--", "./plugs", "./plug.so")[0]
    got = [f[0] for f in places(2001)]
    check("a library that the host has loaded late", got[:5] == ["lua_createtable", "leaf", "through", "go", "main"]
          and LEFT_OUT not in got, got)
    if status == 77:
        skip("code in the place of a library", "nothing could be mapped there")
        return
    got = [f[0] for f in places(3001)]
    check("code in the place of a library", status == 0 and got == ["lua_createtable", "leaf", LEFT_OUT], (status, got))


def main():
    if os.uname().machine != "x86_64":
        skip("native stacks", "they are recorded on x86-64 only")
        return
    write("module.c", MODULE)
    write("load.lua", SCRIPT)
    try_kinds()
    try_changed_files()
    try_units()
    try_plug()


main()
finish()
