# trust_faults_read.py - each system call of the commands that read recordings
# fails once, by count: the output is as ever, or it is said with status 2 that
# there is none; no crash, no hang, no half of a file called whole.
#
# Without FAULTS=all only the first calls of each function, the last, and some of
# the others are tried.  Allocations are those of trust_memory.py.
import random
import struct

from lib_trust import *

os.chdir(os.environ["TMPDIR"])
random.seed(int(os.environ.get("SEED", "1")))
ALL = os.environ.get("FAULTS") == "all"

PROGRAM = """local t = {}
local function make(i) return { i, tostring(i) } end
for i = 1, 300 do t[i % 50 + 1] = make(i) end
print(table.concat({ "a", "b" }, ","), ("x"):rep(1000):len())
"""
COMMANDS = [["report", "-g", "--children"], ["report", "--timeline"], ["report", "--format", "memprof"], ["script"], ["info"],
            ["annotate", "-i"], ["export", "--format", "pprof", "-o", "out"], ["export", "--format", "firefox", "-o", "out"],
            ["diff", "-g", "old.zst"], ["diff", "--json", "old.zst"], ["archive", "-o", "out"], ["import", "-q", "-o", "out"]]


def ljperf(cmd, fault=""):
    """The result, what was written to a file, and how often each function was called."""
    for name in ("out", "out.old"):
        if os.path.exists(name):
            os.unlink(name)
    with open("counts", "wb") as f:
        f.write(bytes(2 * 8 * len(NAMES)))
    env = dict(os.environ, LD_PRELOAD=os.path.abspath("inject.so"), TRUST_COUNTS=os.path.abspath("counts"), TRUST_FAULT=fault)
    p = subprocess.run([LJPERF] + cmd + ["raw.ljm" if cmd[0] == "import" else "new.zst"], stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, timeout=PATIENCE)
    made = None
    if os.path.exists("out"):
        with open("out", "rb") as f:
            made = f.read()
    with open("counts", "rb") as f:
        counts = struct.unpack("<%dQ" % (2 * len(NAMES)), f.read())[:len(NAMES)]
    return (p.returncode, p.stdout, p.stderr.decode(errors="replace"), made), counts


def judge(result, whole):
    """What is wrong, or None; and what came of it."""
    status, out, err, made = result
    if status not in (0, 2):
        return "status %d" % status, ""
    if status == 0:
        # A warning may say what could not be looked at, and then it is missing.
        if (out, made) == (whole[1], whole[3]):
            return None, "as ever"
        return (None, "with a warning") if "warning: " in err else ("another output, and no word", "")
    if not err.startswith("ljperf: ") or "\\x" in err:
        return "no reason: %r" % err, ""
    if made is not None and made != whole[3] and not made == b"":
        return "a part of a file is left", ""
    return None, "refused"


def nths(total):
    if ALL or total <= 4:
        return range(1, total + 1)
    return sorted({1, 2, total} | set(random.sample(range(3, total), 2)))


def sweep(cmd):
    whole, counts = ljperf(cmd)
    bad, tried, outcomes = [], 0, {}
    if whole[0] != 0:
        check(" ".join(cmd) + ": without a fault", False, whole)
        return
    for i, (function, eintr) in enumerate(NAMES):
        if function in ("malloc", "calloc", "realloc", "strdup"):
            continue
        for nth in nths(counts[i]):
            kinds = ["error"] + ["eintr"] * eintr + ["short"] * (function in ("read", "write"))
            for kind in kinds if ALL else random.sample(kinds, 1):
                try:
                    result, _ = ljperf(cmd, "0,%s,%d,%s" % (function, nth, kind))
                    why, outcome = judge(result, whole)
                except subprocess.TimeoutExpired:
                    why, outcome, result = "hang", "", ()
                tried += 1
                outcomes[outcome] = outcomes.get(outcome, 0) + 1
                if why:
                    bad.append(("%s of %s(), call %d of %d" % (kind, function, nth, counts[i]), why, result[:1] + result[2:3]))
    check("%s: %d faults, %s" % (" ".join(cmd), tried, ", ".join("%d %s" % (n, o or "bad") for o, n in sorted(outcomes.items()))),
          not bad and outcomes.get("refused", 0) > 0, bad[:4])


if not compile_c("inject.c", "inject.so", "-std=gnu11", "-D_GNU_SOURCE", "-fPIC", "-shared", "-ldl"):
    skip("faults of readers", "there is no C compiler")
    finish()
compile_c("inject.c", "names", "-std=gnu11", "-D_GNU_SOURCE", "-Wno-all", "-ldl")
NAMES = [(x.split()[0], int(x.split()[1])) for x in run(["./names"])[1].splitlines()]
write_program(text=PROGRAM)
for name in ("old.zst", "new.zst"):
    check("recording " + name, record("-q", "-g", "--jit", "off", "-o", name, "w.lua")[0] == 0)
with open("raw.ljm", "wb") as f:
    f.write(subprocess.run(["zstd", "-dcq", "new.zst"], stdout=subprocess.PIPE, check=True).stdout)
for command in COMMANDS:
    sweep(command)
finish()
