# diff_runs.sh - ljperf diff on recordings of real programs: nothing differs
# between two runs, lines that moved, what the command's files and statuses are.
. "$(dirname "$0")/lib.sh"

record()
{
	"$LJPERF" record -q --jit off "$@" || not_ok "record $*" "status $?"
}

# rows ARGUMENTS...: the rows of a diff, with exact numbers.
rows()
{
	"$LJPERF" diff -q -t ';' "$@"
}

cat >app.lua <<'EOF'
local function make(n)
	local t = {}
	for i = 1, n do
		t[i] = { i }
	end
	return t
end
local M = {}
function M.read(n)
	local t = make(n)
	return t
end
function M:name(i)
	return "name " .. i
end
local all = {}
for i = 1, 50 do
	all[i] = M:name(i)
end
M.read(100)
local twice = function(f) return { f(), f() } end
all.pair = twice(function() return { 1, 2, 3 } end)
EOF

# ---- default files ----

run "$LJPERF" diff
is "no recording at all: status" "$status" 2
is "no recording at all: message" "$err" \
	"ljperf: cannot open 'ljperf.ljm.zst.old': No such file or directory
ljperf: 'ljperf record' keeps the recording before under that name; record twice, or name the files"
record app.lua
record app.lua
run "$LJPERF" diff
is "the last two recordings: status" "$status$err" 0
like "the last two recordings" "$out" \
	"*\[0\] ljperf.ljm.zst.old (Baseline)*\[1\] ljperf.ljm.zst: app.lua*nothing differs: all * rows are the same"
is "nothing differs between two runs" "$(rows)" ""
is "each row is there, and its delta is 0" \
	"$(rows --all | cut -d ';' -f 2 | sort -u)" 0
holds "there are rows" test "$(rows --all | wc -l)" -gt 8
for metric in live peak leaked freed temporary count copied; do
	is "nothing differs in $metric" "$(rows --metric $metric)" ""
done
for key in line symbol func chunk module source trace vmstate size vm vm,size; do
	is "nothing differs by $key" "$(rows --sort $key)" ""
done
like "by VM all is one row" "$(rows --all --sort vm)" "*;0;0.00%;0;;VM 1*"
is "by callers of nobody knows whom" "$("$LJPERF" diff -s parent 2>&1)" \
	"ljperf: the key 'parent' needs --parent"
is "trees of recordings without call stacks" "$("$LJPERF" diff -g 2>&1)" \
	"ljperf: 'ljperf.ljm.zst.old' has no call stacks (ljperf record -g writes them)"
is "callers of recordings without call stacks" "$("$LJPERF" diff -s parent --parent x 2>&1)" \
	"ljperf: 'ljperf.ljm.zst.old' has no call stacks (ljperf record -g writes them)"
like "C functions without names" "$(rows --all --no-symbols | grep ';c;')" "*;c;*+0x*"
like "how they were made" "$("$LJPERF" diff -v)" "*(Baseline): app.lua*#      cmdline : *app.lua*\[1\]*cmdline*"
is "a file with itself" "$(rows ljperf.ljm.zst ljperf.ljm.zst)" ""
run "$LJPERF" diff ljperf.ljm.zst
like "one file is compared with the recording before" "$out" "*\[0\] ljperf.ljm.zst.old (Base*"
cp ljperf.ljm.zst first.zst

# ---- a change below ten new lines ----

# Each of 100 tables grows by as much; everything else only moves.
mkdir new
{
	for i in 1 2 3 4 5 6 7 8 9 10; do echo "-- line $i"; done
	sed 's/{ i }/{ i, i, i, i, i, i, i }/' app.lua
} >new/app.lua
(cd new && record -o ../second.zst app.lua)
is "by function only the change is seen" \
	"$(rows --sort func first.zst second.zst | grep ';lua;' | cut -d ';' -f 4,5,6,7)" \
	"0;;lua;make  app.lua"
grown=$(rows --sort func first.zst second.zst | sed -n 's/^[0-9]*;+\([0-9]*\);.*;make .*/\1/p')
is "and it is that of 100 tables" $((${grown:-1} % 100)) 0
holds "by line all rows moved" test "$(rows first.zst second.zst | grep -c ';new;')" -ge 8
like "fuzzy, with the sources at hand" \
	"$(rows --match fuzzy first.zst second.zst | grep ';lua;')" \
	"*;0;fuzzy;lua;make  app.lua:4 -> app.lua:14"
is "fuzzy: no other line differs" \
	"$(rows --match fuzzy first.zst second.zst | grep -c ';lua;')" 1

# A line between the others: by their text, they stay what they are, and the
# new one is new.  Without the text there is only the distance from the start.
sed '3i\	local more = { n, n, n }' app.lua >new/app.lua
(cd new && record -o ../third.zst app.lua)
is "fuzzy: a new line among others" \
	"$(rows --match fuzzy first.zst third.zst | grep ';lua;' | cut -d ';' -f 4,5,6,7)" \
	"+1;new;lua;make  app.lua:3"
rm -r new
is "fuzzy, without the sources: the lines before are joined" \
	"$(rows --match fuzzy first.zst third.zst | grep -c 'app.lua:2$')" 0
touch app.lua
is "a source that was written since is not at hand" \
	"$(rows --match fuzzy first.zst ljperf.ljm.zst.old)" ""

# ---- with the JIT compiler ----

cat >loop.lua <<'EOF'
local t
for i = 1, 20000 do
	t = { i }
end
EOF
for i in 1 2; do
	"$LJPERF" record -q -o jit$i.zst loop.lua
done
like "traces are joined by where they start" "$(rows --all jit1.zst jit2.zst)" \
	"*;trace;TRACE started at loop.lua:2*"

# ---- rates ----

echo 'for i = 1, tonumber(arg[1]) do local t = { i } end' >work.lua
record -o w1.zst work.lua 1000
record -o w2.zst work.lua 3000
is "per unit of work" "$(rows --per 1000,3000 w1.zst w2.zst | grep work.lua:1)" ""
like "without it" "$(rows w1.zst w2.zst | grep work.lua:1)" "*;+200.00%;+2000;*"
run "$LJPERF" diff --normalize second w1.zst w2.zst
is "per second: status" "$status$err" 0
like "per second: what it says" "$out" "*# allocated per second *"

# ---- statuses ----

run "$LJPERF" diff -q --fail-above 10% w1.zst w2.zst
is "above the limit: status" "$status" 1
like "above the limit: the rows" "$err" \
	"ljperf: allocated grew by +* from 'w1.zst' to 'w2.zst', more than 10%; what grew:*
ljperf:   +*%)  lua  work.lua:1*"
run "$LJPERF" diff -q --fail-above 10% w2.zst w1.zst
is "below the limit" "$status$err" 0
run "$LJPERF" diff -q --fail-above 10% --each first.zst ljperf.ljm.zst
is "the same program" "$status$err$out" 0
run "$LJPERF" diff nosuch.zst w1.zst
is "no such file" "$status $err" "2 ljperf: cannot open 'nosuch.zst': No such file or directory"
echo "no recording" >text
run "$LJPERF" diff text w1.zst
is "no recording" "$status" 2
run "$LJPERF" diff --metric leake w1.zst w2.zst
is "an unknown metric" "$status $err" "2 ljperf: unknown metric 'leake', did you mean 'leaked'?"
run "$LJPERF" diff -c delt w1.zst w2.zst
is "an unknown computation" "$status $err" "2 ljperf: unknown computation 'delt', did you mean 'delta'?"
run "$LJPERF" diff -c zzzzzz w1.zst w2.zst
is "a computation like none" "$status $err" \
	"2 ljperf: unknown computation 'zzzzzz', known are: delta-abs, delta, ratio, wdiff"
run "$LJPERF" diff --normalize seconds --per 3 w1.zst w2.zst
like "two ways to normalize" "$status $err" "2 ljperf: --normalize and --per exclude each other"
run "$LJPERF" diff --json --markdown w1.zst w2.zst
like "two ways to print" "$status $err" "2 ljperf: --json and --markdown exclude each other"
run "$LJPERF" diff -t '' w1.zst w2.zst
like "an empty separator" "$status $err" "2 ljperf: the field separator is empty"
run "$LJPERF" diff --each w1.zst w2.zst
like "each without a limit" "$status $err" "2 ljperf: --each says what --fail-above is for*"
run "$LJPERF" diff -c wdiff:1 w1.zst w2.zst
like "weights that are missing" "$status $err" "2 ljperf: wdiff needs two whole weights*"
run "$LJPERF" diff --new w1.zst
is "runs without a baseline" "$status $err" "2 ljperf: --new needs --baseline"
run "$LJPERF" diff --baseline w1.zst
like "a baseline alone" "$status $err" "2 ljperf: there is nothing to compare the baseline with*"
"$LJPERF" diff -a first.zst second.zst 2>err | head -n 1 >head
is "a reader that has seen enough" "$(cat err)" ""
is "a plain stream on standard input" "$(zstd -dc first.zst | "$LJPERF" diff -q -t ';' -s source - first.zst)" ""

# ---- what is compared with what ----

# note: what diff says of the two recordings.
note()
{
	"$LJPERF" diff "$@" | sed -n 's/^# note: //p'
}
record -o same1.zst app.lua
record -o same2.zst app.lua
is "the same program has no note" "$(note same1.zst same2.zst)" ""
record -o args.zst app.lua 1 "a b"
is "another command line" "$(note same1.zst args.zst)" "different command lines"
"$LJPERF" record -q -o jit.zst app.lua
is "with the JIT compiler" "$(note same1.zst jit.zst)" "different options of record"
is "one of three" "$(note same1.zst same2.zst args.zst)" "different command lines"
zstd -dqc args.zst >plain.ljm
is "what is not known does not differ" "$(note same1.zst plain.ljm; note plain.ljm same1.zst)" ""
is "-q has no note" "$("$LJPERF" diff -q same1.zst args.zst | grep -c note)" 0

finish
