# kills.py - a program is killed with SIGKILL at random moments: the recording
# is readable and holds all that the program did, up to the last instruction.
#
# Each program keeps a counter in a file mapped into its memory, and raises it
# before each allocation on its line 100.  So the recording must have as many
# allocations of that line as the counter says, or one less when the program
# died between the two.
import json
import mmap
import os
import random
import signal
import struct
import subprocess
import sys
import time

LJPERF = os.environ["LJPERF"]
KILLS = int(os.environ.get("KILLS", "60"))

# The counter's own arithmetic allocates too, but not on line 100.
HEAD = """local ffi = require "ffi"
ffi.cdef [[ int open(const char *, int); void *mmap(void *, size_t, int, int, int, long); int getpid(void); ]]
local n = ffi.cast("uint64_t *", ffi.C.mmap(nil, 4096, 3, 1, ffi.C.open("counter", 2), 0))
local function count() n[0] = n[0] + 1 end
n[1] = ffi.C.getpid()
local keep = {} for i = 0, 99 do keep[i] = 0 end
"""

# Before line 100, what allocates once on it, and after it.
LOOP = "for i = 1, 1e12 do"
PROGRAMS = {
    "tables": (LOOP, "keep[i % 50] = { i }", "end"),
    "strings": (LOOP, "keep[i % 50] = 'kill' .. i", "end"),
    "closures": (LOOP, "keep[i % 50] = function() end", "end"),
    "garbage": (LOOP, "local t = { i }", "if i % 1000 == 0 then collectgarbage() end end"),
    "functions": ("local function make(i)", "return { i }", "end " + LOOP + " keep[i % 9] = make(i) end"),
    "chunks": (LOOP, "keep[i % 50] = { i }", "if i % 10 == 0 then load('return ' .. i, '=c' .. i)() end end"),
    "coroutines": ("local co = coroutine.wrap(function() while true do", "local t = { 1 } coroutine.yield(t)",
                   "end end) " + LOOP + " co() end"),
    "cdata": ("local new, int4 = ffi.new, ffi.typeof('int[4]') " + LOOP, "keep[i % 50] = new(int4)", "end"),
    "slow": (LOOP, "keep[i % 50] = { i }", "local t = os.clock() while os.clock() < t + 1e-5 do end end"),
    "large": ("local new, bytes = ffi.new, ffi.typeof('char[?]') " + LOOP, "keep[i % 5] = new(bytes, 30000)", "end"),
}


def source(name):
    before, line, after = PROGRAMS[name]
    text = HEAD + before
    return text + "\n" * (99 - text.count("\n")) + "count() " + line + "\n" + after + "\n"


# Without call stacks and with each kind of them.
STACKS = ([], ["-g"], ["--call-graph", "lua,native"])


def kill_once(name, wait, stacks):
    with open("counter", "wb") as f:
        f.write(bytes(4096))
    with open("counter", "r+b") as f:
        shared = mmap.mmap(f.fileno(), 4096)
    child = subprocess.Popen([LJPERF, "record", "-q", "-o", "k.ljm.zst", "--jit", "off", *stacks, name + ".lua"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    deadline = time.time() + 20
    while struct.unpack_from("<Q", shared, 0)[0] < 10 and time.time() < deadline:
        time.sleep(0.001)
    time.sleep(wait)
    pid = struct.unpack_from("<Q", shared, 8)[0]
    if pid:  # 0 would be all of us
        os.kill(pid, signal.SIGKILL)
    err = child.communicate()[1].decode()
    return child.returncode, err, struct.unpack_from("<Q", shared, 0)[0]


def recorded(name):
    report = subprocess.run([LJPERF, "script", "--json", "-i", "k.ljm.zst"], capture_output=True, text=True)
    n = 0
    for line in report.stdout.splitlines():
        e = json.loads(line)
        # Now and then the VM's table of strings is made anew: 2^n slots of 8 bytes.
        size = e.get("new_size", 0)
        table = size >= 2048 and size & (size - 1) == 0
        n += e.get("event") == "alloc" and e.get("line") == 100 and not table
    return report.returncode, report.stderr, n


def main():
    random.seed(int(os.environ.get("SEED", "1")))
    os.chdir(os.environ["TMPDIR"])
    bad, kills, events = [], 0, 0
    for name in PROGRAMS:
        with open(name + ".lua", "w") as f:
            f.write(source(name))
    for i in range(KILLS):
        name = list(PROGRAMS)[i % len(PROGRAMS)]
        status, err, counter = kill_once(name, random.random() * 0.03, STACKS[i // len(PROGRAMS) % len(STACKS)])
        code, warning, n = recorded(name)
        kills += 1
        events += n
        if status != 128 + 9 or err or code or not counter - 1 <= n <= counter:
            bad.append(f"{name}: status {status} {err!r}, script {code} {warning!r}, counter {counter}, found {n}")
    for line in bad:
        print("not ok killed program:", line)
    if not bad:
        print(f"ok {kills} programs killed, {events} events, none lost")
    return bool(bad)


sys.exit(main())
