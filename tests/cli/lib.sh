# lib.sh - for the scripts in tests/cli: runs ljperf and says what held.
#
# A script begins with ". $(dirname "$0")/lib.sh" and ends with "finish".  It
# runs in an empty folder, $TMPDIR.  Lines "ok", "not ok" and "skip" are read
# by tests/run.sh.
set -u

: "${LJPERF:?run this with make check}" "${LJPERF_SOURCE:?}" "${TMPDIR:?}"
cd "$TMPDIR" || exit 1
bad=0

ok()
{
	echo "ok $1"
}

# not_ok NAME REASON
not_ok()
{
	echo "not ok $1: $2"
	bad=$((bad + 1))
}

skip()
{
	echo "skip $1 $2"
}

# run COMMAND...: status, out and err say how it went.
run()
{
	"$@" >"$TMPDIR/.out" 2>"$TMPDIR/.err" </dev/null
	status=$?
	out=$(cat "$TMPDIR/.out")
	err=$(cat "$TMPDIR/.err")
}

# is NAME GOT WANTED
is()
{
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "got '$2', wanted '$3'"
	fi
}

# like NAME GOT PATTERN: a shell pattern.
like()
{
	case $2 in
	$3) ok "$1" ;;
	*) not_ok "$1" "got '$2', wanted something like '$3'" ;;
	esac
}

# holds NAME COMMAND...: the command succeeds.
holds()
{
	name=$1
	shift
	if "$@" >"$TMPDIR/.out" 2>&1; then
		ok "$name"
	else
		not_ok "$name" "'$*' failed: $(cat "$TMPDIR/.out")"
	fi
}

# fails NAME COMMAND...: the command does not succeed.
fails()
{
	name=$1
	shift
	if "$@" >"$TMPDIR/.out" 2>&1; then
		not_ok "$name" "'$*' succeeded"
	else
		ok "$name"
	fi
}

have()
{
	command -v "$1" >/dev/null 2>&1
}

# sanitized: ljperf is built with sanitizers; its agent enters only programs that
# are, too, and none of those that are installed.
sanitized()
{
	"$LJPERF" version --build-options | grep '^sanitizer: ' | grep -qv ' none$'
}

finish()
{
	[ "$bad" -eq 0 ]
	exit
}
