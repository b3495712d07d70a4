# places.sh - allocations whose places are known from the script alone: how
# many there are on a line, in a trace, and who frees them.
. "$(dirname "$0")/lib.sh"

# 300 strings first, in a function that is never compiled: the VM's table of
# strings (256 slots at the start, doubled when full) then has room for the 20
# of fill() and is not resized on their line.
cat >fill.lua <<'EOF'
require "table.new"
local warm = {}
local function strings() for i = 1, 300 do warm[i] = "warm-" .. i end end
jit.off(strings)
strings()
local function fill()
  local t = table.new(20, 0)
  for i = 1, 20 do
    t[i] = "fresh-" .. i
  end
  t = nil
  collectgarbage()
end
fill()
EOF

# count KIND SYMBOL: events of a kind at a place.
count()
{
	"$LJPERF" script --json -i "$rec" |
		python3 -c '
import json, sys
kind, symbol = sys.argv[1:]
print(sum(e.get("event") == kind and e.get("symbol") == symbol for e in map(json.loads, sys.stdin)))' "$1" "$2"
}

# freed SYMBOL...: how many of the blocks made there were freed by the VM.
freed()
{
	"$LJPERF" script --json -i "$rec" |
		python3 -c '
import json, sys
wanted, made, freed = set(sys.argv[1:]), set(), 0
for e in map(json.loads, sys.stdin):
    if e.get("event") == "alloc":
        (made.add if e["symbol"] in wanted else made.discard)(e["new_addr"])
    elif e.get("event") == "free" and e["old_addr"] in made:
        made.remove(e["old_addr"])
        freed += e["source"] == "vm"
print(freed)' "$@"
}

rec=off.ljm.zst
run "$LJPERF" record -q -o $rec --jit off fill.lua
is "it runs" "$status $err" "0 "
is "20 strings on their line" "$(count alloc '@fill.lua:9')" 20
is "a table and its array part on theirs" "$(count alloc '@fill.lua:7')" 2
is "the collector frees all 22" "$(freed '@fill.lua:9' '@fill.lua:7')" 22

# With hotloop=10 the loop is compiled in its 11th round: 9 are left for it.
rec=on.ljm.zst
run "$LJPERF" record -q -o $rec -Ohotloop=10 fill.lua
is "it runs with the JIT compiler" "$status $err" "0 "
is "11 strings on the line" "$(count alloc '@fill.lua:9')" 11
is "9 strings in the trace of the loop" "$(count alloc 'TRACE [1] started at @fill.lua:8')" 9

# Each chunk makes one table with one slot of its own: 64 bytes, and 2 array
# slots of 8 bytes behind it (index 0 is there too).
cat >chunks.lua <<'EOF'
for i = 1, 1e4 do
  load("return {" .. i .. "}", "=c" .. i)()
  if i % 100 == 0 then collectgarbage() end
end
EOF
for jit in off on; do
	run "$LJPERF" record -q -o c.ljm.zst --jit $jit chunks.lua
	is "10000 chunks at reused addresses, JIT $jit" "$status $err" "0 "
	is "each has exactly its own table, JIT $jit" \
		"$("$LJPERF" report -q -i c.ljm.zst -t ';' -F allocated,allocs,symbol |
			grep -E ';c[0-9]+:1$' | sort -u | awk -F ';' '{ print $1, $2 }' | uniq -c | sed 's/^ *//')" \
		"10000 80 1"
done

# Marks and events have one clock.
run "$LJPERF" record -q -o t.ljm.zst --jit off fill.lua
holds "times never go back" sh -c '"$LJPERF" script -i t.ljm.zst | awk "{ print \$2 }" | sort -c -n'

finish
