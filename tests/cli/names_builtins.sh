# names_builtins.sh - each function of the VM's libraries that can allocate,
# called once by another built-in (so that no line of Lua stands for it), is
# named as Lua code names it.  Symbols of the library are not looked at.
. "$(dirname "$0")/lib.sh"

echo 'return 1' >chunk.lua
printf 'one\ntwo\n' >text
cat >calls.lua <<'EOF'
local ffi, new = require "ffi", require "table.new"
local names, n = {}, 0
local function fresh(len) n = n + 1 return ("s" .. n):rep(len or 3) end
local function call(name, f, ...)
  names[#names + 1] = name
  assert(pcall(f, ...))
end
local file = io.open("text")
call("string.rep", string.rep, fresh(), 100)
call("string.format", string.format, "%s %d", fresh(), n)
call("string.sub", string.sub, fresh(9), 2, 7)
call("string.upper", string.upper, fresh())
call("string.lower", string.lower, "A" .. fresh())
call("string.reverse", string.reverse, fresh())
call("string.char", string.char, 200, 201, 202, 203, 204)
call("string.gsub", string.gsub, fresh(), "s", "t")
call("string.match", string.match, "x" .. fresh(9), "x(.*)s")
call("string.find", string.find, "y" .. fresh(9), "y(.*)s")
call("string.gmatch", string.gmatch, fresh(), ".")
call("string.gmatch iterator", string.gmatch("z" .. fresh(9), "z(.*)s"))
call("string.dump", string.dump, function() return fresh end)
call("table.concat", table.concat, { fresh(), fresh() }, ",")
call("table.insert", table.insert, {}, 1)
call("table.new", new, 10, 10)
call("tostring", tostring, 12345.678 + n)
call("rawset", rawset, {}, "key", 1)
call("loadstring", loadstring, "return " .. n)
call("load", load, function() return nil end)
call("loadfile", loadfile, "chunk.lua")
call("dofile", dofile, "chunk.lua")
call("newproxy", newproxy, true)
call("coroutine.create", coroutine.create, fresh)
call("coroutine.wrap", coroutine.wrap, fresh)
call("io.open", io.open, "text")
call("io.lines", io.lines, "text")
call("io.lines iterator", io.lines("text"))
call("io.tmpfile", io.tmpfile)
call("io.popen", io.popen, "true")
call("file:read", file.read, file, 6)
call("file:lines", file.lines, file)
call("os.date", os.date, "%Y %H:%M:%S %%", 86400 * n)
call("os.tmpname", os.tmpname)
call("os.getenv", os.getenv, "LJPERF_TEST_VALUE")
call("debug.getinfo", debug.getinfo, 1)
call("debug.traceback", debug.traceback, fresh())
call("bit.tohex", bit.tohex, 0x7fab1000 + n)
call("ffi.new", ffi.new, "int[10]")
call("ffi.cast", ffi.cast, "void *", 0)
call("ffi.typeof", ffi.typeof, "struct { int a, b, c; }")
call("ffi.cdef", ffi.cdef, "struct named { int x; }; int twice(int);")
call("ffi.string", ffi.string, ffi.new("char[4]", { 200, 201, 202 }))
call("ffi.metatype", ffi.metatype, "struct named", {})
call("jit.util.funcinfo", require("jit.util").funcinfo, fresh)
io.stdout:write(table.concat(names, "\n"), "\n")
EOF
export LJPERF_TEST_VALUE=a-value-that-is-not-interned
run "$LJPERF" record -q --jit off calls.lua
is "the calls succeed" "$status $err" "0 "
echo "$out" >called
"$LJPERF" report -q --no-symbols --source c -t ';' -F symbol >rows
missing=
while read -r name; do
	grep -qxF -e "$name" rows || missing="$missing '$name'"
done <called
is "all $(wc -l <called) are named" "$missing" ""

finish
