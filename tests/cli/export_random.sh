# export_random.sh - every format of export against an independent model: random
# streams of every variant, which have no stacks, and recordings of random
# programs, which have them.  What a format holds adds up to what report prints.
. "$(dirname "$0")/lib.sh"

model=$LJPERF_SOURCE/tests/model
export PYTHONDONTWRITEBYTECODE=1 PYTHONIOENCODING=utf-8:surrogateescape

agrees()
{
	python3 "$model/export_model.py" "$LJPERF" "$@"
}

for variant in V1 V1b V2 V3a V3b V4; do
	python3 "$model/gen_stream.py" 31 $variant --events 1500 >in.ljm
	holds "$variant stream" agrees in.ljm
done
for seed in 32 33 34; do
	python3 "$model/gen_stream.py" $seed V4 --events 1500 >in.ljm
	holds "V4 stream, seed $seed" agrees in.ljm
done

for seed in 1 2 3 4 5 6; do
	python3 "$model/gen_program.py" $seed >p.lua
	"$LJPERF" record -q -g -o p.zst p.lua >out 2>&1
	holds "program $seed" agrees p.zst
	"$LJPERF" record -q -g --jit off -o p.zst p.lua >out 2>&1
	holds "program $seed without the JIT compiler" agrees p.zst
done
"$LJPERF" record -q -o p.zst p.lua >out 2>&1
holds "program without stacks" agrees p.zst

finish
