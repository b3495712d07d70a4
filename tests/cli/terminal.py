"""terminal.py - what a terminal is shown: pagers that work and that do not,
colours, and names that do not fit.

Run by tests/run.sh, in an empty folder $TMPDIR.
"""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

LJPERF = os.environ["LJPERF"]
os.chdir(os.environ["TMPDIR"])
FOLDER = "a/folder/with/many/others/in/it"
# Lines 3 and 5 make 100 tables each.
SCRIPT = """
local function a_function_with_quite_a_long_name()
  return {}
end
local function f() return {} end
for i = 1, 100 do a_function_with_quite_a_long_name() f() end
"""
# Reads all, says so, waits for ^C and ends by itself.
WAITS = """
import signal, sys
def caught(signum, frame):
    print("interrupted", flush=True)
    sys.exit(0)
signal.signal(signal.SIGINT, caught)
sys.stdin.read()
print("ready", flush=True)
while True:
    signal.pause()
"""
bad = 0


def check(name, got, want):
    global bad
    if got == want:
        print("ok", name)
    else:
        bad += 1
        print("not ok %s: got %r, wanted %r" % (name, got, want))


def on_terminal(args, env=(), columns=80, keys=()):
    """What a terminal shows, and the status.  KEYS are (text, key): the key is
    sent when the text has been shown."""
    pid, fd = pty.fork()
    if pid == 0:
        for name in "PAGER", "LJPERF_PAGER", "NO_COLOR", "COLUMNS":
            os.environ.pop(name, None)
        os.environ["TERM"] = "xterm"
        os.environ.update(env)
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        os.execv(LJPERF, [LJPERF] + args)
    out, keys = b"", list(keys)
    while True:
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        out += data
        if keys and keys[0][0] in out:
            os.write(fd, keys.pop(0)[1])
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(fd)
    return out.decode().replace("\r\n", "\n"), status


def piped(args, **env):
    return subprocess.run([LJPERF] + args, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, **env), check=True).stdout.decode()


def plain(text):
    return re.sub(r"\x1b\[[0-9]*m", "", text)


def rows(text):
    return [line for line in plain(text).splitlines() if line and line[0] != "#"]


os.makedirs(FOLDER)
with open(FOLDER + "/worker.lua", "w") as f:
    f.write(SCRIPT)
subprocess.run([LJPERF, "record", "-q", "--jit", "off", FOLDER + "/worker.lua"], check=True)
with open("waits.py", "w") as f:
    f.write(WAITS)
os.mkdir("empty")

# ---- pagers ----
# 200 columns: nothing is cut there, and nothing in a pipe.
report = piped(["report"])
check("no pager", [plain(x) if isinstance(x, str) else x for x in
                   on_terminal(["report"], {"PAGER": "cat"}, 200)], [report, 0])
for pager in ("false", "exit 3", "less (", "kill -9 $$", "/no/such/pager"):
    shown, status = on_terminal(["report"], {"PAGER": pager}, 200)
    check("PAGER='%s': the report is shown" % pager, plain(shown).endswith(report), True)
    check("PAGER='%s': status" % pager, status, 0)
for command in (["script"], ["annotate"], ["diff", "ljperf.ljm.zst", "ljperf.ljm.zst"],
                ["report", "--timeline"]):
    want = piped(command, LINES="50", COLUMNS="200")
    shown, status = on_terminal(command, {"PAGER": "false", "LINES": "50", "COLUMNS": "200"}, 200)
    check("PAGER=false: %s" % command[0], (plain(shown).endswith(want), status), (True, 0))
# What it has read is not shown twice: head takes a block of what comes first.
shown, _ = on_terminal(["report"], {"PAGER": "dd bs=1 count=20 2>/dev/null; exit 1"}, 200)
check("a pager that fails on its way", plain(shown), report)
check("one that has enough", on_terminal(["script"], {"PAGER": "head -n 1"}),
      (piped(["script"]).splitlines()[0] + "\n", 0))
check("one that keeps it", on_terminal(["report"], {"PAGER": "cat >kept"}, 200), ("", 0))
with open("kept") as f:
    check("gets all", plain(f.read()), report)
check("LJPERF_PAGER comes first",
      on_terminal(["report"], {"PAGER": "echo no", "LJPERF_PAGER": "cat >/dev/null; echo yes"}),
      ("yes\n", 0))
shown, _ = on_terminal(["report"], {"PAGER": "echo no", "LJPERF_PAGER": ""}, 200)
check("empty is none", plain(shown), report)
shown, _ = on_terminal(["report"], {"PATH": os.path.abspath("empty")}, 200)
check("without less and without asking for one", plain(shown), report)
python = sys.executable
check("^C is the pager's", on_terminal(["report"], {"PAGER": "exec %s waits.py" % python},
                                       keys=[(b"ready\r\n", b"\x03")]),
      ("ready\n^Cinterrupted\n", 0))

# ---- colours ----
for env, want in (({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True),
                  ({"TERM": "dumb"}, False), ({"TERM": ""}, False)):
    shown, _ = on_terminal(["report"], dict(env, PAGER="cat"))
    check("colours with %r" % env, "\x1b" in shown, want)

# ---- what does not fit ----
whole = "a_function_with_quite_a_long_name  %s/worker.lua:3" % FOLDER
check("whole", [r for r in rows(report) if r.endswith("  " + whole)] != [], True)
for command in (["report"], ["report", "--sort", "func"], ["diff", "-a", "ljperf.ljm.zst", "ljperf.ljm.zst"]):
    for columns in 60, 80, 100, 120:
        name = "%s in %d columns" % (" ".join(command[:3]), columns)
        shown, _ = on_terminal(command, {"PAGER": "cat"}, columns)
        check(name + ": no row is longer", [r for r in rows(shown) if len(r) > columns], [])
        # The end of "name  path/worker.lua:N" is there as far as there is room for it.
        lines = [int(m) for m in re.findall(r"ua:(\d+)$", "\n".join(rows(shown)), re.M)]
        check(name + ": lines", {2, 5} <= set(lines) or {3, 5} <= set(lines), True)
# Above the table "·" separates what can stand on lines of its own.
for columns in 60, 80, 120, 200:
    shown, _ = on_terminal(["report"], {"PAGER": "cat"}, columns)
    comments = [line for line in plain(shown).splitlines() if line.startswith("# ")]
    totals = comments[1:comments.index([c for c in comments if "Overhead" in c][0])]
    long = [c for c in totals if len(c) > columns and " · " in c]
    check("comments in %d columns" % columns, long, [])
    # Words are the same in the same order.
    words = " ".join(c[2:] for c in totals).replace("· ", "").split()
    check("comments in %d columns: nothing is lost" % columns, words, [
        w for line in report.splitlines()[1:] if line.startswith("# ") and
        ("allocated " in line) for w in line[2:].replace("· ", "").split()])
shown, _ = on_terminal(["report", "-t;", "-F", "allocs,symbol"], {"PAGER": "cat"}, 40)
check("with -t nothing is cut", "100;" + whole in shown, True)

sys.exit(bad > 0)
