# trust_volume.py - a long recording takes no more memory than a short one, in the
# program and in the recorder, though functions, traces and call stacks come and
# go; tests/bench/bench_day.sh is the same for a day.
from lib_trust import *

os.chdir(os.environ["TMPDIR"])
ALLOCATIONS, STEP, FIRST = 3000000, 250000, 750000  # two million events, and five millions more
GROWTH = 1024  # KiB; a set that kept 20 bytes of each function or stack would take 2 MiB

if sanitized():
    skip("the memory of a long recording", "a sanitizer keeps what was freed")
    finish()
day = os.path.join(SOURCE, "tests/bench/day.lua")
status, out, err = record("-g", "-o", "day.zst", day, str(ALLOCATIONS), str(STEP), patience=240)
samples = [[int(x) for x in line.split()] for line in out.splitlines()]
check("a long recording", status == 0 and len(samples) >= ALLOCATIONS // STEP - 1, (status, out, err))
found = info("day.zst")
check("it is whole", found.get("complete") == "yes" and number(found.get("lost events")) == 0, found)
# 10,000 rounds would have 20,000 functions; each round is 800 allocations or so.
check("functions came and went", number(found.get("symbols")) > 5000, found)
first = next((s for s in samples if s[0] >= FIRST), None)
for name, i in (("the program", 1), ("the recorder", 2)):
    grown = max(s[i] for s in samples) - first[i]
    check("%s does not grow" % name, grown < GROWTH, samples)
finish()
