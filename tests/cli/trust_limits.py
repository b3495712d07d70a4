# trust_limits.py - the system refuses what recording needs: files, memory,
# system calls, disks, /proc.  The program is unharmed, and ljperf says what it
# could not do.
import os
import resource

from lib_trust import *

os.chdir(os.environ["TMPDIR"])
if not LUAJIT:
    skip("limits", "there is no luajit command to compare with")
    finish()
write_program()


def limited(limit, value):
    return lambda: resource.setrlimit(limit, (value, value))


def outcomes(name, results, wanted):
    """Each of the wanted outcomes came up, so that the test tests something."""
    check(name + ": all outcomes were met", set(wanted) <= set(results), results)


def limits():
    for name, limit, values, wanted in (
        # The program alone needs 3 and a file; ljperf some more; the ring and
        # the file of the recording some more still.
        ("open files", resource.RLIMIT_NOFILE, [*range(5, 15), 16, 20, 40, 100, 300], ["refused", "whole"]),
        # The least ring is 64 KiB and a page; the control page is 8 KiB.
        ("file size", resource.RLIMIT_FSIZE, [1, 4096, 10 << 10, 72 << 10, 200 << 10, 4 << 20, 64 << 20],
         ["refused", "nothing", "cut", "whole"]),
    ):
        results = []
        for value in values:
            what = "%s limited to %d" % (name, value)
            check(what + ": the program alone", run([LUAJIT, "w.lua"], preexec_fn=limited(limit, value)) == PLAIN)
            if os.path.exists("r.zst"):
                os.unlink("r.zst")
            result = record("-o", "r.zst", "-z", "1", "w.lua", preexec_fn=limited(limit, value))
            results.append(survives(what, result, "r.zst"))
        outcomes(name, results, wanted)


def memory():
    """With too little memory the loader cannot even start ljperf."""
    met = []
    for mib in (36, 40, 44, 46, 48, 50, 52, 56, 64, 100, 200):
        if os.path.exists("r.zst"):
            os.unlink("r.zst")
        result = record("-o", "r.zst", "w.lua", preexec_fn=limited(resource.RLIMIT_AS, mib << 20))
        if result[0] == 127 and "error while loading shared libraries" in result[2]:
            continue
        met.append(survives("memory limited to %d MiB" % mib, result, "r.zst"))
    outcomes("memory", met, ["whole"])
    # The program's memory ends while it is recorded: as it would without us.
    write_program("hungry.lua", text="""local t, n = {}, 0
local ok, why = pcall(function() while true do n = n + 1 t[n] = ("x"):rep(2 ^ 19) .. n end end)
t = nil collectgarbage()
print(ok, why)
""")
    plain = run([LUAJIT, "hungry.lua"], preexec_fn=limited(resource.RLIMIT_AS, 200 << 20))
    result = record("-o", "h.zst", "hungry.lua", preexec_fn=limited(resource.RLIMIT_AS, 200 << 20))
    check("memory that ends", plain[1] == "false\tnot enough memory\n", plain)
    outcomes("memory that ends", [survives("memory that ends", result, "h.zst", plain)], ["whole"])


def system_calls():
    deny = compile_c("deny.c", "deny")
    if not deny:
        skip("refused system calls", "there is no C compiler")
        return
    if run([deny, "uname=1", "--", "true"])[0] != 0:
        skip("refused system calls", "this kernel has no seccomp filters")
        return
    enosys, eperm, einval = 38, 1, 22
    calls = (("memfd_create", eperm), ("memfd_create", enosys), ("process_vm_readv", eperm),
             ("process_vm_readv", enosys), ("pidfd_open", enosys), ("madvise", einval), ("socketpair", eperm),
             ("socket", eperm), ("sendmsg", eperm), ("recvmsg", eperm), ("signalfd4", enosys), ("ftruncate", eperm),
             ("getrandom", enosys), ("prctl", eperm), ("uname", eperm), ("prlimit64", eperm), ("fcntl", einval))
    met = []
    for call, err in calls:
        rule, name = "%s=%d" % (call, err), "%s refused with %d" % (call, err)
        for f in ("r.zst", "s.zst"):
            if os.path.exists(f):
                os.unlink(f)
        plain = run([deny, rule, "--", LUAJIT, "w.lua"])
        check(name + ": the program alone", plain == PLAIN, plain)
        met.append(survives(name + " to all", run([deny, rule, "--", LJPERF, "record", "-o", "r.zst", "w.lua"]), "r.zst"))
        met.append(survives(name + " to the program", record("-o", "s.zst", "--", deny, rule, "--", LUAJIT, "w.lua"), "s.zst",
                            may_refuse=False))
    outcomes("system calls", met, ["refused", "nothing", "whole"])


MOUNT = ["unshare", "-m", "sh", "-c"]


def disks():
    if os.path.exists("/dev/full"):
        survives("/dev/full", record("-o", "/dev/full", "w.lua"), "none", may_refuse=False)
    if run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"])[0] != 0:
        skip("full and read-only disks, no /proc", "mounting is not allowed here")
        return
    os.makedirs("disk", exist_ok=True)
    met = []
    for size in ("4k", "16k", "100k", "1m"):
        script = """mount -t tmpfs -o size=%s none disk || exit 99
"$0" record -z 1 -o disk/r.zst w.lua; status=$?; cp disk/r.zst r.zst; exit $status""" % size
        if os.path.exists("r.zst"):
            os.unlink("r.zst")
        met.append(survives("a disk of " + size, run(MOUNT + [script, LJPERF]), "r.zst", may_refuse=False))
    outcomes("disks", met, ["cut"])
    result = run(MOUNT + ['mount -t tmpfs none disk && mount -o remount,ro disk || exit 99; exec "$0" record -o disk/r.zst w.lua',
                          LJPERF])
    check("a read-only disk", result[0] == 2 and "Read-only file system" in result[2] and not result[1], result)
    # ljperf-luajit is found beside ljperf by /proc/self/exe, or where it was
    # installed: which this build is not, so that only a preload can work.
    result = run(MOUNT + ['umount -l /proc || exit 99; exec "$0" record -o r.zst w.lua', LJPERF])
    survives("no /proc", result, "r.zst")
    os.makedirs("root", exist_ok=True)
    installed = run(["strings", LJPERF]) if shutil.which("strings") else (1, "", "")
    folder = next((x for x in installed[1].split("\n") if x.endswith("libexec/ljperf")), None)
    if not folder:
        skip("no /proc, installed", "the folder of this build is not known")
        return
    script = """mount -t tmpfs none /usr/local && mkdir -p %s && mount --bind %s %s && umount -l /proc || exit 99
exec %s record -o r.zst w.lua""" % (folder, BUILD, folder, folder + "/ljperf")
    if os.path.exists("r.zst"):
        os.unlink("r.zst")
    if folder.startswith("/usr/local/"):
        survives("no /proc, installed", run(MOUNT + [script]), "r.zst")


def gone_folder():
    os.makedirs("gone/sub", exist_ok=True)
    write_program("gone/sub/rm.lua", text="os.remove('../../r.zst') os.execute('rm -rf ../../gone')\n"
                  + PROGRAM)
    plain = run([LUAJIT, "rm.lua"], cwd="gone/sub")
    os.makedirs("gone/sub", exist_ok=True)
    write_program("gone/sub/rm.lua", text="os.execute('rm -rf ../../gone')\n" + PROGRAM)
    result = record("-o", "../../r.zst", "rm.lua", cwd="gone/sub")
    survives("the folder goes away", result, "r.zst", plain, may_refuse=False)


check("the program alone", run([LUAJIT, "w.lua"]) == PLAIN)
limits()
memory()
system_calls()
disks()
gone_folder()
finish()
