# names_turns.sh - two libraries that are loaded at one address in turns: what
# each allocates stands in a row under its own name.
. "$(dirname "$0")/lib_names.sh"
need readelf python3

# shellcheck disable=SC2086
$CC -shared -fPIC -O2 -o cmod_load.so "$source/cmod_load.c" -ldl
build one.so -g -DNAME=one
build two.so -g -DNAME=two
cat >turns.lua <<'END'
package.cpath = "./?.so"
local load = require "cmod_load"
local seen, same = {}, 0
for i = 1, 20 do
  local name = i % 2 == 1 and "one" or "two"
  for n = 1, name == "one" and 1 or 3 do
    local addr, f = load.open("./" .. name .. ".so", name .. "_make")
    f()
    if seen[addr] and seen[addr] ~= name then same = same + 1 end
    seen[addr] = name
    f = nil
    load.close()
  end
end
print(same)
END
run "$LJPERF" record -q --jit off -o turns.ljm turns.lua
is "the program runs" "$status $err" "0 "
if [ "${out:-0}" -eq 0 ]; then
	skip "names in turns" "because the two were never loaded at one address"
	finish
fi
# Ten rounds: one is called once in each, two three times; each call makes a
# table and its array part.
"$LJPERF" report -q -t ' ' -F allocs,symbol -i turns.ljm >rows
is "calls of one" "$(sed -n 's/ one_make$//p' rows)" 20
is "calls of two" "$(sed -n 's/ two_make$//p' rows)" 60
is "its modules" "$("$LJPERF" info --buildids -i turns.ljm | grep -c '/\(one\|two\)\.so$')" 2
is "build ids" "$("$LJPERF" info --buildids -i turns.ljm | grep '/\(one\|two\)\.so$' |
	cut -d' ' -f1 | sort)" "$(for f in one two; do build_id $f.so; done | sort)"

finish
