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

for variant in V1 V1b V2 V3a V3b V4; do
	for seed in 21 22; do
		python3 "$model/gen_stream.py" $seed $variant --events 2000 >in.ljm
		holds "$variant stream, seed $seed, line by line" lines_match in.ljm in.ljm
	done
done
for file in "$data"/nores/*.bin "$data"/variants/ljs[12]*.bin; do
	holds "$(basename "$file") line by line" lines_match "$file" "$file"
done
for name in json nbody odd_coroutines odd_flush odd_finalizers; do
	"$LJPERF" record -q -o s.zst "$LJPERF_SOURCE/tests/programs/$name.lua" 2 >out 2>&1 ||
		not_ok "$name.lua is recorded" "$(cat out)"
	zstd -dcq s.zst >plain.ljm || not_ok "$name.lua is unpacked by zstd" "status $?"
	holds "session of $name.lua line by line" lines_match s.zst plain.ljm --no-labels
done
finish
