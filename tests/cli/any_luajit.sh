# any_luajit.sh - the luajit command, which has LuaJIT inside: the agent comes
# in through LUA_INIT, and everything is as without it.
. "$(dirname "$0")/lib_any.sh"
need luajit luajit

same_as_alone "a script" luajit w.lua a b
whole "a script" ljperf.ljm.zst
is "a script: its lines" "$(allocs ljperf.ljm.zst w.lua:4)" 1000
like "a script: the command line" "$("$LJPERF" info)" "*cmdline : luajit w.lua a b*"
same_as_alone "-e" luajit -joff -e 'local t for i = 1, 1000 do t = { i } end print(#t, ...)' x
is "-e: its lines" "$(allocs ljperf.ljm.zst '(command line):1')" 1000
cp w.lua in
same_as_alone "standard input" luajit - a b
is "standard input: its lines" "$(allocs ljperf.ljm.zst stdin:4)" 1000
: >in
same_as_alone "options of the compiler" luajit -O1 -jdump=+,off w.lua
same_as_alone "a module on the command line" luajit -lstring w.lua

# What the program is told, and what it sees of itself.
cat >see.lua <<'L'
for _, name in ipairs { "LUA_INIT", "LD_PRELOAD", "LJPERF_AGENT", "HOME" } do
  print(name, os.getenv(name))
end
print(arg[0], #arg, ..., init_ran)
print(debug.traceback("here"))
for i = 0, 20 do
  if i ~= 3 then
    local f = io.open("/proc/self/fd/" .. i)
    io.write(f and "open " or "closed ")
  end
end
print()
L
same_as_alone "environment, arguments and descriptors" luajit see.lua x y
same_as_alone "exit status" luajit -e 'os.exit(3)'
same_as_alone "exit through lua_close()" luajit -e 'os.exit(4, true)'
same_as_alone "an error" luajit -e 'local t = {} error("no")'
same_as_alone "a script that is not there" luajit none.lua
same_as_alone "a finalizer" luajit -e 'local p = newproxy(true) getmetatable(p).__gc = function() print("gc") end'
whole "a finalizer" ljperf.ljm.zst

# The user's own LUA_INIT runs as without us, with all its errors.
echo 'init_ran = "by file" print(debug.traceback("in init"))' >init.lua
echo 'x = = 1' >bad.lua
for init in 'init_ran = "by text"' @init.lua @bad.lua @none.lua '' 'x = = 1' 'error("no start")' 'error({})' \
	'error(nil)' 'error(setmetatable({}, { __tostring = function() return "an object" end }))' \
	'os.exit(5)' 'init_ran = os.getenv("LUA_INIT")' 'local f <const> = 1'; do
	LUA_INIT=$init
	export LUA_INIT
	same_as_alone "LUA_INIT '$init'" luajit see.lua
done
LUA_INIT='jit.off() local t for i = 1, 1000 do t = { i } end'
same_as_alone "LUA_INIT that allocates" luajit -e 'x = 1'
is "LUA_INIT that allocates: its lines" "$(allocs ljperf.ljm.zst 'LUA_INIT:1')" 1000
unset LUA_INIT

# The marks of the end: a full collection, then closing.
fresh
"$LJPERF" record -q -- luajit -e 'keep = {} for i = 1, 100 do keep[i] = { i } end'
like "the end is marked" "$("$LJPERF" script -q | grep -c 'mark.*full-gc\|full-gc')" "[1-9]*"
fresh
"$LJPERF" record -q --no-final-gc -- luajit -e 'x = {}'
is "--no-final-gc" "$("$LJPERF" script -q | grep -c 'full-gc')" 0
finish
