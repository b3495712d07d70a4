#!/bin/sh
# bench_idle.sh - what it costs a program that the agent is there and recording is
# off: the same script by the runner alone, and with recording that never begins,
# in turn.  Run by "make bench".
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$(dirname "$0") exec python3 - <<'P'
import os
import tempfile

from lib_bench import LJPERF, RUNS, Run, median, plain, script, table

print("time of a program that is not recorded, medians of %d pairs" % RUNS)
rows = []
with tempfile.TemporaryDirectory() as work:
    path = os.path.join(work, "r.zst")

    def idle(name, jit):
        # Nothing is recorded, which is status 2.
        return Run(["sh", "-c", '"$@" || [ $? -eq 2 ]', "sh", LJPERF, "record", "-q", "-D", "-1",
                    "--toggle-signal",
                    "--jit", jit, "-o", path] + script(name))

    for name in ("heavy", "mix"):
        for jit in ("on", "off"):
            pairs = []
            for i in range(RUNS):
                if i % 2:
                    b, a = idle(name, jit), plain(name, jit)
                else:
                    a, b = plain(name, jit), idle(name, jit)
                pairs.append((a, b))
            rows.append([
                name, jit, "%.2f" % median([a.own for a, _ in pairs]),
                "%.2f" % median([b.own for _, b in pairs]),
                "%.3f" % median([b.own / a.own for a, b in pairs]),
            ])
table(["script", "JIT", "plain s", "off s", "CPU ratio"], rows)
P
