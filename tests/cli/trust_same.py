# trust_same.py - the same recordings give the same output, byte for byte: in any
# locale and time zone, with any addresses, hashes and environment, with the cache
# of symbols empty, full or absent, and however often.
import hashlib
import sys

from lib_trust import *

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "tests", "model"))
from session_writer import hostile, session  # noqa: E402

os.chdir(os.environ["TMPDIR"])

PROGRAM = """local t, cache = {}, {}
local function parse(i) return { tostring(i), i } end
local function Item(i) return setmetatable({ i }, { __index = cache }) end
for i = 1, 5000 do
  t[i % 500 + 1] = parse(i)
  cache["k" .. i % 99] = Item(i)
  if i % 100 == 0 then t[#t + 1] = coroutine.wrap(function(a) return { a } end)(i) end
  if i % 1000 == 0 then loadstring("local x = ... return { x, {} }", "=piece" .. i % 7)(i) end
end
print(table.concat({ "a", "b" }, ","), ("x"):rep(1000):len())
"""

COMMANDS = [
    ["report"], ["report", "-v", "--header"], ["report", "-g", "--children"], ["report", "-g", "fractal,callee,function,0"],
    ["report", "-g", "folded"], ["report", "--metric", "peak", "-F", "+lifetime,temporary,objects,copied"],
    ["report", "-s", "symbol,func,chunk,module,source,trace,vmstate,vm,size"], ["report", "-t", ";", "--sort", "func"],
    ["report", "--format", "memprof"], ["report", "--format", "memprof", "--human-readable"], ["report", "--timeline"],
    ["report", "--time", "10%-90%"], ["report", "--percent-limit", "0.5", "-n"], ["script"], ["script", "--json"], ["info"],
    ["info", "--buildids"], ["annotate", "-i"], ["annotate", "-l", "-i"], ["diff", "old.zst"], ["diff", "-v", "-p", "-F", "old.zst"],
    ["diff", "-g", "old.zst"], ["diff", "-c", "ratio", "--match", "fuzzy", "old.zst"], ["diff", "--normalize", "second", "old.zst"],
    ["diff", "--json", "old.zst"], ["diff", "--markdown", "-g", "old.zst"], ["archive", "-q", "-o", "-"], ["list"],
    ["version", "--build-options"], ["report", "-h"],
] + [["export", "--format", x] for x in "folded speedscope pprof callgrind firefox csv json ljm".split()] + [
    ["export", "--format", "folded", "--diff", "old.zst"], ["export", "--format", "pprof", "--diff", "old.zst"],
    ["report", "/no/such/file"], ["report", "-F", "nosuch"], ["report", "--tiem", "1"],
]
NO_FILE = ("list", "version")


def locales():
    """Names that are there, and made here: a decimal comma, and another i."""
    names = ["C.UTF-8"]
    if shutil.which("localedef"):
        os.makedirs("locales", exist_ok=True)
        for name in ("de_DE", "tr_TR"):
            made = run(["localedef", "-i", name, "-f", "UTF-8", "--no-archive", "locales/%s.UTF-8" % name])
            if os.path.isdir("locales/%s.UTF-8" % name):
                names.append(name + ".UTF-8")
            else:
                skip("locale " + name, "it cannot be made: " + made[2].strip()[:60].replace("\n", " "))
    else:
        skip("locales with a decimal comma", "there is no localedef")
    return names


def environments():
    """(what, environment, words before the command)"""
    here = os.getcwd()
    zones = ["Asia/Kathmandu", "America/St_Johns", "XYZ-13:37", "", ":/nonexistent"]
    for i, name in enumerate(locales()):
        yield name, dict(LC_ALL=name, LANG=name, LANGUAGE=name[:2], LOCPATH=here + "/locales", TZ=zones[i]), []
    yield "zone " + zones[3], dict(TZ=zones[3]), []
    yield "zone " + zones[4], dict(TZ=zones[4]), []
    yield "no addresses at random", {}, ["setarch", "-R"]
    yield "other addresses", dict(MALLOC_PERTURB_="165", MALLOC_TOP_PAD_="1234567", PADDING="x" * 50000), []
    yield "a little terminal that is none", dict(COLUMNS="40", LINES="10", TERM="xterm"), []
    yield "a large terminal that is none", dict(COLUMNS="400", LINES="100"), []
    yield "a cache", dict(XDG_CACHE_HOME=here + "/cache"), []
    yield "a cache that is full", dict(XDG_CACHE_HOME=here + "/cache"), []
    yield "no home", dict(HOME="/nonexistent"), []


def output(cmd, env, before):
    # The manual says that a chart is as wide as COLUMNS, and so is help.
    env = dict(os.environ, **env)
    if "--timeline" in cmd or "-h" in cmd:
        env.update(COLUMNS="100", LINES="30")
    files = [] if cmd[0] in NO_FILE or cmd[-1] in ("-h", "/no/such/file") else ["new.zst"]
    p = subprocess.run(before + [LJPERF] + cmd + files, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       env=env, timeout=PATIENCE)
    err = re.sub(rb"layout found in [0-9.]+ ms", b"", p.stderr)
    return p.returncode, re.sub(rb"layout found in [0-9.]+ ms", b"", p.stdout), err


def first_difference(a, b):
    for x, y in zip(a, b):
        if x != y:
            lines = [(p, q) for p, q in zip(str(x).split("\\n"), str(y).split("\\n")) if p != q]
            return "%.200s / %.200s" % (lines[0] if lines else (x[-100:], y[-100:]))
    return ""


def compare():
    base = {tuple(cmd): output(cmd, {}, []) for cmd in COMMANDS}
    wrong = [cmd for cmd, got in base.items() if got[0] != (2 if "/no/such/file" in cmd or "nosuch" in cmd or "--tiem" in cmd else 0)]
    check("all commands work", not wrong, [(x, base[x]) for x in wrong[:2]])
    for what, env, before in environments():
        if before and run(before + ["true"])[0] != 0:
            skip(what, "setarch does not work here")
            continue
        bad = []
        for cmd in COMMANDS:
            got = output(cmd, env, before)
            if got != base[tuple(cmd)]:
                bad.append((cmd, first_difference(base[tuple(cmd)], got)))
        check("the same with " + what, not bad, bad[:3])


def hashes():
    """Names in every order: the seeds of hashes are new in each process."""
    with open("new.zst", "rb") as f:
        real = f.read()
    with open("new.zst", "wb") as f:
        f.write(session(hostile()))
    for name in ("a recording of hostile names", "a real recording"):
        bad = []
        for cmd in COMMANDS:
            seen = {hashlib.sha256(repr(output(cmd, {}, [])).encode()).hexdigest() for _ in range(3)}
            if len(seen) > 1:
                bad.append(cmd)
        check("the same each time: " + name, not bad, bad)
        with open("new.zst", "wb") as f:
            f.write(real)


write_program(text=PROGRAM)
for name, rounds in (("old.zst", ["--jit", "off"]), ("new.zst", [])):
    made = record("-q", "-g", "-o", name, *rounds, "w.lua")
    check("recording " + name, made[0] == 0, made)
compare()
hashes()
finish()
