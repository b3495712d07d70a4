# trust_memory.py - each allocation of the commands that read fails once, by the
# place in the code that asks for it: the command says so and fails, or does what
# it does otherwise.  It never crashes, hangs, prints a part as if it were the
# whole, or leaves half a file.
import os
import struct
import sys

from lib_trust import *

os.chdir(os.environ["TMPDIR"])
DATA = os.path.join(SOURCE, "tests/data/tarantool")
os.environ["XDG_CACHE_HOME"] = os.path.abspath("cache")
os.environ.pop("DEBUGINFOD_URLS", None)

# Functions, C functions with debug information, traces, coroutines, marks,
# chunks of text: of everything that is kept, some.
PROGRAM = """package.cpath = "./?.so"
local cmod, keep = require "cmod", {}
local function leaf(i) return { i, ("%d"):format(i) } end
local function tree(i) if i == 0 then return { leaf(i) } end return { tree(i - 1) } end
local co = coroutine.wrap(function() while true do coroutine.yield({}) end end)
for i = 1, tonumber(arg[1]) do keep[i % 50 + 1] = leaf(i) co() end
for _, name in ipairs { "make", "hidden", "inlined", "plus", "rust" } do keep[#keep + 1] = cmod[name]() end
keep.tree = tree(5)
keep.text = load("local t = {}\\nfor i = 1, 60 do\\n  t[i] = { i }\\nend\\nreturn t")()
collectgarbage()
"""
SUPPRESS = "# what is known\nleak:keep*\nleak:p.lua:3\n"

BOTH = ["a.zst", "b.zst"]
COMMANDS = [
    ["report", "a.zst"],
    ["report", "-g", "--metric", "leaked", "-F", "+peak,lifetime,temporary", "--sort", "func,size", "a.zst"],
    ["report", "--sort", "chunk,trace,module,vm", "--header"] + BOTH,
    ["report", "-g", "caller", "--suppress", "suppress", "--metric", "leaked", "a.zst"],
    ["report", "--timeline"] + BOTH,
    ["report", "--format", "memprof", "old.bin"],
    ["report", "--format", "memprof", "a.zst"],
    ["report", "--time", "10%-90%", "--symbol", "leaf", "a.zst"],
    ["script", "a.zst"],
    ["script", "--json", "a.zst"],
    ["script", "old.bin"],
    ["info", "a.zst"],
    ["annotate", "-i", "a.zst"],
    ["annotate", "--context", "2", "-i", "a.zst", "p.lua"],
    ["diff"] + BOTH,
    ["diff", "-g", "-s", "func"] + BOTH,
    ["diff", "-g", "--json"] + BOTH,
    ["diff", "--markdown", "--fail-above", "1M", "a.zst", "b.zst", "a.zst"],
    ["export", "--diff", "--format", "folded"] + BOTH,
    ["archive", "-q", "-o", "OUT", "a.zst"],
    ["import", "-q", "-o", "OUT", "old.bin"],
] + [["export", "--format", x, "-o", "OUT", "a.zst"] for x in
     ("folded", "speedscope", "pprof", "callgrind", "csv", "json", "firefox", "ljm")]


def command(args, **env):
    """What it prints and writes; a cache that is there or not makes no difference."""
    shutil.rmtree("cache", ignore_errors=True)
    if os.path.exists("OUT"):
        os.unlink("OUT")
    result = run([LJPERF] + args, env=dict(os.environ, LD_PRELOAD=os.path.abspath("nomem.so"), **env))
    written = None
    if os.path.exists("OUT"):
        with open("OUT", "rb") as f:
            written = f.read()
    return result, written


def places(args):
    if os.path.exists("list"):
        os.unlink("list")
    command(args, NOMEM_LIST=os.path.abspath("list"))
    with open("list", "rb") as f:
        data = f.read()
    return sorted(set(struct.unpack("<%dQ" % (len(data) // 8), data)))


def judge(got, whole):
    """What is wrong, or None; and what the outcome is."""
    (status, out, err), written = got
    said = [x for x in err.splitlines() if x not in whole[0][2].splitlines()]
    told = [x for x in said if x.startswith("ljperf: ") and ("memory" in x or "allocate" in x)]
    if len(said) != len(told):
        return "stderr is not ours", ""
    if status == 2 and whole[0][0] != 2:
        if not told:
            return "it does not say why", ""
        return ("half a file is left", "") if written is not None else (None, "refused")
    if status != whole[0][0]:
        return "the status is %s" % status, ""
    if (out, written) == (whole[0][1], whole[1]):
        return None, "unharmed"
    return (None, "told") if told else ("it differs, and nothing is said", "")


def where():
    """The functions that the failed allocation returned to."""
    if not shutil.which("addr2line") or not os.path.exists("where"):
        return ""
    with open("where") as f:
        lines = run(["addr2line", "-f", "-s", "-e", LJPERF] + f.read().split())[1].split()
    return " < ".join("%s %s" % x for x in zip(lines[::2], lines[1::2]))


def sweep():
    tried, outcomes = set(), {}
    for args in COMMANDS:
        whole = command(args)
        what = " ".join(args)
        check("ljperf " + what, whole[0][0] == 0, whole[0])
        for at in places(args):
            if at in tried:
                continue
            tried.add(at)
            got = command(args, NOMEM_FAIL="%x" % at, NOMEM_WHERE=os.path.abspath("where"))
            why, outcome = judge(got, whole)
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
            if why:
                check("%s, without memory at %x" % (what, at), False, "%s: %s: %r" % (why, where(), got[0]))
    check("%d places: %s" % (len(tried), ", ".join("%d %s" % (n, o or "bad") for o, n in sorted(outcomes.items()))),
          outcomes.get("refused", 0) > 100, outcomes)


def main():
    if sanitized():
        skip("failing allocations", "the sanitizer has an allocator of its own")
        finish()
    if not compile_c("nomem.c", "nomem.so", "-std=gnu11", "-D_GNU_SOURCE", "-fPIC", "-shared"):
        skip("failing allocations", "there is no C compiler")
        finish()
    compile_c("../hosts/cmod.c", "cmod.so", "-fPIC", "-shared", "-O2")
    write_program("p.lua", text=PROGRAM)
    with open("suppress", "w") as f:
        f.write(SUPPRESS)
    for name, rounds in (("a.zst", "300"), ("b.zst", "400")):
        result = record("-q", "-g", "-o", name, "p.lua", rounds)
        check("recorded " + name, result[0] == 0, result)
    shutil.copy(os.path.join(DATA, "variants/ljs2-ljm2-196d4ca8.bin"), "old.bin")
    sweep()
    finish()


main()
