-- odd_errors.lua - errors of every kind and from every depth: pcall, xpcall
-- with handlers that allocate, fail or yield, tracebacks, error objects.
local function thrower(depth, what)
  local keep = { depth }
  if depth == 0 then error(what) end
  return thrower(depth - 1, what), keep
end

local handled = 0
local function handler(e)
  handled = handled + 1
  return { e, debug.traceback("handled", 1) }
end

local sum = 0
for i = 1, 200 do
  local ok, e = pcall(thrower, i % 30, "text " .. i)
  assert(not ok and e:find("text " .. i, 1, true))
  ok, e = xpcall(function() thrower(i % 20, { i }) end, handler)
  assert(not ok and e[1][1] == i and e[2]:find("traceback"))
  sum = sum + select(2, e[2]:gsub("\n", "\n")) % 7
  ok, e = pcall(error, nil)
  assert(not ok and e == nil)
  ok, e = pcall(error, "level two", 2)
  assert(not ok)
  ok, e = xpcall(thrower, function(x) return x .. "?" end, 3, "args")
  assert(not ok and e:find("args?", 1, true))
end

-- A handler that fails itself.
local ok = xpcall(function() error("first") end, function(e) error("second " .. e) end)
assert(not ok)

-- Errors of the VM.
local wrong = {
  function() return nil + 1 end, function() return {} .. "x" end, function() return #5 end,
  function() local t = nil; t.x = 1 end, function() return {} < {} end,
  function() return ("x")() end, function() for i = 1, "x" do end end,
  function() string.rep() end, function() return setmetatable(1, {}) end,
  function() local t = {} t[nil] = 1 end, function() local t = {} t[0 / 0] = 1 end,
  function() return ("x"):bad() end, function() return table.concat({ {} }) end,
}
for round = 1, 30 do
  for i, f in ipairs(wrong) do
    local good, e = pcall(f)
    assert(not good and type(e) == "string", i)
    sum = (sum * 7 + #e) % 100003
  end
end

-- pcall within pcall, and an error through a coroutine and a C boundary.
local function nest(n)
  if n == 0 then error({ "deep" }) end
  local good, e = pcall(nest, n - 1)
  assert(not good)
  error(e, 0)
end
local good, e = pcall(nest, 100)
assert(not good and e[1] == "deep")
for i = 1, 100 do
  local co = coroutine.create(function() table.sort({ 3, 2, 1 }, function() error({ i }) end) end)
  good, e = coroutine.resume(co)
  assert(not good and e[1] == i)
  assert(#debug.traceback(co) > 20)
end
assert(select("#", pcall(string.gsub, "abc", ".", function() error("in gsub") end)) == 2)
print("errors", handled, sum)
