#!/usr/bin/env python3
"""export_model.py LJPERF FILE [--time A,B | --from M | --to M] - compares what
`ljperf export` writes, in every format, with sums made from `ljperf script`;
used by tests/cli/export_random.sh.

For each metric the model has the bytes of each stack.  A recording without
stacks is compared by its places: those of Lua lines one by one, the others
together.  Everything must also add up to what `ljperf report` prints.
"""
import json
import re
import subprocess
import sys

import export_read as formats
import metrics_model as metrics
from export_read import Wrong, add, need

METRICS = ["allocated", "live", "peak", "freed", "temporary", "copied"]
THRESHOLD = 1000


# ---- stacks out of script ----

def frame_place(frame):
    """A frame as a row of report is called."""
    name, file, line = frame
    place = file + (":%d" % line if line else "")
    if name.startswith("TRACE ["):
        return "%s started at %s" % (name, place) if line else name
    return place if line or name == "main chunk" or name.startswith("function <") else name


def own_frame(obj):
    """What is not on the stack itself."""
    if obj["source"] == "c":
        return (obj["name"], obj.get("module", ""), 0)
    return (obj["name"], "", 0)


def prepare_stack(obj):
    frames = [(f["func"], f.get("file", ""), f.get("line", 0)) for f in obj.get("frames", [])]
    places = [frame_place(f) for f in frames[:2]]
    if obj["name"] not in places:
        frames = [own_frame(obj)] + frames
    return tuple(reversed(frames))


def read_events(ljperf, path):
    """Events and marks in order, with the names of places as report writes them."""
    script = [ljperf, "script", "-q", "--no-symbols", "-i", path]
    names = iter(metrics.run(script + ["-F", "number,symbol"]))
    items = [json.loads(line) for line in metrics.run(script + ["--json"])]
    for obj, name in zip(items, names):
        obj["name"] = name[12:] if obj["event"] in ("alloc", "free", "realloc") else None
    return items


def read_model(ljperf, path, window):
    items = read_events(ljperf, path)
    has_stacks = any("frames" in obj for obj in items)
    for obj in items:
        if obj["name"] is not None:
            obj["frames"] = prepare_stack(obj)
    return metrics.Model(metrics.cut(items, window)), has_stacks


def stacks_of(model, metric, has_header):
    """{stack: [bytes, blocks]} of a metric."""
    out = {}
    for (_, stack, _), v in metrics.metric_blocks(model, metric, has_header, THRESHOLD):
        sums = out.setdefault(stack, [0, 0])
        sums[0] += v
        sums[1] += 1
    return out


# ---- the formats ----

class Check:
    def __init__(self, ljperf, path, args, window, has_header):
        self.ljperf, self.path, self.args, self.has_header = ljperf, path, args, has_header
        self.model, self.has_stacks = read_model(ljperf, path, window)

    def export(self, fmt, *args):
        cmd = [self.ljperf, "export", "-q", "--no-symbols", "--format", fmt, "-i", self.path,
               *self.args, *args]
        if fmt != "ljm":
            cmd += ["--temporary-threshold", str(THRESHOLD)]
        done = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        need(done.returncode == 0 and not done.stderr, " ".join(cmd), done.stderr.decode())
        return done.stdout

    def want(self, metric, blocks=False):
        return {k: v[blocks] for k, v in stacks_of(self.model, metric, self.has_header).items()
                if v[blocks]}

    def same(self, what, got, want):
        need(sum(got.values()) == sum(want.values()), what, "adds up to", sum(got.values()),
             "instead of", sum(want.values()))
        if self.has_stacks:
            differ = [k for k in set(got) | set(want) if got.get(k) != want.get(k)]
        else:
            got, want = places(got), places(want)
            differ = [k for k in set(got) | set(want) if got.get(k) != want.get(k)]
        need(not differ, what, "differs at", differ[:1],
             [(got.get(k), want.get(k)) for k in differ[:1]])

    def folded(self):
        for metric in METRICS:
            got = formats.read_folded(self.export("folded", "--metric", metric))[""]
            want = {}
            for stack, v in self.want(metric).items():
                add(want, tuple(folded_frame(f) for f in stack), v)
            need(sum(got.values()) == sum(want.values()), "folded", metric)
            need(got == want or not self.has_stacks, "folded", metric, "has other stacks")

    def speedscope(self):
        got = formats.read_speedscope(self.export("speedscope", "--metric", ",".join(METRICS)))
        for metric in METRICS:
            self.same("speedscope " + metric, got[metric], self.want(metric))
            if metric != "copied":
                self.same("speedscope blocks " + metric, got[metric + " (blocks)"],
                          self.want(metric, True))

    def pprof(self):
        got = formats.read_pprof(self.export("pprof", "--metric", "allocated,live,peak"))
        for metric, name in (("allocated", "alloc"), ("live", "inuse"), ("peak", "peak")):
            want = self.want(metric)
            if max([v for v in want.values()] or [0]) < 2 ** 63:
                self.same("pprof " + name, got[name + "_space"], want)
            self.same("pprof blocks " + name, got[name + "_objects"], self.want(metric, True))

    def callgrind(self):
        file = formats.read_callgrind(self.export("callgrind", "--metric", "allocated,live"))
        need(file.events == ["allocated", "allocated_blocks", "live", "live_blocks"], file.events)
        for i, (metric, blocks) in enumerate((("allocated", 0), ("allocated", 1), ("live", 0),
                                              ("live", 1))):
            own, calls = {}, {}
            for stack, v in self.want(metric, blocks).items():
                add(own, callgrind_place(stack[-1]), v)
                for call in {(callgrind_place(a), callgrind_func(b))
                             for a, b in zip(stack, stack[1:])}:
                    add(calls, call, v)
            got = {k: c[i] for k, c in file.self_costs.items() if c[i]}
            need(sum(got.values()) == sum(own.values()), "callgrind", metric)
            if self.has_stacks:
                need(got == own, "callgrind", metric, "has other costs")
                got = {k: c[i] for k, c in file.calls.items() if c[i]}
                need(got == calls, "callgrind", metric, "has other calls")

    def firefox(self):
        got = formats.read_firefox(self.export("firefox", "--metric", "allocated,live,peak"))
        for metric in ("allocated", "live", "peak"):
            self.same("firefox " + metric, got[metric], self.want(metric))
        freed = sum(ev.old_size for ev in self.model.events
                    if ev.kind != "alloc" and (ev.kind == "free" or ev.new_addr))
        need(sum(got["deallocated"].values()) == freed, "firefox deallocated", freed)
        # Without a header the heap is what is known of it.
        if not self.has_header:
            need(got["heap"][()] == max(self.model.known), "firefox heap", got["heap"],
                 max(self.model.known))

    def tables(self):
        names = ["allocated", "live", "freed", "peak"]
        args = ["--metric", "count", "-F", ",".join(names) + ",count,symbol"]
        rows = formats.read_csv(self.export("csv", *args))
        obj = formats.read_json(self.export("json", *args))
        report = subprocess.run([self.ljperf, "report", "-q", "--no-symbols", "-t", "\x1f", "-i",
                                 self.path, *self.args, *args], stdout=subprocess.PIPE).stdout
        lines = [line.split("\x1f") for line in report.decode().split("\n")[:-1]]
        need(len(rows) == len(obj["rows"]) == len(lines), "as many rows as report")
        for i, name in enumerate(names + ["count"]):
            total = sum(self.want("allocated", True).values()) if name == "count" else \
                sum(self.want(name).values())
            for what, got in (("csv", [int(r[name]) for r in rows]),
                              ("json", [r[name] for r in obj["rows"]]),
                              ("report", [int(line[i]) for line in lines])):
                need(sum(got) == total, what, name, "adds up to", sum(got), "instead of", total)
                need(got == [int(r[name]) for r in rows], what, name, "has another order")
            need(obj["totals"][name] == total, "json total of", name)

    def run(self):
        for check in (self.folded, self.speedscope, self.pprof, self.callgrind, self.firefox,
                      self.tables):
            check()


def folded_frame(frame):
    name, file, line = frame
    text = name.replace(";", ":").replace(" ", "_")
    if file and not is_module(frame):
        text += "@" + file.replace(";", ":").replace(" ", "_") + (":%d" % line if line else "")
    return text


def is_module(frame):
    """The file of a C function is the one that has its code."""
    return not frame[2] and not frame[1].endswith(".lua")


def callgrind_place(frame):
    if is_module(frame):
        return ("???", frame[0], frame[2], frame[1])
    return (frame[1] or "???", frame[0], frame[2], "")


def callgrind_func(frame):
    file, func, _, module = callgrind_place(frame)
    return (file, func, module)


def places(stacks):
    """Sums by place, of stacks of one frame: script names the place, other tools a
    function and a line."""
    out = {}
    for stack, v in stacks.items():
        name, file, line = stack[-1]
        text = frame_place(stack[-1]) if file else name
        m = re.fullmatch(r".*[^:]:[0-9]+", text, re.DOTALL)
        known = m and not text.startswith(("0x", "TRACE", "[builtin")) and "\\x1b" not in text
        add(out, text if known else "other", v)
    return out


def parse_window(args):
    if not args:
        return ("all", None, None)
    if args[0] == "--time":
        begin, end = (float(v) if v else None for v in args[1].split(","))
        return ("times", (begin or 0) * 1e9, None if end is None else end * 1e9)
    marks = dict(zip(args[::2], args[1::2]))
    return ("marks", marks.get("--from"), marks.get("--to"))


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    ljperf, path, args = sys.argv[1], sys.argv[2], sys.argv[3:]
    with open(path, "rb") as f:
        has_header = f.read(4) != b"ljs\x03" and b"LJPF" in f.read(4096)
    try:
        Check(ljperf, path, args, parse_window(args), has_header).run()
    except (Wrong, metrics.Wrong) as e:
        sys.exit("%s: %s" % (path, e))


if __name__ == "__main__":
    main()
