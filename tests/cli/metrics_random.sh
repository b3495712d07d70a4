# metrics_random.sh - the peak, short lives, lifetimes, chains of reallocations
# and sizes of random streams, and of parts of a recording, against a slow model.
. "$(dirname "$0")/lib.sh"

model=$LJPERF_SOURCE/tests/model
export PYTHONDONTWRITEBYTECODE=1

agrees()
{
	python3 "$model/metrics_model.py" "$LJPERF" "$@"
}

for variant in V1 V1b V2 V3a V3b; do
	python3 "$model/gen_stream.py" 31 $variant --events 1500 >in.ljm
	holds "numbers of a $variant stream" agrees in.ljm
done
for seed in $(seq 40 49); do
	python3 "$model/gen_stream.py" $seed V4 >in.ljm
	holds "numbers of a V4 stream, seed $seed" agrees in.ljm
done

# Time goes on between the rounds, so that lifetimes and parts are not all one.
cat >rounds.lua <<'END'
local keep = {}
local function work(n)
  local t = {}
  for i = 1, n do t[i] = {i}; if i % 3 == 0 then keep[#keep % 300 + 1] = t[i] end end
  return t
end
for round = 1, 20 do
  work(60)
  local start = os.clock(); while os.clock() - start < 0.005 do end
  if round % 8 == 0 then collectgarbage() end
end
END
run "$LJPERF" record -q --jit off -g -o rounds.zst rounds.lua
is "a program that takes its time is recorded" "$status" 0
holds "its numbers" agrees rounds.zst
for range in 0.02,0.06 ,0.05 0.04, 0.07,0.08 900,; do
	holds "its numbers from $range" agrees rounds.zst --time $range
done

# Parts that follow each other add up to the whole: bytes and counts.
sums()
{
	"$LJPERF" report -q -t , -F allocated,allocs,reallocs,copied,count -i rounds.zst \
		--sort source "$@" | awk -F, '{ for (i = 1; i <= 5; i++) s[i] += $i }
		END { print s[1], s[2], s[3], s[4], s[5] }'
}

parts()
{
	for range in 0%-10% 10%-35% 35%-36% 36%-80% 80%-100%; do
		sums --time $range
	done | awk '{ for (i = 1; i <= 5; i++) s[i] += $i }
		END { print s[1], s[2], s[3], s[4], s[5] }'
}
is "parts add up to the whole" "$(parts)" "$(sums)"

# The same bytes from a file and from a pipe: the peak needs one pass only.
fields=+peak,lifetime,temporary,objects,final,copied
"$LJPERF" report -q -t , -F $fields --metric peak rounds.zst >file
"$LJPERF" report -q -t , -F $fields --metric peak - <rounds.zst >pipe
holds "the peak through a pipe" cmp file pipe
holds "there is a peak" test -s file
run sh -c '"$LJPERF" report --time 10%-20% - <rounds.zst'
is "shares of the time of a pipe are refused" "$status" 2
like "and the message says what to do" "$err" "*--time takes seconds there*"
finish
