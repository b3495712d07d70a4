# native_reports.py - native frames in what is made of a recording: reports,
# comparisons, exports, archives.
import gzip
import json
import os
import re
import shutil
import subprocess

from lib_trust import LJPERF, check, finish, run, skip

CC = os.environ.get("CC", "gcc").split()
MODULE = r"""
typedef struct lua_State lua_State;
void lua_createtable(lua_State *L, int narr, int nrec);
int f(lua_State *L);
int g(lua_State *L);
static __attribute__((noinline)) void deepest(lua_State *L)
{
	lua_createtable(L, 2001, 0);
	__asm__ volatile("" ::: "memory");
}
static __attribute__((noinline)) void between(lua_State *L)
{
	deepest(L);
	__asm__ volatile("" ::: "memory");
}
int f(lua_State *L)
{
	between(L);
	__asm__ volatile("" ::: "memory");
	return 1;
}
int g(lua_State *L)
{
	deepest(L);
	__asm__ volatile("" ::: "memory");
	return 1;
}
"""
SCRIPT = r"""
local f = assert(package.loadlib("./module.so", "f"))
local g = assert(package.loadlib("./module.so", "g"))
for i = 1, 3 do f() end
for i = 1, 2 do g() end
"""
# A table and its array part, which is of 8 bytes for each element and for element 0.
CALL = 64 + 8 * 2002


def ljperf(*args):
    status, out, err = run([LJPERF, *args])
    check("ljperf " + " ".join(args[:3]), status == 0 and not err, (status, err))
    return out


def record(path):
    ljperf("record", "-q", "--jit", "off", "--call-graph", "lua,native", "-o", path, "script.lua")


def folded(*args):
    """Bytes of each stack in which the module allocates, frames by function."""
    got = {}
    for line in ljperf("export", "-i", "a.zst", "--format", "folded", *args).splitlines():
        stack, n = line.rsplit(" ", 1)
        frames = [f.split("@")[0] for f in stack.split(";")]
        if "deepest" in frames:
            frames = tuple(frames[frames.index("main_chunk") + 1:])
            got[frames] = got.get(frames, 0) + int(n)
    return got


def try_stacks():
    want = {("f", "f", "between", "deepest", "lua_createtable"): 3 * CALL,
            ("g", "g", "deepest", "lua_createtable"): 2 * CALL}
    got = folded()
    check("folded stacks", got == want, got)


# Bytes by the caller that fits: each has all that it has led to.
def try_parent():
    for name, calls in (("between", 3), ("deepest", 5), ("lua_createtable", 5), ("g", 2)):
        out = ljperf("report", "-q", "-t", ";", "-F", "allocated,parent", "--sort", "parent", "-i", "a.zst",
                     "--parent", "^%s( |$)" % name)
        got = dict(reversed(line.split(";")) for line in out.splitlines())
        # Loading the module makes tables, too.
        least = calls * CALL
        check("--parent " + name, least <= int(got.get(name, 0)) < least + 3000, got)
    out = ljperf("report", "-q", "-t", ";", "-F", "allocated,symbol", "-i", "a.zst", "--parent", "^between ")
    check("--parent of native frames alone", out == "%d;f\n" % (3 * CALL), out)


# Each run lies at other addresses.
def try_diff():
    record("b.zst")
    for args in ([], ["-g"], ["-g", "--sort", "func"]):
        out = ljperf("diff", "-q", *args, "a.zst", "b.zst")
        check("two runs are the same: diff " + " ".join(args), out == "", out)


# ---- pprof ----

def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def message(data):
    """The fields of a protobuf message: numbers, or bytes."""
    at, fields = 0, []
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        fields.append((key >> 3, value))
    return fields


def segments(path):
    """File offset, address and size of what is loaded."""
    out = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=True).stdout
    return [tuple(int(x, 16) for x in re.match(r" +LOAD +(\w+) (\w+) \w+ (\w+)", line).groups())
            for line in out.splitlines() if re.match(" +LOAD ", line)]


# A location is an address of the process; by its mapping, a place in the file.
def try_pprof():
    ljperf("export", "-i", "a.zst", "--format", "pprof", "-o", "a.pb.gz")
    with gzip.open("a.pb.gz") as f:
        profile = message(f.read())
    strings = [v.decode() for n, v in profile if n == 6]
    mappings = {m[1]: m for m in (dict(message(v)) for n, v in profile if n == 3)}
    functions = {m[1]: m for m in (dict(message(v)) for n, v in profile if n == 5)}
    got = {}
    for location in (message(v) for n, v in profile if n == 4):
        fields = dict(location)
        mapping = mappings.get(fields.get(2), {})
        if not strings[mapping.get(5, 0)].endswith("/module.so"):
            continue
        line = dict(message(fields[4]))
        at = fields[3] - mapping[2] + mapping.get(4, 0)
        for offset, address, size in segments("module.so"):
            if offset <= at < offset + size:
                got[at - offset + address] = (strings[functions[line[1]][2]], line.get(2, 0))
    want = {}
    for line in ljperf("script", "--json", "-i", "a.zst").splitlines():
        for f in json.loads(line).get("frames", []):
            if f["source"] == "native" and f["module"].endswith("/module.so"):
                want[int(f["offset"], 16)] = (f["func"], f["line"])
    check("pprof: the calls in the module", sorted(want.values()) ==
          [("between", 13), ("deepest", 8), ("f", 18), ("g", 24)], want)
    check("pprof: mappings lead to the places in the file", all(got.get(a) == want[a] for a in want), (got, want))


# ---- another machine ----

def try_archive():
    ljperf("archive", "-q", "-i", "a.zst", "-o", "a.tar.zst")
    plain = subprocess.run(["zstd", "-dcq", "a.tar.zst"], stdout=subprocess.PIPE, check=True).stdout
    os.mkdir("app")
    subprocess.run(["tar", "-C", "app", "-xf", "-"], input=plain, check=True)
    names = [n for _, _, names in os.walk("app") for n in names]
    check("the archive has what frames are in", "module.so" in names and any("luajit" in n for n in names), names)
    # It is mapped in each process, and nothing is called from it.
    check("the archive has nothing else", not [n for n in names if n.startswith("ld-linux")], names)
    here = folded()
    os.rename("module.so", "gone.so")
    there = folded("--symfs", "app", "--no-symbol-cache")
    check("from the archive, the same stacks", here == there and here, (here, there))


def main():
    if os.uname().machine != "x86_64":
        skip("native stacks", "they are recorded on x86-64 only")
        return
    with open("module.c", "w") as f:
        f.write(MODULE)
    with open("script.lua", "w") as f:
        f.write(SCRIPT)
    cmd = [*CC, "-g", "-O2", "-shared", "-fPIC", "-o", "module.so", "module.c"]
    done = subprocess.run(cmd, capture_output=True, text=True)
    check("the module compiles", done.returncode == 0, done.stderr)
    record("a.zst")
    try_stacks()
    try_parent()
    try_diff()
    if shutil.which("readelf"):
        try_pprof()
    else:
        skip("pprof", "readelf is not installed")
    try_archive()


main()
finish()
