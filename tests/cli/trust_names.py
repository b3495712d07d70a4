# trust_names.py - names are strangers' text: in files, paths, commands, chunks,
# functions, marks and modules.  Nothing of them steers a terminal, with colours
# and without, on both streams, and nothing leaves a cell of a Markdown table.
import pty
import select
import sys

from lib_trust import *

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "tests", "model"))
from session_writer import EVIL, hostile, session  # noqa: E402

os.chdir(os.environ["TMPDIR"])
COLOUR = re.compile(rb"\x1b\[[0-9;]*m")  # what ljperf itself sends to a terminal
# In a name of a file, where neither NUL nor a slash can be.
NAME = b"a\x1b]0;title\x07\x1b[2J\n\xc2\x9b1m\xe2\x80\xae\x7f\xff.zst"


def steers(data, colours=False):
    """The first bytes that would steer a terminal, or None."""
    data = data.replace(b"\r\n", b"\n")  # of CSV, and of a terminal
    if colours:
        data = COLOUR.sub(b"", data).replace(b"\r\n", b"\n")
    try:
        text = data.decode()
    except UnicodeDecodeError as e:
        return data[e.start - 20:e.start + 20]
    for i, c in enumerate(text):
        code = ord(c)
        if (code < 32 and c not in "\n\t") or 127 <= code < 160 or 0x202a <= code <= 0x202e or 0x2066 <= code <= 0x2069 or \
                code in (0x200e, 0x200f, 0x2028, 0x2029, 0x61c):
            return text[max(i - 20, 0):i + 20]
    return None


def run_bytes(*cmd, **kw):
    p = subprocess.run(cmd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, **kw)
    return p.returncode, p.stdout, p.stderr


def on_terminal(*cmd):
    """Both streams of a command on a terminal."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(cmd[0], cmd, dict(os.environ, TERM="xterm", LJPERF_PAGER="cat", COLUMNS="150"))
    out = b""
    while select.select([fd], [], [], PATIENCE)[0]:
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        out += data
    os.close(fd)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), out


COMMANDS = [
    ["report"], ["report", "-v", "--header", "-g", "--children"], ["report", "--timeline"], ["report", "--format", "memprof"],
    ["report", "-s", "symbol,func,chunk,module,source,trace,vm,size"], ["report", "-t", ";"], ["report", "-g", "folded"],
    ["script"], ["script", "--json"], ["info"], ["info", "--buildids"], ["annotate", "-i"], ["annotate", "-l", "-i"],
    ["export", "--format", "folded"], ["export", "--format", "speedscope"], ["export", "--format", "callgrind"],
    ["export", "--format", "firefox"], ["export", "--format", "csv"], ["export", "--format", "json"],
    ["diff", "old.zst"], ["diff", "-v", "-g", "old.zst"], ["diff", "--json", "old.zst"], ["diff", "--markdown", "old.zst"],
    ["diff", "-q", "--fail-above", "1", "--each", "old.zst"],
]


def recordings():
    name = os.fsdecode(NAME)
    with open(NAME, "wb") as f:
        f.write(session(hostile(path=b"")))
    with open("old.zst", "wb") as f:
        f.write(session(hostile(evil=b"older" + EVIL)))
    for cmd in COMMANDS:
        status, out, err = run_bytes(LJPERF, *cmd, name)
        check(" ".join(cmd) + ": no byte steers a terminal", status in (0, 1) and out + err and not steers(out) and
              not steers(err), (status, steers(out), steers(err), err))
        status, out = on_terminal(LJPERF, *cmd, name)
        check(" ".join(cmd) + ": nor with colours", status in (0, 1) and not steers(out, True), (status, steers(out, True)))


def messages():
    """Errors, warnings and suggestions with the words of a user, who may have
    taken them from elsewhere."""
    evil = os.fsdecode(b"x\x1b[31m\x07\xc2\x9b1m\n\xff")
    with open("empty" + evil, "w"):
        pass
    with open("cut" + evil, "wb") as f:
        f.write(session(hostile())[:500])
    with open("rules" + evil, "w") as f:
        f.write("leak:none\nbad\x1b[31m:x\n")
    cases = [["report", "nosuch" + evil], ["report", "empty" + evil], ["report", "cut" + evil], ["info", "cut" + evil],
             ["script", "-F", "x" + evil, "old.zst"], ["report", "-s", "line,x" + evil], ["report", "-F", "x" + evil],
             ["report", "--metric", "x" + evil], ["report", "--format", "x" + evil], ["report", "--from", evil, "old.zst"],
             ["report", "--suppress", "rules" + evil, "old.zst"], ["report", "-S", "/(" + evil + "/", "old.zst"],
             ["report", "--" + evil], ["report", "-" + evil], ["report", "--time", evil], ["diff", "old.zst", "nosuch" + evil],
             ["diff", "--per", evil, "old.zst", "old.zst"], ["diff", "-c", evil], ["export", "--format", evil], ["archive", "nosuch" + evil],
             ["archive", "-o", "nosuch" + evil + "/x", "old.zst"], ["annotate", "-i", "old.zst", evil], ["import", "empty" + evil],
             ["record", "-o", "nosuch" + evil + "/x", "w.lua"], ["record", "--", "nosuch" + evil], ["record", "-D", evil, "w.lua"],
             ["record", "--control", evil, "w.lua"], ["record", "--backend", evil, "w.lua"], ["record", "--call-graph", evil, "w.lua"],
             ["help", evil], [evil], ["version", evil], ["list", evil]]
    bad = []
    for cmd in cases:
        status, out, err = run_bytes(LJPERF, *cmd)
        if status not in (0, 1, 2) or not err and not out or steers(err) or steers(out) or err.count(b"\n") > 2:
            bad.append((cmd, status, out[-200:], err))
    check("%d messages" % len(cases), not bad, bad[:3])


def programs():
    """What a program says of itself: its path, arguments, folder, threads, chunks."""
    evil = os.fsdecode(b"p\x1b[31m\x07\n")
    os.makedirs(evil, exist_ok=True)
    with open(evil + "/w.lua", "w") as f:
        f.write('local f = assert(load("return {...}", "@chunk\\27[31m\\7\\n.lua")) local t = {} for i = 1, 100 do t[i] = f(i) end\n'
                'string["\\27[31m"] = string.rep\nfor i = 1, 100 do t[i] = ("x"):rep(1000 + i) end\n')
    status, out, err = run_bytes(LJPERF, "record", "--jit", "off", "-o", "out" + evil + ".zst", evil + "/w.lua", "arg" + evil)
    check("record: the line at its end", status == 0 and not steers(err) and err.count(b"\n") == 1, err)
    for cmd in COMMANDS[:16]:
        status, out, err = run_bytes(LJPERF, *cmd, "out" + evil + ".zst")
        check(" ".join(cmd) + ": of a program with such names", status in (0, 1, 2) and not steers(out) and not steers(err),
              (status, steers(out), steers(err)))
    if sanitized():
        skip("what the agent says of a library", "an agent with sanitizers cannot enter a program without")
    elif LUAJIT:
        # The agent finds another Lua at that path, and says so.
        with open("lua.c", "w") as f:
            f.write("void *luaL_newstate(void); void lua_close(void *L); static int s;\n"
                    "void *luaL_newstate(void) { return &s; } void lua_close(void *L) { (void)L; }\n")
        with open("use.c", "w") as f:
            f.write("#include <dlfcn.h>\nint main(void) { void *h = dlopen(PATH, RTLD_NOW | RTLD_GLOBAL); void *(*f)(void) = "
                    "h ? (void *(*)(void))dlsym(h, \"luaL_newstate\") : 0; return f ? !f() : 9; }\n")
        cc = shlex.split(os.environ.get("CC", "cc"))
        path = os.path.join(os.path.abspath(evil), "libother.so")
        escaped = "".join("\\%03o" % b for b in os.fsencode(path))
        if run([*cc, "-shared", "-fPIC", "-o", path, "lua.c"])[0] or run([*cc, "-o", "use", '-DPATH="%s"' % escaped, "use.c", "-ldl"])[0]:
            skip("a library with such a name", "it cannot be compiled")
            return
        status, out, err = run_bytes(LJPERF, "record", "-o", "o.zst", "--", "./use")
        check("record: what the agent says of a library", b"is Lua, but not LuaJIT" in err and not steers(err), (status, err))


def cells(line):
    """Of a row of a Markdown table: bars separate cells, unless escaped."""
    return len(re.split(r"(?<!\\)\|", line)) - 2


def markdown():
    with open("new.zst", "wb") as f:
        f.write(session(hostile()))
    for keys in ("line", "symbol,chunk", "func,module,vm"):
        status, out, err = run([LJPERF, "diff", "--markdown", "-a", "-s", keys, "old.zst", "new.zst"])
        rows = [x for x in out.splitlines() if x.startswith("|")]
        counts = {cells(x) for x in rows}
        check("Markdown by %s: every row has the cells of its head" % keys, status == 0 and len(rows) > 4 and len(counts) == 1,
              (status, err, counts, out))
        # What is not in a span of code holds no tag but <code>, and no link.
        naked = [re.sub(r"`[^`]*`", "", x) for x in rows]
        wild = [x for x in naked if re.search(r"<(?!/?code>)|&(?!#\d+;)|\]\(|!\[", x)]
        check("Markdown by %s: no tag, entity or link of a name" % keys, not wild, wild)
    status, out, err = run([LJPERF, "diff", "--markdown", "-a", "-g", "folded", "old.zst", "new.zst"])
    fences = [i for i, x in enumerate(out.splitlines()) if re.match(r" {0,3}(```|~~~)", x)]
    check("Markdown with trees: one block, closed", len(fences) == 2, out)


write_program(rounds=100)
recordings()
messages()
programs()
markdown()
finish()
