# trust_files.py - the commands, as users run them, on a recording of a real
# program that was cut, damaged, put together wrongly or is something else: a
# sentence and a status, never a crash, a hang or more than a little memory.
import random
import resource
import subprocess
import sys

from lib_trust import *

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "tests", "model"))
import session_writer  # noqa: E402

os.chdir(os.environ["TMPDIR"])
random.seed(int(os.environ.get("SEED", "1")))
# Of address space; a good file takes less than 100 MiB of it.
MEMORY = resource.RLIM_INFINITY if sanitized() else 400 << 20

PROGRAM = """local t = {}
local function make(i) return { i, tostring(i) } end
for i = 1, 4000 do t[i % 100 + 1] = make(i) if i % 500 == 0 then t[#t + 1] = string.rep("x", i) end end
"""

# All that reads a recording; what shows it and takes -f first.
READERS = [["report"], ["info"], ["script"], ["annotate", "-i"], ["export", "--format", "csv"], ["diff", "whole.zst"]]
OTHERS = [["report", "-g", "--children"], ["report", "--timeline"], ["report", "--format", "memprof"], ["script", "--json"],
          ["export", "--format", "pprof", "-o", "out"], ["export", "--format", "folded", "--diff", "whole.zst"],
          ["diff", "--markdown", "whole.zst"], ["archive", "-q", "-o", "out.tar.zst"], ["import", "-q", "-o", "out.zst"]]


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def ljperf(cmd, path, *options):
    return run([LJPERF, cmd[0], *options, *cmd[1:], path], preexec_fn=limit)


def is_told(text):
    return "truncated at offset " in text or "corrupt at offset " in text


def damaged(name, cmd, path):
    """A damaged recording that has something to show: status 2, with -f 0."""
    status, out, err = ljperf(cmd, path)
    forced = ljperf(cmd, path, "-f")
    told = is_told(out if cmd[0] == "info" else err)
    return [] if (status, forced[0], forced[1], told) == (2, 0, out, True) else [(name, cmd, status, err, forced[0], forced[2])]


def survived(name, cmd, path):
    """Whatever it is: a status of ljperf's own, and no memory that ended."""
    status, out, err = ljperf(cmd, path)
    told = err or (cmd[0] == "info" and is_told(out))
    return [] if status in (0, 2) and (status == 0 or told) and "memory" not in err else [(name, cmd, status, err)]


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def cut():
    bad, points = [], sorted(random.sample(range(200, len(WHOLE)), 12) + [len(WHOLE) - 1])
    for n in points:
        write("cut.zst", WHOLE[:n])
        for cmd in READERS:
            bad += damaged("cut at %d" % n, cmd, "cut.zst")
        for cmd in OTHERS:
            bad += survived("cut at %d" % n, cmd, "cut.zst")
    check("cut at %d places, %d commands" % (len(points), len(READERS) + len(OTHERS)), not bad, bad[:3])


def turned():
    bad, places = [], random.sample(range(len(WHOLE)), 25)
    for at in places:
        data = bytearray(WHOLE)
        data[at] ^= 1 << random.randrange(8)
        write("turned.zst", data)
        for cmd in random.sample(READERS + OTHERS, 4):
            bad += survived("a bit of byte %d" % at, cmd, "turned.zst")
    check("bits turned at %d places" % len(places), not bad, bad[:3])


def mixed():
    """Two recordings in one file, a part twice, parts of other files."""
    other = session_writer.session(session_writer.hostile())
    half = len(WHOLE) // 2
    bad = []
    for name, data in (("twice", WHOLE + WHOLE), ("two", WHOLE + other), ("the other first", other + WHOLE),
                       ("halves", WHOLE[:half] + other),
                       ("zeros in the middle", WHOLE[:half] + bytes(5000) + WHOLE[half:]),
                       ("a gap", WHOLE[:half] + WHOLE[half + 99:]),
                       ("rubbish behind", WHOLE + random.randbytes(5000))):
        write("mixed.zst", data)
        for cmd in READERS:
            bad += damaged(name, cmd, "mixed.zst")
        for cmd in OTHERS:
            bad += survived(name, cmd, "mixed.zst")
    write("mixed.zst", WHOLE[half:] + WHOLE[:half])
    for cmd in READERS + OTHERS:
        bad += survived("backwards", cmd, "mixed.zst")
    check("files put together wrongly", not bad, bad[:3])


def no_recordings():
    """Refused with a reason, by all, and -f does not help."""
    os.makedirs("folder", exist_ok=True)
    write("empty", b"")
    write("text", b"local t = {}\n")
    write("random", random.randbytes(100000))
    write("zeros", bytes(100000))
    write("tar.zst", session_writer.zstd(bytes(10240)))
    bad = []
    for path in ("empty", "text", "random", "zeros", "tar.zst", "folder", "nosuch", LJPERF, "/dev/null"):
        for cmd in READERS + OTHERS:
            for options in ((), ("-f",)) if cmd in READERS else ((),):
                status, out, err = ljperf(cmd, path, *options)
                if status != 2 or out or len(err.splitlines()) != 1 or not err.startswith("ljperf: "):
                    bad.append((path, cmd, options, status, out, err))
    check("what is no recording", not bad, bad[:3])


def pipes():
    """Standard input: the writer is read to its end, whatever it sends."""
    bad = []
    for name, data, want in (("whole", WHOLE, 0), ("cut", WHOLE[:len(WHOLE) // 2], 2), ("endless zeros", bytes(1 << 22), 2),
                             ("wrong in front", b"x" + WHOLE * 50, 2)):
        for cmd in (["report"], ["script"], ["info"]):
            p = subprocess.run([LJPERF, cmd[0], "-i", "-"], input=data, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               timeout=PATIENCE)
            if p.returncode != want:
                bad.append((name, cmd, p.returncode, p.stderr))
    check("standard input", not bad, bad[:3])


write_program(text=PROGRAM)
made = record("-q", "-g", "--jit", "off", "-o", "whole.zst", "w.lua")
check("the recording", made[0] == 0, made)
with open("whole.zst", "rb") as f:
    WHOLE = f.read()
failed = [(x, ljperf(x, "whole.zst")) for x in READERS + OTHERS[:-1] if ljperf(x, "whole.zst")[0] != 0]
check("the whole recording is fine", not failed, failed)
cut()
turned()
mixed()
no_recordings()
pipes()
finish()
