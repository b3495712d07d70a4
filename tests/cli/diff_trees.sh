# diff_trees.sh - call trees of ljperf diff on recordings of real programs: the
# caller that does more is the one that is shown, and random programs agree with
# a model.
. "$(dirname "$0")/lib.sh"

model=$LJPERF_SOURCE/tests/model
export PYTHONDONTWRITEBYTECODE=1

record()
{
	"$LJPERF" record -q -g "$@" || not_ok "record $*" "status $?"
}

# ---- two callers, one of which does twice as much ----

cat >two.lua <<'EOF'
local n = tonumber(arg[1])
local function make(i)
	return { i, i }
end
local function steady()
	for i = 1, 100 do
		make(i)
	end
end
local function growing()
	for i = 1, n do
		make(i)
	end
end
steady()
growing()
EOF
record --jit off -o a.zst two.lua 100
record --jit off -o b.zst two.lua 200

# Half of what was made before was made for growing(), so what it makes more is
# half of the row.
half=$("$LJPERF" diff -q -t ';' -s func a.zst b.zst | sed -n 's/;make  two.lua$//p' |
	awk -F ';' '$1 == 2 * $2 && $3 == "+50.00%" && $4 == "+100" { print $2 }')
holds "only make() allocates more, and by a half" test "$half" != "+0" -a -n "$half"
is "all of it is below growing()" \
	"$("$LJPERF" diff -q -t ';' -g folded a.zst b.zst | tail -n +2)" \
	"$half make two.lua:3;growing two.lua:12;main chunk two.lua:16;protected_main"
is "the other way round" \
	"$("$LJPERF" diff -q -t ';' -g folded,caller b.zst a.zst | tail -n +2 | tr -d +-)" \
	"$(echo "$half" | tr -d +) protected_main;main chunk two.lua:16;growing two.lua:12;make two.lua:3"
is "the tree" "$("$LJPERF" diff -q -g function -s func a.zst b.zst | sed 's/[-]*[+][0-9.]* KiB--/AMOUNT/' |
	tail -n +2)" "            |
            ---make two.lua
               |
                AMOUNTgrowing two.lua
                            main chunk two.lua
                            protected_main"
is "with what is the same" "$("$LJPERF" diff -q -a -t ';' -g folded a.zst b.zst | grep steady)" \
	"0 make two.lua:3;steady two.lua:7;main chunk two.lua:15;protected_main"
is "rows by caller" \
	"$("$LJPERF" diff -q -t ';' -a -s parent --parent '^(steady|growing) ' a.zst b.zst |
		cut -d ';' -f 2-)" "$half;+100.00%;+100;;growing
0;0.00%;0;;steady
0;0.00%;0;;[other]"
run "$LJPERF" diff -g a.zst a.zst
is "a file with itself: status" "$status$err" 0
like "a file with itself" "$out" "*nothing differs: all * rows are the same"

# Lines above it all: by function the tree is what it was.
{ printf -- '-- one\n-- two\n\n'; cat two.lua; } >new.lua
mkdir new && mv new.lua new/two.lua
(cd new && record --jit off -o ../c.zst two.lua 200)
is "lines that moved" \
	"$("$LJPERF" diff -q -t ';' -g folded,function -s func a.zst c.zst | grep '^[+-].*make')" \
	"$half make two.lua;growing two.lua;main chunk two.lua;protected_main"
is "lines that moved, joined" \
	"$("$LJPERF" diff -q -t ';' -g folded --match fuzzy a.zst c.zst | grep '^[+-].*make')" \
	"$half make two.lua:3;growing two.lua:12;main chunk two.lua:16;protected_main"

# ---- with the JIT compiler ----

cat >loop.lua <<'EOF'
local n = tonumber(arg[1])
local t
for i = 1, 1000 do t = { i } end
for i = 1, n do t = { i } end
EOF
for n in 20000 30000; do
	record -o jit$n.zst loop.lua $n
done
"$LJPERF" diff -q -t ';' -g folded jit20000.zst jit30000.zst >trees
like "traces in trees" "$(cat trees)" "*
+* TRACE started at loop.lua:4;protected_main*"
is "numbers of traces are not compared" "$(grep -c 'TRACE \[' trees)" 0

# ---- random programs ----

# more SEED: another run of a random program, in which some loops go on longer.
more()
{
	awk -v seed="$1" 'BEGIN { srand(seed) }
		/^for n = 1, [0-9]+ do/ && rand() < 0.5 { sub(/, [0-9]+ do/, ", 14 do") } { print }'
}

for seed in 11 12 13; do
	python3 "$model/gen_program.py" $seed >p.lua
	record --jit off -o p1.zst p.lua
	more $seed <p.lua >q.lua && mv q.lua p.lua
	record --jit off -o p2.zst p.lua
	holds "trees of two runs, seed $seed" \
		python3 "$model/diff_model.py" "$LJPERF" p1.zst p2.zst
done

finish
