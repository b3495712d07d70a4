# any_require.sh - programs that record themselves with require "ljperf", and
# with the functions of Tarantool's profiler.
. "$(dirname "$0")/lib_any.sh"
need luajit luajit

LUA_CPATH="$("$LJPERF" --cpath);;"
export LUA_CPATH

# Line 6 makes 100 tables, line 11 1000, line 13 500 and line 15 10.
cat >self.lua <<'L'
jit.off()
local ljperf = require "ljperf"
local function show(...) print(...) end
show(ljperf.running(), ljperf.mark("too early"), ljperf.stop())
local old = {}
for i = 1, 100 do old[i] = { i } end
show(ljperf.start { output = "self.zst" })
show(ljperf.running(), ljperf.start { output = "other.zst" })
local t
ljperf.mark "one"
for i = 1, 1000 do t = { i } end
ljperf.mark "two"
for i = 1, 500 do t = { i } end
show(ljperf.stop())
for i = 1, 10 do t = { i } end
show(ljperf.running(), ljperf.stop())
show(io.open("self.zst", "rb"):seek("end") > 1000)
os.exit(7, true)
L
run luajit self.lua
is "a program that records itself: status" "$status" 7
is "a program that records itself: what it is told" "$out" "false	false	nil	this VM is not recorded	22
true
true	nil	this VM is recorded already	114
true
false	nil	this VM is not recorded	22
true"
is "a program that records itself: stderr" "$err" ""
whole "a program that records itself" self.zst
is "a program that records itself: lines" \
	"$(for n in 6 11 13 15; do allocs self.zst self.lua:$n; done | tr '\n' ' ')" "0 1000 500 0 "
is "a refused start leaves no file" "$([ -e other.zst ] || echo none)" none
# cut NAME OPTION...: allocations of line 11 and 13 in a part.
cut_at()
{
	"$LJPERF" report -q -t , --sort line -F allocs,symbol "$@" self.zst |
		awk -F, '/self.lua:11/ { a = $1 } /self.lua:13/ { b = $1 } END { print a + 0, b + 0 }'
}
is "report --from --to" "$(cut_at --from one --to two)" "1000 0"
is "report --from" "$(cut_at --from two)" "0 500"
is "report --to" "$(cut_at --to two)" "1000 0"
like "info knows the program" "$("$LJPERF" info -i self.zst)" "*cmdline : luajit self.lua*"

# The file before is kept; the file appears as it is asked for.
run luajit self.lua
is "the file before is kept" "$([ -s self.zst.old ] && echo kept)" kept

cat >bad.lua <<'L'
local ljperf = require "ljperf"
print(ljperf.start { output = "none/x.zst" })
print(ljperf.start { output = "." })
print(ljperf.start { output = "-" })
print(ljperf.start { events = "cpu" })
print(ljperf.start { outptu = "x.zst" })
print(ljperf.start { "x.zst" })
print(ljperf.start { stacks = 5000 })
print(ljperf.start(1))
print(pcall(ljperf.mark))
print(ljperf.running())
L
run luajit bad.lua
is "wrong arguments" "$status $err$(echo "$out" | sed 's/argument #1 to .*(/argument (/')" "0 nil	none/x.zst: No such file or directory	2
nil	.: Is a directory	21
nil	a recording needs a file	22
nil	the only event there is is 'alloc'	22
nil	start has no option 'outptu', there are output, stacks and events	22
nil	start takes options by their names	22
nil	stacks is true, a number of frames up to 1024, 'lua' or 'lua,native'	22
nil	start takes a table of options	22
false	bad argument (string expected, got no value)
false"

# Ends of all kinds, without stop(): the file is whole up to there.
cat >ends.lua <<'L'
jit.off()
require "ljperf".start { output = "ends.zst" }
local t
for i = 1, 1000 do t = { i } end
if arg[1] == "exit" then os.exit(3) end
if arg[1] == "close" then os.exit(3, true) end
if arg[1] == "error" then error("no") end
if arg[1] == "kill" then io.open("/proc/self/stat"):read("*a") os.execute("kill -9 $PPID") end
L
# settled: waits until the recorder has closed the file, at most 20 s.
settled()
{
	n=0
	while ! "$LJPERF" info -i ends.zst 2>/dev/null | grep -q '^complete : yes' && [ $n -lt 200 ]; do
		sleep 0.1
		n=$((n + 1))
	done
}
for how in end:0 exit:3 close:3 error:1 kill:137; do
	rm -f ends.zst
	run luajit ends.lua "${how%:*}"
	is "$how: status" "$status" "${how#*:}"
	settled
	whole "$how" ends.zst
	is "$how: lines" "$(allocs ends.zst ends.lua:4)" 1000
done
rm -f ends.zst
run luajit ends.lua end
settled
is "closing a VM: its frees are apart" \
	"$("$LJPERF" script -q -i ends.zst | grep ' mark ' | awk '{ printf "%s ", $4 }')" "script-end close "

# Nothing of the recorder shows in the program: children, descriptors, signals.
cat >shy.lua <<'L'
local ffi = require "ffi"
ffi.cdef [[
int waitpid(int, int *, int); int fcntl(int, int, ...); int getppid(void);
typedef void (*sighandler_t)(int); sighandler_t signal(int, sighandler_t);
]]
local got = 0
local handler = ffi.cast("sighandler_t", function() got = got + 1 end)
ffi.C.signal(17, handler)
jit.off()
local low = {}
for fd = 3, 9 do low[#low + 1] = ffi.C.fcntl(fd, 1) end
if arg[1] then
  local ljperf = require "ljperf"
  assert(ljperf.start { output = "shy.zst" })
  assert(ljperf.stop())
end
print("children", ffi.C.waitpid(-1, nil, 1), "signals", got)
L
is "no child, no signal" "$(luajit shy.lua x)" "$(luajit shy.lua)"
sleep 0.2
is "no recorder is left" "$(pgrep -f "record --collect" | while read -r p; do
	tr '\0' ' ' <"/proc/$p/cmdline"; done | grep -c "$PWD")" 0

# Native frames: none for a built-in function, but the code of the C module's.
cat >native.c <<'C'
typedef struct lua_State lua_State;
void lua_createtable(lua_State *L, int narr, int nrec);
void lua_pushcclosure(lua_State *L, int (*f)(lua_State *L), int n);
int luaopen_nat(lua_State *L);
static __attribute__((noinline)) void below(lua_State *L)
{
	lua_createtable(L, 10, 0);
	__asm__ volatile("" ::: "memory");
}
static int above(lua_State *L)
{
	below(L);
	return 1;
}
int luaopen_nat(lua_State *L)
{
	lua_pushcclosure(L, above, 0);
	return 1;
}
C
if [ "$(uname -m)" != x86_64 ]; then
	skip "stacks = 'lua,native'" "because they are recorded on x86-64 only"
elif ${CC:-gcc} -g -shared -fPIC -o nat.so native.c 2>cc.log; then
	cat >native.lua <<'L'
package.cpath = "./?.so;" .. package.cpath
local f = require "nat"
require "ljperf".start { output = "native.zst", stacks = "lua,native" }
f()
require "ljperf".stop()
L
	run luajit native.lua
	like "stacks = 'lua,native'" "$status $("$LJPERF" script -q -i native.zst -F +stack)" \
		"0 *lua_createtable*below native.c:7*above native.c:12*native.lua:4*"
else
	not_ok "a library compiles" "$(cat cc.log)"
fi

# Call stacks: the caller of the function that allocates.
cat >stacks.lua <<'L'
jit.off()
local function make(i) return { i } end
local function caller() for i = 1, 10 do local t = make(i) end end
require "ljperf".start { output = "stacks.zst", stacks = true }
caller()
require "ljperf".stop()
L
run luajit stacks.lua
like "stacks = true" "$("$LJPERF" script -q -i stacks.zst -F +stack 2>/dev/null || "$LJPERF" script -q -i stacks.zst)" \
	"*stacks.lua:2*stacks.lua:3*"

# Under ljperf record the VM is that one's.
cat >under.lua <<'L'
local ljperf = require "ljperf"
print(ljperf.running(), ljperf.mark("here"), ljperf.start { output = "under.zst" })
print(ljperf.stop())
L
for how in "" "-- luajit"; do
	fresh
	# shellcheck disable=SC2086
	run "$LJPERF" record -q $how under.lua
	is "under record${how:+ of the luajit command}" "$status $out$err" "0 true	true	nil	this VM is recorded already	114
nil	the recording is not this module's	22"
	is "under record: the mark is there" "$("$LJPERF" script -q | grep -c 'mark *user here')" 1
	is "under record: one file" "$([ -e under.zst ] || files)" 1
done

# Tarantool's functions, on this LuaJIT.  Texts and numbers are those of its
# lib_misc.c and lj_errmsg.h.
cat >memprof.lua <<'L'
jit.off()
local m = require "ljperf.misc"
print(m == misc)
print(misc.memprof.stop())
print(misc.memprof.start("none/x.bin"))
print(misc.memprof.start("m.bin"))
print(misc.memprof.start("n.bin"))
local t
for i = 1, 1000 do t = { i } end
print(misc.memprof.stop())
print(misc.memprof.stop())
print(pcall(misc.memprof.start, nil))
assert(misc.memprof.start("m.ljm.zst"))
for i = 1, 300 do t = { i } end
assert(misc.memprof.stop())
L
echo "what was there before is written over, however long it is; $(seq 1 5000)" >m.bin
run luajit memprof.lua
is "misc.memprof: results" "$status $err$(echo "$out" | sed 's/argument #1 to .*(/argument (/')" "0 true
nil	profiler is not running	22
nil	none/x.bin: No such file or directory	2
true
nil	profiler is running already	22
true
nil	profiler is not running	22
false	bad argument (string expected, got nil)"
is "misc.memprof: mode of the file" "$(umask 022; rm -f m.bin; luajit memprof.lua >/dev/null; stat -c %a m.bin)" 644
is "misc.memprof: plain bytes" "$(head -c 3 m.bin)" ljs
like "misc.memprof: .zst is a session" "$("$LJPERF" info -i m.ljm.zst)" "*session file*complete : yes*"
is "misc.memprof: lines" "$(allocs m.bin memprof.lua:9) $(allocs m.ljm.zst memprof.lua:14)" "1000 300"
if have python3; then
	# The independent reader of the stream sees the same 1000.
	is "misc.memprof: by another reader" \
		"$(PYTHONDONTWRITEBYTECODE=1 python3 "$LJPERF_SOURCE/tests/model/memprof_model.py" m.bin |
			sed -n 's/^@*memprof.lua:9: \([0-9]*\) events.*/\1/p' | head -1)" 1000
fi

# Another Lua is told.
if have lua5.1; then
	run lua5.1 -e 'print(pcall(require, "ljperf"))'
	like "another Lua" "$out $err" "*the module works in LuaJIT only*"
fi
finish
