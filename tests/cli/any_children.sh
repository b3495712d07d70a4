# any_children.sh - processes that a recorded program starts: those with a VM
# are recorded too, into files of their own, and the others are not disturbed.
. "$(dirname "$0")/lib_any.sh"
need luajit luajit

cat >quiet.lua <<'L'
print(os.execute("true"), os.execute("exit 3"))
local p = io.popen("echo child; cat") print(p:read("*a"), p:close())
print(os.execute("env -i true"), os.execute("ls /none 2>/dev/null"))
L
same_as_alone "children without a VM" luajit quiet.lua
is "children without a VM: no files of theirs" "$(files)" 1
cat >kids.lua <<'L'
os.execute("luajit w.lua")
io.popen("luajit w.lua"):read("*a")
os.execute("exec luajit w.lua")
os.execute("env -i luajit w.lua")
L
same_as_alone "children with a VM" luajit kids.lua
is "children with a VM: a file each, but for the one without its environment" "$(files)" 4
whole "children with a VM" ljperf*.zst
for file in ljperf.[0-9]*.zst; do
	is "children with a VM: lines" "$(allocs "$file" w.lua:4)" 1000
	like "children with a VM: their command line" "$("$LJPERF" info -i "$file")" "*cmdline : luajit w.lua*"
done
is "children with a VM: nothing of theirs in the parent's file" "$(allocs ljperf.ljm.zst w.lua:4)" 0
like "a report of all of them" "$("$LJPERF" report -q --sort line ljperf*.zst)" "*w.lua:4*"
vms=$("$LJPERF" report -q --sort vm ljperf*.zst)
is "--sort vm tells processes apart" "$(echo "$vms" | grep -c ' VM 1 (luajit) of [0-9]*: luajit w.lua$') $(
	echo "$vms" | grep -c ' VM 1 (luajit) of [0-9]*: luajit kids.lua$')" "3 1"
for option in -i --no-inherit; do
	record_options=$option
	same_as_alone "$option" luajit kids.lua
	is "$option: one file" "$(files)" 1
done
record_options=
# The embedded VM's children are recorded as well.
cp w.lua in.lua
fresh
run "$LJPERF" record -q kids.lua
is "children of a script" "$status $(files)" "0 4"
fresh
run "$LJPERF" record -q -i kids.lua
is "children of a script, -i" "$status $(files)" "0 1"

# A shell of shells; exec keeps the process id, and files are not overwritten.
fresh
run "$LJPERF" record -q -- sh -c 'luajit w.lua; sh -c "luajit w.lua"; exec luajit w.lua'
is "a shell" "$status $(files)" "0 3"
whole "a shell" ljperf*.zst
cat >twice.lua <<'L'
local ffi = require "ffi"
ffi.cdef "int execlp(const char *, const char *, ...);"
ffi.C.execlp("luajit", "luajit", "w.lua", ffi.cast("char *", nil))
L
fresh
run "$LJPERF" record -- luajit twice.lua
is "exec: a file for each program of one process" "$status $(files)" "0 2"
whole "exec" ljperf*.zst
like "exec: names of files" "$(ls ljperf.*.2.ljm.zst)" "ljperf.[0-9]*.2.ljm.zst"

# A child that has ended before the recorder looked at it is not taken for
# another process.
mkdir -p elsewhere && cp w.lua elsewhere
fresh
run "$LJPERF" record -q -- sh -c 'kill -STOP $PPID
	(cd elsewhere && luajit w.lua) >/dev/null
	kill -CONT $PPID; echo $$ $PPID >ids; :'
read -r shell recorder <ids
is "a child of a moment" "$status $(allocs ljperf.ljm.zst w.lua:4)" "0 1000"
info=$("$LJPERF" info -i ljperf.ljm.zst)
like "a child of a moment: its command line" "$info" "*cmdline : luajit w.lua*"
like "a child of a moment: its folder" "$info" "*working directory : $PWD/elsewhere*"
is "a child of a moment: the recorder is not its parent" \
	"$(echo "$info" | grep -c "parent $recorder,")" 0
is "a child of a moment: it is not the shell" "$(echo "$info" | grep -c "process : $shell,")" 0

# A parent that closes what it does not know: the child calls the recorder.
if have python3; then
	cat >close.py <<'P'
import os, subprocess
print(
    subprocess.call(["luajit", os.path.abspath("w.lua")], close_fds=True, cwd="/"))
P
	same_as_alone "a parent that closes all descriptors" python3 close.py
	is "a parent that closes all descriptors: one file" "$(files)" 1
	is "a parent that closes all descriptors: lines" "$(allocs ljperf.ljm.zst w.lua:4)" 1000
fi

# What is started in the background is recorded to its end.
cat >slow.lua <<'L'
jit.off()
local t
for i = 1, 1000 do
	t = { i }
	if i % 100 == 0 then os.execute("sleep 0.1") end
end
L
fresh
run "$LJPERF" record -- sh -c 'luajit slow.lua >/dev/null 2>&1 & exit 5'
is "in the background: status" "$status" 5
like "in the background: what is waited for is told" "$err" "ljperf: the program has ended; 1 of its processes is recorded still,*"
whole "in the background" ljperf.ljm.zst
is "in the background: lines" "$(allocs ljperf.ljm.zst slow.lua:4)" 1000
fresh
before=$(date +%s)
run "$LJPERF" record -q -- sh -c 'sleep 20 & luajit w.lua'
is "what has no VM is not waited for" \
	"$status $([ $(($(date +%s) - before)) -lt 10 ] && echo soon)" "0 soon"

# timeout(1) sends its signal to ljperf and then to the group: that is one, and
# a program that ends by itself is waited for.
cat >term.lua <<'L'
jit.off()
local ffi = require "ffi"
ffi.cdef "typedef void (*handler_t)(int); handler_t signal(int, handler_t); int pause(void);"
local ended = false
ffi.C.signal(15, ffi.cast("handler_t", function() ended = true end))
while not ended do ffi.C.pause() end
os.execute("sleep 1")
local t
for i = 1, 1000 do t = { i } end
os.exit(6)
L
fresh
run timeout -s TERM 2 "$LJPERF" record -q -- luajit term.lua
is "timeout: status" "$status" 124
is "timeout: the program is waited for" "$(allocs ljperf.ljm.zst term.lua:9)" 1000
whole "timeout" ljperf.ljm.zst

# The user's own LD_PRELOAD is kept, before ours.
cat >own.c <<'C'
#include <stdlib.h>
int ljperf_test_own(void);
int ljperf_test_own(void) { return 42; }
C
if ${CC:-gcc} -shared -fPIC -o own.so own.c 2>cc.log; then
	cat >own.lua <<'L'
local ffi = require "ffi"
ffi.cdef "int ljperf_test_own(void);"
print(ffi.C.ljperf_test_own(), os.getenv("LD_PRELOAD"))
os.execute("luajit -e 'local ffi = require \"ffi\" ffi.cdef \"int ljperf_test_own(void);\" print(ffi.C.ljperf_test_own())'")
L
	LD_PRELOAD=$PWD/own.so
	export LD_PRELOAD
	same_as_alone "a user's own LD_PRELOAD" luajit own.lua
	same_as_alone "a user's own LD_PRELOAD, -i" luajit own.lua
	unset LD_PRELOAD
	is "a user's own LD_PRELOAD: recorded" "$([ "$(files)" -ge 1 ] && echo yes)" yes
else
	not_ok "a library compiles" "$(cat cc.log)"
fi

# A daemon: descriptors, environment, folder and rights are gone when it makes
# its VM.
if pkg-config --exists luajit; then
	# shellcheck disable=SC2046
	${CC:-gcc} -o host "$LJPERF_SOURCE/tests/hosts/host.c" $(pkg-config --cflags --libs luajit) -pthread
	same_as_alone "a daemon" ./host dropped
	whole "a daemon" ljperf.ljm.zst
	is "a daemon: lines" "$(allocs ljperf.ljm.zst dropped.lua:3)" 1000
else
	skip "a daemon" "because there is no LuaJIT to build with"
fi
finish
