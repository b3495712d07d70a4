# names_lua.sh - names of Lua functions, of traces, and of what the VM does by
# itself, from recording to report.
. "$(dirname "$0")/lib_names.sh"

# Lines 4 and 5 are those of parse_row and of a method, line 8 of an anonymous
# function that is called through a local.
cat >names.lua <<'END'
local Stack = {}
Stack.__index = Stack
local keep = {}
local function parse_row(n) keep[#keep + 1] = { n } end
function Stack:push(n) self[n] = { n } end
local s = setmetatable({}, Stack)
for i = 1, 10 do parse_row(i) s:push(i) end
local f = function(n) return { n } end
for i = 1, 10 do keep[#keep + 1] = f(i) end
collectgarbage()
END
"$LJPERF" record -q --jit off -o names.ljm names.lua
"$LJPERF" report -q -t '|' -F symbol -i names.ljm >rows
for row in 'parse_row  names.lua:4' 'push  names.lua:5' 'f  names.lua:8'; do
	is "row of $row" "$(grep -cxF "$row" rows)" 1
done
"$LJPERF" report -q -t '|' -F allocs,func --sort func -i names.ljm >rows
is "functions" "$(sed -n 's/^[0-9]*|\(.*names.lua.*\)/\1/p' rows | sort)" \
	"$(printf '%s\n' 'f  names.lua:8' 'main chunk  names.lua' 'parse_row  names.lua:4' \
		'push  names.lua:5' | sort)"
run "$LJPERF" report -q -t '|' -F symbol -i names.ljm --metric freed
run "$LJPERF" script -F source,symbol -i names.ljm
like "the collector" "$out" "*vm *INTERNAL (collector)*"
is "memprof keeps the one word" \
	"$("$LJPERF" report --format memprof -i names.ljm | grep -c '^INTERNAL (')" 0

# A loop with a side trace, compiled.
cat >traces.lua <<'END'
jit.opt.start("hotloop=5", "hotexit=2")
local t = {}
for i = 1, 400 do
  if i % 2 == 0 then t[i] = { i } else t[i] = i .. "" end
end
END
"$LJPERF" record -q -o traces.ljm traces.lua
run "$LJPERF" report -q -v -i traces.ljm
like "the trace of the loop" "$out" "*TRACE \[1\] started at traces.lua:3 (loop)*"
like "its side trace" "$out" "*TRACE \[2\] started at traces.lua:* (side trace of 1, links to 1: root)*"
run "$LJPERF" report -q -i traces.ljm
case $out in
*"side trace"*) not_ok "details are for -v" "$out" ;;
*) ok "details are for -v" ;;
esac
run "$LJPERF" report -q -t '|' -F allocs --sort trace -i traces.ljm
like "--sort trace" "$out" "*TRACE \[2\]*"

finish
