# memcheck.sh - the commands of ljperf under valgrind: it has nothing to report,
# and the commands do what they do without it.  Run by "make check-valgrind".
. "$(dirname "$0")/cli/lib.sh"

data=$LJPERF_SOURCE/tests/data/tarantool
export XDG_CACHE_HOME="$TMPDIR/cache"
unset DEBUGINFOD_URLS

if ! have valgrind || ! valgrind -q --vgdb=no true 2>/dev/null; then
	skip "commands under valgrind" "because valgrind is not installed"
	finish
fi

# Functions, C functions, coroutines and traces, freed and not.
cat >p.lua <<'L'
local keep, n = {}, tonumber(arg[1])
local function leaf(i) return { i, ("%d"):format(i) } end
local function tree(i) if i == 0 then return { leaf(i) } end return { tree(i - 1) } end
local co = coroutine.wrap(function() while true do coroutine.yield({}) end end)
for i = 1, n do keep[i % 50 + 1] = leaf(i) co() end
keep.tree = tree(5)
L

# checked ARG...: "$to" is what is written besides standard output, if anything.
# What valgrind itself cannot do (pidfd_open) it says in lines of their own.
to=
checked()
{
	what="ljperf $*"
	"$LJPERF" "$@" >want 2>want.err </dev/null
	wanted=$?
	[ -z "$to" ] || mv "$to" want
	valgrind -q --vgdb=no --error-exitcode=99 "$LJPERF" "$@" >got 2>got.err </dev/null
	is "$what: status" "$?" "$wanted"
	is "$what: stderr" "$(grep -v '^--[0-9]*-- ' got.err)" "$(cat want.err)"
	[ -z "$to" ] || mv "$to" got
	[ "$1" = record ] || holds "$what: output" cmp want got
}

checked record -q -g -o a.zst p.lua 300
"$LJPERF" record -q -g -o a.zst p.lua 300
"$LJPERF" record -q -g -o b.zst p.lua 400
cp "$data/variants/ljs2-ljm2-196d4ca8.bin" old.bin

checked report a.zst
checked report -g --metric leaked -F +peak,lifetime --sort func a.zst
checked report --format memprof old.bin
checked report --timeline a.zst b.zst
checked script -F +stack a.zst
checked script --json old.bin
checked info a.zst
checked annotate -i a.zst
checked diff a.zst b.zst
checked diff -g --json a.zst b.zst
for format in folded speedscope pprof callgrind csv json firefox ljm; do
	checked export --format $format a.zst
done
to=c.tar.zst
checked archive -q -o $to a.zst
to=c.zst
checked import -q -o $to old.bin
finish
