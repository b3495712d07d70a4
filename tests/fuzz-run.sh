#!/bin/sh
# fuzz-run.sh - runs fuzz targets for FUZZ_TIME seconds each, FUZZ_JOBS at once,
# and prints how many inputs each has tried; called by "make fuzz" with the
# folder of the targets and their names.
#
# A crash, a leak, and an input that takes too much time or memory are failures.
# Such an input, the log, and the corpus that grew are kept in the folder.  What
# is tried depends on FUZZ_SEED and on that corpus; without one it is something
# else each time.
set -u

one=
[ "$1" != --one ] || { one=yes; shift; }
folder=$(cd "$1" && pwd) || exit 1
shift
source=$(cd "$(dirname "$0")/.." && pwd)

# run NAME: the corpus that grows comes first; the committed one is only read.
run()
{
	log=$folder/$1.log
	mkdir -p "$folder/corpus/$1" "$folder/found" "$folder/tmp/$1"
	set -- "$1" "$folder/corpus/$1" "$source/tests/fuzz/corpus/$1"
	[ -d "$3" ] || set -- "$1" "$2"
	name=$1
	shift
	(cd "$folder/tmp/$name" && TMPDIR=$PWD exec "$folder/$name" -max_total_time="${FUZZ_TIME:-60}" \
		-seed="${FUZZ_SEED:-0}" -timeout=60 -print_final_stats=1 -artifact_prefix="$folder/found/$name-" "$@") \
		>"$log" 2>&1 </dev/null
	status=$?
	rm -rf "$folder/tmp/$name"
	tried=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
	if [ "$status" -eq 0 ] && [ "${tried:-0}" -gt 0 ]; then
		echo "  FUZZ	$name: $tried executions"
		return
	fi
	printf '  FAIL	%s: status %s after %s executions\n%s\n' "$name" "$status" "${tried:-no}" \
		"$(tail -n 60 "$log" | cut -c1-2000)"
	return 1
}

if [ -n "$one" ]; then
	run "$1"
	exit
fi
printf '%s\n' "$@" | xargs -n 1 -P "${FUZZ_JOBS:-1}" sh "$0" --one "$folder" ||
	{ echo "fuzz: what was found lies in $folder/found" >&2; exit 1; }
