# lib_names.sh - for names_*.sh: builds tests/hosts/cmod.c and shows what a
# recording says of its functions.
. "$(dirname "$0")/lib.sh"

: "${CC:=gcc}"
source=$LJPERF_SOURCE/tests/hosts
export XDG_CACHE_HOME="$TMPDIR/cache"
unset DEBUGINFOD_URLS

need()
{
	for tool in "$@"; do
		have "$tool" && continue
		skip "$(basename "$0")" "because $tool is not installed"
		finish
	done
}

# build OUT FLAG...: the module, without headers of Lua.
build()
{
	to=$1
	shift
	# shellcheck disable=SC2086
	$CC -shared -fPIC -O2 -Wl,--build-id "$@" -o "$to" "$source/cmod.c"
}

build_id()
{
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}

# debug_path ID: where a debug file lies, below its folder.
debug_path()
{
	echo ".build-id/$(echo "$1" | cut -c1-2)/$(echo "$1" | cut -c3-).debug"
}

cat >use.lua <<'END'
package.cpath = "./?.so"
local cmod = require "cmod"
local keep = {}
for _, name in ipairs { "make", "hidden", "inlined", "plus", "rust" } do
  keep[#keep + 1] = cmod[name]()
end
local f = cmod.closure()
keep[#keep + 1] = f()
END

record()
{
	"$LJPERF" record -q --jit off -o "$1" use.lua
}

# functions FILE [OPTION...]: of the functions of cmod.so in a recording, a line
# each: Lua's name or address, offset, C name, file:line.
functions()
{
	recording=$1
	shift
	"$LJPERF" script --json "$@" -i "$recording" | python3 -c '
import json, sys
seen = set()
for line in sys.stdin:
    e = json.loads(line)
    if e.get("source") == "c" and e.get("module", "").endswith("/cmod.so"):
        place = "%s:%s" % (e["file"], e["line"]) if "file" in e else "??:0"
        name = e["symbol"].split(":0x")[0].split(" 0x")[0]
        seen.add("%s %s %s %s" % (name, e["offset"], e.get("func", "??"), place))
print("\n".join(sorted(seen)))'
}
