#!/bin/sh
# run.sh - runs test programs and scripts and adds up what they say; called
# by "make check" with their paths.
#
# A Check program ends with "100%: Checks: 3, Failures: 0, Errors: 0".  Any
# other prints lines "ok NAME", "not ok NAME" or "skip NAME reason".  Output is
# shown when something failed.  The last line is the sum; the status is 0 only
# when tests ran and none failed.
set -u

limit=${TEST_TIMEOUT:-300}
here=$PWD
work=$(mktemp -d "${TMPDIR:-/tmp}/ljperf-test.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Nothing of the user's settings reaches a test.
unset LUA_INIT LUA_PATH LUA_CPATH LD_PRELOAD NO_COLOR COLUMNS PAGER MANPAGER LJPERF_PAGER
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES CDPATH
export LC_ALL=C TZ=UTC TERM=dumb LJPERF_CONFIG=/dev/null

passed=0 failed=0 skipped=0 number=0

# count PATTERN: how many lines of the output match.
count()
{
	grep -Ec "$1" "$work/out"
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
	esac
	(cd "$dir" && TMPDIR=$dir HOME=$dir exec timeout -k 10 "$limit" "$@") \
		>"$work/out" 2>&1 </dev/null
}

# read_sum: p, f, s from the summary of Check and from the lines.
read_sum()
{
	check=$(sed -n 's/^[0-9]*%: Checks: \([0-9]*\), Failures: \([0-9]*\), Errors: \([0-9]*\)$/\1 \2 \3/p' \
		"$work/out" | awk '{ c += $1; f += $2 + $3 } END { print c - f + 0, f + 0 }')
	p=$(($(count '^ok ') + ${check% *}))
	f=$(($(count '^not ok ') + ${check#* }))
	s=$(count '^skip ')
}

run_one()
{
	number=$((number + 1))
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
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	report "$1"
	chmod -R u+rwx "$dir" 2>/dev/null
	rm -rf "$dir"
}

report()
{
	name=$(basename "$1")
	if [ "$f" -eq 0 ]; then
		echo "  PASS	$name ($p)"
		sed -n 's/^skip /  SKIP	/p' "$work/out"
		return
	fi
	echo "  FAIL	$name ($f failed${why:+, $why})"
	sed -e '/^ok /d' -e 's/^/	/' "$work/out"
}

for test in "$@"; do
	run_one "$test"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
