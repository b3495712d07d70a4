# trust_faults.py - each system call and each allocation of ljperf record, and
# of the agent in the program, fails once, by count: the program is unharmed,
# nothing hangs or crashes, and a file that is not whole is not called whole.
#
# Without FAULTS=all only the first calls of each function, and some of the
# others, are tried.
import os
import random
import struct
import sys

from lib_trust import *

os.chdir(os.environ["TMPDIR"])
random.seed(int(os.environ.get("SEED", "1")))
ALL = os.environ.get("FAULTS") == "all"
ROUNDS = 3000
ROWS = ("ljperf", "the program")

# Lua functions, C functions of several modules, traces and coroutines: all
# that is described in a stream.
TEXT = """local t = {}
local function make(i) return { i, tostring(i) } end
local co = coroutine.wrap(function() while true do coroutine.yield({}) end end)
for i = 1, ROUNDS do t[i % 100 + 1] = make(i) if i % 50 == 0 then t[#t + 1] = co() t[1] = table.concat({ i, "x" }, ",") end end
print("done", t[1])
io.stderr:write("to stderr\\n")
os.exit(6)
"""


def record_with(fault, mode):
    for name in ("r.zst", "r.zst.old"):
        if os.path.exists(name):
            os.unlink(name)
    with open("counts", "wb") as f:
        f.write(bytes(2 * 8 * len(NAMES)))
    env = dict(os.environ, LD_PRELOAD=os.path.abspath("inject.so"), TRUST_COUNTS=os.path.abspath("counts"),
               TRUST_FAULT=fault)
    cmd = ["w.lua"] if mode == "script" else ["--", LUAJIT, "w.lua"]
    result = record("-g", "-z", "1", "-o", "r.zst", *cmd, env=env, patience=20)
    with open("counts", "rb") as f:
        counts = struct.unpack("<%dQ" % (2 * len(NAMES)), f.read())
    return result, counts


def judge(name, result, plain):
    """What is wrong with the outcome, or None; and what it was."""
    status, out, err = result
    own, rest = split_err(err)
    if status == 2 and not out:
        return (None, "refused") if own and not rest else ("refused without a reason: %r" % (result,), "")
    if (status_of(result, own), out, rest) != plain:
        return "%r instead of %r" % (result, plain), ""
    found = info("r.zst") if os.path.exists("r.zst") else {}
    if found.get("complete") == "yes" and number(found.get("lost events")) == 0:
        if not found.get("footer totals", "").startswith("agree"):
            return "totals differ: %r" % found, ""
        allocs = re.search(r"\((\d+) alloc", found.get("events", ""))
        # When the compiler starts on a trace differs from run to run, by a few.
        return (None, "whole") if allocs and abs(int(allocs.group(1)) - WHOLE) < 20 else (
            "a whole file with %r, not %d allocations" % (found.get("events"), WHOLE), "")
    return (None, "cut") if own and any("ljperf: " in x for x in own) else ("nothing is told: %r %r" % (result, found), "")


def nths(total):
    if ALL or total <= 4:
        return range(1, total + 1)
    return sorted({1, 2, total} | set(random.sample(range(3, total), 1)))


def sweep(mode, plain):
    tried, outcomes = 0, {}
    _, counts = record_with("", mode)
    check(mode + ": calls are counted", all(sum(counts[row * len(NAMES):(row + 1) * len(NAMES)]) > 20 for row in (0, 1)), counts)
    for row in (0, 1):
        for i, (function, eintr) in enumerate(NAMES):
            total = counts[row * len(NAMES) + i]
            if mode == "preload" and function in ("stat", "access"):
                continue  # they tell whether a program or a script is named
            for nth in nths(total):
                kinds = ["error"] + ["eintr"] * eintr + ["short"] * (function in ("read", "write"))
                for kind in kinds if ALL else random.sample(kinds, 1):
                    result, _ = record_with("%d,%s,%d,%s" % (row, function, nth, kind), mode)
                    why, outcome = judge(function, result, plain)
                    tried += 1
                    outcomes[outcome] = outcomes.get(outcome, 0) + 1
                    if why:
                        check("%s: %s of %s(), call %d of %d, in %s" % (mode, kind, function, nth, total, ROWS[row]), False, why)
    check("%s: %d faults, %s" % (mode, tried, ", ".join("%d %s" % (n, o or "bad") for o, n in sorted(outcomes.items()))),
          outcomes.get("whole", 0) > 0 and outcomes.get("refused", 0) > 0 and outcomes.get("cut", 0) > 0, outcomes)


if not LUAJIT or not compile_c("inject.c", "inject.so", "-std=gnu11", "-D_GNU_SOURCE", "-fPIC", "-shared", "-ldl"):
    skip("faults", "there is no luajit command or no C compiler")
    finish()
compile_c("inject.c", "names", "-std=gnu11", "-D_GNU_SOURCE", "-Wno-all", "-ldl")
NAMES = [(x.split()[0], int(x.split()[1])) for x in run(["./names"])[1].splitlines()]
write_program(rounds=ROUNDS, text=TEXT)
PLAIN_HERE = run([LUAJIT, "w.lua"])
check("the program alone", PLAIN_HERE[0] == 6 and PLAIN_HERE[2] == "to stderr\n", PLAIN_HERE)
for MODE in ("script", "preload"):
    result, counts = record_with("", MODE)
    WHOLE = int(re.search(r"\((\d+) alloc", info("r.zst").get("events", "(0 alloc")).group(1))
    check(MODE + ": a whole recording without a fault", judge("", result, PLAIN_HERE) == (None, "whole"), result)
    sweep(MODE, PLAIN_HERE)
finish()
