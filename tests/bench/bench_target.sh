#!/bin/sh
# bench_target.sh - what recording costs the program: the same script by the
# runner alone and recorded, in turn, with the JIT compiler and without; and the
# bytes that an event takes in the file.  Run by "make bench".
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$(dirname "$0") exec python3 - <<'P'
import os
import tempfile

from lib_bench import RUNS, events, median, plain, record, table

print("time added to the program, medians of %d pairs" % RUNS)
rows = []
with tempfile.TemporaryDirectory() as work:
    path = os.path.join(work, "r.zst")
    for name in ("heavy", "mix"):
        for jit in ("on", "off"):
            pairs = []
            for i in range(RUNS):
                # The first of a pair is not always the same.
                if i % 2:
                    b, a = record(name, jit, path), plain(name, jit)
                else:
                    a, b = plain(name, jit), record(name, jit, path)
                pairs.append((a, b))
            n = events(path)
            own = median([b.own - a.own for a, b in pairs])
            rows.append([
                name, jit, "%.2f" % (n / 1e6),
                "%.2f" % median([a.own for a, _ in pairs]),
                "%.2f" % median([b.own for _, b in pairs]),
                "%.2f" % median([b.own / a.own for a, b in pairs]),
                "%.1f" % (own / n * 1e9),
                "%.2f" % median([b.wall / a.wall for a, b in pairs]),
                "%.1f" % (median([b.wall - a.wall for a, b in pairs]) / n * 1e9),
                "%.1f" % (median([b.cpu - a.cpu for a, b in pairs]) / n * 1e9),
                "%.2f" % (os.path.getsize(path) / n),
            ])
table(["script", "JIT", "M events", "plain s", "recorded s", "CPU ratio", "CPU ns/event",
       "wall ratio", "wall ns/event", "both CPU ns/event", "bytes/event"], rows)
print("CPU: of the program's process; both: with ljperf's, which compresses and writes\n")
P
