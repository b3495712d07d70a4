# names_same_line.sh - functions on one line, as in a file whose lines were joined:
# by function each is a row of its own.
. "$(dirname "$0")/lib.sh"

# Each of the four makes 100 tables: one allocation, and one more for the array
# of y, which is too large to be part of the table.  What has no name is called
# from C, 100 times, too.
cat >same.lua <<'L'
local function a() return {} end local function b() return {} end local t = { x = function() return {} end, y = function() return {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20} end } for i = 1, 100 do a() b() t.x() t.y() local _ = string.gsub("x", "x", function() return nil, {} end) end
L
for how in "" -g; do
	# shellcheck disable=SC2086
	"$LJPERF" record -q $how --jit off -o r.zst same.lua
	rows=$("$LJPERF" report -q -t '|' -F allocs,func --sort func -i r.zst | sed -n 's/  same.lua:1$//p' | sort)
	is "functions $how" "$rows" "$(printf '%s\n' '100|a' '100|b' '100|x' '200|y')"
done
"$LJPERF" report -q -t '|' -F allocs,func --sort func -i r.zst | grep '|same.lua:1$' >unnamed
is "what has no name is none of them" "$(cut -d '|' -f 1 unnamed)" 100
is "csv" "$("$LJPERF" export --format csv -s func -F allocs,func -i r.zst | tr -d '\r' |
	sed -n 's/^\([0-9]*\),same.lua:1,\(.\)$/\1 \2/p' | sort)" "$(printf '100 a\n100 b\n100 x\n200 y')"
is "export --by func" "$("$LJPERF" export --format folded --by func --metric count -i r.zst |
	sed -n 's/.*;\([abxy]\)@same.lua:1 / \1 /p' | sort)" "$(printf ' a 100\n b 100\n x 100\n y 200')"
is "diff" "$("$LJPERF" diff -q -a -t '|' --metric count --sort func r.zst r.zst | grep -o '|[abxy]  same.lua' | sort)" \
	"$(printf '|%s  same.lua\n' a b x y)"
is "the main chunk in a diff" "$("$LJPERF" diff -q -a -t '|' --sort func r.zst r.zst | grep -c '|main chunk  same.lua$')" 1

# Loaded again it is the same code, as long as its functions are called the same.
echo 'dofile "same.lua" dofile "same.lua"' >twice.lua
"$LJPERF" record -q --jit off -o r.zst twice.lua
is "loaded twice" "$("$LJPERF" report -q -t '|' -F allocs,func --sort func -i r.zst |
	sed -n 's/  same.lua:1$//p' | sort)" "$(printf '%s\n' '200|a' '200|b' '200|x' '400|y')"
finish
