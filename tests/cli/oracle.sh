# oracle.sh - over all programs in tests/programs, with and without the JIT
# compiler and call stacks: the program does what it does under luajit, and the
# place that the hook reads from the VM's memory is the one that the public API
# tells.
. "$(dirname "$0")/lib.sh"

total=0

# check NAME PROGRAM OPTIONS...: against .plain, the output of luajit.
check()
{
	name=$1 program=$2
	shift 2
	run "$LJPERF" record -q --oracle "$@" -o o.ljm.zst "$program"
	is "$name: status and output" "$status $(cksum <"$TMPDIR/.out")" "$(cat "$TMPDIR/.plain")"
	line=$(echo "$err" | grep '^ljperf: oracle: ')
	like "$name: places" "$line" "ljperf: oracle: 0 disagreements in [1-9]* events"
	compared=$(echo "$line" | sed -n 's/.* in \([0-9]*\) events$/\1/p')
	total=$((total + ${compared:-0}))
}

for program in "$LJPERF_SOURCE"/tests/programs/*.lua; do
	for jit in off on; do
		run luajit -j$jit "$program"
		echo "$status $(cksum <"$TMPDIR/.out")" >"$TMPDIR/.plain"
		check "$(basename "$program"), JIT $jit" "$program" --jit $jit
		check "$(basename "$program"), JIT $jit, stacks" "$program" --jit $jit -g --across-coroutines
	done
done
holds "more than a million events were compared: $total" test "$total" -gt 1000000

finish
