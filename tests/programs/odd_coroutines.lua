-- odd_coroutines.lua - coroutines: wraps as iterators, a stack that grows in
-- mid-call, yields across pcall, metamethods and iterators, dead and abandoned
-- ones, main functions that are C functions.
local function range(n)
  return coroutine.wrap(function()
    for i = 1, n do coroutine.yield(i, { i }) end
  end)
end

local function filter(f, gen)
  return coroutine.wrap(function()
    for v in gen do if f(v) then coroutine.yield(v) end end
  end)
end

-- Primes by a chain of coroutines.
local gen, primes = range(400), {}
gen()
for _ = 1, 40 do
  local p = gen()
  primes[#primes + 1] = p
  gen = filter(function(v) return v % p ~= 0 end, gen)
end
assert(primes[40] == 173)

-- Fifty locals in a fresh coroutine: its stack is resized inside the call.
local names = {}
for i = 1, 50 do names[i] = "v" .. i end
local wide = assert(loadstring("return function(a) local " .. table.concat(names, ",") ..
  " = a, {}, {} v50 = { a } local t = { v1, v2, v50 } coroutine.yield(t) return t end", "=wide"))()
for i = 1, 100 do
  local co = coroutine.create(wide)
  local _, t = coroutine.resume(co, i)
  assert(t[1] == i and coroutine.status(co) == "suspended")
  coroutine.resume(co)
  assert(coroutine.status(co) == "dead" and not coroutine.resume(co))
end

-- Many short ones.
local total = 0
for i = 1, 10000 do
  total = total + coroutine.wrap(function(a) return a + coroutine.yield(0) end)(i)
end

-- Recursion inside: the stack grows and shrinks by a lot.
local function deep(n)
  local t = { n }
  if n == 0 then return coroutine.yield(t) end
  return deep(n - 1) and t
end
for i = 1, 10 do
  local co = coroutine.create(deep)
  assert(coroutine.resume(co, i * 300))
  assert(coroutine.resume(co, true))
  collectgarbage("step")
end

-- Yields from within pcall, a metamethod, an iterator and a hooked sort.
local mt = { __add = function(a, b) coroutine.yield({ "add" }) return 5 end,
  __index = function(_, k) return coroutine.yield({ k }) end }
local co = coroutine.wrap(function()
  local ok, v = pcall(function() return coroutine.yield({ "pcall" }) end)
  assert(ok and v == "a")
  ok = xpcall(function() coroutine.yield({ "xpcall" }) error("x") end, function(e) return { e } end)
  assert(not ok)
  local object = setmetatable({}, mt)
  assert(object + 1 == 5 and object.field == "b")
  for k in function(_, n) coroutine.yield({ "for" }) return (n or 0) < 3 and (n or 0) + 1 or nil end do
    assert(k <= 3)
  end
  return "end"
end)
local seen = {}
local arg = nil
while true do
  local v = co(arg)
  if v == "end" then break end
  seen[#seen + 1] = v[1]
  arg = v[1] == "pcall" and "a" or v[1] == "field" and "b" or nil
end
assert(table.concat(seen, " ") == "pcall xpcall add field for for for for")

-- A C function as a body, and resuming in a circle.
for i = 1, 50 do
  assert(coroutine.wrap(string.rep)("ab", i) == ("ab"):rep(i))
  assert(coroutine.wrap(pcall)(error, { i }) == false)
  assert(coroutine.wrap(tostring)({}):find("^table"))
end
local self
self = coroutine.create(function() return coroutine.resume(self) end)
local _, again = coroutine.resume(self)
assert(again == false)

-- Abandoned ones, with a value each.
local parked = {}
for i = 1, 500 do
  local c = coroutine.create(function(v) local keep = { v } coroutine.yield(keep) end)
  coroutine.resume(c, i)
  parked[i % 50] = c
end
parked = nil
collectgarbage()
print("coroutines", total, #primes)
