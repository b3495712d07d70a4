# read_mistakes.sh - what the commands that read say of options that do not fit,
# and of inputs and outputs that they cannot use: one sentence, and status 2.
. "$(dirname "$0")/lib.sh"

echo 'local t = {} for i = 1, 100 do t[i] = { i } end' >t.lua
"$LJPERF" record -q -g -o r.zst t.lua || not_ok "record" "status $?"
plain=$LJPERF_SOURCE/tests/data/tarantool/nores/variant.bin

# refused SENTENCE COMMAND...: a shell pattern.
refused()
{
	sentence=$1
	shift
	run "$LJPERF" "$@"
	like "$*" "$status $out $err" "2  ljperf: $sentence"
	is "$*: one sentence" "$(echo "$err" | wc -l)" 1
}

# ---- report ----

refused "--timeline and --format exclude each other" report --timeline --format table r.zst
refused "only tables have call trees" report --timeline -g r.zst
refused "only tables have call trees" report --format memprof --children r.zst
refused "only tables can be filtered" report --format memprof --symbol x r.zst
refused "--exclude-other needs --parent" report -x r.zst
refused "the field separator is empty" report -t '' r.zst
refused "unknown format 'zzzzzz', known are: table, memprof" report --format zzzzzz r.zst
refused "unknown format 'memprf', did you mean 'memprof'?" report --format memprf r.zst
refused "unknown percentage 'half', known are: absolute, relative" report --percentage half r.zst
refused "unknown * 'zzzzzz', known are: *" report -s zzzzzz r.zst
refused "a part is given by times or by marks, not by both" report --time 0,1 --from x r.zst
refused "there is nothing between the times of '2,1'" report --time 2,1 r.zst
refused "*'0x1'*" report --time 0x1 r.zst
refused "'$plain' has no times*" report --time 10%-20% "$plain"
printf 'leak:%0100000d\n' 0 >long
refused "*a pattern is too long*" report --suppress long r.zst
echo 'leak:' >empty
refused "*a pattern is empty*" report --suppress empty r.zst
refused "cannot open 'none': No such file or directory*" report --suppress none r.zst

# ---- script, annotate, info ----

refused "script reads one file, not 'r.zst' too" script -i r.zst r.zst
refused "unknown field 'evnt', did you mean 'event'?" script -F evnt r.zst
refused "unknown field 'zzzzzz', known are: *" script -F zzzzzz r.zst
refused "'r.zst' is no source (-i names the recording)" annotate -i r.zst r.zst

# ---- export ----

refused "unknown format 'zzzzzz' ('ljperf export -h' lists them)" export --format zzzzzz r.zst
refused "either -i or files, not 'r.zst' too" export --format csv -i r.zst r.zst
refused "frames are by 'line' or by 'func', not by 'file'" export --format folded --by file r.zst
refused "the format csv has no frames and takes no --by" export --format csv --by func r.zst
refused "the format folded is no table and takes no --sort" export --format folded -s func r.zst
refused "the format folded is no table and takes no --fields" export --format folded -F live r.zst
refused "the format ljm is one stream, 'r.zst' is another" export --format ljm -o out r.zst r.zst
refused "cannot open 'no/such/folder': No such file or directory" export --format csv -o no/such/folder r.zst
refused "cannot write '/dev/full': No space left on device" export --format csv -o /dev/full r.zst

# ---- archive ----

refused "archive packs one recording, not 'r.zst' too" archive -i r.zst r.zst
refused "archive reads a file twice, so not standard input" archive -
refused "cannot create 'no/such/folder': No such file or directory" archive -o no/such/folder r.zst
refused "cannot write *No space left on device" archive -o /dev/full r.zst
mkdir folder
refused "cannot *'folder': Is a directory" archive -o folder r.zst

run "$LJPERF" archive r.zst
like "the name of an archive, and what to do with it" "$status $err" \
	"0 [[] ljperf archive: Wrote [0-9]* MB r.tar.zst; unpack it into a folder DIR, then: ljperf report --symfs DIR ]"
holds "it is there" test -s r.tar.zst
cp r.zst r
run "$LJPERF" archive -q r
is "a recording without a suffix" "$status $err $(ls r.tar.zst*)" "0  r.tar.zst"
finish
