#!/bin/sh
# bench_day.sh - a day of recording in some minutes: 200 M events, as many as a
# program makes in 24 hours at 2300 a second, of functions, traces and call stacks
# that come and go (day.lua).  Prints what the program and the recorder have in
# memory, which must not grow after the first million, and what report takes.
# Run by "make bench".  DAY_EVENTS is another number of events.
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$(dirname "$0") exec python3 - <<'P'
import os
import re
import subprocess
import sys
import tempfile
import time

from lib_bench import HERE, LJPERF, Run, table

EVENTS = int(os.environ.get("DAY_EVENTS", "200000000"))
OWN = int(EVENTS / 1.57)  # allocations of the script; blocks are freed, too
STEP = max(OWN // 20, 500000)
GROWTH = 2048  # KiB

print("a day of recording: %.0f M events" % (EVENTS / 1e6))
with tempfile.TemporaryDirectory() as work:
    path = os.path.join(work, "day.zst")
    start = time.monotonic()
    p = subprocess.run([LJPERF, "record", "-q", "-g", "-o", path, os.path.join(HERE, "day.lua"), str(OWN), str(STEP)],
                       stdout=subprocess.PIPE, check=True, text=True)
    wall = time.monotonic() - start
    samples = [[int(x) for x in line.split()] for line in p.stdout.splitlines()]
    info = subprocess.run([LJPERF, "info", path], stdout=subprocess.PIPE, check=True, text=True).stdout
    events, lost = (int(re.search("^%s : ([0-9]+)" % x, info, re.M).group(1)) for x in ("events", "lost events"))
    table(["M allocations", "program KiB", "recorder KiB"], [["%.1f" % (n / 1e6), str(a), str(b)] for n, a, b in samples])
    print("recorded %d events in %.0f s, %d lost, %.2f bytes/event" % (events, wall, lost, os.path.getsize(path) / events))
    start = time.monotonic()
    report = Run([LJPERF, "report", "-q", "--no-symbols", path])
    print("report: %.0f s, %.0f MiB" % (time.monotonic() - start, report.rss / 1024))
    first = next(s for s in samples if s[0] >= min(1000000, OWN))
    for name, i in (("program", 1), ("recorder", 2)):
        grown = max(s[i] for s in samples) - first[i]
        print("%s: %d KiB more than after the first million" % (name, grown))
        if grown > GROWTH or lost:
            sys.exit("it grows")
P
