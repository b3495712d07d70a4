# names_c.sh - names of C functions of a module that is built in four ways:
# those of Lua, and those that addr2line and eu-addr2line give.
. "$(dirname "$0")/lib_names.sh"
need addr2line eu-addr2line readelf strip objcopy python3

# expect REF: offset, name and place of each function that was recorded, as
# addr2line has them for the file REF.
expect()
{
	cut -d' ' -f2 offsets | while read -r offset; do
		addr2line -f -C -e "$1" "$offset" | tr '\n' ' ' |
			sed "s/^\(.*\) \([^ ]*\) \$/$offset \1 \2/; s/ (discriminator.*//; s/:?\$/:0/"
		echo
	done
}

# without_lua: the lines of functions() less the first word.
without_lua()
{
	cut -d' ' -f2- "$1"
}

names='CFUNC
cmod.closure
cmod.hidden
cmod.inlined
cmod.make
cmod.plus
cmod.rust
luaopen_cmod'
own_names=$(echo "$names" | sed 's/^CFUNC$/nameless/')

build full.so -g
cp full.so cmod.so
record full.ljm
functions full.ljm --no-symbol-cache >got
cp got offsets
is "Lua's names of all functions" "$(cut -d' ' -f1 got)" "$(echo "$own_names" | sort)"
expect full.so >want
is "debug information: names and lines as addr2line" "$(without_lua got)" "$(cat want)"
functions full.ljm --no-symbol-cache --no-demangle >got
cut -d' ' -f2 got | while read -r offset; do
	eu-addr2line -f -e full.so "$offset" | tr '\n' ' ' | sed "s/^/$offset /; s/:[0-9]* \$//"
	echo
done >want
is "as eu-addr2line, not readable" "$(without_lua got)" "$(cat want)"
functions full.ljm --no-symbols >got
is "--no-symbols leaves Lua's names" "$(cut -d' ' -f1 got | sort)" \
	"$(echo "$names" | sed 's/^luaopen_cmod$/CFUNC/' | sort)"
is "and no other" "$(cut -d' ' -f3- got | sort -u)" "?? ??:0"

# Only dynamic symbols: names of exported functions.
cp full.so cmod.so
strip cmod.so
functions full.ljm --no-symbol-cache >got
nm -D -C cmod.so | sed -n 's/^0*\([0-9a-f]*\) T /0x\1 /p' | sort >exported
while read -r line; do
	offset=$(echo "$line" | cut -d' ' -f2)
	name=$(grep "^$offset " exported | cut -d' ' -f2-)
	is "stripped: $(echo "$line" | cut -d' ' -f1) is" "$(echo "$line" | cut -d' ' -f3-)" \
		"${name:-??} ??:0"
done <got
is "stripped: exported functions" "$(grep -vc ' ?? ' got)" 4

# Its debug information elsewhere, by build id.
id=$(build_id full.so)
mkdir -p "debug/$(dirname "$(debug_path "$id")")"
objcopy --only-keep-debug full.so "debug/$(debug_path "$id")"
functions full.ljm --no-symbol-cache --debug-dir debug >got
expect full.so >want
is "debug file by build id: names and lines" "$(without_lua got)" "$(cat want)"

# Nothing but luaopen_cmod is left: Lua's names, and module+0xoffset.
build hidden.so -fvisibility=hidden '-DPUBLIC=__attribute__((visibility("hidden")))' -s
mv hidden.so cmod.so
record hidden.ljm
functions hidden.ljm --no-symbol-cache >got
is "all hidden: Lua's names" "$(cut -d' ' -f1 got | sort)" "$names"
is "all hidden: symbols" "$(cut -d' ' -f3 got | sort | uniq -c | tr -s ' \n' ' ')" " 7 ?? 1 luaopen_cmod "
offset=$(sed -n 's/^CFUNC \([^ ]*\) .*/\1/p' got)
run "$LJPERF" report -q -t '|' -F symbol -i hidden.ljm --no-symbol-cache
like "the rest is module+0xoffset" "$out" "*cmod.so+$offset*"
like "beside Lua's names" "$out" "*cmod.plus*"

# Two runs: addresses differ, names do not.
cp full.so cmod.so
record one.ljm
record two.ljm
for r in one two; do
	"$LJPERF" report -q -t '|' -F allocated,symbol -i $r.ljm --no-symbol-cache >$r.txt
done
is "two runs have the same rows" "$(sort one.txt)" "$(sort two.txt)"
run "$LJPERF" report -q -t '|' -F allocs,symbol --no-symbol-cache one.ljm two.ljm
like "and are one row together" "$out" "*4|nameless*"

# What -v says, and the other groupings.
run "$LJPERF" report -q -v -i one.ljm --no-symbol-cache
like "-v has Lua's name, symbol, line and module" "$out" \
	"*cmod.plus (words::Table::fill(char const\*, int) at */cmod.c:*, cmod.so+0x*)*"
run "$LJPERF" report -q -t '|' -F allocs --sort module -i one.ljm
like "--sort module" "$out" "*cmod.so*"
run "$LJPERF" report --format memprof -i one.ljm --no-symbol-cache
like "memprof has name and address" "$out" "*nameless:0x*"
run "$LJPERF" report --format memprof -i one.ljm --no-symbols
like "memprof without symbols has the address" "$out" "*CFUNC 0x*"
run "$LJPERF" info --buildids -i one.ljm
like "info lists the build id" "$out" "*$id $PWD/cmod.so*"

finish
