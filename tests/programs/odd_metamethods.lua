-- odd_metamethods.lua - every metamethod, each allocating: in Lua, by chains
-- of tables, by C functions, and from within sorts and concatenations.
local calls = 0
local mt = {}
local function new(v) return setmetatable({ v = v }, mt) end
local function value(x) return type(x) == "table" and x.v or x end

for name, f in pairs {
  __add = function(a, b) return a + b end, __sub = function(a, b) return a - b end,
  __mul = function(a, b) return a * b end, __div = function(a, b) return a / b end,
  __mod = function(a, b) return a % b end, __pow = function(a, b) return a ^ b end,
} do
  mt[name] = function(a, b)
    calls = calls + 1
    return new(f(value(a), value(b)))
  end
end
function mt.__unm(a) return new(-a.v) end
function mt.__concat(a, b) return tostring(value(a)) .. "&" .. tostring(value(b)) end
function mt.__eq(a, b) local pair = { a.v, b.v } return pair[1] == pair[2] end
function mt.__lt(a, b) local pair = { value(a), value(b) } return pair[1] < pair[2] end
function mt.__le(a, b) local pair = { value(a), value(b) } return pair[1] <= pair[2] end
function mt.__call(self, ...) return { self.v, ... } end
function mt.__tostring(self) return "<" .. self.v .. ">" end
function mt.__newindex(t, k, v) rawset(t, k, { v }) end
mt.__index = function(_, k) return k .. "!" end

local sum = 0
for i = 1, 300 do
  local a, b = new(i), new(7)
  local c = (a + b) * b - 3 / b + 2 ^ b % a
  c = -c
  sum = sum + math.floor(c.v) % 1000
  assert(#(a .. "x" .. b .. 1) >= 5)
  assert((a == new(i)) and not (a == b and i ~= 7))
  assert((a < b) == (i < 7) and (a <= b) == (i <= 7) and (a > b) == (i > 7))
  assert(#a(1, 2, 3) == 4)
  assert(tostring(a) == "<" .. i .. ">")
  a.fresh = i
  assert(a.fresh[1] == i and a.missing == "missing!")
end

-- A chain of tables, with a function at its end.
local chain = setmetatable({}, { __index = function(t, k) local v = { k } rawset(t, k, v) return v end })
for _ = 1, 20 do chain = setmetatable({}, { __index = chain }) end
for i = 1, 200 do assert(chain["key" .. i][1] == "key" .. i) end

-- C functions as metamethods.
local c_mt = { __index = rawget, __concat = function(a, b) return rawlen and 1 or 2 end, __call = select }
local c_obj = setmetatable({}, c_mt)
assert(c_obj.x == nil and not pcall(c_obj, {}))
local by_format = setmetatable({}, { __index = function(_, k) return string.format("%s-%d", k, #k) end })
assert(by_format.abc == "abc-3")

-- Strings have a metatable, too.
getmetatable("").__add = function(a, b) return a .. b end
assert("a" + "b" == "ab")
getmetatable("").__add = nil

-- Errors out of metamethods.
local bad = setmetatable({}, { __index = function(_, k) error({ k }) end, __tostring = function(t) return t.text end })
for i = 1, 50 do
  local ok, e = pcall(function() return bad["k" .. i] end)
  assert(not ok and e[1] == "k" .. i)
  assert(not pcall(tostring, bad))
end

-- Numbers, functions and nil get metatables by debug.setmetatable.
debug.setmetatable(0, { __index = function(n, k) return k .. n end, __call = function(n, x) return { n, x } end })
for i = 1, 50 do assert((i).x == "x" .. i and (i)(2)[2] == 2) end
debug.setmetatable(0, nil)
print("metamethods", calls, sum)
