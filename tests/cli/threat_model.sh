# threat_model.sh - the tests that the threat model names are there, and it names
# some in each of its tables.
. "$(dirname "$0")/lib.sh"

model=$LJPERF_SOURCE/Documentation/ThreatModel.md
tests=$LJPERF_SOURCE/tests

missing=
grep -o '`[a-z_]*\(\.sh\|\.py\|\)`' "$model" | tr -d '`' | sort -u >names
while read -r name; do
	case $name in
	fuzz_*) file=$tests/fuzz/$name.c ;;
	check_*) file=$tests/$name.c ;;
	bench_*.sh) file=$tests/bench/$name ;;
	*.sh | *.py) file=$tests/cli/$name ;;
	*) continue ;;
	esac
	[ -f "$file" ] || missing="$missing $name"
done <names
is "tests that are named are there" "$missing" ""
# Rows of tables, but for heads and rules; those of the first table are no claims.
bare=$(awk '/^## /{ part = $0 } /^\|/ && part !~ /trusted/ && !/^\|[-|]*$/ && !/\| (test|trusted by|tests) \|$/' "$model" |
	grep -v '`[a-z_]*\(\.sh\|\.py\|\)`' || true)
is "no claim is without a test" "$bare" ""
is "every fuzz target is named or meant" "$(grep -c 'all `fuzz_X`' "$model")" 1
finish
