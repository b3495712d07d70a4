# stacks_exact.py - the recorded call stacks are those that the program itself
# sees with debug.getinfo(), level by level: recursion, tail calls, pcall and
# error, coroutines, metamethods, callbacks of gsub, sort and FFI, iterators.
import json
import os
import subprocess
import sys

LJPERF = os.environ["LJPERF"]

# leaf() allocates once, on line 4; or, told so, prints the stack above it.
PROGRAM = r"""local show = arg[1] == "show"
local ffi = require "ffi"
local getinfo, write, format = debug.getinfo, io.write, string.format
local function leaf() if not show then return { 1 } end
  local level = 1
  while true do
    local i = getinfo(level, "Sl")
    if not i then break end
    write(i.what == "C" and "C" or format("%s:%d", i.short_src, level == 1 and 4 or i.currentline), " ")
    level = level + 1
  end
  write("\n")
end
leaf()
for i = 1, 20 do leaf() end
local function rec(n) if n > 0 then rec(n - 1) return nil end
  leaf() return nil
end
rec(0) rec(1) rec(7)
local function tail(n) if n > 0 then return tail(n - 1) end return leaf() end
tail(3)
local function va(...) local x = leaf(...) return x, ... end
va() va(1, 2, 3)
pcall(leaf)
pcall(pcall, leaf)
local function bad() leaf() error("bad") end
pcall(bad)
xpcall(bad, function(e) leaf() return e end)
xpcall(function() local x = nil + 1 end, function(e)
  leaf() return e
end)
xpcall(function()
  pcall(error) x = nil
  local ok = xpcall(function() x = nil .. "a" end, leaf)
  xpcall(function() local t = nil
    local a = pcall(leaf)
    local b = t.field end, function() leaf() return 1 end)
  local y = #nil end, function() leaf() return leaf() end)
local wrapped = coroutine.wrap(function(a)
  leaf() rec(2)
  coroutine.yield(leaf())
  for i = 1, 3 do coroutine.yield(leaf()) end
end)
for i = 1, 4 do wrapped(i) end
coroutine.resume(coroutine.create(function() pcall(function() leaf() coroutine.wrap(leaf)() end) end))
local object = setmetatable({}, { __index = function(_, k) leaf() return k end,
  __newindex = function() leaf() end, __add = function() leaf() return 1 end,
  __call = function(_, ...) leaf() return ... end, __concat = function() leaf() return "" end,
  __eq = function() leaf() return true end, __lt = function() leaf() return true end,
  __len = function() leaf() return 0 end, __unm = function() leaf() return 0 end })
local x = object.field
object.field = 1
x = object + 1
object(1, 2)
x = "a" .. object .. "b"
x = object == setmetatable({}, getmetatable(object))
x = object < object
x = -object
tostring(setmetatable({}, { __tostring = function() leaf() return "t" end }))
local r = ("abc"):gsub("%w", function(c) leaf() return c end)
table.sort({ 3, 1, 2 }, function(a, b) leaf() return a < b end)
local function iter(_, i) i = (i or 0) + 1
  leaf()
  if i < 4 then return i end
end
for i in iter do leaf() end
for k in pairs(setmetatable({ 1 }, { __pairs = 1 })) do leaf() end
local callback = ffi.cast("int (*)(int)", function(n) leaf() return n end)
callback(1) callback(2)
callback:free()
ffi.cdef "void qsort(void *, size_t, size_t, int (*)(const int *, const int *));"
ffi.C.qsort(ffi.new("int[2]", 2, 1), 2, 4, function(a, b) leaf() return a[0] - b[0] end)
load("local leaf = ... leaf()\n\nleaf()", "=loaded")(leaf)
require "stack_module"(leaf)
local hooked
debug.sethook(function() if not hooked then hooked = true leaf() end end, "", 1)
x = 1
debug.sethook()
do local p = newproxy(true) getmetatable(p).__gc = function() leaf() end end
collectgarbage() collectgarbage()
leaf()
"""

MODULE = "return function(leaf)\n  leaf()\n  return nil\nend\n"


def seen():
    """One line of the program's own for each call of leaf()."""
    run = subprocess.run(["luajit", "-joff", "exact.lua", "show"], capture_output=True, text=True)
    if run.returncode:
        sys.exit("not ok the program runs: " + run.stderr)
    return [line.split() for line in run.stdout.splitlines()]


def place(frame):
    return f"{frame['file']}:{frame['line']}" if "line" in frame and frame["file"].endswith((".lua", "loaded")) else "C"


def recorded(*options):
    subprocess.run([LJPERF, "record", "-q", "-g", "-o", "s.ljm.zst", *options, "exact.lua"], check=True)
    out = subprocess.run([LJPERF, "script", "--json", "-i", "s.ljm.zst"], check=True, capture_output=True, text=True)
    events = map(json.loads, out.stdout.splitlines())
    return [[place(f) for f in e["frames"]] for e in events
            if e.get("event") == "alloc" and e.get("chunk") == "@exact.lua" and e["line"] == 4]


def compare(name, got, want):
    if got == want:
        print(f"ok {name}: {len(want)} stacks, {sum(map(len, want))} frames")
        return True
    for i in range(max(len(got), len(want))):
        g = got[i] if i < len(got) else None
        w = want[i] if i < len(want) else None
        if g != w:
            print(f"not ok {name}: stack {i} is {g}, should be {w} ({len(got)} and {len(want)} stacks)")
            return False
    return False


def main():
    os.chdir(os.environ["TMPDIR"])
    with open("exact.lua", "w") as f:
        f.write(PROGRAM)
    with open("stack_module.lua", "w") as f:
        f.write(MODULE)
    want = seen()
    good = compare("without the JIT compiler", recorded("--jit", "off"), want)
    # No loop here is long enough to be compiled.
    good &= compare("with the JIT compiler", recorded("--jit", "on"), want)
    cut = recorded("--jit", "off", "--max-stack", "3")
    good &= compare("3 frames at most", [s[:3] for s in cut], [s[:3] for s in want])
    return not good


sys.exit(main())
