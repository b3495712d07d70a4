#!/bin/sh
# run.sh - runs test programs and scripts and adds up what they say; called
# by "make check" with their paths.
#
# A Check program ends with "100%: Checks: 3, Failures: 0, Errors: 0".  Any
# other prints lines "ok NAME", "not ok NAME" or "skip NAME reason".  Output is
# shown when something failed.  The last line is the sum; the status is 0 only
# when tests ran and none failed.
#
#   TEST_TIMEOUT  seconds after which a test is stopped
#   TEST_WRAP     a command that programs are run by, such as valgrind
#   TEST_JOBS     how many tests run at once
set -u

limit=${TEST_TIMEOUT:-300}
here=$PWD

# With several jobs, "--one FOLDER NUMBER TEST" is how this script calls itself.
if [ "${1:-}" = --one ]; then
	work=$2 number=$3
	shift 3
else
	work=$(mktemp -d "${TMPDIR:-/tmp}/ljperf-test.XXXXXX") || exit 1
	number=0
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
fi

# Nothing of the user's settings reaches a test.
unset LUA_INIT LUA_PATH LUA_CPATH LD_PRELOAD NO_COLOR COLUMNS PAGER MANPAGER LJPERF_PAGER
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES CDPATH
export LC_ALL=C TZ=UTC TERM=dumb LJPERF_CONFIG=/dev/null

# count PATTERN: how many lines of the output match.
count()
{
	grep -Ec "$1" "$dir.out"
}

# Each test starts in an empty folder of its own, which is also $TMPDIR.
start()
{
	case $1 in
	/*) ;;
	*) set -- "$here/$1" ;;
	esac
	case $1 in
	*.sh) set -- sh "$1" ;;
	*.py) set -- python3 "$1" ;;
	*.lua) set -- luajit "$1" ;;
	*) set -- ${TEST_WRAP:-} "$1" ;;
	esac
	(cd "$dir" && TMPDIR=$dir HOME=$dir exec timeout -k 10 "$limit" "$@") \
		>"$dir.out" 2>&1 </dev/null
}

# read_sum: p, f, s from the summary of Check and from the lines.
read_sum()
{
	check=$(sed -n 's/^[0-9]*%: Checks: \([0-9]*\), Failures: \([0-9]*\), Errors: \([0-9]*\)$/\1 \2 \3/p' \
		"$dir.out" | awk '{ c += $1; f += $2 + $3 } END { print c - f + 0, f + 0 }')
	p=$(($(count '^ok ') + ${check% *}))
	f=$(($(count '^not ok ') + ${check#* }))
	s=$(count '^skip ')
}

# run_one TEST: its sum goes to a file, and what there is to say to another.
run_one()
{
	dir=$work/$number
	mkdir "$dir"
	start "$1"
	status=$?
	read_sum
	why=
	if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
		why="stopped after $limit s"
	elif [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; then
		why="status $status"
	elif [ $((p + f + s)) -eq 0 ]; then
		why="ran no test"
	fi
	[ -z "$why" ] || f=$((f + 1))
	echo "$p $f $s" >"$dir.sum"
	report "$1" >"$dir.report"
	chmod -R u+rwx "$dir" 2>/dev/null
	rm -rf "$dir"
}

report()
{
	name=$(basename "$1")
	if [ "$f" -eq 0 ]; then
		echo "  PASS	$name ($p)"
		sed -n 's/^skip /  SKIP	/p' "$dir.out"
		return
	fi
	echo "  FAIL	$name ($f failed${why:+, $why})"
	sed -e '/^ok /d' -e 's/^/	/' "$dir.out"
}

# A report is printed in one piece, whoever else is printing.
print_report()
{
	flock "$work" cat "$dir.report"
	rm "$dir.out" "$dir.report"
}

run_at_once()
{
	for test in "$@"; do
		number=$((number + 1))
		printf '%s\n' "$number" "$test"
	done | xargs -d '\n' -n 2 -P "$TEST_JOBS" sh "$0" --one "$work"
}

if [ "$number" -gt 0 ]; then
	run_one "$1"
	print_report
	exit 0
fi
if [ "${TEST_JOBS:-1}" -gt 1 ]; then
	run_at_once "$@"
else
	for test in "$@"; do
		number=$((number + 1))
		run_one "$test"
		print_report
	done
fi
# A test that left no sum was not run to its end.
cat "$work"/*.sum | awk -v tests=$# '{ p += $1; f += $2; s += $3 }
	END { f += tests - NR; printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 || p == 0 }'
