-- odd_varargs.lua - varargs: frames that are moved, many arguments, select,
-- unpack of long lists, arguments kept by closures.
local function count(...) return select("#", ...) end
local function pack(...) return { n = select("#", ...), ... } end
local function pass(...) return ... end
local function drop(_, ...) return ... end

local function sum(...)
  local total, list = 0, { ... }
  for i = 1, #list do total = total + list[i] end
  return total
end

local function keep(...)
  local a, b = ...
  local rest = { select(3, ...) }
  return function(...) return a, b, #rest, ... end
end

local function concat_all(...)
  if select("#", ...) == 0 then return "" end
  return tostring((...)) .. concat_all_tail(select(2, ...))
end
function concat_all_tail(...)
  if select("#", ...) == 0 then return "" end
  return "," .. tostring((...)) .. concat_all_tail(select(2, ...))
end

local long = {}
for i = 1, 4000 do long[i] = i end

local check = 0
for round = 1, 60 do
  check = check + count(unpack(long, 1, round * 50)) + sum(unpack(long, 1, 200))
  local p = pack(nil, round, nil, { round }, nil)
  assert(p.n == 5 and p[4][1] == round)
  local a, b, n, c = keep(1, 2, round, {}, "x")(pass(pass({ round })))
  assert(a == 1 and b == 2 and n == 3 and c[1] == round)
  assert(#concat_all(unpack(long, 1, 20)) == 50)
  assert(count(drop(unpack(long, 1, round))) == round - 1)
end
-- More results than the stack has room for.
assert(not pcall(function() return unpack(long, 1, 1e7) end))
local ok, n = pcall(function(...) return select("#", ...) end, unpack(long))
assert(ok and n == 4000)
print("varargs", check)
