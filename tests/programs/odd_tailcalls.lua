-- odd_tailcalls.lua - tail calls: frames that are replaced, through pcall,
-- methods, varargs and C functions, with an allocation in each.
local function loop(n, acc)
  if n == 0 then return acc end
  return loop(n - 1, { acc[1] + 1 })
end

local even, odd
function even(n, s) if n == 0 then return true, s end return odd(n - 1, s .. "e") end
function odd(n, s) if n == 0 then return false, s end return even(n - 1, s .. "o") end

local object = { n = 0 }
function object:step(n)
  self.last = { n }
  self.n = self.n + 1
  if n == 0 then return tostring(self.n) end
  return self:step(n - 1)
end

local function vararg_tail(n, ...)
  local t = { ... }
  if n == 0 then return #t, ... end
  return vararg_tail(n - 1, n, ...)
end

local function into_c(n) return string.rep("x", n % 7 + 1, tostring(n)) end
local function into_pcall(n) return pcall(into_c, n) end
local function into_select(n) return select(2, into_pcall(n)) end

local dispatch = {}
for i = 1, 10 do
  dispatch[i] = function(n, out)
    out[#out + 1] = i .. ":" .. n
    if n == 0 then return out end
    return dispatch[n % 10 + 1](n - 1, out)
  end
end

assert(loop(20000, { 0 })[1] == 20000)
local is_even, text = even(300, "")
assert(is_even and #text == 300)
assert(object:step(3000) == "3001")
assert(vararg_tail(100) == 100)
local total = 0
for i = 1, 500 do total = total + #into_select(i) end
local out = dispatch[1](2000, {})
assert(#out == 2001)
-- The name of the function is gone from a traceback of a tail call.
local trace = coroutine.wrap(function() return debug.traceback("x") end)()
assert(trace:find("traceback"))
print("tailcalls", total, #table.concat(out))
