#!/bin/sh
# samples.sh - every recording of Tarantool's memprof in tests/data/tarantool
# through `report --format memprof`: equal to the model, and different from
# the text of Tarantool's tool only where that is known to be wrong.
# Run by "make check".
set -u

src=${LJPERF_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
data=${LJPERF_TESTDATA:-$src/tests/data}/tarantool
model=$src/tests/model
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1
failed=0

# check NAME COMMAND...
check()
{
	what=$1
	shift
	if "$@" >"$work/why" 2>&1; then
		echo "ok $what"
	else
		echo "not ok $what"
		head -20 "$work/why" | sed 's/^/    /'
		failed=1
	fi
}

# report ARG...: into $work/ours; a complete recording gives no warning.
report()
{
	"$LJPERF" report --format memprof "$@" >"$work/ours" 2>"$work/err"
	status=$?
	cat "$work/err"
	[ "$status" -eq 0 ] && [ ! -s "$work/err" ]
}

report_equals_model()
{
	report "$work/in.bin" &&
		python3 "$model/memprof_model.py" "$work/in.bin" >"$work/model" &&
		python3 "$model/compare.py" same "$work/ours" "$work/model"
}

leaks_equal_model()
{
	report --leak-only "$work/in.bin" &&
		python3 "$model/memprof_model.py" --leak-only "$work/in.bin" >"$work/model" &&
		python3 "$model/compare.py" same "$work/ours" "$work/model"
}

pipe_equals_file()
{
	report "$work/in.bin" && mv "$work/ours" "$work/file" &&
		cat "$work/in.bin" | "$LJPERF" report --format memprof -i - >"$work/ours" &&
		cmp "$work/file" "$work/ours"
}

differences_are_known()
{
	report "$work/in.bin" || return 1
	python3 "$model/compare.py" explain "$work/in.bin" "$2" "$work/ours" "$3" \
		>"$work/found" || { cat "$work/found"; return 1; }
	awk -F'\t' -v name="$1" '$1 == name' "$model/expected_diffs.txt" | cut -f 2- >"$work/known"
	diff "$work/known" "$work/found"
}

# The tools of these commits told epochs apart, so they do not have defect 1.
defects_of()
{
	case $1 in
	variants/ljs2-ljm3b-* | variants/ljs3-*) echo 23456 ;;
	*) echo 123456 ;;
	esac
}

for file in "$data"/*/*.bin "$data"/*/*.bin.xz; do
	base=${file%.xz}
	base=${base%.bin}
	name=${base#"$data"/}
	[ -f "$base.txt" ] || continue
	case $file in
	*.xz) python3 -c 'import lzma, sys
sys.stdout.buffer.write(lzma.open(sys.argv[1]).read())' "$file" >"$work/in.bin" ;;
	*) cp "$file" "$work/in.bin" ;;
	esac
	check "$name report" report_equals_model
	check "$name leaks" leaks_equal_model
	check "$name pipe" pipe_equals_file
	check "$name against Tarantool's text" \
		differences_are_known "$name" "$base.txt" "$(defects_of "$name")"
done
exit $failed
