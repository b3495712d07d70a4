# native_stacks.py - native frames of recorded stacks are those that the program
# itself sees with backtrace(3), call by call, and are called what addr2line
# calls them.
import json
import os
import re
import signal
import subprocess
import sys
import time

from lib_trust import LJPERF, SOURCE, check, finish, run, skip

LEFT_OUT = "[frames left out]"
MOST = 128  # frames below a C function

SCRIPT = r"""
host.plain()
for i = 0, 20, 5 do host.deep(i) end
host.deep(150)
for i = 1, 3 do host.sized(i * 100) host.aligned(i * 100) end
host.huge()
host.through(function(n) host.deep(n) end)
print(pcall(host.in_protected_call))
coroutine.wrap(function() host.deep(2) coroutine.yield() end)()
host.loads()
host.loads_protected()
host.elsewhere()
string.gsub("ab", ".", function(c) host.plain() end)
table.sort({ 3, 2, 1 }, function(a, b) host.plain() return a < b end)
local _ = setmetatable({}, { __index = function() host.sized(10) end }).x
_ = setmetatable({}, { __index = host.plain }).x
for i = 1, 300 do host.deep(1) end
"""


def build(flags):
    libs = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "luajit"], capture_output=True, text=True)
    cmd = [*os.environ.get("CC", "gcc").split(), "-std=c11", "-D_GNU_SOURCE", "-g", *flags,
           "-o", "native", SOURCE + "/tests/hosts/native.c", *libs.stdout.split(), "-pthread"]
    done = subprocess.run(cmd, capture_output=True, text=True)
    check("the host compiles with " + " ".join(flags), done.returncode == 0, done.stderr)
    return done.returncode == 0


def read_notes():
    notes = []
    with open("notes") as f:
        for line in f:
            word = line.split()
            notes.append((int(word[1]), word[2], [int(a, 16) - 1 for a in word[3:]]))
    return notes


# A table for N elements takes 8 bytes for each, and for element 0 (lj_tab.c).
def read_stacks():
    out = run([LJPERF, "script", "--json"])[1]
    stacks = {}
    for line in out.splitlines():
        ev = json.loads(line)
        if ev.get("event") == "alloc" and ev["new_size"] % 8 == 0 and "frames" in ev:
            stacks.setdefault(ev["new_size"] // 8 - 1, ev["frames"])
    return stacks


def split(frames):
    n = 0
    while n < len(frames) and frames[n]["source"] == "native":
        n += 1
    return frames[:n], frames[n:]


def compare(notes, stacks):
    wrong = []
    named = {}
    for number, function, want in notes:
        native, outer = split([dict({"source": ""}, **f) for f in stacks.get(number, [])])
        # lua_createtable(), leaf(), and what it was called by
        got = [int(f["offset"], 16) for f in native[2:]]
        cut = outer and outer[0].get("func") == LEFT_OUT
        if [f.get("func") for f in native[:2]] != ["lua_createtable", "leaf"]:
            wrong.append((number, function, "begins with", native[:2]))
        if len(want) + 2 > MOST:
            want = want[:MOST - 2]
            if not cut:
                wrong.append((number, "not said to be cut"))
        elif function != "-" and cut != (function == "elsewhere"):
            wrong.append((number, function, "cut", cut))
        if function in ("-", "elsewhere"):  # what has called it is not noted
            got = got[:len(want)]
        elif outer[cut:][:1] and outer[cut]["func"] != "host." + function:
            wrong.append((number, function, "called by", outer[cut]))
        if got != want:
            wrong.append((number, function, list(map(hex, got)), list(map(hex, want))))
        for f in native[2:2 + len(want)]:
            if f["module"].endswith("/native"):
                named[f["offset"]] = (f.get("func"), f.get("line"))
    check("%d native stacks are those of backtrace()" % len(notes), len(notes) > 300 and
          not wrong, wrong[:3])
    return named


# eu-addr2line prints the function on one line and file:line:column on the next.
def compare_names(named):
    places = sorted(named)
    out = run(["eu-addr2line", "-f", "-e", "native", *places])[1].splitlines()
    wrong = []
    for i, place in enumerate(places):
        func, line = out[2 * i], out[2 * i + 1].split(":")[1]
        if named[place] != (func, int(line)):
            wrong.append((place, named[place], func, line))
    check("%d places are called what addr2line calls them" % len(places),
          len(places) >= 10 and not wrong, wrong[:3])


def try_host(flags):
    if not build(flags):
        return
    alone = run(["./native", "notes", "w.lua"])
    got = run([LJPERF, "record", "-q", "--call-graph", "lua,native", "--", "./native", "notes",
               "w.lua"])
    check("the program does not notice " + " ".join(flags), alone == got, (alone, got))
    compare_names(compare(read_notes(), read_stacks()))


# The recorder stands still while the program goes on, and reads again.
def try_drop():
    with open("many.lua", "w") as f:
        f.write("for i = 1, 10000 do host.sized(i % 100 + 100) end")
    cmd = [LJPERF, "record", "-q", "--drop", "--ring-size", "64k", "--call-graph", "lua,native", "--", "./native",
           "notes", "many.lua"]
    with open("/dev/null", "r+") as null:
        p = subprocess.Popen(cmd, stdin=null, stdout=null, stderr=null)
    while p.poll() is None:
        p.send_signal(signal.SIGSTOP)
        time.sleep(0.05)
        p.send_signal(signal.SIGCONT)
        time.sleep(0.01)
    lost = re.search(r"^lost events +: (\d+)", run([LJPERF, "info"])[1], re.M)
    check("some events are dropped", p.returncode == 0 and lost and int(lost.group(1)) > 0, lost)
    bare, n = 0, 0
    for line in run([LJPERF, "script", "--json"])[1].splitlines():
        ev = json.loads(line)
        if ev.get("event") == "alloc" and ev.get("source") == "c" and "host.sized" in line:
            n += 1
            bare += ev["frames"][0]["source"] != "native"
    check("those that are kept have their native frames", n > 50 and not bare, (n, bare))


# Libraries that come one after the other, the second when the first has been
# walked through already.
LATE = r"""
typedef struct lua_State lua_State;
void lua_createtable(lua_State *L, int narr, int nrec);
void lua_pushcclosure(lua_State *L, int (*f)(lua_State *L), int n);
int OPEN(lua_State *L);
static __attribute__((noinline)) void below(lua_State *L)
{
	lua_createtable(L, ROOM, 0);
	__asm__ volatile("" ::: "memory");
}
static int above(lua_State *L)
{
	below(L);
	return 1;
}
int OPEN(lua_State *L)
{
	lua_pushcclosure(L, above, 0);
	return 1;
}
"""


def try_late_modules():
    with open("late.c", "w") as f:
        f.write(LATE)
    for name, room in (("first", 2001), ("second", 3001)):
        cmd = [*os.environ.get("CC", "gcc").split(), "-g", "-shared", "-fPIC", "-o", name + ".so",
               "-DOPEN=luaopen_" + name, "-DROOM=%d" % room, "late.c"]
        done = subprocess.run(cmd, capture_output=True, text=True)
        check("a module compiles: " + name, done.returncode == 0, done.stderr)
    with open("late.lua", "w") as f:
        f.write('package.cpath = "./?.so"\nrequire "first"()\nrequire "second"()\n')
    run([LJPERF, "record", "-q", "--call-graph", "lua,native", "late.lua"])
    stacks = read_stacks()
    for room, line in ((2001, 2), (3001, 3)):
        got = [(f.get("func"), f.get("line")) for f in stacks.get(room, [])][:5]
        want = [("lua_createtable", None), ("below", 8), ("above", 13)]
        check("a module that came late: table for %d" % room,
              got[:3] == want and got[4] == ("main chunk", line), got)


def main():
    if os.uname().machine != "x86_64":
        skip("native stacks", "they are recorded on x86-64 only")
        return
    with open("w.lua", "w") as f:
        f.write(SCRIPT)
    for flags in (["-O2"], ["-O0"], ["-O2", "-fno-omit-frame-pointer"], ["-O1", "-no-pie"]):
        try_host(flags)
    try_drop()
    try_late_modules()


main()
finish()
