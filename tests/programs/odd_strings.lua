-- odd_strings.lua - string functions that call back and that build long
-- results: gsub, gmatch, format, rep, concat, the buffer that they share.
local words = {}
for i = 1, 200 do words[i] = "word" .. i end
local text = table.concat(words, " ")

local sum = 0
for round = 1, 20 do
  local n = 0
  local out = text:gsub("%w+", function(w) n = n + 1 return n % 3 == 0 and { w } and w:upper() or nil end)
  assert(n == 200)
  out = out:gsub("WORD(%d+)", "<%1>"):gsub("%d", { ["1"] = "one", ["2"] = "two", ["3"] = false })
  sum = (sum + #out) % 1000003
  for a, b in text:gmatch("(%a+)(%d+)") do sum = (sum + #a + tonumber(b)) % 1000003 end
  -- A callback that uses the same functions, and so the same buffer.
  local nested = text:sub(1, 200):gsub("%a+", function(w)
    return (w:gsub(".", function(c) return c:byte() .. ("%c"):format(c:byte()) end))
  end)
  sum = (sum + #nested) % 1000003
  assert(#string.format("%s %q %5.2f %x %-20s|", "a", 'q"\n', 1.5, 255, "left") > 30)
  assert(#("x"):rep(1000 * round, ",") == 2000 * round - 1)
  local parts = {}
  for i = 1, 500 do parts[i] = i % 2 == 0 and i or "s" .. i end
  sum = (sum + #table.concat(parts, "; ", 3, 490)) % 1000003
  local grown = ""
  for i = 1, 300 do grown = grown .. i .. "," end
  assert(grown:reverse():lower():upper():len() == #grown)
  local bytes = { text:byte(1, 500) }
  assert(string.char(unpack(bytes)) == text:sub(1, 500))
end
assert(not pcall(string.gsub, "x", "[", ""))
assert(not pcall(string.format, "%d", "x"))
assert(not pcall(string.gsub, "abc", ".", function() return print end))
assert(not pcall(string.rep, "x", -1) or ("x"):rep(-1) == "")
assert(tostring(12345.678):len() > 5 and #tostring(1e300) > 3)
print("strings", sum)
