#!/bin/sh
# bench_stacks.sh - what recording call stacks adds to recording: the same script,
# which only makes tables, with -g and without, in turn, at several depths.  Run by
# "make bench".
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$(dirname "$0") exec python3 - <<'P'
import os
import tempfile

from lib_bench import HERE, LJPERF, RUNS, SCALE, Run, events, median, table

print("time that call stacks add, medians of %d pairs" % RUNS)
rows = []
with tempfile.TemporaryDirectory() as work:

    def record(depth, jit, extra, path):
        return Run([LJPERF, "record", "-q", "--jit", jit, "-o", path] + extra +
                   [os.path.join(HERE, "stacks.lua"), str(int(4000000 * SCALE)), str(depth)])

    flat, deep = os.path.join(work, "flat.zst"), os.path.join(work, "deep.zst")
    for depth in 1, 10, 100:
        for jit in "on", "off":
            pairs = []
            for i in range(RUNS):
                # The first of a pair is not always the same.
                if i % 2:
                    b, a = record(depth, jit, ["-g"], deep), record(depth, jit, [], flat)
                else:
                    a, b = record(depth, jit, [], flat), record(depth, jit, ["-g"], deep)
                pairs.append((a, b))
            n = events(deep)
            rows.append([
                str(depth), jit, "%.2f" % (n / 1e6),
                "%.2f" % median([a.own for a, _ in pairs]),
                "%.2f" % median([b.own for _, b in pairs]),
                "%.2f" % median([b.own / a.own for a, b in pairs]),
                "%.1f" % (median([b.own - a.own for a, b in pairs]) / n * 1e9),
                "%.2f" % (os.path.getsize(deep) / n - os.path.getsize(flat) / events(flat)),
            ])
table(["depth", "JIT", "M events", "flat s", "-g s", "CPU ratio", "CPU ns/event", "bytes/event"], rows)
print()
P
