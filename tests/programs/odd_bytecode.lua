-- odd_bytecode.lua - chunks from bytecode: with debug information and stripped
-- of it, loaded by strings and by readers, with names of all kinds.
local source = [[
local n = ...
local t, s = {}, ""
for i = 1, n do
  t[i] = { i, tostring(i) }
  s = s .. i
end
local function inner(a) return { a, #s } end
return inner(t)[2]
]]
local whole = assert(loadstring(source, "@generated.lua"))
local want = whole(50)

local function reader(text, size)
  local pos = 1
  return function()
    local piece = text:sub(pos, pos + size - 1)
    pos = pos + size
    return #piece > 0 and piece or nil
  end
end

for round = 1, 40 do
  local full, stripped = string.dump(whole), string.dump(whole, true)
  assert(#stripped < #full)
  for _, code in ipairs { full, stripped } do
    assert(loadstring(code)(50) == want)
    assert(loadstring(code, "=named")(50) == want)
    assert(load(reader(code, 16), "@pieces.lua")(50) == want)
    assert(load(code, "bytes", "b")(50) == want)
    assert(not load(code, "bytes", "t"))
  end
  -- Errors in stripped code have no line.
  local bad = loadstring(string.dump(assert(loadstring("local t = {} return t.x.y")), true))
  local ok, why = pcall(bad)
  assert(not ok and type(why) == "string")
  -- Dumped closures lose their upvalues.
  local up = { round }
  assert(not pcall(loadstring(string.dump(function() return up[1] end))))
  -- Cut bytecode is refused.
  assert(not loadstring(stripped:sub(1, 40 + round % 20)))
  -- The same again and again at the same address.
  loadstring(stripped, "=gen" .. round)(5)
  collectgarbage()
end
print("bytecode", want)
