-- day.lua EVENTS STEP - a long life in a short time: functions, traces, coroutines,
-- call stacks and C functions that come and go for ever, over a heap that stays as
-- large as it is.  Every STEP allocations of its own it prints how many there were,
-- and what it and its parent, the recorder, have in memory, in KiB.
local ffi = require "ffi"
ffi.cdef "int getppid(void);"
local events, step = tonumber(arg[1]), tonumber(arg[2])
local parent = ffi.C.getppid()

local function resident(who)
  local f = io.open("/proc/" .. who .. "/smaps_rollup") or io.open("/proc/" .. who .. "/statm")
  local text = f:read("*a")
  f:close()
  -- Anonymous memory only: pages of files, and of the ring, come and go.
  local anonymous = text:match("Anonymous:%s+(%d+)")
  return tonumber(anonymous) or tonumber(text:match("^%d+ (%d+)")) * 4
end

local kept, seed = {}, 7
for i = 1, 1000 do kept[i] = false end
local function random(limit)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return math.floor(seed / 65536) % limit + 1
end

local made = 0
local function keep(x)
  kept[random(1000)] = x
  made = made + 1
end

-- Stacks of many shapes: which of three functions calls which, to any depth.
local calls = {}
for i = 1, 3 do
  calls[i] = function(depth, path)
    if depth == 0 then return keep({ path }) end
    return (calls[path % 3 + 1](depth - 1, math.floor(path / 3)))
  end
end

-- A new chunk with functions of its own, hot enough for a trace.
local function chunk(i)
  return assert(loadstring(("local keep = ... local function f%d(i) keep({ i }) keep('s' .. i) end "):format(i) ..
    "for i = 1, 150 do f" .. i .. "(i) end return f" .. i, "=chunk" .. i))
end

local function generator(n)
  return coroutine.wrap(function()
    for i = 1, n do
      keep({ i })
      coroutine.yield(string.rep("x", i % 50))
    end
  end)
end

local round, next_step = 0, step
while made < events do
  round = round + 1
  chunk(round)(keep)
  for _ = 1, 300 do calls[random(3)](random(60), random(1000000)) end
  local g = generator(100)
  for _ = 1, 100 do keep(g()) end
  for i = 1, 100 do keep(table.concat({ tostring(i), string.format("%d", i) }, ",")) end
  if round % 100 == 0 then jit.flush() end
  if made >= next_step then
    collectgarbage()
    io.write(("%d %d %d\n"):format(made, resident("self"), resident(parent)))
    io.flush()
    next_step = next_step + step
  end
end
