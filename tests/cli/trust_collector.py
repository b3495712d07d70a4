# trust_collector.py - the collector is killed, stopped or slow: the program
# goes on unharmed, and what is missing in the file is counted.
import os
import random
import re
import signal
import subprocess
import time

from lib_trust import *

os.chdir(os.environ["TMPDIR"])
random.seed(int(os.environ.get("SEED", "1")))
KILLS = int(os.environ.get("KILLS", "12"))
if not LUAJIT:
    skip("the fates of the collector", "there is no luajit command to compare with")
    finish()
adopt()


class Recording:
    """ljperf record in the background, until its program has begun."""

    def __init__(self, *options, script="w.lua"):
        if os.path.exists("started"):
            os.unlink("started")
        self.out, self.err = open("out", "w+"), open("err", "w+")
        self.ljperf = subprocess.Popen([LJPERF, "record", "-o", "r.zst", *options, script], stdin=subprocess.DEVNULL,
                                       stdout=self.out, stderr=self.err)
        self.begun = wait_for(lambda: os.path.exists("started"))
        self.target = (children(self.ljperf.pid) or [0])[0]

    def kill(self, sig):
        self.ljperf.send_signal(sig)

    def wait_for_target(self):
        """Status of the program, when ljperf is no longer there to tell it."""
        status = []

        def ended():
            try:
                pid, st = os.waitpid(self.target, os.WNOHANG)
            except ChildProcessError:
                return True
            if pid:
                status.append(os.waitstatus_to_exitcode(st))
            return bool(pid)

        if not self.target or not wait_for(ended, PATIENCE):
            return "hang"
        return status[0] if status else "unknown"

    def text(self):
        self.out.seek(0)
        self.err.seek(0)
        return self.out.read(), self.err.read()


def await_exit(pid):
    def gone():
        try:
            with open("/proc/%d/stat" % pid) as f:
                return f.read().rsplit(")", 1)[1].split()[0] == "Z"
        except OSError:
            return True
    return wait_for(gone, PATIENCE)


def killed():
    silent = compared = 0
    for i in range(KILLS):
        r = Recording("--jit", "off") if i % 2 else Recording()
        time.sleep(random.random() * 0.03)
        done = r.ljperf.poll() is not None
        r.kill(signal.SIGKILL)
        r.ljperf.wait()
        if done:
            continue
        found = info("r.zst")
        if found.get("complete", "").startswith("yes"):
            continue  # all was over a moment before
        status = r.wait_for_target()
        if status == "unknown":
            continue  # ljperf had waited for the program already
        compared += 1
        own = same("collector killed", (status, *r.text()))
        check("collector killed: at most one line", own in ([], ["ljperf: the collector is gone, recording stops"]), own)
        silent += not own
        report = run([LJPERF, "report", "r.zst"])
        check("collector killed: the file is readable and known to be cut",
              found.get("complete", "").startswith("no") and report[2].count("\n") == 1
              and "truncated" in report[2] and report[0] == 2 and "Traceback" not in report[2], (found, report[2]))
    check("collector killed: it was, while programs ran", compared > 0, compared)
    check("collector killed: most programs say so", silent <= compared // 2, (silent, compared))


def events_of_all(path):
    """Events, allocations, lost events.  How many blocks are freed before the
    end differs from run to run by some thousands; how many are made does not."""
    found = info(path)
    allocs = re.search(r"\((\d+) alloc", found.get("events", ""))
    return number(found.get("events")), int(allocs.group(1)) if allocs else -1, number(found.get("lost events"))


def stopped():
    record("-q", "-o", "whole.zst", "--jit", "off", "w.lua")
    total, _, _ = events_of_all("whole.zst")
    r = Recording("--jit", "off")
    r.kill(signal.SIGSTOP)
    since = time.time()
    check("collector stopped: the program goes on", await_exit(r.target))
    took = time.time() - since
    r.kill(signal.SIGCONT)
    status = r.ljperf.wait(PATIENCE)
    own = same("collector stopped and continued", (status, *r.text()))
    # The limit of 2 s.  Each wait is told, so that the lines below count them.
    check("collector stopped: the program waits", 1.5 < took < 20, took)
    events, _, lost = events_of_all("r.zst")
    check("collector stopped: what was dropped is counted", lost > 0 and abs(events + lost - total) < 5000,
          (events, lost, total))
    check("collector stopped: said once by the program, once by ljperf",
          sum("does not read" in x for x in own) == 1 and sum("%d events were lost" % lost in x for x in own) == 1, own)
    check("collector stopped: the file is complete", info("r.zst").get("complete") == "yes", info("r.zst"))
    check("collector stopped: the report says so", str(lost) in "".join(run([LJPERF, "report", "r.zst"])[1:]))


def slow():
    """Stopped for a moment again and again: the program waits, nothing is lost."""
    record("-q", "-o", "whole.zst", "--jit", "off", "w.lua")
    _, total, _ = events_of_all("whole.zst")
    r = Recording("--jit", "off", "--ring-size", "64k")
    while r.ljperf.poll() is None:
        r.kill(signal.SIGSTOP)
        time.sleep(0.2)
        r.kill(signal.SIGCONT)
        time.sleep(0.01)
    own = same("collector slow", (r.ljperf.returncode, *r.text()))
    _, allocs, lost = events_of_all("r.zst")
    check("collector slow: nothing is lost", lost == 0 and allocs == total, (allocs, lost, total))
    check("collector slow: only the end line", len(own) == 1 and own[0].startswith("[ ljperf record: Captured"), own)


def stopped_and_killed():
    r = Recording()
    r.kill(signal.SIGSTOP)
    time.sleep(0.3)
    r.kill(signal.SIGKILL)
    r.ljperf.wait()
    own = same("collector stopped, then killed", (r.wait_for_target(), *r.text()))
    check("collector stopped, then killed: at most one line", len(own) <= 1, own)


write_program()
check("the program alone", run([LUAJIT, "w.lua"]) == PLAIN)
killed()
stopped()
slow()
stopped_and_killed()
finish()
