# model_script.sh - `script --json` line by line against an independent reader,
# for random streams, for the small recordings of Tarantool's memprof, and for
# sessions that are recorded here.
. "$(dirname "$0")/lib.sh"

model=$LJPERF_SOURCE/tests/model
data=${LJPERF_TESTDATA:-$LJPERF_SOURCE/tests/data}/tarantool
export PYTHONDONTWRITEBYTECODE=1 PYTHONIOENCODING=utf-8:surrogateescape

# lines_match FILE PLAIN [--no-labels]: FILE is what ljperf reads, PLAIN its stream.
lines_match()
{
	"$LJPERF" script --json -i "$1" >lines 2>err || { cat err; return 1; }
	python3 "$model/script_model.py" against "$2" ${3:-} <lines
}

# symbols_match FILE PLAIN: what is told of symbols, as JSON and as text.
symbols_match()
{
	for form in --json --no-symbols; do
		"$LJPERF" script $form --show-symbols -i "$1" >lines 2>err || { cat err; return 1; }
		python3 "$model/script_model.py" symbols "$2" <lines || return 1
	done
}

for variant in V1 V1b V2 V3a V3b V4; do
	for seed in 21 22; do
		python3 "$model/gen_stream.py" $seed $variant --events 2000 >in.ljm
		holds "$variant stream, seed $seed, line by line" lines_match in.ljm in.ljm
		holds "$variant stream, seed $seed, its symbols" symbols_match in.ljm in.ljm
	done
done
for file in "$data"/nores/*.bin "$data"/variants/ljs[12]*.bin; do
	holds "$(basename "$file") line by line" lines_match "$file" "$file"
	holds "$(basename "$file"), its symbols" symbols_match "$file" "$file"
done
for name in json nbody odd_coroutines odd_flush odd_finalizers; do
	"$LJPERF" record -q -o s.zst "$LJPERF_SOURCE/tests/programs/$name.lua" 2 >out 2>&1 ||
		not_ok "$name.lua is recorded" "$(cat out)"
	zstd -dcq s.zst >plain.ljm || not_ok "$name.lua is unpacked by zstd" "status $?"
	holds "session of $name.lua line by line" lines_match s.zst plain.ljm --no-labels
	holds "symbols of $name.lua" symbols_match s.zst plain.ljm
done

# What a session knows more of functions: their names and where they end; and of
# a loop that is compiled, and of a side trace that leaves it at line 5.
cat >known.lua <<'L'
jit.opt.start("hotloop=3", "hotexit=2")
local kept = {}
local function compiled(n)
	for i = 1, n do
		if i % 2 == 0 then kept[i] = { i } else kept[i] = { i, i } end
	end
end
compiled(300)
L
"$LJPERF" record -q -o known.zst known.lua || not_ok "known.lua is recorded" "status $?"
"$LJPERF" script --json --show-symbols -i known.zst >lines
# told KIND KEY...: what is told of symbols, without a repetition.
told()
{
	python3 -c '
import json, sys
seen = set()
for e in map(json.loads, sys.stdin):
    if e["event"] == "symbol" and e["source"] == sys.argv[1]:
        seen.add(" ".join(str(e[k]) for k in sys.argv[2:]))
print("\n".join(sorted(seen)))' "$@" <lines
}
if have luajit; then
	# Where a chunk ends, the VM itself says.
	end=$(luajit -e 'print(debug.getinfo(loadfile("known.lua"), "S").lastlinedefined)')
	is "functions: name, first and last line" "$(told lua func line last_line)" " 0 $end
compiled 3 7"
fi
like "the loop is a trace of its own, and links to itself" "$(told trace trace root link linktype)" \
	"1 0 1 loop*"
like "a side trace knows its root, and goes back there" "$(told trace root link linktype)" "*1 1 root*"
finish
