#!/bin/sh
# bench_report.sh - how fast ljperf report reads, and the memory that it needs:
# it follows live blocks, not events.  Run by "make bench".
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$(dirname "$0") exec python3 - <<'P'
import os
import tempfile

import lib_bench
from lib_bench import LJPERF, RUNS, Run, events, info, median, record, table

print("reports, medians of %d runs" % RUNS)
rows = []
with tempfile.TemporaryDirectory() as work:
    made = []
    for name, jit, factor in (("heavy", "on", 1), ("heavy", "on", 0.1), ("heavy", "off", 1),
                              ("mix", "on", 1), ("mix", "off", 1), ("keep", "off", 1)):
        path = os.path.join(work, "%s-%s-%s.zst" % (name, jit, factor))
        scale, lib_bench.SCALE = lib_bench.SCALE, lib_bench.SCALE * factor
        record(name, jit, path)
        lib_bench.SCALE = scale
        made.append((name, jit, path))
    small = os.path.join(work, "small.zst")
    empty = os.path.join(work, "empty.lua")
    open(empty, "w").close()
    Run([LJPERF, "record", "-q", "-o", small, empty])
    base = median([Run([LJPERF, "report", small]).rss for _ in range(RUNS)])
    runs = {path: ([], []) for _, _, path in made}
    for _ in range(RUNS):
        for _, _, path in made:
            runs[path][0].append(Run([LJPERF, "report", path]))
            runs[path][1].append(Run([LJPERF, "report", "--format", "memprof", path]))
    for name, jit, path in made:
        n, (default, memprof) = events(path), runs[path]
        rss = median([r.rss for r in default])
        live = int(info(path)["most live blocks"])
        rows.append([
            name, jit, "%.2f" % (n / 1e6), str(live),
            "%.2f" % median([r.wall for r in default]),
            "%.1f" % (n / median([r.cpu for r in default]) / 1e6),
            "%.1f" % (n / median([r.cpu for r in memprof]) / 1e6),
            "%.1f" % (rss / 1024), "%.0f" % (max(rss - base, 0) * 1024 / max(live, 1)),
        ])
table(["script", "JIT", "M events", "live blocks", "wall s", "M events/s CPU",
       "memprof M events/s CPU", "peak MiB", "bytes/live block"], rows)
print("peak memory of the report of an empty script: %.1f MiB\n" % (base / 1024))
P
