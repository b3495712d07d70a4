# record_env.sh - what a script sees of its command line and environment is
# what it sees under luajit.
. "$(dirname "$0")/lib_record.sh"
need_luajit "command line and environment"

cat >args.lua <<'L'
local low = 0
while arg[low - 1] do low = low - 1 end
print("arg", #arg, "lowest", low < 0, "script", arg[0])
for i = 0, #arg do print(i, ("%q"):format(arg[i])) end
print("...", select("#", ...), ...)
print("same", arg[1] == (...), type(arg[-1]))
L
same "no arguments" args.lua
same "arguments" args.lua one 'two words' '' '*' 'x=1'
wanted "arguments" 0 "two words"
same "arguments like options" args.lua -o out -q --jit off -- -
wanted "arguments like options" 0 '"--"'
same "arguments of bytes" args.lua "$(printf '\377\001')" 'caf\303\251'
same "many arguments" args.lua $(seq 1 2000)
same "-- before the script" -- args.lua a
mkdir -p sub
cp args.lua sub/
same "a script in a folder" sub/args.lua
same "a script by its full path" "$PWD/sub/args.lua" a

# Standard input: as the script, and as the script's input.
echo 'print("from stdin", arg[0], #arg, ...)' >in
same "- reads the script" -
wanted "- reads the script" 0 "from stdin"
same "- with arguments" - a b
wanted "- with arguments" 0 "from stdin	-	2	a	b"
echo 'error("from stdin")' >in
same "an error in a script from standard input" -
wanted "an error in a script from standard input" 1 "stdin:1"
echo 'x = = 1' >in
same "a syntax error in standard input" -
seq 1 50000 >in
echo 'local n = 0 for line in io.lines() do n = n + line end print(n, io.read())' >sum.lua
same "a script that reads its input" sum.lua
# 1 + ... + 50000
wanted "a script that reads its input" 0 "1250025000"
: >in

# LUA_INIT, LUA_PATH and LUA_CPATH.
echo 'print(init_ran, package.path, package.cpath)' >show.lua
echo 'init_ran = "by file"' >init.lua
export LUA_INIT='init_ran = "by text"'
same "LUA_INIT as text" show.lua
wanted "LUA_INIT as text" 0 "by text"
export LUA_INIT=@init.lua
same "LUA_INIT as a file" show.lua
wanted "LUA_INIT as a file" 0 "by file"
export LUA_INIT='error("no start")'
same "LUA_INIT that fails" show.lua
wanted "LUA_INIT that fails" 1 "no start"
export LUA_INIT='x = = 1'
same "LUA_INIT with a syntax error" show.lua
export LUA_INIT=@not_there.lua
same "LUA_INIT of a file that is not there" show.lua
wanted "LUA_INIT of a file that is not there" 1 "not_there.lua"
export LUA_INIT='os.exit(4)'
same "LUA_INIT that exits" show.lua
wanted "LUA_INIT that exits" 4 ""
export LUA_INIT=
same "LUA_INIT empty" show.lua
export LUA_INIT='print("arg in init", arg ~= nil, ...)'
same "arg inside LUA_INIT" show.lua a b
unset LUA_INIT
same "package.path of its own" show.lua
export LUA_PATH='./lib/?.lua;;' LUA_CPATH='./lib/?.so;;'
same "LUA_PATH with ;;" show.lua
wanted "LUA_PATH with ;;" 0 "./lib/?.lua"
mkdir -p lib
echo 'return { name = ..., line = debug.getinfo(1, "S").source }' >lib/mod.lua
echo 'local m = require "mod" print(m.name, m.line)' >use.lua
same "require by LUA_PATH" use.lua
wanted "require by LUA_PATH" 0 "@./lib/mod.lua"
unset LUA_PATH LUA_CPATH
echo 'print(os.getenv("HOME"), os.getenv("LD_PRELOAD"), os.getenv("LJPERF_TEST_VAR"))' >env.lua
LJPERF_TEST_VAR=kept
export LJPERF_TEST_VAR
same "the environment" env.lua
wanted "the environment" 0 "kept"
cat >fds.lua <<'L'
local ffi = require "ffi"
ffi.cdef "int fcntl(int, int, ...);"
local open = {}
for fd = 0, 2 do open[#open + 1] = ffi.C.fcntl(fd, 1) end
print(table.concat(open, " "))
local p = io.popen("echo child; exit 3")
print(p:read("*a"), p:close())
print(os.execute("exit 5"))
L
same "standard streams and children" fds.lua
cat >cwd.lua <<'L'
print(io.popen("pwd"):read(), io.popen("umask"):read())
print(os.execute("trap") == 0)
L
same "folder and umask" cwd.lua
cat >signals.lua <<'L'
for line in io.lines("/proc/self/status") do
  if line:find("^Sig[BIC]") then print(line) end
end
L
same "signal dispositions" signals.lua

# Options of the JIT compiler.
echo 'print(jit.status())' >jit.lua
luajit_options=-joff record_options='--jit off'
same "the compiler switched off" jit.lua
wanted "the compiler switched off" 0 "false"
luajit_options=-jon record_options='-j on'
same "the compiler switched on" jit.lua
luajit_options='-O1' record_options='-O 1'
same "an optimisation level" jit.lua
luajit_options='-O-fold -Ohotloop=10' record_options='-O -fold -O hotloop=10'
same "optimisation flags" jit.lua
finish
