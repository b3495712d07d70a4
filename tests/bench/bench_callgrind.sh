#!/bin/sh
# bench_callgrind.sh - instructions that ljperf report executes for one event:
# the difference between a recording and one of a tenth of its size, counted by
# valgrind, so that a busy machine does not matter.  Run by "make bench".
command -v valgrind >/dev/null || {
	echo "instructions per event: skipped, because there is no valgrind"
	exit 0
}
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$(dirname "$0") exec python3 - <<'P'
import os
import re
import tempfile

import lib_bench
from lib_bench import LJPERF, Run, events, record, table


def instructions(path, extra):
    run = Run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
               LJPERF, "report"] + extra + [path])
    return int(re.search(r"Collected : (\d+)", run.err).group(1))


print("instructions of a report for each event")
rows = []
with tempfile.TemporaryDirectory() as work:
    for name, jit in (("heavy", "on"), ("heavy", "off"), ("mix", "off")):
        paths = []
        for scale in (0.02, 0.2):
            lib_bench.SCALE = scale
            paths.append(os.path.join(work, "%s.zst" % scale))
            record(name, jit, paths[-1])
        n = events(paths[1]) - events(paths[0])
        for extra in ([], ["--format", "memprof"]):
            cost = instructions(paths[1], extra) - instructions(paths[0], extra)
            rows.append([name, jit, "memprof" if extra else "table", "%.2f" % (n / 1e6),
                         "%.1f" % (cost / n)])
table(["script", "JIT", "format", "M events", "instructions/event"], rows)
print()
P
