# trust_pipes.py - a reader that has seen enough: every command that prints is
# quiet about it, whether SIGPIPE kills or is ignored; and one that has not begun
# to read is waited for.
from lib_trust import *

os.chdir(os.environ["TMPDIR"])

PROGRAM = """local t = {}
for i = 1, 40000 do t[i % 100 + 1] = { i } end
for i = 1, 3000 do t[i] = loadstring("return { " .. i .. " }", "=a chunk with a long name, number " .. i)() end
"""
# Each prints more than a pipe holds, 64 KiB, but for those that say so.
COMMANDS = [["report"], ["report", "-g", "--children"], ["report", "--format", "memprof"], ["report", "-t", ";"], ["script"],
            ["script", "--json"], ["annotate", "-t", ";", "-i"], ["annotate", "-l", "-i"], ["diff", "-a", "new.zst"],
            ["diff", "--json", "new.zst"], ["diff", "--markdown", "-a", "new.zst"], ["archive", "-o", "-"]] + [
    ["export", "--format", x] for x in "folded speedscope callgrind firefox csv json ljm".split()]
SMALL = [["report", "-h"], ["info"], ["help"], ["version", "--build-options"], ["list"], ["report", "--timeline"],
         ["export", "--format", "pprof"]]


def reader_leaves(cmd, ignore, lines):
    """Reads LINES lines of the output and no more.  The status and what is said."""
    files = [] if cmd[0] in ("help", "version", "list") or "-h" in cmd else ["new.zst"]
    p = subprocess.Popen([LJPERF] + cmd + files, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         restore_signals=not ignore, bufsize=0)
    for _ in range(lines):
        p.stdout.readline(100)
    p.stdout.close()
    err = p.stderr.read().decode(errors="replace")
    return p.wait(PATIENCE), "".join(x for x in err.splitlines(True) if not x.startswith("[ ljperf "))


def readers():
    for cmd in COMMANDS + SMALL:
        bad = []
        for ignore in (False, True):
            for lines in (0, 1):
                status, err = reader_leaves(cmd, ignore, lines)
                # Killed by the signal, or done: both are quiet.
                if status not in (0, -signal.SIGPIPE) or err or (ignore and status != 0):
                    bad.append((ignore, lines, status, err))
        check(" ".join(cmd) + ": a reader that leaves", not bad, bad)


def large_enough():
    """So that the commands above were writing when the reader left."""
    small = [(cmd, len(run([LJPERF] + cmd + ["new.zst"])[1])) for cmd in COMMANDS]
    check("the outputs are larger than a pipe", all(n > 65536 for _, n in small), [x for x in small if x[1] <= 65536])


def slow_reader():
    """One that reads a byte now and then gets all of it."""
    want = run([LJPERF, "export", "--format", "csv", "new.zst"])[1].encode()
    p = subprocess.Popen([LJPERF, "export", "--format", "csv", "new.zst"], stdout=subprocess.PIPE, bufsize=0)
    got = b""
    while True:
        data = p.stdout.read(1 if len(got) < 100 else 70000)
        if not data:
            break
        got += data
        if len(got) < 100:
            time.sleep(0.001)
    check("a slow reader gets all", (p.wait(), got) == (0, want))


write_program(text=PROGRAM)
made = record("-q", "-g", "--jit", "off", "-o", "new.zst", "w.lua")
check("the recording", made[0] == 0, made)
large_enough()
readers()
slow_reader()
finish()
