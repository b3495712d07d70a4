# record_files.sh - the file that ljperf record writes, and the line it prints.
. "$(dirname "$0")/lib_record.sh"

echo 'local t = {} for i = 1, 100 do t[i] = { i } end print("ran")' >t.lua

run "$LJPERF" record t.lua
is "status and output" "$status $out" "0 ran"
holds "the default file" test -f ljperf.ljm.zst
is "its mode" "$(stat -c %a ljperf.ljm.zst)" 600
like "the end line" "$err" \
	"[[] ljperf record: Captured and wrote *[0-9] [kM]B ljperf.ljm.zst ([0-9]* events, [0-9]*.[0-9]* bytes/event) []]"
is "the end line is one line" "$(echo "$err" | wc -l)" 1
size=$(stat -c %s ljperf.ljm.zst)
zstd -dcq ljperf.ljm.zst >plain.ljm
events=$(cd "$LJPERF_SOURCE/tests/model" && PYTHONDONTWRITEBYTECODE=1 python3 -c 'import sys, ljm_stream
print(len(ljm_stream.read_stream(ljm_stream.load(sys.argv[1])).events()))' "$TMPDIR/plain.ljm")
rm plain.ljm
# What the line says is what the file holds: kB is 1000 bytes.
is "the figures of the end line" "$err" "$(awk -v s="$size" -v e="$events" 'BEGIN {
	printf "[ ljperf record: Captured and wrote %.3f kB ljperf.ljm.zst (%d events, %.2f bytes/event) ]",
		s / 1000, e, s / e }')"
holds "no old file yet" test ! -e ljperf.ljm.zst.old

cp ljperf.ljm.zst first
run "$LJPERF" record -q t.lua
is "-q is quiet" "$status $out $err" "0 ran "
holds "the file before is kept" cmp first ljperf.ljm.zst.old
cp ljperf.ljm.zst second
run "$LJPERF" record -q t.lua
holds "one generation is kept" cmp second ljperf.ljm.zst.old
is "no other file is left" "$(ls)" "$(printf 'first\nljperf.ljm.zst\nljperf.ljm.zst.old\nsecond\nt.lua')"

(umask 077 && run "$LJPERF" record -q -o umask.zst t.lua; exit $status)
is "the mode under another umask" "$(stat -c %a umask.zst)" 600
echo "not a recording" >other.zst
chmod 644 other.zst
run "$LJPERF" record -o other.zst t.lua
is "a named file, status" "$status" 0
like "a named file in the end line" "$err" "*wrote * other.zst (*"
is "its mode is not that of the one before" "$(stat -c %a other.zst)" 600
is "the one before is kept under .old" "$(cat other.zst.old)" "not a recording"

# Standard output.
"$LJPERF" record -q -o - t.lua 2>err | cat >piped
"$LJPERF" report --format memprof -i piped >from_pipe 2>&1
like "-o - into a pipe can be read" "$(cat from_pipe)" "ALLOCATIONS*t.lua:1: *"
is "the script's output goes to stderr then" "$(cat err)" "ran"
# Without -o a pipe gets what the script prints, and nothing else.
is "a pipe without -o gets the output of the script" "$("$LJPERF" record -q t.lua 2>/dev/null | cat)" "ran"
rm -f ./-
run "$LJPERF" record -q -o ./- t.lua
holds "a file named -" test -f ./-

# A slip of the keyboard takes no recording's place.
cp ljperf.ljm.zst kept
cp ljperf.ljm.zst.old kept.old
echo "local x = = 1" >syntax.lua
for script in syntax.lua missing.lua .; do
	run "$LJPERF" record "$script"
	is "$script has the status of luajit" "$status" 1
	like "$script says that nothing was recorded" "$err" "luajit: *ljperf: nothing was recorded: the script cannot be loaded"
done
holds "the last recording is still there" cmp ljperf.ljm.zst kept
holds "and the one before" cmp ljperf.ljm.zst.old kept.old

# Files that cannot be written.
for path in no/such/folder/x.zst . /proc/none; do
	run "$LJPERF" record -o "$path" t.lua
	is "-o $path fails with" "$status" 2
	like "-o $path says why" "$err" "ljperf: *: *"
	is "-o $path does not run the script" "$out" ""
done
# The script has run by then, and is not to blame.
run "$LJPERF" record -o /dev/full t.lua
is "a full disk is no failure of the script" "$status $out" "0 ran"
is "a full disk is told" "$err" \
	"ljperf: nothing was recorded: cannot write the recording: No space left on device"
if [ "$(id -u)" -ne 0 ]; then
	mkdir closed && chmod 555 closed
	run "$LJPERF" record -o closed/x.zst t.lua
	is "a folder without permission" "$status" 2
else
	skip "a folder without permission" "because root may write everywhere"
fi
echo precious >target
ln -s target link.zst
run "$LJPERF" record -q -o link.zst t.lua
is "what a symbolic link points to is not written" "$(cat target)" "precious"
is "and that it is one is said" "$status $err" "2 ljperf: cannot create 'link.zst': it is a symbolic link"
run "$LJPERF" record -q -o '' t.lua
is "an empty name" "$status" 2

# Mistakes.
run "$LJPERF" record
is "no script" "$status" 2
like "no script is explained" "$err" "ljperf: *"
run "$LJPERF" record --no-such t.lua
is "an unknown option" "$status $out" "2 "
run "$LJPERF" record --quite t.lua
like "a mistyped option" "$err" "*did you mean*--quiet*"
run "$LJPERF" record -z 99 t.lua
is "a level that zstd has not" "$status" 2
run "$LJPERF" record -e cpu t.lua
is "an event that does not exist" "$status" 2
run "$LJPERF" record --ring-size 5 t.lua
is "a ring that is too small" "$status" 2

# What ljperf writes, zstd and an independent reader read.
run "$LJPERF" record -q -o z.zst t.lua
holds "zstd unpacks the file" zstd -dqf z.zst -o z.ljm
PYTHONDONTWRITEBYTECODE=1 python3 "$LJPERF_SOURCE/tests/model/memprof_model.py" z.ljm >z.txt
# One table, which holds its slot itself, for each of 100 rounds, by line or by
# trace; the list, its first array, and few more.
is "the independent reader counts the tables" \
	"$(awk '/^ALLOC/ { a = 1 } /^REALLOC/ { a = 0 }
		a && /t.lua:1/ { sub(/.*: /, ""); n += $1 } END { print (n >= 102 && n < 110) }' z.txt)" 1
finish
