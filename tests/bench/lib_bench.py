"""lib_bench.py - for tests/bench: runs commands and measures them.

Every figure is a median, because the machine is not ours alone; runs that are
compared take turns.  Settings of the environment: BENCH_RUNS (5), BENCH_SCALE
(1: about 10 M events).
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

LJPERF = os.environ.get("LJPERF") or sys.exit("run this with make bench")
RUNNER = os.path.join(os.path.dirname(LJPERF), "ljperf-luajit")
HERE = os.path.dirname(os.path.abspath(__file__))
RUNS = int(os.environ.get("BENCH_RUNS", "5"))
SCALE = float(os.environ.get("BENCH_SCALE", "1"))
SIZES = {"heavy": 2600000, "mix": 2900000, "keep": 1000000}


class Run:
    """One run: wall and CPU seconds, peak memory in KiB, both outputs."""

    def __init__(self, argv, stdout=subprocess.DEVNULL):
        start = time.monotonic()
        with tempfile.TemporaryFile() as err:
            pid = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=stdout, stderr=err)
            _, status, usage = os.wait4(pid.pid, 0)
            self.wall = time.monotonic() - start
            pid.returncode = os.waitstatus_to_exitcode(status)
            err.seek(0)
            self.err = err.read().decode("utf-8", "replace")
        if pid.returncode:
            sys.exit("%s failed: %s" % (" ".join(argv), self.err))
        self.cpu = usage.ru_utime + usage.ru_stime
        self.rss = usage.ru_maxrss
        # What the script says of itself, without ljperf's own process.
        own = re.search(r"^cpu ([0-9.]+)$", self.err, re.M)
        self.own = float(own.group(1)) if own else None


def script(name):
    return [os.path.join(HERE, name + ".lua"), str(int(SIZES[name] * SCALE))]


def plain(name, jit):
    # The stock allocator, without any hook: the runner by itself.
    init = os.environ.pop("LUA_INIT", None)
    os.environ["LUA_INIT"] = "if jit then jit.%s() end" % jit
    try:
        return Run([RUNNER] + script(name))
    finally:
        del os.environ["LUA_INIT"]
        if init is not None:
            os.environ["LUA_INIT"] = init


def record(name, jit, path):
    return Run([LJPERF, "record", "-q", "--jit", jit, "-o", path] + script(name))


def info(path):
    out = subprocess.run([LJPERF, "info", path], stdout=subprocess.PIPE, check=True).stdout
    return dict(line.split(" : ", 1) for line in out.decode().splitlines() if " : " in line)


def events(path):
    return int(info(path)["events"].split()[0])


def median(values):
    return statistics.median(values)


def table(header, rows):
    rows = [header] + rows
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    for row in rows:
        print("  ".join(cell.ljust(w) if i == 0 else cell.rjust(w)
                        for i, (cell, w) in enumerate(zip(row, widths))).rstrip())
    sys.stdout.flush()
