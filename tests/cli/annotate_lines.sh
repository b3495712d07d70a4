# annotate_lines.sh - source lines with what they allocated beside them: the
# right numbers at the right lines, of a program that makes a known number of
# tables, with sources that are there, moved, changed or gone.
. "$(dirname "$0")/lib.sh"

mkdir run run/lib elsewhere
cat >run/app.lua <<'END'
local lib = dofile("lib/make.lua")
kept = {}

for i = 1, 10 do
	kept[i] = lib.make()
	lib.make()
end
local text = load("local n = 0\n\nfor i = 1, 7 do\n  n = {}\nend\nreturn 1")
text()
local one = load("return {}, {}, {}")
one()
load("return {}", "=named")()
local c = string.rep("x", 100000)
END
cat >run/lib/make.lua <<'END'
return {
	make = function()
		return {}
	end
}
END
# Sources that are older than the recording, whatever the clock of the disk says.
touch -d '1 hour ago' run/app.lua run/lib/make.lua
cd run || exit 1
"$LJPERF" record -q -g --jit off -o ../t.zst app.lua >../out 2>&1 || not_ok "record" "$(cat ../out)"
"$LJPERF" record -q --jit off -o ../flat.zst app.lua >../out 2>&1 || not_ok "record" "$(cat ../out)"
cd ..

# cells ARG...: exact numbers of lines that have some, "allocs leaked-blocks file line".
cells()
{
	"$LJPERF" annotate -q -t, -F allocs,leaked-blocks "$@" 2>err | grep -v '^,' |
		sed -E 's/^ *([0-9]+), *([0-9]+),([^,]*),([0-9]+),.*/\1 \2 \3 \4/'
}

is "a file by its name" "$(cells -i t.zst make.lua | grep ' 3$')" "20 10 lib/make.lua 3"
is "a file by its whole name" "$(cells -i t.zst lib/make.lua | grep ' 3$')" "20 10 lib/make.lua 3"
is "and from here" "$(cells -i t.zst ./lib/make.lua | grep ' 3$')" "20 10 lib/make.lua 3"
is "several lines of one chunk" "$(cells -i t.zst function_alias_1)" \
	'7 0 function_alias_1 "local n = 0 for i = 1...." 4'
is "the text of one line" "$(cells -i t.zst "return {}, {}, {}")" "3 0 return {}. {}. {} 1"
is "a chunk with a name" "$(cells -i t.zst named | cut -d' ' -f1,3-)" "1 named 1"
is "no line has number 0" "$(cells -i t.zst | grep -c ' 0$')" 0

# string.rep is a C function; its caller is line 13.  LuaJIT may need several
# blocks for the text, of which at least one is as large as it.
bytes()
{
	"$LJPERF" annotate -q -t, -F allocated -i "$1" app.lua | awk -F, '$3 == 13 { print $1 + 0 }'
}
holds "with stacks a line has what its C functions allocate" test "$(bytes t.zst)" -ge 100000
"$LJPERF" annotate -i t.zst app.lua >out 2>err
is "no warning" "$(cat err)" ""
like "the source" "$(cat out)" "*# source: $TMPDIR/run/app.lua*    1  local lib = dofile(*"
like "a line without numbers" "$(cat out)" "*
 *   3
*"
run "$LJPERF" annotate -i t.zst function_alias_1
like "the text of a chunk is its source" "$out" "*  1  local n = 0*  2
*  3  for i = 1, 7 do*  6  return 1*"

# ---- the order ----

# Of all bytes those of line 13 are the most, then the tables of make.
"$LJPERF" annotate -q -l -t, -F allocated -i t.zst >hot
is "the hottest line comes first" "$(head -1 hot | cut -d, -f2-)" \
	'app.lua,13,local c = string.rep("x", 100000)'
holds "the hottest lines descend" sort -c -t, -k1,1nr hot
is "a limit" "$("$LJPERF" annotate -q -l --limit 2 -i t.zst | wc -l)" 2
is "a limit in percent" "$("$LJPERF" annotate -q -l --percent-limit 50 -i t.zst | wc -l)" 1
"$LJPERF" annotate -l -q -t, -F allocs --metric count -i t.zst >hot
is "by the number of blocks" "$(head -1 hot | cut -d, -f1-3)" "20,lib/make.lua,3"
"$LJPERF" annotate -i t.zst >out 2>err
is "the hottest file comes first" "$(grep '^# source:' out | sed 's/.*run.//' | tr '\n' ' ')" \
	"app.lua lib/make.lua "
like "what is of no line" "$(cat out)" "*# C functions, at no line: *"
is "context" "$("$LJPERF" annotate -q --context 1 -i t.zst make.lua | tr -d '\t' |
	sed -E 's/.* ([0-9]+  )/\1/')" "$(printf '1  return {\n2  make = function()\n3  return {}\n4  end\n5  }')"
is "no context" "$("$LJPERF" annotate -q --context 0 -F allocs -i t.zst make.lua | grep -c make)" 0

# ---- sources ----

run "$LJPERF" annotate -q --source-dir elsewhere -i t.zst make.lua
like "without the source the numbers stand alone" "$out" "* 20 * 3*"
like "and say so" "$("$LJPERF" annotate --source-dir elsewhere -i t.zst make.lua)" \
	"*# the source is not at hand*"
cp -p run/lib/make.lua elsewhere/make.lua
like "the source elsewhere" "$("$LJPERF" annotate --source-dir elsewhere -i t.zst make.lua)" \
	"*# source: elsewhere/make.lua*return {}*"
mv run gone
like "the folder is gone" "$("$LJPERF" annotate -i t.zst make.lua 2>&1)" "*not at hand*"
mkdir lib
printf 'return {}\r\n\033[31m\r\nx = 1' >lib/make.lua
touch -d '1 hour' lib/make.lua
run "$LJPERF" annotate -i t.zst make.lua
is "a newer source has one warning" "$err" "ljperf: warning: 'lib/make.lua' was changed after \
the recording; its lines may be others"
like "and is shown" "$out" "*  1  return {}
*"
is "no byte steers the terminal" "$(echo "$out" | tr -d '\n\t -~' | LC_ALL=C tr -d '\302\267' | wc -c)" 0
like "what would is visible" "$out" "*\\x1b[31m
*"
run "$LJPERF" annotate -i t.zst app.lua make.lua function_alias_1
is "one warning for all" "$(echo "$err" | wc -l)" 1
printf 'return {}' >lib/make.lua
touch -d '1 hour' lib/make.lua
like "lines that the source does not have" "$("$LJPERF" annotate -q -i t.zst make.lua)" "* 20 * 3*"
rm lib/make.lua
mkfifo lib/make.lua
run timeout 10 "$LJPERF" annotate -q -i t.zst make.lua
like "a pipe is no source" "$status $out" "0 * 20 *"
mv gone run

# ---- mistakes ----

run "$LJPERF" annotate -i t.zst mak.lua
like "no such file" "$status $err" "2 ljperf: nothing was recorded in 'mak.lua'*"
run "$LJPERF" annotate -i t.zst ake.lua
like "a part of a name is none" "$status $err" "2 ljperf: nothing was recorded in 'ake.lua'*"
run "$LJPERF" annotate -i t.zst -F allocs,symbol
like "a field of text" "$status $err" "2 ljperf: the field 'symbol' is a text*"
run "$LJPERF" annotate -i t.zst --limit 3
like "a limit of files" "$status $err" "2 ljperf: --limit needs -l*"
run "$LJPERF" annotate -i t.zst --context x
like "a context that is no number" "$status $err" "2 ljperf: 'x' is no number of lines"
run "$LJPERF" annotate -i t.zst --context 1 -l
like "lines alone have no context" "$status $err" "2 ljperf: -l shows lines alone*"
run "$LJPERF" annotate -i t.zst -t ''
like "an empty separator" "$status $err" "2 ljperf: the field separator is empty"
run "$LJPERF" annotate -i t.zst -F ''
like "no field" "$status $err" "2 ljperf: no field is given"
run "$LJPERF" annotate -i t.zst --metric pek
like "an unknown metric" "$status $err" "2 *did you mean 'peak'?"

# ---- without stacks, of several recordings, of a part ----

is "without stacks" "$(cells -i flat.zst make.lua | grep ' 3$')" "20 10 lib/make.lua 3"
is "the last of two options" "$(cells -i flat.zst --no-input -i t.zst make.lua | grep ' 3$')" \
	"20 10 lib/make.lua 3"
is "two recordings are added up" "$(cells -i t.zst -i flat.zst make.lua | grep ' 3$')" \
	"40 20 lib/make.lua 3"
is "a part of the time" "$(cells -i t.zst --time 0%-100% make.lua | grep ' 3$')" \
	"20 10 lib/make.lua 3"

# Without a full collection nobody knows what leaked, and no column says so.
(cd run && "$LJPERF" record -q --jit off --no-final-gc -o ../nogc.zst app.lua)
like "what leaked is a column" "$("$LJPERF" annotate -i t.zst make.lua | tr -s ' ')" "* Live Peak Leaked Line *"
like "it is not told where it is not known" "$("$LJPERF" annotate -i nogc.zst make.lua | tr -s ' ')" \
	"* Live Peak Line *"
run "$LJPERF" annotate -i nogc.zst --metric leaked make.lua
like "who asks for it is told" "$status $err" "2 ljperf: no full collection was recorded, *"

# Compiled code belongs to the line where its trace starts.
cat >loop.lua <<'END'
local t
for i = 1, 5000 do
	t = { i }
end
END
"$LJPERF" record -q -Ohotloop=5 -o j.zst loop.lua >out 2>&1 || not_ok "record" "$(cat out)"
run "$LJPERF" annotate -i j.zst loop.lua
like "a trace is at its first line" "$out" "*# of that, compiled code (at the line where its trace \
starts): * 2  for i = 1, 5000 do*"

finish
