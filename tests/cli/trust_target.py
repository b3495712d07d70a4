# trust_target.py - programs that do what is hard for a guest in their process:
# sandboxes that kill, other roots, odd ways of making processes and threads,
# clocks that step back, signals all the time.  Each ends as it does alone, and
# its recording is whole.

from lib_trust import *

os.chdir(os.environ["TMPDIR"])
PLACE = "target.lua:3"  # 1000 allocations in each run of the chunk


def recordings():
    """The files, that of the first VM first."""
    first = ["t.ljm.zst"] if os.path.exists("t.ljm.zst") else []
    return first + sorted(f for f in os.listdir(".") if re.fullmatch(r"t\.\d+(\.\d+)?\.ljm\.zst", f))


def allocations(path):
    out = run([LJPERF, "script", "-q", "--no-symbols", "-i", path])[1]
    return len(re.findall(r"^.* alloc .*[ /]" + re.escape(PLACE) + "  ", out, re.M))


def fresh():
    for f in os.listdir("."):
        if f.endswith((".zst", ".old")):
            os.unlink(f)


def unharmed(name, args, want, options=("-g", "--ring-size", "64k"), **kw):
    """WANT: how many allocations of the line each file has, in the order of
    recordings(); None: any.  The result, for more looks at it."""
    cmd = [os.path.abspath("target"), *args]
    plain = run(cmd, **kw)
    fresh()
    result = record("-o", "t.ljm.zst", *options, "--", *cmd, **kw)
    own, rest = split_err(result[2])
    check(name + ": as alone", (result[0], result[1], rest) == plain and plain[0] == 6, "%r instead of %r" % (result, plain))
    files = recordings()
    found = [info(f) for f in files]
    whole = [f.get("complete") == "yes" and f.get("footer totals", "").startswith("agree") and number(f.get("lost events")) == 0
             for f in found]
    check(name + ": recorded whole", all(whole) and files and (want is None or sorted(map(allocations, files)) == sorted(want)),
          (own, [(f, i.get("complete"), allocations(f)) for f, i in zip(files, found)], want))
    return own, files


def documented(which):
    """The list of system calls in the manual."""
    with open(os.path.join(SOURCE, "Documentation/ljperf-record.1")) as f:
        text = f.read().split('.\\" list: %s\n' % which)[1]
    return re.split(r",\s+", re.split(r"\n\.", text)[0])


def sandboxes():
    """The program's own calls are allowed, and those that the manual names; all
    others kill it."""
    own = {"write", "exit_group", "mmap", "munmap", "mremap", "mprotect", "brk", "madvise", "newfstatat", "fstat"}
    made = {"getrandom", "futex", "prlimit64"}
    probe = run([os.path.abspath("target"), "sandbox-after", "exit_group"])
    if probe[0] not in (128 + 31, 6):
        skip("sandboxes", "this kernel has no seccomp filters")
        return
    check("a sandbox kills", probe[0] == 128 + 31, probe)
    unharmed("a sandbox with a VM in it", ["sandbox-after", ",".join(sorted(own | set(documented("recorded"))))], [21000])
    calls = sorted(own | set(documented("recorded")) | set(documented("native")))
    unharmed("a sandbox with a VM in it, native call stacks", ["sandbox-after", ",".join(calls)], [21000],
             options=("--call-graph", "lua,native"))
    unharmed("a VM made in a sandbox", ["sandbox-before", ",".join(sorted(own | made | set(documented("made"))))], [1000])
    # Without them the recording would end the program: so the lists say something.
    for calls, mode in ((own, "sandbox-after"), (own | made, "sandbox-before")):
        cmd = [os.path.abspath("target"), mode, ",".join(sorted(calls))]
        alone = run(cmd)
        recorded = record("-q", "-o", "t.ljm.zst", "-g", "--ring-size", "64k", "--", *cmd)
        # Killed; or killed so early that there is no recording to tell it.
        check(mode + ": the lists are needed", alone[0] == 6 and recorded[0] in (128 + 31, 2) and not recorded[1], (alone, recorded))


def roots():
    if os.geteuid() != 0:
        skip("chroot", "only root may")
        return
    os.makedirs("newroot", exist_ok=True)
    unharmed("chroot into an empty folder", ["chroot", os.path.abspath("newroot")], [1000, 1000])
    # The recorder itself in another root, without /proc and what it is linked with elsewhere.
    if run(["unshare", "-m", "true"])[0] != 0:
        skip("record in another root", "mounting is not allowed here")
        return
    os.makedirs("jail", exist_ok=True)
    script = """mount -t tmpfs none jail && cd jail && mkdir -p usr lib lib64 bin tmp dev build work || exit 99
for d in usr lib lib64 bin; do mount --rbind /$d $d || exit 99; done
mount --bind %s build && cp ../w.lua work && exec chroot . sh -c 'cd work && /build/ljperf record -o r.zst w.lua; s=$?
/build/ljperf info r.zst >info; cat info >&2; exit $s'""" % BUILD
    status, out, err = run(["unshare", "-m", "sh", "-c", script])
    if status == 99:
        skip("record in another root", "it cannot be made here: " + err.strip()[-80:])
        return
    # Without /proc ljperf-luajit is looked for where it is installed.
    check("record in another root", (status == 6 and "complete : yes" in err) or (status == 2 and "cannot use" in err),
          (status, out, err))


def processes():
    unharmed("vfork", ["vfork"], [21000])
    unharmed("posix_spawn", ["spawn", "exit 7"], [3000])
    own, files = unharmed("posix_spawn of a program with a VM", ["spawn", "luajit " + os.path.abspath("small.lua")], None)
    check("posix_spawn of a program with a VM: a file each", len(files) == 4, files)
    unharmed("clone of the memory", ["clone-vm"], [10000])
    unharmed("clone of a thread", ["clone-thread"], [10000])
    unharmed("clone of a process", ["clone-fork"], [2000, 1000])
    for kib in (48, 64, 256):
        unharmed("a stack of %d KiB" % kib, ["small-stack", str(kib)], [1000])
    for mode in (["small-stack", "48"], ["clone-vm"], ["clone-thread"], ["vfork"]):
        unharmed("native call stacks, " + " ".join(mode), mode, None, options=("--call-graph", "lua,native"))


CLOCK = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
/* Every call steps up to ten seconds back or forth. */
int clock_gettime(clockid_t clock, struct timespec *ts)
{
	static _Atomic unsigned n = 12345;
	int err = (int)syscall(SYS_clock_gettime, clock, ts);
	unsigned x = atomic_fetch_add(&n, 2654435761u) * 1103515245u;
	ts->tv_sec += (int)(x >> 16) % 21 - 10;
	return err;
}
"""


def clocks():
    """The agent's clock, and the collector's, go wherever they like."""
    with open("clock.c", "w") as f:
        f.write(CLOCK)
    cc = shlex.split(os.environ.get("CC", "cc"))
    subprocess.run([*cc, "-O1", "-shared", "-fPIC", "-o", "clock.so", "clock.c"], check=True)
    shim = os.path.abspath("clock.so")
    for name, cmd in (("in the program", ["--", "env", "LD_PRELOAD=%s:%s" % (shim, BUILD + "/libljperf-agent.so"), LUAJIT, "w.lua"]),
                      ("in both", ["--", LUAJIT, "w.lua"]), ("of the embedded VM", ["w.lua"])):
        env = dict(os.environ)
        if name != "in the program":
            env["LD_PRELOAD"] = shim
        fresh()
        result = record("-o", "t.ljm.zst", *cmd, env=env)
        survives("a clock that steps back, " + name, result, "t.ljm.zst", may_refuse=False)
        times = [float(x.split()[1]) for x in run([LJPERF, "script", "-q", "--no-symbols", "-F", "number,time", "-i", "t.ljm.zst"])[1].splitlines()]
        check("a clock that steps back, %s: times never do" % name, times and times == sorted(times), times[:5])


def full_socket():
    """The collector stands still while VMs come and go: the first waits, and the
    others do not wait as long each."""
    fresh()
    for f in ("started", "go"):
        if os.path.exists(f):
            os.unlink(f)
    cmd = [os.path.abspath("target"), "many", "100"]
    p = subprocess.Popen([LJPERF, "record", "-o", "t.ljm.zst", "--", *cmd], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    check("a full socket: the program begins", wait_for(lambda: os.path.exists("started")))
    target = (children(p.pid) or [0])[0]
    p.send_signal(signal.SIGSTOP)
    with open("go", "w"):
        pass

    def ended():
        try:
            with open("/proc/%d/stat" % target) as f:
                return f.read().rsplit(")", 1)[1].split()[0] == "Z"
        except OSError:
            return True
    check("a full socket: the program goes on to its end", wait_for(ended, PATIENCE))
    p.send_signal(signal.SIGCONT)
    out, err = p.communicate(timeout=PATIENCE)
    own, rest = split_err(err.decode())
    check("a full socket: as alone", (p.returncode, out, rest) == (6, b"done\n", ""), (p.returncode, out, err))
    check("a full socket: what is missing is told", any("not recorded" in x for x in own) or len(recordings()) == 100, own)


def signals():
    unharmed("signals all the time", ["alarms"], [100000])
    unharmed("handlers, masks and children", ["signals"], [5000])
    # What was ignored and blocked for ljperf is so for the program, and no more.
    unharmed("ignored and blocked signals", ["signals"], [5000], preexec_fn=lambda: (
        signal.signal(signal.SIGPIPE, signal.SIG_IGN), signal.signal(signal.SIGUSR1, signal.SIG_IGN),
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2, signal.SIGXFSZ])))


def thread_sanitizer():
    flags = [x for x in run(["pkg-config", "--cflags", "--libs", "luajit"])[1].split()]
    cc = shlex.split(os.environ.get("CC", "cc"))
    made = run([*cc, "-g", "-O1", "-fsanitize=thread", "-o", "tsan", os.path.join(SOURCE, "tests/hosts/host.c"), *flags, "-pthread"])
    library = run([*cc, "-print-file-name=libtsan.so"])[1].strip()
    env = dict(os.environ, LD_PRELOAD=library, TSAN_OPTIONS="exitcode=66")
    # Its shadow needs addresses that are not spread too far.
    cmd = ["setarch", "-R", "./tsan"]
    if made[0] != 0 or run(cmd + ["threads"], env=env)[0] != 0:
        skip("ThreadSanitizer", "it does not work here")
        return
    for mode in ("own", "threads", "close", "fork", "many"):
        plain = run(cmd + [mode], env=env)
        fresh()
        status, out, err = record("-q", "-o", "t.ljm.zst", "--", *cmd, mode, env=env)
        check("ThreadSanitizer, %s: as alone" % mode, (status, out, err) == plain, ((status, out, err), plain))
        check("ThreadSanitizer, %s: recorded" % mode, recordings() and all(info(f).get("complete") == "yes" for f in recordings()))


if not LUAJIT:
    skip("programs that are hard", "there is no luajit command to compare with")
    finish()
if run(["pkg-config", "--exists", "luajit"])[0] != 0:
    skip("programs that are hard", "there is no LuaJIT to build them with")
    finish()
compile_c("target.c", "target", "-D_GNU_SOURCE", *run(["pkg-config", "--cflags", "--libs", "luajit"])[1].split(), "-pthread")
write_program()
write_program("small.lua", rounds=1000)
sandboxes()
roots()
processes()
clocks()
full_socket()
signals()
thread_sanitizer()
finish()
