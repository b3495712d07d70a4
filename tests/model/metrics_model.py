#!/usr/bin/env python3
"""metrics_model.py LJPERF FILE [--time A,B | --from M | --to M] - compares the
numbers of `ljperf report` with slow, obvious ones made from `ljperf script`;
used by tests/cli/metrics_*.sh and stacks_*.sh.

The model keeps every block that ever lived in a list and looks things up by
going through it.  Compared are, for each place: allocations, the peak, short
lives, lifetimes, chains of reallocations and sizes; for sessions with call
stacks also the trees, for each metric, and that everything adds up: trees to
rows, rows to the events, and those to the footer of the file.
"""
import json
import math
import subprocess
import sys

SEP = "\t"
FIELDS = ["allocated", "allocs", "reallocs", "live", "blocks", "peak", "peak-blocks", "temporary",
          "temporary-blocks", "objects", "final", "copied", "life", "life99", "life-time",
          "life99-time"]
METRICS = ["allocated", "live", "peak", "leaked", "freed", "temporary", "count", "copied"]
THRESHOLDS = [0, 1, 2, 10, 1000]


class Wrong(Exception):
    pass


def run(args):
    """The lines that a command prints."""
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise Wrong("'%s' failed: %s" % (" ".join(args), done.stderr.decode(errors="replace")))
    return done.stdout.decode("utf-8", "surrogateescape").split("\n")[:-1]


def number(v):
    return int(v, 0) if isinstance(v, str) else v


# ---- reading ----

class Event:
    pass


def read_events(ljperf, path):
    """Events and marks in order; names of places as report writes them."""
    names = iter(run([ljperf, "script", "-q", "-F", "number,symbol", "-i", path]))
    items = []
    for line in run([ljperf, "script", "-q", "--json", "-i", path]):
        obj = json.loads(line)
        name = next(names)
        obj["name"] = name[12:] if obj["event"] in ("alloc", "free", "realloc") else None
        items.append(obj)
    return items


def to_event(obj):
    ev = Event()
    ev.kind = obj["event"]
    ev.place = obj["name"]
    ev.time = obj.get("time_ns", 0)
    ev.old_addr, ev.old_size = number(obj.get("old_addr", 0)), obj.get("old_size", 0)
    ev.new_addr, ev.new_size = number(obj.get("new_addr", 0)), obj.get("new_size", 0)
    ev.frames = obj.get("frames")
    ev.source = obj["source"]
    return ev


def cut(items, window):
    """The items that count: those of the window, and none of lua_close()."""
    kind, begin, end = window
    out, inside = [], kind == "all" or begin is None
    for obj in items:
        if obj["event"] == "mark":
            if obj["kind"] == "close":
                break
            if kind == "marks" and obj["kind"] == "user":
                if not inside and obj.get("name") == begin:
                    inside, begin = True, None
                    continue
                if inside and obj.get("name") == end:
                    break
            # A mark on the border is of the part that events around it are of.
            if kind != "times" and inside:
                out.append(obj)
            elif kind == "times" and out and not (end is not None and obj["time_ns"] >= end):
                out.append(obj)
            continue
        if kind == "times":
            inside = obj.get("time_ns", 0) >= begin and (end is None or obj["time_ns"] < end)
        if inside:
            out.append(obj)
    return out


# ---- the model ----

class Block:
    """A block as long as it has one size; its object goes on when it is resized."""

    def __init__(self, owner, size, start, obj):
        self.owner, self.size, self.start, self.obj = owner, size, start, obj
        self.end = None   # number of the event that ended it
        self.how = None   # free, moved or replaced


class Object:
    def __init__(self, born, time):
        self.born, self.time = born, time   # None: before the recording


class Model:
    """What one pass over the events notes; everything else is asked later."""

    def __init__(self, items):
        self.items = items
        self.blocks = []          # all that ever were
        self.events = []
        self.heap, self.known = [0], [0]   # after each event
        self.clock = []           # allocations up to each event
        self.script_end = self.full_gc = None
        self.copied = []          # (owner, bytes)
        at = {}
        n_allocs = 0
        for obj in items:
            if obj["event"] == "mark":
                if obj["kind"] == "script-end":
                    self.script_end = len(self.events)
                elif obj["kind"] == "full-gc":
                    self.full_gc = len(self.events)
                continue
            if obj["event"] == "lost":
                continue
            ev = to_event(obj)
            self.events.append(ev)
            n = len(self.events)
            ok = ev.kind == "free" or ev.new_addr
            n_allocs += ev.kind == "alloc" and ev.new_addr != 0
            self.clock.append(n_allocs)
            obj_of = Object(n_allocs, ev.time) if ev.kind == "alloc" else Object(None, None)
            if ok and ev.kind != "alloc" and ev.old_addr in at and ev.old_addr:
                old = at.pop(ev.old_addr)
                old.end, old.how = n, "free" if ev.kind == "free" else "moved"
                if ev.kind == "realloc":
                    obj_of = old.obj
            if ok and ev.kind == "realloc" and ev.new_addr != ev.old_addr:
                self.copied.append((self.owner(ev), min(ev.old_size, ev.new_size)))
            if ok and ev.kind != "free":
                if ev.new_addr in at:
                    at[ev.new_addr].end, at[ev.new_addr].how = n, "replaced"
                b = Block(self.owner(ev), ev.new_size, n, obj_of)
                at[ev.new_addr] = b
                self.blocks.append(b)
            self.heap.append(self.heap[-1] + (ev.new_size - ev.old_size if ok else 0))
            self.known.append(sum(b.size for b in at.values()) if n < 4000 else
                              self.known[-1] + self.delta(n))

    def owner(self, ev):
        return (ev.place, tuple(ev.frames) if ev.frames else None, ev.source)

    def delta(self, n):
        """What the last event changed, by the blocks it began and ended."""
        begun = self.blocks[-1:] if self.blocks and self.blocks[-1].start == n else []
        ended = [b for b in self.blocks[-200000:] if b.end == n]
        return sum(b.size for b in begun) - sum(b.size for b in ended)

    def live_at(self, n):
        return [b for b in self.blocks if b.start <= n and (b.end is None or b.end > n)]

    def peak(self, has_header):
        """The number of the event after which the heap is largest, for the first time."""
        sizes = self.heap if has_header else self.known
        return sizes.index(max(sizes))

    def freed(self):
        return [b for b in self.blocks if b.how == "free"]

    def age(self, b):
        """Allocations between the birth of its object and its end."""
        return None if b.obj.born is None else self.clock[b.end - 1] - b.obj.born

    def life_ns(self, b):
        return None if b.obj.born is None else max(0, self.events[b.end - 1].time - b.obj.time)


def percentile(values, percent):
    values = sorted(values)
    return values[max(1, math.ceil(len(values) * percent / 100)) - 1]


def add(table, key, v):
    table[key] = table.get(key, 0) + v


# ---- metrics of places and of stacks ----

def metric_blocks(model, name, has_header, threshold):
    """Pairs (owner, bytes), one for each block or event that the metric counts."""
    if name == "allocated":
        return [(b.owner, b.size) for b in model.blocks]
    if name == "count":
        return [(b.owner, 1) for b in model.blocks]
    if name == "live":
        end = len(model.events) if model.script_end is None else model.script_end
        return [(b.owner, b.size) for b in model.live_at(end)]
    if name == "leaked":
        return [(b.owner, b.size) for b in model.live_at(model.full_gc)]
    if name == "peak":
        return [(b.owner, b.size) for b in model.live_at(model.peak(has_header))]
    if name == "freed":
        return [(b.owner, b.size) for b in model.blocks if b.end is not None]
    if name == "temporary":
        return [(b.owner, b.size) for b in model.freed()
                if model.age(b) is not None and model.age(b) < threshold]
    if name == "copied":
        return [(o, v) for o, v in model.copied if v]
    raise ValueError(name)


def place_numbers(model, has_header, threshold):
    """The fields of each place."""
    rows = {}

    def row(owner):
        return rows.setdefault(owner[0], dict.fromkeys(FIELDS[:12], 0))

    for ev in model.events:
        r = row(model.owner(ev))
        if ev.new_addr:
            r["allocs"] += ev.kind == "alloc"
            r["reallocs"] += ev.kind == "realloc"
    for name in ("allocated", "live", "peak", "temporary", "copied"):
        for owner, v in metric_blocks(model, name, has_header, threshold):
            r = row(owner)
            r[name] += v
            if name in ("peak", "temporary"):
                r[name + "-blocks"] += 1
            if name == "live":
                r["blocks"] += 1
    for b in model.blocks:
        if b.how != "moved":   # the last size of an object
            row(b.owner)["objects"] += 1
            row(b.owner)["final"] += b.size
    ages, times = {}, {}
    for b in model.freed():
        if model.age(b) is not None:
            ages.setdefault(b.owner[0], []).append(model.age(b))
            times.setdefault(b.owner[0], []).append(model.life_ns(b))
    for place, values in ages.items():
        rows[place]["life"] = percentile(values, 50)
        rows[place]["life99"] = percentile(values, 99)
        rows[place]["life-time"] = percentile(times[place], 50)
        rows[place]["life99-time"] = percentile(times[place], 99)
        rows[place]["n-lives"] = len(values)
    return rows


# ---- what report says ----

def report(ljperf, path, window_args, *args):
    return run([ljperf, "report", "-q", "-t", SEP, "-i", path, *window_args, *args])


def strip_function(symbol):
    """The function's name stands before the place, with two blanks."""
    return symbol.rsplit("  ", 1)[-1]


def to_ns(cell):
    whole, part = cell.split(".")
    return int(whole) * 1000000 + int(part)


def same_life(got, want, n):
    """Up to 64 values exact, else in a bucket of 1/32, whose middle is shown."""
    return got == want if n <= 64 else abs(got - want) <= want / 64 + 1e-9


def compare_row(place, got, want):
    for name, cell in zip(FIELDS, got):
        if name.startswith("life"):
            if "n-lives" not in want:
                if cell:
                    raise Wrong("%r: %s is %s, but nothing was freed" % (place, name, cell))
                continue
            value = to_ns(cell) if name.endswith("time") else int(cell)
            if not same_life(value, want[name], want["n-lives"]):
                raise Wrong("%r: %s is %d instead of %d" % (place, name, value, want[name]))
        elif int(cell) != want[name]:
            raise Wrong("%r: %s is %s instead of %d" % (place, name, cell, want[name]))


def compare_places(ljperf, path, args, model, has_header, threshold):
    want = place_numbers(model, has_header, threshold)
    want = {p: r for p, r in want.items() if r["allocs"] + r["reallocs"]}
    lines = report(ljperf, path, args, "--sort", "symbol", "--metric", "count",
                   "--temporary-threshold", str(threshold), "-F", ",".join(FIELDS + ["symbol"]))
    seen = set()
    for line in lines:
        cells = line.split(SEP)
        place = strip_function(cells[-1])
        if place not in want:
            raise Wrong("no row %r is wanted" % place)
        compare_row(place, cells, want[place])
        seen.add(place)
    if seen != set(want) or len(lines) != len(want):
        raise Wrong("rows differ: %r" % sorted(set(want) ^ seen)[:5])


def compare_sizes(ljperf, path, args, model):
    want = {}
    for b in model.blocks:
        add(want, b.size.bit_length(), b.size)
    got = [int(line.split(SEP)[0]) for line in
           report(ljperf, path, args, "--sort", "size", "-F", "allocated,size")]
    if got != [want[k] for k in sorted(want)]:
        raise Wrong("sizes: %s instead of %s" % (got, [want[k] for k in sorted(want)]))


# ---- trees ----

def read_trees(lines):
    """[(value, symbol, {stack: value})] of rows with folded trees."""
    rows = []
    for line in lines:
        if SEP in line:
            value, symbol = line.split(SEP)
            rows.append((int(value), strip_function(symbol), {}))
        else:
            value, stack = line.split(" ", 1)
            add(rows[-1][2], stack, int(value))
    return rows


def compare_trees(ljperf, path, args, model, has_header, metric, order, max_stack):
    want, total = {}, 0
    for owner, v in metric_blocks(model, metric, has_header, 1000):
        stack = full_stack(owner)[:max_stack]
        texts = stack if order == "callee" else stack[::-1]
        add(want.setdefault(owner[0], {}), ";".join(t.replace(";", ":") for t in texts), v)
        total += v
    rows = read_trees(report(ljperf, path, args, "--metric", metric, "--sort", "symbol", "-g",
                             "folded," + order, "--temporary-threshold", "1000", "--max-stack",
                             str(max_stack), "-F", metric + ",symbol"))
    for value, place, tree in rows:
        if sum(tree.values()) != value:
            raise Wrong("%s of %r: the tree has %d, the row %d" % (metric, place,
                                                                  sum(tree.values()), value))
        right = {k: v for k, v in want.get(place, {}).items() if v}
        if tree != right:
            raise Wrong("%s of %r: the tree is %r instead of %r" % (metric, place, tree, right))
    if sum(row[0] for row in rows) != total:
        raise Wrong("%s: the rows have %d, the events %d" % (metric, sum(r[0] for r in rows),
                                                            total))


def full_stack(owner):
    """The frames of an owner, from the place on: what is not on the stack itself stands
    before it, but for built-in functions, which are called at the place."""
    place, frames, source = owner
    texts = [f[0] for f in frames] if frames else []
    places = [f[1] for f in frames] if frames else []
    if places and (places[0] == place or (len(places) > 1 and places[1] == place)):
        return texts
    if source == "lua":
        raise Wrong("a place of Lua is not on its own stack: %r" % (owner,))
    return [place] + texts


def frame_pair(f):
    """The text of a frame in the tree, and its place as a row is called."""
    place = f.get("file", "") + (":%d" % f["line"] if "line" in f else "")
    if f.get("source") == "trace":
        place = "%s started at %s" % (f["func"], place) if place else f["func"]
        return place, place
    if f.get("source") == "lua":
        return f["func"] + (" " + place if place else ""), place
    return f["func"], f["func"]


def prepare_frames(items):
    for obj in items:
        if "frames" in obj:
            obj["frames"] = [frame_pair(f) for f in obj["frames"]]


def compare_children(ljperf, path, args, model, has_header, metric):
    """Each function once for each block that it is on the stack of."""
    want = {}
    for owner, v in metric_blocks(model, metric, has_header, 1000):
        places = {f[1] for f in owner[1]} if owner[1] else set()
        for place in places | {owner[0]}:
            add(want, place, v)
    total = sum(v for _, v in metric_blocks(model, metric, has_header, 1000))
    lines = report(ljperf, path, args, "--metric", metric, "--sort", "symbol", "--children",
                   "--temporary-threshold", "1000", "-F", "symbol")
    for line in lines:
        share, symbol = line.split(SEP)
        place = strip_function(symbol)
        right = 100.0 * want.get(place, 0) / total if total else 0
        if abs(float(share.rstrip("%")) - right) > 0.006:
            raise Wrong("children of %r: %s instead of %.2f%%" % (place, share, right))


# ---- everything ----

def footer_sum(ljperf, path):
    for line in run([ljperf, "info", "-i", path]):
        if line.startswith("footer totals"):
            return line
    return None


def check(ljperf, path, args, window):
    items = read_events(ljperf, path)
    has_header = is_session(path)
    prepare_frames(items)
    part = cut(items, window)
    model = Model(part)
    for threshold in THRESHOLDS:
        compare_places(ljperf, path, args, model, has_header, threshold)
    compare_sizes(ljperf, path, args, model)
    if any("frames" in obj for obj in part):
        for metric in METRICS:
            if metric == "leaked" and model.full_gc is None:
                continue
            compare_trees(ljperf, path, args, model, has_header, metric, "callee", 1000)
            compare_children(ljperf, path, args, model, has_header, metric)
        compare_trees(ljperf, path, args, model, has_header, "allocated", "caller", 1000)
        compare_trees(ljperf, path, args, model, has_header, "allocated", "caller", 3)
        compare_trees(ljperf, path, args, model, has_header, "allocated", "callee", 2)
    if is_session(path) and "agree" not in (footer_sum(ljperf, path) or "agree"):
        raise Wrong("the footer does not agree with the events")


def is_session(path):
    """Session files begin with a skippable frame, and know the size of the heap."""
    with open(path, "rb") as f:
        magic = f.read(4)
    return 0x50 <= magic[0] <= 0x5f and magic[1:] == b"\x2a\x4d\x18"


def parse_window(args):
    window = ["all", None, None]
    for i in range(0, len(args), 2):
        if args[i] == "--time":
            begin, end = args[i + 1].split(",")
            window = ["times", round(float(begin or 0) * 1e9),
                      round(float(end) * 1e9) if end else None]
        else:
            window[0] = "marks"
            window[1 if args[i] == "--from" else 2] = args[i + 1]
    return window


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        check(sys.argv[1], sys.argv[2], sys.argv[3:], parse_window(sys.argv[3:]))
    except Wrong as why:
        sys.exit(str(why).encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


if __name__ == "__main__":
    main()
