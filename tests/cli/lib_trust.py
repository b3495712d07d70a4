# lib_trust.py - for trust_*.py: runs a program with the luajit command and
# under ljperf record, and compares what can be seen of it from outside.
import ctypes
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

LJPERF = os.environ["LJPERF"]
SOURCE = os.environ["LJPERF_SOURCE"]
BUILD = os.path.dirname(LJPERF)
LUAJIT = shutil.which("luajit")
PATIENCE = 60  # seconds; longer is a hang, whatever else runs on the machine
bad = 0

# Output on both streams, a status of its own, and 600 thousand events, which
# are several times what fits into a ring.  The file tells that it has begun.
PROGRAM = """local t = {}
for i = 1, 1000 do t[i] = { i } end
local f = io.open("started", "w") if f then f:write("x") f:close() end
for i = 1, ROUNDS do t[i % 1000 + 1] = { i } end
print("done", #t)
io.stderr:write("to stderr\\n")
os.exit(6)
"""
PLAIN = (6, "done\t1000\n", "to stderr\n")


def ok(name):
    print("ok", name, flush=True)


def check(name, good, why=""):
    global bad
    if good:
        ok(name)
    else:
        bad += 1
        print("not ok %s: %s" % (name, str(why)[:1500].replace("\n", " | ")), flush=True)


def skip(name, why):
    print("skip", name, "because", why, flush=True)


def finish():
    sys.exit(1 if bad else 0)


def write_program(name="w.lua", rounds=300000, text=PROGRAM):
    with open(name, "w") as f:
        f.write(text.replace("ROUNDS", str(rounds)))


def run(cmd, patience=PATIENCE, **kw):
    """(status as a shell tells it, stdout, stderr); status "hang" after PATIENCE."""
    p = subprocess.Popen(cmd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         start_new_session=True, **kw)
    try:
        out, err = p.communicate(timeout=patience)
        status = p.returncode
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        out, err = p.communicate()
        status = "hang"
    if isinstance(status, int) and status < 0:
        status = 128 - status
    return status, out.decode(errors="replace"), err.decode(errors="replace")


def record(*args, **kw):
    return run([LJPERF, "record"] + list(args), **kw)


def split_err(err):
    """Lines of ljperf's own, and the rest as it stood."""
    lines = err.splitlines(True)
    own = [x.rstrip("\n") for x in lines if x.startswith(("ljperf: ", "[ ljperf record: "))]
    return own, "".join(x for x in lines if not x.startswith(("ljperf: ", "[ ljperf record: ")))


def status_of(result, own):
    """A program in which no VM was seen is the one whose status is not passed
    on; here it means that the agent could not say that there is one."""
    unseen = [x for x in own if "made no LuaJIT VM" in x or "the agent did not get into" in x]
    told = [x for x in own if "cannot reach the collector" in x]
    return PLAIN[0] if unseen and told and result[0] == 2 else result[0]


def same(name, result, plain=PLAIN):
    """The program was not harmed; the lines that ljperf has to say."""
    status, out, err = result
    own, rest = split_err(err)
    check(name + ": status and output", (status_of(result, own), out, rest) == plain, "%r instead of %r" % (result, plain))
    return own


def info(path):
    """What ljperf info says, as a dictionary; "status" and "err" too."""
    status, out, err = run([LJPERF, "info", path])
    found = dict(re.findall(r"^#? ?([a-z ]+?) : (.*)$", out, re.M))
    found.update(status=status, err=err)
    return found


def survives(name, result, path, plain=PLAIN, may_refuse=True):
    """The whole promise: either ljperf says that it cannot begin, with status 2
    and before the program runs; or the program is unharmed, and what is missing
    in the file is told.  Returns "refused", "whole", "cut" or "nothing"."""
    status, out, err = result
    own, rest = split_err(err)
    if may_refuse and status == 2 and not out:
        check(name + ": refused with a reason", len(own) == 1 and not rest, err)
        return "refused"
    same(name, result, plain)
    found = info(path) if os.path.exists(path) else {}
    if found.get("complete") == "yes":
        check(name + ": a whole file agrees with itself", found.get("footer totals", "").startswith("agree"), found)
        return "whole" if number(found.get("lost events")) == 0 else "cut"
    told = [x for x in own if "nothing was recorded: " in x or "recording is incomplete: " in x or " not recorded: " in x]
    check(name + ": what is missing is told", bool(told), err)
    if not found:
        return "nothing"
    check(name + ": the file says so too", found.get("complete", "").startswith("no") or found["status"] != 0, found)
    return "cut"


def number(text):
    return int(re.match(r"\d+", text).group()) if text and re.match(r"\d+", text) else -1


def compile_c(source, output, *flags):
    """A helper of tests/trust; its path, or None when there is no compiler."""
    cc = shlex.split(os.environ.get("CC", "cc"))
    if not shutil.which(cc[0]):
        return None
    subprocess.run(cc + ["-O1", "-g", "-Wall", "-o", output, os.path.join(SOURCE, "tests/trust", source), *flags],
                   check=True)
    return os.path.abspath(output)


def sanitized():
    """ljperf is built with sanitizers: they need much address space, have an
    allocator of their own, and an agent with them enters no other program."""
    return not re.search("^sanitizer: +none$", run([LJPERF, "version", "--build-options"])[1], re.M)


def adopt():
    """Processes whose parent has died become children of ours."""
    PR_SET_CHILD_SUBREAPER = 36
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def wait_for(condition, seconds=20):
    end = time.time() + seconds
    while not condition():
        if time.time() > end:
            return False
        time.sleep(0.002)
    return True


def children(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
            return [int(x) for x in f.read().split()]
    except OSError:
        return []
