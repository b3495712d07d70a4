# record_errors.sh - how programs end: status and text are those of luajit.
. "$(dirname "$0")/lib_record.sh"
need_luajit "ends of programs"

# ends NAME STATUS TEXT: the program is on standard input; that luajit itself
# ends with STATUS and prints TEXT is checked, too.
ends()
{
	cat >t.lua
	same "$1" t.lua
	wanted "$1" "$2" "$3"
}

ends "success" 0 "done" <<'L'
print("done")
L
ends "nothing at all" 0 "" </dev/null
ends "an error with a traceback" 1 "stack traceback:" <<'L'
local function inner() error("deep inside") end
local function outer() inner() return 1 end
print("before") outer()
L
ends "an error without position" 1 "no place" <<'L'
error("no place", 0)
L
ends "an error of the VM" 1 "attempt to index" <<'L'
local t = nil
print(t.x)
L
ends "a syntax error" 1 "unexpected symbol" <<'L'
x = = 1
L
ends "a text without an end" 1 "unfinished string" <<'L'
x = "abc
L
ends "an error object that is a table" 1 "error object is not a string" <<'L'
error({ code = 5 })
L
ends "an error object that becomes a string" 1 "made by hand" <<'L'
error(setmetatable({}, { __tostring = function() return "made by hand" end }))
L
ends "an error object whose conversion fails" 1 "" <<'L'
error(setmetatable({}, { __tostring = function() error("again") end }))
L
ends "error(nil)" 1 "" <<'L'
error(nil)
L
ends "error(false)" 1 "" <<'L'
error(false)
L
ends "error(42)" 1 "42" <<'L'
error(42)
L
ends "os.exit(3)" 3 "" <<'L'
os.exit(3)
L
ends "os.exit()" 0 "" <<'L'
io.write("no newline") os.exit()
L
ends "os.exit(true)" 0 "" <<'L'
os.exit(true)
L
ends "os.exit(false)" 1 "" <<'L'
os.exit(false)
L
ends "os.exit(0, true)" 0 "closed" <<'L'
getmetatable(newproxy(true)).__gc = nil
p = newproxy(true) getmetatable(p).__gc = function() print("closed") end
os.exit(0, true)
L
ends "os.exit(9, true) in a coroutine" 9 "" <<'L'
coroutine.wrap(function() pcall(function() os.exit(9, true) end) end)()
L
ends "os.exit(256)" 0 "" <<'L'
os.exit(256)
L
ends "finalizers at the end" 0 "finalizer 1" <<'L'
for i = 1, 3 do
  _G["p" .. i] = newproxy(true)
  getmetatable(_G["p" .. i]).__gc = function() print("finalizer " .. i) end
end
L
ends "a finalizer at the end that fails" 0 "" <<'L'
p = newproxy(true)
getmetatable(p).__gc = function() local t = { 1 } error("in the finalizer") end
L
ends "values that the script returns" 0 "" <<'L'
return 1, "x", nil
L
ends "an error in a coroutine" 1 "in a coroutine" <<'L'
coroutine.wrap(function() error("in a coroutine") end)()
L
ends "a stack overflow" 1 "stack overflow" <<'L'
local function f() return 1 + f() end
f()
L
ends "memory that is not there" 1 "not enough memory" <<'L'
local s = ("x"):rep(2 ^ 20)
s:rep(2 ^ 20)
L
ends "a table that is too big" 1 "table overflow" <<'L'
require("table.new")(2 ^ 27 + 8, 0)
L
ends "output on both streams" 0 "two" <<'L'
io.stdout:setvbuf("no")
print("one") io.stderr:write("two\n") print("three")
L
ends "a shebang line" 0 "ran" <<'L'
#!/usr/bin/env luajit
print("ran", debug.getinfo(1, "l").currentline)
L
ends "the collector's count at the start" 0 "true" <<'L'
print(collectgarbage("count") < 1000, jit.status() ~= nil, #jit.version > 0)
L
ends "what the VM says of itself" 0 "LuaJIT" <<'L'
print(jit.version, jit.os, jit.arch, _VERSION, jit.status())
L

# Bytecode as a script.
echo 'local t = {} for i = 1, 9 do t[i] = { i } end print("bytecode", #t)' >b.lua
luajit -b b.lua b.luac 2>/dev/null ||
	echo 'local f = io.open("b.luac", "wb") f:write(string.dump(loadfile("b.lua"))) f:close()' | luajit -
same "a script of bytecode" b.luac
wanted "a script of bytecode" 0 "bytecode	9"

same "a script that is not there" no_such.lua
wanted "a script that is not there" 1 "no_such.lua"
mkdir dir.lua
same "a folder as a script" dir.lua
echo 'print("named with spaces")' >'a b.lua'
same "a name with a space" 'a b.lua'

# Signals: luajit in a shell and ljperf record both give 128 + n.
for sig in 6 9 11 15; do
	cat >k.lua <<L
local ffi = require "ffi"
ffi.cdef "int getpid(void); int kill(int, int);"
io.stdout:write("before ") io.stdout:flush()
local t = {} for i = 1, 1000 do t[i] = { i } end
ffi.C.kill(ffi.C.getpid(), $sig)
print("not reached")
L
	sh -c 'ulimit -c 0; exec luajit k.lua' >stock.out 2>/dev/null
	stock_status=$?
	(ulimit -c 0; exec "$LJPERF" record -q -o r.zst k.lua) >rec.out 2>rec.err </dev/null
	is "signal $sig: status and output" "$? $(cat rec.out)" "$((128 + sig)) before "
	is "signal $sig: luajit in a shell" "$stock_status" $((128 + sig))
	like "signal $sig: the file says so" "$("$LJPERF" info r.zst)" \
		"*complete : yes*end of target : killed by signal $sig (*"
done
finish
