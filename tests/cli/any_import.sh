# any_import.sh - sessions of recordings that others made: imported, and recorded
# from a VM that has misc.memprof.
. "$(dirname "$0")/lib_any.sh"

data=$LJPERF_SOURCE/tests/data/tarantool

# rows FILE: what the report says of the VM's blocks, without the addresses of
# machine code that only old variants have; traces of one number are one then.
rows()
{
	"$LJPERF" report -q -t , --sort line -F allocated,allocs,frees,live,symbol "$@" |
		sed 's/ 0x[0-9a-f]*//g' | grep -v TRACE | sort
}

n=0
for file in "$data"/*/*.bin "$data"/*/*.bin.xz; do
	[ -s "$file" ] || continue
	name=$(basename "$(dirname "$file")")/$(basename "$file")
	case $file in
	*.xz) have xz || continue
		xz -dc "$file" >plain.bin ;;
	*) cp "$file" plain.bin ;;
	esac
	run "$LJPERF" import -q -o out.zst plain.bin
	is "import $name" "$status$err" 0
	whole "import $name" out.zst
	is "import $name: the same rows" "$(rows out.zst)" "$(rows plain.bin)"
	n=$((n + 1))
done
is "there were recordings to import" "$([ "$n" -gt 10 ] && echo many)" many

sample=$data/variants/ljs2-ljm2-196d4ca8.bin
rm -f out.zst out.zst.old
run "$LJPERF" import -o out.zst "$sample"
like "the end line" "$err" "[[] ljperf import: wrote out.zst ([0-9]* events) []]"
run "$LJPERF" import -o out.zst "$sample"
is "the file before is kept" "$(ls out.zst*)" "out.zst
out.zst.old"
"$LJPERF" import -q -o - "$sample" >pipe.zst
whole "-o -" pipe.zst
zstd -q -f "$sample" -o packed.zst
run "$LJPERF" import -q -o out.zst packed.zst
is "a compressed recording" "$status$err" 0
run sh -c '"$1" import -q -o out.zst - <"$2"' sh "$LJPERF" "$sample"
is "standard input" "$status$err" 0
size=$(stat -c %s "$sample")
head -c $((size / 2)) "$sample" >cut.bin
run "$LJPERF" import -o out.zst cut.bin
like "a cut recording" "$status $err" "1 ljperf: warning: *what comes before it is imported*"
like "a cut recording makes a cut session" "$("$LJPERF" info out.zst 2>&1)" "*complete : no*"
is "a cut recording: the same rows" "$(rows out.zst 2>/dev/null)" "$(rows cut.bin 2>/dev/null)"

run "$LJPERF" import -f -o out.zst cut.bin
like "a cut recording, -f" "$status $err" "0 ljperf: warning: *what comes before it is imported*"
run "$LJPERF" import -o cut.zst cut.bin
is "a cut recording, -f: the same session" "$(rows out.zst 2>/dev/null)" "$(rows cut.zst 2>/dev/null)"

echo "something else" >text
for file in text none . out.zst; do
	cp out.zst keep.zst 2>/dev/null
	rm -f new.zst
	run "$LJPERF" import -o new.zst "$file"
	like "$file is refused" "$status $err" "2 ljperf: cannot import '$file': *"
	is "$file is refused: no file" "$([ -e new.zst ] || echo none)" none
done
cp out.zst out.zst.old
sums=$(sha256sum out.zst out.zst.old)
for file in text none . keep.zst; do
	run "$LJPERF" import -o out.zst "$file"
	is "$file is refused: the session that was there stays" "$status$(sha256sum out.zst out.zst.old)" "2$sums"
done
run "$LJPERF" import -o out.zst out.zst
like "onto itself" "$status $err" "2 ljperf: cannot import 'out.zst': it is the file to write to"
run "$LJPERF" import
like "without a file" "$status $err" "2 ljperf: import takes one file*"

# A VM with the profiler inside; there is no package of one.
if have luajit && ! sanitized; then
	run "$LJPERF" record --backend memprof -- luajit -e 'print("ran")'
	like "a VM without misc.memprof" "$status $out $err" "2 ran ljperf: nothing was recorded: this VM has no misc.memprof*"
	is "a VM without misc.memprof: no file" "$(files)" 0
fi
run "$LJPERF" record --backend memprof w.lua
like "scripts have no misc.memprof" "$status $err" "2 ljperf: the VM for scripts has no misc.memprof*"
run "$LJPERF" record --backend none -- true
like "an unknown backend" "$status $err" "2 ljperf: unknown backend 'none'*"
like "list names it" "$("$LJPERF" list)" "*memprof*"
vm=${LJPERF_TEST_MEMPROF_VM:-}
if [ -z "$vm" ]; then
	skip "--backend memprof" "because LJPERF_TEST_MEMPROF_VM names no luajit command with misc.memprof"
	finish
fi
record_options='--backend memprof'
for how in end exit close; do
	cat >ends.lua <<'L'
jit.off()
local t
for i = 1, 1000 do t = { i } end
if arg[1] == "exit" then coroutine.wrap(function() os.exit(3) end)() end
if arg[1] == "close" then os.exit(4, true) end
L
	same_as_alone "--backend memprof, $how" "$vm" ends.lua $how
	whole "--backend memprof, $how" ljperf.ljm.zst
	is "--backend memprof, $how: lines" "$(allocs ljperf.ljm.zst ends.lua:3)" 1000
done
like "--backend memprof: the header" "$("$LJPERF" info)" "*backend : memprof*"
fresh
run "$LJPERF" record -q --backend memprof -- "$vm" -e 'print(misc.memprof.start("x.bin"))'
is "a program that profiles itself is told" "$status $out" "0 nil	profiler is running already	22"
finish
