# demo.sh - what README promises of the sample program: two commands, and the
# report points at the cache that never forgets.
. "$(dirname "$0")/lib.sh"

cp "$LJPERF_SOURCE/samples/demo.lua" .
luajit demo.lua >plain
run "$LJPERF" record --jit off demo.lua
is "the status is 0" "$status" 0
is "the output is that of luajit" "$out" "$(cat plain)"
like "one line at the end" "$err" "[[] ljperf record: Captured and wrote *B ljperf.ljm.zst (* events, *.* bytes/event) []]"
is "only the owner may read the file" "$(stat -c %a ljperf.ljm.zst)" 600
run "$LJPERF" report
is "report without arguments reads it" "$status $err" "0 "

# field N PLACE: column N of the row of a place.
field()
{
	"$LJPERF" report -q -t ';' -F allocs,leaked-blocks,symbol | grep -F ";$2" | cut -d ';' -f "$1"
}

# Line 16 makes one table for each of the 100000 lines of CSV, and keeps none.
is "tables of parse_line" "$(field 1 'parse_line  demo.lua:16')" 100000
is "none of them is left" "$(field 2 'parse_line  demo.lua:16')" 0
# Line 30 makes one text for each; now and then the table of strings grows.
receipts=$(field 2 'receipt  demo.lua:30')
holds "all 100000 receipts are left, and few other blocks: $receipts" \
	test "$receipts" -ge 100000 -a "$receipts" -lt 100010
like "they stand on top of what leaked" \
	"$("$LJPERF" report -q --metric leaked | head -n 1)" "*receipt  demo.lua:30"

# What README shows is what there is: the words above the table and the places, by
# their order; sizes and numbers differ a little from run to run.
shown()
{
	sed -n 's/^ *\(# [a-zO.0-9].*\)$/\1/p; s/^ *[0-9.]*%.* \(lua  *[^ ].*\)$/\1/p' | sed 's/LuaJIT [^,]*/LuaJIT/; s/[0-9][0-9.]*\( [KM]iB\| m*s\)*/N/g' |
		sed 's/\.\.*/./g; s/  */ /g' | head -n 11 | sort
}
sed -n '/^    \$ ljperf report$/,/^ *\.\.\.$/p' "$LJPERF_SOURCE/README.md" | shown >readme
"$LJPERF" report | shown >real
is "README shows the report" "$(cat readme)" "$(cat real)"
is "with its first rows" "$(grep -c '^lua' readme)" 6

like "a filter that fits nothing says so" "$("$LJPERF" report --symbol nowhere)" \
	"*# there are no allocations that the filters let through"
like "so does a part without events" "$("$LJPERF" report --time 1000,2000)" \
	"*# there are no allocations in this part of the recording"

run "$LJPERF" record -q demo.lua
is "with the JIT compiler the output is the same" "$status $out" "0 $(cat plain)"
holds "the recording before is kept" test -f ljperf.ljm.zst.old
like "info finds both complete" "$("$LJPERF" info ljperf.ljm.zst ljperf.ljm.zst.old)" \
	"*complete : yes*agree with the events*complete : yes*agree with the events*"

finish
