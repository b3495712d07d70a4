# names_files.sh - modules that are gone, are others now, or are no files: one
# warning, and module+0xoffset; and recordings that are read elsewhere.
. "$(dirname "$0")/lib_names.sh"
need readelf strip objcopy python3

build full.so -g
id=$(build_id full.so)
cp full.so cmod.so
record a.ljm
rm cmod.so

# warned NAME REASON: the rows of cmod.so are offsets, and one warning says why.
warned()
{
	run timeout 60 "$LJPERF" report --no-symbol-cache -t '|' -F symbol -i a.ljm
	is "$1: status" "$status" 0
	is "$1: warnings of cmod.so" "$(echo "$err" | grep -c cmod.so)" 1
	like "$1: reason" "$err" "*ljperf: warning: no symbols of '$PWD/cmod.so': $2*"
	like "$1: offset" "$out" "*cmod.so+0x*"
	like "$1: Lua's names stay" "$out" "*cmod.plus*"
	rm -rf cmod.so
}

warned "missing" "No such file or directory"
build cmod.so -O1
warned "another build" "its build id is not the recorded one"
mkdir cmod.so
warned "a folder" "Is a directory"
mkfifo cmod.so
warned "a FIFO" "it is no regular file"
ln -s /dev/zero cmod.so
warned "a device" "it is no regular file"
echo text >cmod.so
warned "text" "it is no ELF file"
head -c 3000 full.so >cmod.so
warned "truncated" "it is truncated"
if [ "$(id -u)" -ne 0 ]; then
	cp full.so cmod.so
	chmod 000 cmod.so
	warned "unreadable" "Permission denied"
else
	skip "unreadable" "because root may read everything"
fi
run "$LJPERF" report -q --no-symbol-cache -i a.ljm
is "no warning with -q" "$err" ""

# Only what a printed row needs is opened.
run "$LJPERF" report --no-symbol-cache --limit 1 -F +source -s source -i a.ljm
is "no name is needed: no file is missed" "$err" ""

# A row that is not printed needs no file.
cat >plain.lua <<'END'
local t = {}
for i = 1, 1000 do t[i] = { i } end
END
"$LJPERF" record -q --jit off -o b.ljm plain.lua
run "$LJPERF" report --limit 1 -i b.ljm
is "one row of Lua: no cache is made" "$(ls cache/ljperf 2>/dev/null)" ""

# The cache: named without the file, when it was there once.
cp full.so cmod.so
run "$LJPERF" report -t '|' -F symbol -i a.ljm
like "first report" "$out" "*nameless*"
is "its mode" "$(stat -c %a "cache/ljperf/symbols/$id")" 600
rm cmod.so
run "$LJPERF" report -t '|' -F symbol -i a.ljm
like "second report, without the file" "$out" "*nameless*"
is "no warning of it" "$(echo "$err" | grep -c cmod.so)" 0
run "$LJPERF" report -t '|' -F symbol --no-symbol-cache -i a.ljm
like "not without the cache" "$out" "*cmod.so+0x*"

# A strange path: a line break, an escape sequence.
strange=$(printf 'a\nb\033[31m')
mkdir "$strange"
cp full.so "$strange/cmod.so"
sed "s|./?.so|$(printf 'a\\\\nb\\\\27[31m')/?.so|" use.lua >strange.lua
run "$LJPERF" record -q --jit off -o strange.ljm strange.lua
is "a strange path is recorded" "$status $err" "0 "
run "$LJPERF" report --no-symbol-cache -t '|' -F symbol -i strange.ljm
like "and its file is found" "$out" "*nameless*"
rm -r "$strange"
run "$LJPERF" report --no-symbol-cache -i strange.ljm
is "the warning is one line" "$(echo "$err" | grep -c 'cmod.so')" 1
is "without an escape byte" "$(printf '%s' "$err$out" | tr -dc '\033' | wc -c)" 0

# Servers that the user names have both files; this one is a folder.
if ldconfig -p 2>/dev/null | grep -q libdebuginfod.so.1; then
	mkdir -p "server/buildid/$id"
	objcopy --only-keep-debug full.so "server/buildid/$id/debuginfo"
	strip -o "server/buildid/$id/executable" full.so
	run env DEBUGINFOD_URLS="file://$PWD/server" DEBUGINFOD_CACHE_PATH="$PWD/fetched" \
		"$LJPERF" report --no-symbol-cache -q -v -i a.ljm
	like "debuginfod" "$out" "*nameless (nameless at */cmod.c:*"
	run env DEBUGINFOD_URLS= DEBUGINFOD_CACHE_PATH="$PWD/fetched" \
		"$LJPERF" report --no-symbol-cache -q -v -i a.ljm
	like "no servers, no names" "$out" "*cmod.so+0x*"
else
	skip "debuginfod" "because libdebuginfod is not installed"
fi

# The file is deleted while it is used: the kernel says so in its path.
cp full.so cmod.so
sed '$a os.remove("cmod.so"); for i = 1, 3 do keep[#keep + 1] = f() end' use.lua >gone.lua
"$LJPERF" record -q --jit off -o gone.ljm gone.lua
cp full.so cmod.so
run "$LJPERF" report --no-symbol-cache -t '|' -F symbol -i gone.ljm
like "a file that was deleted" "$out" "*nameless*"

# An archive, unpacked elsewhere.
strip cmod.so
mkdir -p "debug/.build-id/$(echo "$id" | cut -c1-2)"
objcopy --only-keep-debug full.so "debug/$(debug_path "$id")"
run "$LJPERF" archive -q --debug-dir debug -i a.ljm
is "archive" "$status $out$err" "0 "
is "it is private" "$(stat -c %a a.ljm.tar.zst)" 600
zstd -dqc a.ljm.tar.zst | tar -t >listing
for name in a.ljm "$(debug_path "$id")" "$(debug_path "$id" | sed 's/\.debug$//')" \
	"${PWD#/}/cmod.so"; do
	is "the archive has $name" "$(grep -cxF "$name" listing)" 1
done
is "and nothing outside" "$(grep -c '^/\|\.\.' listing)" 0
mkdir away
zstd -dqc a.ljm.tar.zst | tar -x -C away
rm -r cmod.so debug
run "$LJPERF" report --no-symbol-cache -q -v --symfs away -i away/a.ljm
like "--symfs of an unpacked archive" "$out" "*nameless (nameless at */cmod.c:*"
rm "away/$PWD/cmod.so"
run "$LJPERF" report --no-symbol-cache -q -v --symfs away -i away/a.ljm
like "by build id alone" "$out" "*nameless (nameless at */cmod.c:*"
rm -r "away/.build-id"
run "$LJPERF" report --no-symbol-cache -t '|' -F symbol --symfs away -i away/a.ljm
like "without files" "$out" "*cmod.so+0x*"
run "$LJPERF" archive -o /dev/full -i a.ljm
is "a full disk is a failure" "$status" 2
is "what is no file stays" "$(test -c /dev/full && echo device)" device
ln -s a.ljm link.zst
run "$LJPERF" archive -i a.ljm -o link.zst
is "a link is not followed" "$status $(test -L link.zst && echo link)" "2 link"
"$LJPERF" archive -q -i a.ljm -o - | zstd -dqc | tar -t >listing
is "archive on standard output" "$(head -n 1 listing)" a.ljm

finish
