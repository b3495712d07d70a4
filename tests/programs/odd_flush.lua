-- odd_flush.lua - the JIT compiler switched off, on, by function, flushed in
-- the middle of compiled loops, with few traces and odd parameters, so that
-- trace numbers and code addresses are used again.
local jit = require "jit"
local sink = {}

local function one(n) for i = 1, n do sink[1] = { i } end end
local function two(n) for i = 1, n do sink[2] = { i, i } end end
local function three(n) local s = "" for i = 1, n do s = "x" .. i sink[3] = s end return #s end
local function nested(n)
  for i = 1, n do
    local t = {}
    for j = 1, 20 do t[j] = { j } end
    sink[4] = t
  end
end
local function branchy(n)
  for i = 1, n do
    if i % 3 == 0 then sink[5] = { i }
    elseif i % 3 == 1 then sink[6] = tostring(i)
    else sink[7] = function() return i end end
  end
end
local all = { one, two, three, nested, branchy }

jit.opt.start("hotloop=3", "hotexit=2")
for round = 1, 60 do
  for _, f in ipairs(all) do f(round % 40 + 5) end
  if round % 3 == 0 then jit.flush() end
end

-- A flush from inside a loop that is compiled.
local function flushing(n)
  for i = 1, n do
    sink[8] = { i }
    if i % 50 == 0 then jit.flush() end
  end
end
flushing(1000)

for round = 1, 20 do
  local f = all[round % #all + 1]
  jit.off(f)
  f(50)
  jit.on(f)
  f(50)
  jit.flush(f)
  f(50)
end
jit.off()
for _, f in ipairs(all) do f(100) end
jit.on()
for _, f in ipairs(all) do f(100) end

-- Room for few traces: the compiler flushes by itself.
jit.opt.start("maxtrace=5", "hotloop=2")
for round = 1, 100 do
  local f = loadstring("local t = ... for i = 1, 20 do t[i] = { i } end return #t", "=loop" .. round)
  assert(f({}) == 20)
end
jit.opt.start("maxtrace=1000", "maxmcode=16", "sizemcode=16")
for round = 1, 100 do
  local f = loadstring("local n = ... local t = {} for i = 1, n do t[i % 10] = { i, n } end return t", "=m" .. round)
  assert(f(60)[1][2] == 60)
end
-- What is too hard to compile falls back again and again.
for i = 1, 300 do
  local f = function(...) return select("#", ...), { ... } end
  sink[9] = { f(unpack({ 1, 2, 3 }, 1, i % 4)) }
  sink[10] = pcall(error, { i })
end
print("flush", #sink[4], three(9))
