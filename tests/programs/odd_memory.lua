-- odd_memory.lua - memory that is not there: results too long, tables too big,
-- caught, and what goes on afterwards; collections in all their forms.
local function fails(f, ...)
  local ok, e = pcall(f, ...)
  assert(not ok, "it did not fail")
  return tostring(e)
end

local seen = {}
for i = 1, 10 do
  seen[fails(string.rep, ("x"):rep(1000), 2 ^ 30)] = true
  local s = ("y"):rep(2 ^ 20)
  seen[fails(string.rep, s, 2 ^ 12)] = true
  fails(table.concat, { s, s }, ("z"):rep(2 ^ 20), 1, 2 ^ 20)
end
local ok, new = pcall(require, "table.new")
if ok then
  fails(new, 2 ^ 27 + 8, 0)
  fails(new, 0, 2 ^ 28)
  assert(#new(1000, 10) == 0)
end
local n = 0
for _ in pairs(seen) do n = n + 1 end
assert(n >= 1)

collectgarbage("stop")
local kept = {}
for i = 1, 2000 do kept[i] = { i, tostring(i) } end
collectgarbage("restart")
for i = 1, 100 do
  collectgarbage("step", i)
  kept[i] = nil
end
local pause, mul = collectgarbage("setpause", 110), collectgarbage("setstepmul", 400)
for i = 1, 20000 do kept[i % 100 + 1] = { i } end
collectgarbage("setpause", pause)
collectgarbage("setstepmul", mul)
assert(collectgarbage("count") > 10)

-- Weak tables lose their entries.
local weak = setmetatable({}, { __mode = "k" })
local values = setmetatable({}, { __mode = "v" })
for i = 1, 1000 do
  weak[{ i }] = { i }
  values[i] = { i }
end
collectgarbage()
collectgarbage()
assert(next(weak) == nil and next(values) == nil)

-- Tables that grow, shrink and are rehashed.
local t = {}
for i = 1, 5000 do t[i] = i t["k" .. i] = i end
for i = 1, 5000 do t[i] = nil t["k" .. i] = nil end
for i = 1, 100 do t[-i] = { i } end
local left = 0
for _ in pairs(t) do left = left + 1 end
print("memory", left)
