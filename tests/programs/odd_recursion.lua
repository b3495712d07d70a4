-- odd_recursion.lua - very deep recursion: through Lua, pcall, metamethods, C
-- functions and coroutines, some up to stack overflows that are caught.
local function deep(n)
  local t = { n }
  if n == 0 then return 0 end
  return deep(n - 1) + #t
end
assert(deep(5000) == 5000)

local function overflow(n)
  local t = { n }
  return overflow(n + 1) + #t
end
for i = 1, 3 do
  local ok, e = pcall(overflow, 1)
  assert(not ok and e:find("stack overflow"), e)
  collectgarbage()
end

-- The handler runs where there is almost no room.
local ok, e = xpcall(overflow, function(m) return { m, #debug.traceback() } end, 1)
assert(not ok)

local function through_pcall(n)
  if n == 0 then return { "bottom" } end
  local good, v = pcall(through_pcall, n - 1)
  return good and v or error(v, 0)
end
assert(through_pcall(1000)[1] == "bottom")
pcall(through_pcall, 1e6)

local mt = {}
mt.__index = function(t, k) return setmetatable({ k }, mt)[k + 1] end
assert(not pcall(function() return setmetatable({}, mt)[1] end))

local function through_gsub(n)
  if n == 0 then return "x" end
  return (("y"):gsub("y", function() return through_gsub(n - 1) .. n % 10 end))
end
assert(#through_gsub(100) == 101)

local function through_co(n)
  if n == 0 then return { 0 } end
  return { coroutine.wrap(through_co)(n - 1)[1] + 1 }
end
assert(through_co(100)[1] == 100)
pcall(through_co, 1000)

local function through_sort(n)
  if n == 0 then return { 0 } end
  local out
  table.sort({ 2, 1 }, function(a, b) out = out or through_sort(n - 1) return a < b end)
  return { out[1] + 1 }
end
assert(through_sort(100)[1] == 100)
pcall(through_sort, 1000)

local nested = "return " .. ("("):rep(150) .. "{1}" .. (")"):rep(150)
assert(loadstring(nested)()[1] == 1)
assert(not loadstring("return " .. ("("):rep(5000) .. "1"))
local function ackermann(m, n)
  if m == 0 then return n + 1 end
  if n == 0 then return ackermann(m - 1, 1) end
  return ackermann(m - 1, ackermann(m, n - 1))
end
print("recursion", ackermann(2, 60))
