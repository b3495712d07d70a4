-- odd_hooks.lua - debug hooks by line, call, return and count that allocate,
-- fail, and go off inside coroutines; debug.getinfo, getlocal, setlocal.
local function work(n)
  local t = {}
  for i = 1, n do
    t[#t + 1] = { i }
    t[#t] = tostring(i) .. "x"
  end
  return #table.concat(t)
end

-- Compiled code calls no hooks.
jit.off(work)
local expected = work(100)
local seen = { line = 0, call = 0, count = 0, ["return"] = 0, ["tail return"] = 0 }
local function hook(event, line)
  local info = debug.getinfo(2, "nSlu")
  seen[event] = seen[event] + 1
  seen.last = { event, line, info.short_src, info.name }
end

for _, mask in ipairs { "l", "c", "r", "crl" } do
  debug.sethook(hook, mask)
  local got = work(100)
  debug.sethook()
  assert(got == expected)
end
debug.sethook(hook, "", 50)
assert(work(100) == expected)
debug.sethook()
assert(seen.line > 600 and seen.call > 100 and seen.count > 5)

-- A hook that ends the work, a few times.
for limit = 5, 50, 5 do
  local lines = 0
  debug.sethook(function()
    lines = lines + 1
    if lines == limit + 1 then error({ "stopped", lines }) end
  end, "l")
  local ok, e = pcall(work, 1000)
  debug.sethook()
  assert(not ok and e[1] == "stopped" and e[2] == limit + 1)
end

-- Inside a coroutine, and set on one from outside.
local co = coroutine.create(function()
  for i = 1, 3 do coroutine.yield(work(20)) end
end)
local lines = 0
debug.sethook(co, function() lines = lines + #{ 1 } end, "l")
for _ = 1, 4 do assert(coroutine.resume(co)) end
debug.sethook()
assert(coroutine.status(co) == "dead")

-- Locals and upvalues of a running function.
local up = { "old" }
local function outer()
  local a, b = { 1 }, "two"
  local function inner()
    for i = 1, 10 do
      local name, value = debug.getlocal(2, i)
      if name == "b" then debug.setlocal(2, i, value .. "!") end
    end
    return debug.traceback("here", 2), up
  end
  local trace = inner()
  return b, #a, trace
end
for i = 1, 50 do
  local b, n, trace = outer()
  assert(b == "two!" and n == 1 and trace:find("^here"))
end
assert(debug.getupvalue(outer, 1) == "up")
local info = debug.getinfo(work, "SL")
local marked = 0
for _ in pairs(info.activelines) do marked = marked + 1 end
assert(marked >= 5 and debug.getinfo(print, "S").what == "C")
print("hooks", expected)
