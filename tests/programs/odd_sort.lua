-- odd_sort.lua - Lua called from C: comparators that allocate, fail, yield not,
-- sort by metamethods; table.foreach and friends; require with a loader.
local seed = 5
local function random(n)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return math.floor(seed / 65536) % n + 1
end

local calls, sum = 0, 0
for round = 1, 15 do
  local list = {}
  for i = 1, 300 do list[i] = { key = random(1000), name = "n" .. i } end
  table.sort(list, function(a, b)
    calls = calls + 1
    local pair = { a.key, b.key }
    if pair[1] ~= pair[2] then return pair[1] < pair[2] end
    return a.name .. "" < b.name .. ""
  end)
  for i = 2, 300 do assert(list[i - 1].key <= list[i].key) end
  sum = sum + list[150].key
  local objects, mt = {}, {}
  mt.__lt = function(a, b) return tostring(a.v) < tostring(b.v) end
  for i = 1, 100 do objects[i] = setmetatable({ v = random(500) }, mt) end
  table.sort(objects)
  assert(tostring(objects[1].v) <= tostring(objects[100].v))
end
-- A comparator that is no order, and one that fails.
local list = {}
for i = 1, 100 do list[i] = i % 10 end
pcall(table.sort, list, function(a, b) return { a } ~= b end)
local ok, e = pcall(table.sort, { 3, 1, 2 }, function() error({ "no order" }) end)
assert(not ok and e[1] == "no order")

local seen = 0
table.foreach({ a = 1, b = 2 }, function(k, v) seen = seen + #(k .. v) end)
table.foreachi({ "x", "y" }, function(i, v) seen = seen + #(i .. v) end)
assert(seen == 8)
for i = 1, 20 do
  package.preload["made" .. i] = function(name) return { name = name, list = { i } } end
  assert(require("made" .. i).list[1] == i and package.loaded["made" .. i])
end
assert(not pcall(require, "no.such.module"))
for i = 1, 100 do
  table.insert(list, 1, { i })
  if i % 2 == 0 then table.remove(list) end
end
for k, v in next, list do sum = sum + (type(v) == "number" and v or 0) end
print("sort", calls, sum)
