# oracle.sh - over all programs in tests/programs: the place that the hook
# reads from the VM's memory is the one that the public API tells.
. "$(dirname "$0")/lib.sh"

total=0
for jit in off on; do
	for program in "$LJPERF_SOURCE"/tests/programs/*.lua; do
		name="$(basename "$program"), JIT $jit"
		run "$LJPERF" record -q --oracle --jit $jit -o o.ljm.zst "$program"
		line=$(echo "$err" | grep '^ljperf: oracle: ')
		compared=$(echo "$line" | sed -n 's/.* in \([0-9]*\) events$/\1/p')
		like "$name" "$line" "ljperf: oracle: 0 disagreements in [1-9]* events"
		total=$((total + ${compared:-0}))
	done
done
holds "more than a million events were compared: $total" test "$total" -gt 1000000

finish
