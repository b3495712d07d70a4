# model_random.sh - random streams of every variant, whole and cut, through
# `report --format memprof`: the same rows as the independent model has.
. "$(dirname "$0")/lib.sh"

model=$LJPERF_SOURCE/tests/model
export PYTHONDONTWRITEBYTECODE=1

# try NAME quiet|warns: what stderr is to be like.
try()
{
	"$LJPERF" report --format memprof -i in.ljm >ours 2>err
	status=$?
	case $2 in
	quiet) [ "$status $(wc -l <err)" = "0 0" ] || { not_ok "$1" "status $status: $(cat err)"; return; } ;;
	warns) [ "$status $(wc -l <err)" = "2 1" ] ||
		{ not_ok "$1" "status $status, no single warning: $(cat err)"; return; } ;;
	esac
	python3 "$model/memprof_model.py" in.ljm >right 2>/dev/null
	holds "$1" python3 "$model/compare.py" same ours right
}

for variant in V1 V1b V2 V3a V3b V4; do
	for seed in 1 2 3; do
		python3 "$model/gen_stream.py" $seed $variant >in.ljm
		try "$variant stream, seed $seed" quiet
	done
done
for seed in $(seq 10 19); do
	python3 "$model/gen_stream.py" $seed V4 --events 5000 >in.ljm
	try "V4 stream, seed $seed" quiet
	zstd -q -f in.ljm -o in.zst && mv in.zst in.ljm
	try "V4 stream, seed $seed, in zstd" quiet
	python3 "$model/gen_stream.py" $seed V4 --cut >in.ljm
	try "V4 stream, seed $seed, cut" warns
done
finish
