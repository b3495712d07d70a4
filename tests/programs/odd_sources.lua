-- odd_sources.lua - sources: chunks named by their own long text, a name of 64
-- KiB, thousands of short-lived chunks at the same addresses, readers, lines by
-- the thousand, environments, setfenv, syntax errors.
for i = 1, 3000 do
  local t = assert(load("return {" .. i .. "}", "=c" .. i))()
  assert(t[1] == i)
  if i % 100 == 0 then collectgarbage() end
end

-- Named by its own text, which has many lines.
local lines = { "local t = {}" }
for i = 1, 2000 do lines[#lines + 1] = i % 10 == 0 and "" or "t[" .. i .. "] = { " .. i .. ", 's' .. " .. i .. " }" end
lines[#lines + 1] = "return t"
local long = table.concat(lines, "\n")
for round = 1, 3 do
  local t = assert(loadstring(long))()
  assert(t[1999][1] == 1999 and t[1999][2] == "s1999")
  t = assert(loadstring(long:gsub("\n", "\r\n")))()
  assert(t[1][1] == 1)
end

-- One line of 100 KB, and a name of 64 KiB.
local wide = "return {" .. ("{1},"):rep(20000) .. "}"
assert(#assert(loadstring(wide))() == 20000)
local name = "@" .. ("n"):rep(65535)
local f = assert(loadstring("local t = {} for i = 1, 10 do t[i] = { i } end error('x')", name))
local ok, e = pcall(f)
assert(not ok and #e < 300)
assert(debug.getinfo(f, "S").source == name)

-- Names with everything in them.
for _, odd in ipairs { "", "=", "@", "=[C]", "@a;b c\tname", "\27[31mred", "=caf\195\169", "\255\254",
    "first line\nsecond", "\n", "=with\nnewline", "@(none)", "[string \"x\"]" } do
  for i = 1, 5 do assert(#assert(load("local a = { ... } return a", odd))(1, i) == 2) end
end

-- Readers that give nothing, pieces, or an error; environments.
local n = 0
assert(load(function() n = n + 1 return n <= 1000 and "local x" .. n % 150 .. " = {} " ..
  (n % 150 == 149 and "do end " or "") or nil end) == nil)
local pieces = { "return ", "{ 1", ", 2 ", "}" }
n = 0
assert(#load(function() n = n + 1 return pieces[n] end)() == 2)
assert(not pcall(load(function() return nil end), 1) == false)
assert(not load(function() error({}) end))
for i = 1, 200 do
  local env = { value = { i } }
  assert(load("return value", "=env", "t", env)()[1] == i)
  local g = setfenv(loadstring("made = { value } return made"), env)
  assert(g()[1] == env.value and env.made)
end
local errors = 0
for _, bad in ipairs { "x =", "for", "return return", "if then", "local function", "'abc", "[[", "goto x",
    "break", "a.b:c = 1", "\0", "x = }", "--[[", "::l:: ::l::" } do
  for i = 1, 10 do
    local g, why = loadstring(bad)
    errors = errors + (g and 0 or #{ why })
  end
end
assert(errors > 100)
print("sources", errors)
