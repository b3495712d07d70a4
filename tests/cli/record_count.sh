# record_count.sh - what the events add up to between two moments is what
# collectgarbage("count") says the heap has grown by, to the byte.
. "$(dirname "$0")/lib_record.sh"

# Lines 7 and 12 make a table each and nothing else: they mark the two moments.
# The collector stands still there, because its step comes before the table.
cat >count.lua <<'L'
local count, name = collectgarbage, arg[1]
local work = assert(loadfile(name))
local from, to, mark
arg = { [0] = name, arg[2] }
count("stop")
from = count("count")
mark = {}
count("restart")
work()
count("stop")
to = count("count")
mark = { 1 }
io.stderr:write(("%.0f\n"):format((to - from) * 1024))
os.exit(0)
L

# grown: the sum over the events from the first on line 7 to the first on line 12.
grown()
{
	"$LJPERF" script --json -i r.zst | python3 -c '
import json, sys
state, total = 0, 0
for e in map(json.loads, sys.stdin):
    if e["event"] not in ("alloc", "free", "realloc"):
        continue
    if e.get("chunk", "").endswith("count.lua"):
        if state == 0 and e["line"] == 7:
            state = 1
        elif state == 1 and e["line"] == 12:
            state = 2
    if state == 1:
        total += e.get("new_size", 0) - e.get("old_size", 0)
print(total if state == 2 else "no marks")'
}

agrees()
{
	run "$LJPERF" record -q -o r.zst --jit "$2" count.lua "$programs/$1.lua" "${3:-}"
	is "$1, JIT $2: the sum of the events" "$status $(grown)" "0 $(echo "$err" | tail -1)"
}

for jit in off on; do
	agrees json $jit 10
	agrees tokens $jit 10
	agrees nbody $jit 500
	agrees events $jit 500
	agrees structs $jit 10
	for name in odd_metamethods odd_sources odd_flush odd_memory odd_finalizers odd_recursion \
		odd_bytecode odd_strings odd_callbacks odd_hooks odd_sort; do
		agrees $name $jit
	done
done
finish
