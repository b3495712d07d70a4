# trust_rights.py - nobody is let in: modes of files, links and FIFOs that others
# put in the way, files of other users, the collector's socket, programs with
# more rights than their user, archives that would unpack elsewhere.
import atexit
import io
import socket
import stat
import struct
import sys
import tarfile
import tempfile

from lib_trust import *

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "tests", "model"))
import session_writer  # noqa: E402
from session_writer import Batch, DATA, FOOTER, HEADER, SIDE, STREAM_END, footer, header, session  # noqa: E402

ROOT = os.geteuid() == 0
VICTIM, OTHER = 54321, 54322  # users that nobody is

# Other users must be able to come here and to run what is here.
os.chdir(tempfile.mkdtemp(prefix="ljperf-rights.", dir="/tmp"))
atexit.register(shutil.rmtree, os.getcwd(), ignore_errors=True)
os.chmod(".", 0o755)
os.makedirs("bin")
for program in ("ljperf", "ljperf-luajit", "libljperf-agent.so"):
    shutil.copy(os.path.join(BUILD, program), "bin")
LJPERF = os.path.abspath("bin/ljperf")


def as_user(uid):
    """For preexec_fn: become UID, if that is possible."""
    def change():
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
    return change if ROOT else None


def record(*args, **kw):
    """As that of lib_trust.py, with the copy in this folder."""
    return run([LJPERF, "record"] + list(args), **kw)


def mode(path):
    return "%o" % stat.S_IMODE(os.stat(path).st_mode)


def modes():
    """Nothing that we make can be read by others, whatever the umask."""
    write_program("two.lua", text="os.execute('luajit w.lua') os.execute('luajit w.lua')")
    os.makedirs("cache", exist_ok=True)
    env = dict(os.environ, XDG_CACHE_HOME=os.path.abspath("cache"))
    for mask in (0, 0o077):
        for f in os.listdir("."):
            if f.endswith((".zst", ".old")):
                os.unlink(f)
        umask = lambda: os.umask(mask)  # noqa: E731
        for _ in range(2):
            record("-q", "-o", "m.ljm.zst", "--", LUAJIT, "two.lua", preexec_fn=umask)
        run([LJPERF, "archive", "-q", "m.ljm.zst"], preexec_fn=umask)
        run([LJPERF, "report", "m.ljm.zst"], preexec_fn=umask, env=env)
        files = sorted(f for f in os.listdir(".") if f.startswith("m.") and not f.endswith("~"))
        cached = [os.path.join(d, f) for d, _, fs in os.walk("cache") for f in fs]
        wrong = [(f, mode(f)) for f in files + cached if mode(f) != "600"]
        check("modes with umask %03o" % mask, not wrong and len(files) >= 6 and "m.ljm.tar.zst" in files, (wrong, files))
        folders = [(d, mode(d)) for d, _, _ in os.walk("cache") if d != "cache" and mode(d) != "700"]
        check("folders of the cache with umask %03o" % mask, not folders, folders)


def links():
    """A link that waits at the place of the output is not followed."""
    record("-q", "-o", "good.zst", "w.lua")
    for name, cmd in (("record", ["record", "-q", "-o", "link", "w.lua"]), ("archive", ["archive", "-q", "-o", "link", "good.zst"]),
                      ("import", ["import", "-q", "-o", "link", "raw.ljm"])):
        with open("precious", "w") as f:
            f.write("precious")
        if not os.path.lexists("link"):
            os.symlink("precious", "link")
        status, out, err = run([LJPERF, *cmd])
        with open("precious") as f:
            kept = f.read()
        check(name + ": a link is refused", (status, kept, os.path.islink("link")) == (2, "precious", True), (status, err, kept))
    os.unlink("link")
    os.symlink("precious", "link.old")
    record("-q", "-o", "link", "w.lua")
    record("-q", "-o", "link", "w.lua")
    with open("precious") as f:
        check("a link at the place of .old is replaced", f.read() == "precious" and not os.path.islink("link.old"))


def shared_folder():
    """Another user got there first, in a folder like /tmp."""
    if not ROOT:
        skip("a shared folder", "only root can be several users")
        return
    os.makedirs("shared", exist_ok=True)
    os.chmod("shared", 0o1777)
    write_program("shared/w.lua", rounds=1000)

    def other(what):
        run(["sh", "-c", what], preexec_fn=as_user(OTHER), cwd="shared")

    for name, what, who in (("a file", "echo mine >ljperf.ljm.zst; chmod 666 ljperf.ljm.zst", VICTIM),
                            ("a link", "ln -s /etc/nothing ljperf.ljm.zst", VICTIM),
                            ("a FIFO", "mkfifo ljperf.ljm.zst; chmod 666 ljperf.ljm.zst", VICTIM),
                            ("a FIFO, for root", "mkfifo ljperf.ljm.zst; chmod 666 ljperf.ljm.zst", 0)):
        other(what)
        before = os.lstat("shared/ljperf.ljm.zst")
        # A reader waits there for what is written.
        result = run([LJPERF, "record", "w.lua"], preexec_fn=as_user(who), cwd="shared", patience=20)
        after = os.lstat("shared/ljperf.ljm.zst")
        check("%s of another user is refused" % name, result[0] == 2 and not result[1] and
              (before.st_ino, before.st_size) == (after.st_ino, after.st_size), result)
        os.unlink("shared/ljperf.ljm.zst")
    # Root takes the place of a file, which it may, and nobody else can read it.
    other("echo mine >ljperf.ljm.zst; chmod 666 ljperf.ljm.zst")
    run([LJPERF, "record", "-q", "w.lua"], cwd="shared")
    st = os.lstat("shared/ljperf.ljm.zst")
    check("a file of another user, for root: a new one", (st.st_uid, stat.S_IMODE(st.st_mode)) == (0, 0o600), st)
    # One's own FIFO and root's devices are as good as ever.
    os.mkfifo("own")
    result = run(["sh", "-c", 'cat own >taken & "$0" record -q -o own w.lua; wait', LJPERF])
    check("a FIFO of one's own", result[0] == 0 and info("taken").get("complete") == "yes", result)
    check("/dev/null", record("-q", "-o", "/dev/null", "w.lua")[0] == 6)


READERS = (["report"], ["info"], ["script"], ["annotate", "-i"], ["export", "--format", "csv"], ["diff", "mine.zst"],
           ["archive", "-q", "-o", "packed"], ["import", "-q", "-o", "imported"])


def foreign_files():
    if not ROOT:
        skip("files of other users", "only root can make them")
        return
    os.makedirs("foreign", exist_ok=True)
    os.chown("foreign", VICTIM, VICTIM)
    with open("raw.ljm", "rb") as f:
        raw = f.read()
    for name, uid in (("mine.zst", VICTIM), ("root.zst", 0), ("other.zst", OTHER)):
        path = os.path.join("foreign", name)
        with open(path, "wb") as f:
            f.write(raw)
        os.chown(path, uid, uid)
        os.chmod(path, 0o644)
    for cmd in READERS:
        def ljperf(path, *options):
            return run([LJPERF, cmd[0], *options, *cmd[1:], path], preexec_fn=as_user(VICTIM), cwd="foreign")
        status, out, err = ljperf("other.zst")
        check(cmd[0] + ": a file of another user is refused",
              status == 2 and not out and "belongs to another user (use -f" in err, (status, err))
        results = [ljperf(*x)[0] for x in (("other.zst", "-f"), ("mine.zst",), ("root.zst",))]
        check(cmd[0] + ": with -f it is read; one's own and root's are anyway", results == [0, 0, 0], results)


# ---- the socket ----

def abstract_sockets(pid):
    with open("/proc/net/unix") as f:
        return [x.split("@")[1].strip() for x in f if "@ljperf-%d-" % pid in x]


class Waiting:
    """A recording of a program that waits for a line, and its socket."""

    def __init__(self, uid=None, script="wait.lua"):
        self.p = subprocess.Popen([LJPERF, "record", "-q", "-o", "wait.zst", "--", LUAJIT, script], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=as_user(uid) if uid else None)
        self.line = self.p.stdout.readline()
        self.names = abstract_sockets(self.p.pid)

    def end(self):
        out, err = self.p.communicate(b"go\n", timeout=PATIENCE)
        return self.p.returncode, (self.line + out).decode(), err.decode()


def note(kind, text=b""):
    """struct agent_note of protocol.h: version, kind, 512 bytes of text."""
    return struct.pack("=II512s", 1, kind, text)


def try_socket(name, packet):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect("\0" + name)
    s.settimeout(PATIENCE)
    try:
        if packet:
            s.send(packet)
        data, ancillary, _, _ = s.recvmsg(4096, 1024)
        return "closed" if not data else "got %d bytes, %d descriptors" % (len(data), len(ancillary))
    except ConnectionError:
        return "closed"
    except OSError as e:
        return str(e)


def knock(name, packet, uid=None):
    """What the socket gives to a user; in a process that is one."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            if uid is not None:
                as_user(uid)()
            os.write(w, try_socket(name, packet).encode())
        finally:
            os._exit(0)
    os.close(w)
    with os.fdopen(r) as f:
        got = f.read()
    os.waitpid(pid, 0)
    return got


def sockets():
    write_program("wait.lua", text='print("waiting") io.stdout:flush() io.read() local t = {} for i = 1, 1000 do t[i] = { i } end')
    r = Waiting()
    check("the socket has a name that cannot be guessed", len(r.names) == 1 and len(r.names[0].split("-")[2]) == 16, r.names)
    for what, packet in (("a wrong secret", note(1, b"0" * 32)), ("an empty secret", note(1)), ("no secret", note(2)),
                         ("a short packet", b"x"), ("a ring without a secret", note(5))):
        got = knock(r.names[0], packet)
        check("the socket: %s gets nothing" % what, got == "closed", got)
    # Many who say nothing do not keep out the one who may come in.
    idle = []
    for _ in range(300):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.connect("\0" + r.names[0])
        idle.append(s)
    status, out, err = r.end()
    check("the socket: the recording goes on", (status, out, err) == (0, "waiting\n", "") and
          info("wait.zst").get("complete") == "yes", (status, out, err))


def callers():
    """A child that has closed what it inherited, past 300 silent callers."""
    write_program("parent.lua", text="print('waiting') io.stdout:flush() io.read() os.execute(\"python3 -c 'import subprocess; "
                  "subprocess.call([\\\"luajit\\\", \\\"w.lua\\\"], close_fds=True)'\")")
    r = Waiting(script="parent.lua")
    idle = []
    for _ in range(300):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.connect("\0" + r.names[0])
        idle.append(s)
    for f in os.listdir("."):
        if f.startswith("wait.") and f.endswith(".zst") and f != "wait.zst":
            os.unlink(f)
    r.end()
    others = [f for f in os.listdir(".") if re.fullmatch(r"wait\.\d+\.zst", f)]
    check("the socket: silent callers keep nobody out", len(others) == 1 and info(others[0]).get("complete") == "yes", others)


def other_callers():
    if not ROOT:
        skip("callers of other users", "only root can be several users")
        return
    os.chmod(".", 0o777)
    r = Waiting(uid=VICTIM)
    got = knock(r.names[0], b"", uid=OTHER) if r.names else r.end()
    check("the socket: another user is hung up on before a word is said", got == "closed", got)
    status, out, err = r.end()
    check("the socket: and the recording goes on",
          status == 0 and run([LJPERF, "report", "-f", "wait.zst"])[::2] == (0, ""), (status, out, err))
    os.chmod(".", 0o755)


# ---- more rights than the user ----

def setuid_programs():
    """The VM for scripts has the agent inside: made setuid, it must not obey an
    environment that its user has made."""
    if not ROOT:
        skip("setuid programs", "only root can make them")
        return
    shutil.copy(os.path.join(BUILD, "ljperf-luajit"), "ljperf-luajit")
    for name, uid, bits in (("set", OTHER, 0o4755), ("plain", 0, 0o755)):
        shutil.copy("ljperf-luajit", name)
        os.chown(name, uid, uid)
        os.chmod(name, bits)
    with open("who.lua", "w") as f:
        f.write("print(io.open('/proc/self/status'):read('*a'):match('Uid:%s+(%d+)%s+(%d+)'))")
    if run(["./set", "who.lua"], preexec_fn=as_user(VICTIM))[1].split() != [str(VICTIM), str(OTHER)]:
        skip("setuid programs", "this disk does not have them")
        return
    os.makedirs("rights", exist_ok=True)
    os.chown("rights", VICTIM, VICTIM)
    write_program("rights/w.lua")
    for name, wanted in (("plain", 2), ("set", 1)):
        for f in os.listdir("rights"):
            if f.endswith(".zst"):
                os.unlink(os.path.join("rights", f))
        result = run([LJPERF, "record", "-q", "--", "sh", "-c", "luajit w.lua; LD_PRELOAD= ../%s w.lua" % name],
                     preexec_fn=as_user(VICTIM), cwd="rights")
        made = sorted(f for f in os.listdir("rights") if f.endswith(".zst"))
        check("%s: recorded or not" % name, len(made) == wanted and result[1].count("done") == 2, (made, result))


# ---- archives ----

def archives():
    """Names of modules that would lead out of the folder, of an ELF file that is there."""
    shutil.copy("/bin/true", "module.so")
    here = os.getcwd()
    os.makedirs("sub/dir", exist_ok=True)
    os.symlink("/etc", "sub/link")
    good = (here + "/module.so").encode()
    bad = [b"/../../../.." + good, good.replace(b"/module", b"/./module"), good.replace(b"/module", b"/sub/../module"),
           good.replace(b"/module", b"//module"), b"module.so", b"../module.so", good + b"/", b"/etc/passwd", b"/dev/zero",
           here.encode() + b"/sub/dir/../../module.so", good + b"\n", b"/proc/self/exe"]
    b = Batch()
    for i, path in enumerate([good] + bad):
        b.module(0x1000000 * (i + 1), 0x1000, 0, 0x1000000 * (i + 1), path)
        b.node(0, session_writer.C, 0x1000000 * (i + 1) + 16, 0)  # what no code was met in stays out
    b.stream += STREAM_END
    with open("paths.zst", "wb") as f:
        f.write(session([(HEADER, header(argv=[b"x"])), (SIDE, b.side_frame()), (DATA, bytes(b.stream)),
                         (FOOTER, footer(0, 0, 0, 0, 0, 1))]))
    status, out, err = run([LJPERF, "archive", "-o", "paths.tar.zst", "paths.zst"])
    plain = subprocess.run(["zstd", "-dcq", "paths.tar.zst"], stdout=subprocess.PIPE, check=True).stdout
    members = tarfile.open(fileobj=io.BytesIO(plain)).getmembers()
    names = [m.name for m in members]
    check("an archive: what is good is in it", status == 0 and "paths.zst" in names and good[1:].decode() in names, (err, names))
    wrong = [m.name for m in members if m.name.startswith("/") or ".." in m.name.split("/") or "." in m.name.split("/") or
             not (m.isreg() or m.islnk()) or (m.islnk() and m.linkname not in names) or m.mode & ~0o644]
    check("an archive: nothing that leaves the folder, no link, no device", not wrong and len(names) < 6, (wrong, names))
    os.makedirs("unpacked/here", exist_ok=True)
    before = set(os.listdir("unpacked"))
    run(["tar", "--zstd", "-P", "-xf", "../../paths.tar.zst"], cwd="unpacked/here")
    check("an archive: unpacked even with absolute names allowed, it stays in its folder",
          set(os.listdir("unpacked")) == before and os.path.exists("unpacked/here" + good.decode()))


if not LUAJIT:
    skip("rights", "there is no luajit command")
    finish()
write_program(rounds=1000)
subprocess.run([LJPERF, "record", "-q", "-o", "s.zst", "w.lua"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
with open("raw.ljm", "wb") as f:
    f.write(subprocess.run(["zstd", "-dcq", "s.zst"], stdout=subprocess.PIPE, check=True).stdout)
modes()
links()
shared_folder()
foreign_files()
sockets()
callers()
other_callers()
setuid_programs()
archives()
finish()
