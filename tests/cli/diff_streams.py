#!/usr/bin/env python3
"""diff_streams.py - ljperf diff on streams written here, against sums made here.

The streams are plain V4 (see ljperf-file(5)) and encoded in Python, so that
neither the streams nor what is expected of them come from ljperf.
"""
import json
import os
import pty
import random
import subprocess
import sys
from fractions import Fraction

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["LJPERF_SOURCE"], "tests", "model"))
from session_writer import string, uleb  # noqa: E402

LJPERF = os.environ["LJPERF"]
os.chdir(os.environ["TMPDIR"])
BIG = 2 ** 63
bad = 0


def check(name, got, want):
    global bad
    if got == want:
        print("ok", name)
    else:
        bad += 1
        print("not ok %s: got %r, wanted %r" % (name, got, want))


# ---- streams ----

class Stream:
    """What it writes and, by (chunk, line), what every metric should say."""

    def __init__(self):
        self.out = bytearray(b"ljs\x03\0\0\0\x80" + b"ljm\x03\0\0\0")
        self.protos = {}
        self.next = 0x10000
        self.rows = {}

    def proto(self, chunk):
        if chunk not in self.protos:
            self.protos[chunk] = 0x7f0000000000 + 0x100 * len(self.protos)
            self.out += b"\x08" + uleb(self.protos[chunk]) + string(chunk.encode("latin-1")) + uleb(1)
        return self.protos[chunk]

    def row(self, place):
        return self.rows.setdefault(place, dict(allocated=0, count=0, allocs=0, live=0, freed=0))

    def alloc(self, place, size):
        chunk, line = place
        proto = self.proto(chunk)
        addr = self.next
        self.next += 16
        self.out += b"\x09" + uleb(proto) + uleb(line) + uleb(addr) + uleb(size)
        r = self.row(place)
        r["allocated"] += size
        r["live"] += size
        r["count"] += 1
        r["allocs"] += 1
        return (addr, size, place)

    def realloc(self, place, block, size):
        addr, old, owner = block
        proto = self.proto(place[0])
        new = self.next
        self.next += 16
        self.out += b"\x0b" + uleb(proto) + uleb(place[1]) + uleb(addr) + uleb(old) + \
            uleb(new) + uleb(size)
        self.row(owner)["live"] -= old
        self.row(owner)["freed"] += old
        r = self.row(place)
        r["allocated"] += size
        r["live"] += size
        r["count"] += 1
        return (new, size, place)

    def free(self, block):
        addr, old, owner = block
        self.out += b"\x06" + uleb(addr) + uleb(old)
        self.row(owner)["live"] -= old
        self.row(owner)["freed"] += old

    def save(self, name):
        with open(name, "wb") as f:
            f.write(self.out + b"\x80")


def make(name, *allocs):
    s = Stream()
    for line, size in allocs:
        s.alloc(("@a.lua", line), size)
    s.save(name)
    return s


# ---- running ----

def run(*args):
    p = subprocess.run([LJPERF, "diff"] + list(args), stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def table(*args):
    status, out, err = run("-q", "-t", ";", *args)
    if status or err:
        return [status, err]
    return [line.split(";") for line in out.splitlines()]


def load(*args):
    status, out, err = run("--json", *args)
    assert status == 0 and not err, err
    return json.loads(out, parse_float=Fraction)


def deltas(result, side=1):
    return {r["key"]["symbol"]: r["sides"][side]["delta"] for r in result["rows"]}


# ---- single cases ----

make("a", (1, 100), (1, 28), (2, 50), (4, 10))
make("b", (1, 100), (3, 7), (4, 10))
make("empty")
make("zero", (1, 0), (2, 0))

# Line 1: 128 -> 100, line 2: 50 -> nothing, line 3: nothing -> 7, line 4 as it was.
rows = table("a", "b")
check("changed, gone and new rows", rows, [
    ["50", "-50", "-100.00%", "-1", "gone", "lua", "a.lua:2"],
    ["128", "-28", "-21.88%", "-1", "", "lua", "a.lua:1"],
    ["", "+7", "", "+1", "new", "lua", "a.lua:3"]])
check("delta: what grew comes first", [r[-1] for r in table("-c", "delta", "a", "b")],
      ["a.lua:3", "a.lua:1", "a.lua:2"])
check("by the baseline", [r[-1] for r in table("-o", "0", "a", "b")],
      ["a.lua:1", "a.lua:2", "a.lua:3"])
check("ratio", [(r[1], r[-1]) for r in table("-c", "ratio", "a", "b")],
      [("", "a.lua:3"), ("%.6f" % (100 / 128), "a.lua:1"), ("0.000000", "a.lua:2")])
# 3 * new - 2 * baseline: 300-256, 0-100, 21-0, 30-20.
check("wdiff", [(r[1], r[-1]) for r in table("-c", "wdiff:2,3", "a", "b")],
      [("+44", "a.lua:1"), ("+21", "a.lua:3"), ("+10", "a.lua:4"), ("-100", "a.lua:2")])
check("only the baseline's rows", [r[-1] for r in table("-b", "a", "b")],
      ["a.lua:2", "a.lua:1"])
check("rows that are the same, too", [r[-1] for r in table("-a", "a", "b")],
      ["a.lua:2", "a.lua:1", "a.lua:3", "a.lua:4"])
check("values of both sides", table("-p", "--limit", "2", "a", "b"), [
    ["50", "1", "", "", "-50", "-100.00%", "-1", "gone", "lua", "a.lua:2"],
    ["128", "2", "100", "1", "-28", "-21.88%", "-1", "", "lua", "a.lua:1"]])
check("formula", [r[4] for r in table("-F", "a", "b")], ["0 - 50", "100 - 128", "7 - 0"])
# The baseline is 188 bytes: 10 % are 18.8.
check("limit in percent", [r[-1] for r in table("--percent-limit", "10", "a", "b")],
      ["a.lua:2", "a.lua:1"])
# 20 % of b's 117 are 23.4; 10 % of them, when the baseline has nothing, 11.7.
check("it is of the baseline", [r[-1] for r in table("--percent-limit", "20", "b", "a")],
      ["a.lua:2", "a.lua:1"])
check("or of the largest total", [r[-1] for r in table("--percent-limit", "10", "empty", "b")],
      ["a.lua:1"])
check("count", [(r[0], r[1], r[-1]) for r in table("--metric", "count", "a", "b")],
      [("", "+1", "a.lua:3"), ("2", "-1", "a.lua:1"), ("1", "-1", "a.lua:2")])
check("sorted by source", table("-s", "source", "a", "b"),
      [["188", "-71", "-37.77%", "-1", "", "lua"]])

status, out, err = run("a", "a")
check("a file with itself: status", (status, err), (0, ""))
check("a file with itself: a sentence", "nothing differs: all 3 rows are the same" in out, True)
check("a file with itself: no row", [l for l in out.splitlines() if l[:1] != "#"], [])
check("a file with itself: every delta is 0",
      [r[1] for r in table("-a", "a", "a")], ["0", "0", "0"])

status, out, err = run("empty", "empty")
check("nothing to compare", (status, "there is nothing to compare" in out, err), (0, True, ""))
check("an empty baseline", table("empty", "b"), [
    ["", "+100", "", "+1", "new", "lua", "a.lua:1"],
    ["", "+10", "", "+1", "new", "lua", "a.lua:4"],
    ["", "+7", "", "+1", "new", "lua", "a.lua:3"]])
check("nothing is left", [r[:5] for r in table("b", "empty")], [
    ["100", "-100", "-100.00%", "-1", "gone"], ["10", "-10", "-100.00%", "-1", "gone"],
    ["7", "-7", "-100.00%", "-1", "gone"]])
check("blocks of size 0", [r[:5] for r in table("empty", "zero")],
      [["", "0", "", "+1", "new"], ["", "0", "", "+1", "new"]])
check("from 0 to something", table("zero", "b")[0],
      ["0", "+100", "", "0", "", "lua", "a.lua:1"])

# Four blocks of 2^63: 2^65.  One of 1 byte grows to that.
make("big", (1, BIG), (1, BIG), (1, BIG), (1, BIG), (2, 5))
make("tiny", (1, 1), (2, 5), (3, BIG), (3, BIG), (3, BIG), (3, BIG))
check("sums above 64 bits", [(r[0], r[1], r[-1]) for r in table("big", "tiny")],
      [("", "+%d" % 2 ** 65, "a.lua:3"), (str(2 ** 65), "-%d" % (2 ** 65 - 1), "a.lua:1")])
percent = [r[2] for r in table("tiny", "big") if r[-1] == "a.lua:1"][0]
check("a huge percentage", abs(float(percent.rstrip("%")) / (100 * (2.0 ** 65 - 1)) - 1) < 0.01, True)
check("huge weights", [r[1] for r in table("-c", "wdiff:2147483647,2147483647", "tiny", "big")][:1],
      ["+%d" % (2147483647 * (2 ** 65 - 1))])
check("per unit of huge work",
      [r[0] for r in table("-o", "0", "--per", str(2 ** 64 - 1), "big", "tiny")][0], "2")
for args in (["big", "tiny"], ["tiny", "big"], ["empty", "big"], ["zero", "zero", "-a"],
             ["empty", "zero"], ["-c", "ratio", "tiny", "big"], ["-c", "ratio", "empty", "zero"],
             ["--per", "3", "big", "tiny"], ["--json", "empty", "zero"], ["--markdown", "zero", "b"],
             ["--baseline", "empty,zero", "--new", "big,tiny"]):
    status, out, err = run(*args)
    low = (out + err).lower()
    check("no nan and no inf: %s" % " ".join(args),
          (status, "nan" in low, "inf" in low.replace("in full", "")), (0, False, False))

# ---- three files ----

make("c", (1, 200), (5, 9))
status, out, err = run("a", "b", "c")
lines = out.splitlines()
check("the list of files", [l.split(":")[0] for l in lines[:4]],
      ["# Data files", "#  [0] a (Baseline)", "#  [1] b", "#  [2] c"])
head = [l for l in lines if "Baseline/0" in l][0]
check("columns of three files", [w for w in
      ("Baseline/0", "Delta Abs/1", "Delta %/1", "Allocs/1", "Delta Abs/2", "Delta %/2",
       "Allocs/2") if w not in head], [])
data = [l for l in lines if l[:1] != "#"]
col = head.index("Source")
check("the columns are aligned", {l[col:col + 5] for l in data}, {"lua  "})
check("sorted by the second", [r[-1] for r in table("-o", "2", "a", "b", "c")],
      ["a.lua:1", "a.lua:2", "a.lua:4", "a.lua:5", "a.lua:3"])
dots = lines[lines.index(head) + 1]
check("dots are as wide as the columns", len(dots.rstrip()) >= col, True)
status, out, err = run("-o", "3", "a", "b", "c")
check("no such column", (status, err), (2, "ljperf: there is no data file 3 to sort by, the last is 2\n"))

# ---- rates ----

# Ten times the work and ten times the memory.
make("work1", (1, 300), (2, 7))
make("work10", *([(1, 300)] * 10 + [(2, 7)] * 10))
check("per unit of work nothing differs", table("--per", "10,100", "work1", "work10"), [])
check("without it everything does", [(r[1], r[2]) for r in table("work1", "work10")],
      [("+2700", "+900.00%"), ("+63", "+900.00%")])
# 307 / 3 = 102.333333, 3070 / 3 = 1023.333333
check("one number for all", table("-s", "source", "--per", "3", "work1", "work10"),
      [["102.333333", "+921", "+900.00%", "+6", "", "lua"]])
# 5 / 3 = 1.666667 and 10 / 3 = 3.333333
check("rates are rounded", table("--metric", "count", "-s", "source", "--per", "3", "big", "work10"),
      [["1.666667", "+5", "+300.00%", "+5", "", "lua"]])
for per in ("0", "x", "1,2,3", "1,", "-1", "1,0", "99999999999999999999"):
    status, out, err = run("--per", per, "a", "b")
    check("--per %s" % per, (status, "is no count of work" in err), (2, True))
status, out, err = run("--normalize", "second", "a", "b")
check("a plain stream has no time", (status, err),
      (2, "ljperf: 'a' does not tell how long it took\n"))
status, out, err = run("--normalize", "mark", "a", "b")
check("nor marks", (status, err), (2, "ljperf: 'a' has no marks of the program\n"))

# ---- several runs ----

for i, (x, y) in enumerate([(100, 50), (110, 50), (120, 50)]):
    make("r%d" % i, (1, x), (2, y))
for i, (x, y) in enumerate([(115, 80), (125, 90), (126, 85)]):
    make("s%d" % i, (1, x), (2, y))
# Line 1: 110 in 100..120 against 122 in 115..126: they overlap.
# Line 2: 50 against 85 in 80..90.
check("means and spreads", table("--baseline", "r0,r1,r2", "--new", "s0,s1,s2"), [
    ["50", "50..50", "85", "80..90", "+35", "+70.00%", "0", "", "lua", "a.lua:2"],
    ["110", "100..120", "122", "115..126", "+12", "+10.91%", "0", "noise", "lua", "a.lua:1"]])
check("one run against several", table("--baseline", "r0,r1,r2", "s1")[1],
      ["110", "100..120", "+15", "+13.64%", "0", "", "lua", "a.lua:1"])
make("u0", (1, 120), (2, 10))
make("u1", (1, 140), (2, 49))
# Line 1: 100..120 and 120..140 share one value; line 2: 50 and 10..49 none.
check("spreads that touch, and that do not",
      [(r[-1], r[7]) for r in table("--baseline", "r0,r2", "--new", "u0,u1")],
      [("a.lua:2", ""), ("a.lua:1", "noise")])
check("the spreads the other way round",
      [(r[-1], r[7]) for r in table("--baseline", "u0,u1", "--new", "r0,r2")],
      [("a.lua:2", ""), ("a.lua:1", "noise")])
check("a row that only some runs have",
      [r[:8] for r in table("--baseline", "empty,c", "--new", "empty,empty")][0],
      ["100", "0..200", "", "", "-100", "-100.00%", "-0.5", "gone noise"])

# ---- limits ----

def limit(*args):
    status, out, err = run("-q", "--fail-above", *args)
    return status, err


check("growth below the limit", limit("100%", "work1", "a"), (0, ""))
status, err = limit("10%", "r0", "s0")
# 150 -> 195: 30 %.
check("growth above it: status", status, 1)
check("growth above it: the message", err.splitlines()[0],
      "ljperf: allocated grew by +45 B (+30.00%) from 'r0' to 's0', more than 10%; what grew:")
check("growth above it: the rows", err.splitlines()[1:],
      ["ljperf:   +30 B (+60.00%)  lua  a.lua:2", "ljperf:   +15 B (+15.00%)  lua  a.lua:1"])
check("exactly the limit", limit("45", "r0", "s0"), (0, ""))
check("exactly the limit in percent", limit("30%", "r0", "s0")[0], 0)
check("one byte above it", limit("44", "r0", "s0")[0], 1)
check("K is 1024 bytes", (limit("1K", "empty", "c")[0], limit("0.1K", "empty", "c")[0]), (0, 1))
check("from nothing", limit("1000%", "empty", "c")[0], 1)
check("shrinking is fine", limit("0", "b", "empty"), (0, ""))
check("the same is fine", limit("0%", "a", "a"), (0, ""))
check("huge is above", limit("1000000T", "empty", "big")[0], 1)
# a -> b: 188 -> 117, but line 3 is new.
check("the total shrinks", limit("5", "a", "b")[0], 0)
status, err = limit("5", "--each", "a", "b")
check("a row grows", (status, err.splitlines()),
      (1, ["ljperf: allocated of 1 row grew from 'a' to 'b', more than 5 B:",
           "ljperf:   +7 B  lua  a.lua:3  (new)"]))
check("no row grows by that", limit("7", "--each", "a", "b"), (0, ""))
check("noise is no growth", limit("1%", "--each", "-s", "line", "--baseline", "r0,r1,r2",
                                  "--new", "r2,r0,r1"), (0, ""))
check("growth among noise", limit("1%", "--each", "--baseline", "r0,r1,r2",
                                  "--new", "s0,s1,s2")[1].count("\n"), 2)
for text in ("", "x", "-1", "1X", "1e9", "0x1", "inf", "1.2.3", "%", "1KiBx", "nan"):
    status, out, err = run("--fail-above=" + text, "a", "b")
    check("--fail-above=%s" % text, (status, "is no limit of growth" in err), (2, True))

# ---- a terminal ----

def on_terminal(columns, *args, **more):
    """What a terminal gets."""
    env = dict(os.environ, TERM="xterm", COLUMNS=str(columns), LJPERF_PAGER="", **more)
    master, slave = pty.openpty()
    p = subprocess.Popen([LJPERF, "diff", "-q"] + list(args), stdout=slave, stdin=subprocess.DEVNULL,
                         env=env)
    os.close(slave)
    out = b""
    while True:
        try:
            more = os.read(master, 4096)
        except OSError:
            break
        if not more:
            break
        out += more
    p.wait()
    os.close(master)
    return out.decode().splitlines()


make("long", (1, 106), (2, 49), (3, 1), (4, 1000), (5, 105))
make("short", (1, 100), (2, 50), (4, 1000), (5, 100))
lines = on_terminal(200, "-s", "symbol", "-c", "delta", "short", "long")
RED, GREEN, END = "\x1b[31m", "\x1b[32m", "\x1b[m"
check("red above 5 %", [RED + "+6.00%" + END in l.replace(" ", "") for l in lines],
      [True, False, False, False])
check("5 % is not above", [RED in l for l in lines if "+5.00%" in l], [False])
check("red for what is new", [RED in l for l in lines if "a.lua:3" in l], [True])
check("green for what shrank", [GREEN in l for l in lines if "a.lua:2" in l], [True])
check("no colours", [l for l in on_terminal(200, "short", "long", NO_COLOR="1") if "\x1b" in l], [])
s = Stream()
s.alloc(("@" + "w" * 300 + ".lua", 1), 10)
s.save("wide")
check("lines end where the terminal does",
      [len(l) for l in on_terminal(70, "empty", "wide", NO_COLOR="1")], [70])

# ---- names ----

s = Stream()
s.alloc(("@pipe|tick`.lua", 1), 10)
s.alloc(("@plain.lua", 2), 5)
s.alloc(("@back\\|slash*_<b>.lua", 3), 3)
s.save("odd")
out = run("--markdown", "empty", "odd")[1]
rows = [l for l in out.splitlines() if l.startswith("|")]
# As GitHub does: a cell ends at a bar that has no backslash before it.
cells = [[c.strip() for c in r.strip("|").replace("\\|", "\0").split("|")] for r in rows]
check("every row of Markdown has as many cells", {len(c) for c in cells}, {7})
check("names in Markdown", [c[-1] for c in cells[2:]],
      ["<code>pipe&#124;tick&#96;.lua:1</code>", "`plain.lua:2`",
       "<code>back&#92;&#124;slash&#42;&#95;&#60;b&#62;.lua:3</code>"])
check("a separator in a name", [len(l.split("|")) for l in
                                run("-q", "-t", "|", "empty", "odd")[1].splitlines()], [7, 7, 7])
s = Stream()
s.alloc(("@esc\x1b[31m.lua", 1), 10)
s.save("esc")
for args in ([], ["--json"], ["--markdown"], ["-t", ","], ["--fail-above", "1"]):
    status, out, err = run("empty", "esc", *args)
    check("no escape byte: %s" % " ".join(args), "\x1b" in out + err, False)

# ---- files ----

os.rename("c", "c+c")
check("a file with a plus in its name", len(table("empty", "c+c")), 2)
check("parts are added up", [(r[1], r[-1]) for r in table("empty", "a+b")][:2],
      [("+228", "a.lua:1"), ("+50", "a.lua:2")])
check("a missing part", run("a", "b+nosuch")[::2],
      (2, "ljperf: cannot open 'nosuch': No such file or directory\n"))
check("an empty part", run("a", "b+")[::2], (2, "ljperf: the name of a file is empty\n"))
check("standard input twice", run("-", "-")[::2],
      (2, "ljperf: standard input can be read only once\n"))
with open("cut", "wb") as f:
    f.write(open("a", "rb").read()[:-3])
status, out, err = run("a", "cut")
check("a cut file is compared as far as it goes",
      (status, "warning: 'cut': truncated at offset" in err, "a.lua:4" in out), (2, True, True))
check("and accepted with -f", run("-f", "a", "cut")[::2], (0, err))

# ---- properties ----

METRICS = ["allocated", "count", "live", "freed"]


def random_stream(seed, name):
    rnd = random.Random(seed)
    s = Stream()
    blocks = []
    sizes = [0, 1, 8, 64, 1000, 2 ** 32, BIG, 2 ** 64 - 1]
    for _ in range(rnd.randrange(400)):
        place = (rnd.choice(["@a.lua", "@b.lua", "=c"]), rnd.randrange(1, 12))
        what = rnd.random()
        if what < 0.5 or not blocks:
            blocks.append(s.alloc(place, rnd.choice(sizes)))
        elif what < 0.75:
            s.free(blocks.pop(rnd.randrange(len(blocks))))
        else:
            i = rnd.randrange(len(blocks))
            blocks[i] = s.realloc(place, blocks[i], rnd.choice(sizes))
    s.save(name)
    return s


def name_of(place):
    return "%s:%d" % (place[0][1:], place[1])


def model(a, b, metric):
    places = set(a.rows) | set(b.rows)
    return {name_of(p): b.rows.get(p, {}).get(metric, 0) - a.rows.get(p, {}).get(metric, 0)
            for p in places}


def without_zero(d):
    return {k: v for k, v in d.items() if v}


wrong = dict.fromkeys(["model", "opposite", "sum", "merge", "mean"], 0)
N = 12
for seed in range(N):
    a, b = random_stream(4 * seed, "pa"), random_stream(4 * seed + 1, "pb")
    c, e = random_stream(4 * seed + 2, "pc"), random_stream(4 * seed + 3, "pe")
    for metric in METRICS:
        ab = load("--metric", metric, "pa", "pb")
        ba = load("--metric", metric, "pb", "pa")
        ce = load("--metric", metric, "pc", "pe")
        merged = load("--metric", metric, "pa+pc", "pb+pe")
        d = deltas(ab)
        wrong["model"] += without_zero(d) != without_zero(model(a, b, metric))
        wrong["opposite"] += {k: -v for k, v in d.items()} != deltas(ba)
        total = ab["sides"][1]["delta"]
        wrong["sum"] += sum(d.values()) != total or \
            total != sum(model(a, b, metric).values()) or \
            ab["sides"][0]["value"] != sum(r[metric] for r in a.rows.values())
        both = dict(d)
        for k, v in deltas(ce).items():
            both[k] = both.get(k, 0) + v
        wrong["merge"] += without_zero(both) != without_zero(deltas(merged))
        mean = load("--metric", metric, "--baseline", "pa,pc", "--new", "pb,pe")
        for k, v in deltas(mean).items():
            right = Fraction(both.get(k, 0), 2)
            wrong["mean"] += abs(v - right) > Fraction(2, 10 ** 6)
for what, name in (("model", "random streams: every delta is that of the model"),
                   ("opposite", "random streams: diff(A,B) = -diff(B,A)"),
                   ("sum", "random streams: rows add up to the total"),
                   ("merge", "random streams: merging, then diffing = diffing, then summing"),
                   ("mean", "random streams: means")):
    check("%s (%d times %d)" % (name, N, len(METRICS)), wrong[what], 0)

sys.exit(bad > 0)
