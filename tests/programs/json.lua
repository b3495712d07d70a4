-- json.lua [ROUNDS] - a JSON encoder and decoder, and generated documents that
-- go through both.  A program to be recorded; prints one checksum.
local rounds = tonumber(arg and arg[1]) or 150

local byte, char, find, format, sub = string.byte, string.char, string.find,
  string.format, string.sub
local concat, sort = table.concat, table.sort
local floor, huge = math.floor, math.huge

local null = setmetatable({}, { __tostring = function() return "null" end })

-- Arrays are marked, so that an empty one is not written as an object.
local array_mt = { __name = "array" }
local function array(t)
  return setmetatable(t or {}, array_mt)
end

------------------------------------------------------------------ encoding --

local escapes = {
  ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f",
  ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t",
}

local function escape_control(c)
  return escapes[c] or format("\\u%04x", byte(c))
end

local function encode_string(s)
  return '"' .. s:gsub('[%c"\\\127]', escape_control) .. '"'
end

local function encode_number(n)
  if n ~= n or n == huge or n == -huge then
    error("number has no place in JSON: " .. tostring(n), 0)
  end
  if n == floor(n) and n > -1e15 and n < 1e15 then
    return format("%d", n)
  end
  return format("%.17g", n)
end

local encode_value

local function encode_array(t, out, indent)
  local n = #t
  if n == 0 then
    out[#out + 1] = "[]"
    return
  end
  out[#out + 1] = "["
  for i = 1, n do
    encode_value(t[i], out, indent)
    if i < n then out[#out + 1] = "," end
  end
  out[#out + 1] = "]"
end

local function sorted_keys(t)
  local keys = {}
  for k in pairs(t) do
    if type(k) ~= "string" then error("key is no string", 0) end
    keys[#keys + 1] = k
  end
  sort(keys)
  return keys
end

local function encode_object(t, out, indent)
  local keys = sorted_keys(t)
  local inner = indent and indent .. "  "
  out[#out + 1] = "{"
  for i, k in ipairs(keys) do
    if inner then out[#out + 1] = "\n" .. inner end
    out[#out + 1] = encode_string(k)
    out[#out + 1] = inner and ": " or ":"
    encode_value(t[k], out, inner)
    if i < #keys then out[#out + 1] = "," end
  end
  if inner and #keys > 0 then out[#out + 1] = "\n" .. indent end
  out[#out + 1] = "}"
end

local encoders = {
  string = function(v, out) out[#out + 1] = encode_string(v) end,
  number = function(v, out) out[#out + 1] = encode_number(v) end,
  boolean = function(v, out) out[#out + 1] = tostring(v) end,
  table = function(v, out, indent)
    if v == null then
      out[#out + 1] = "null"
    elseif getmetatable(v) == array_mt then
      encode_array(v, out, indent)
    else
      encode_object(v, out, indent)
    end
  end,
}

function encode_value(v, out, indent)
  local encoder = encoders[type(v)]
  if not encoder then error("cannot encode a " .. type(v), 0) end
  return encoder(v, out, indent)
end

local function encode(v, pretty)
  local out = {}
  encode_value(v, out, pretty and "" or nil)
  return concat(out)
end

------------------------------------------------------------------ decoding --

local function fail(text, pos, what)
  local line = 1
  for _ in sub(text, 1, pos - 1):gmatch("\n") do line = line + 1 end
  error(format("line %d: %s", line, what), 0)
end

local function skip(text, pos)
  return find(text, "[^ \t\r\n]", pos) or #text + 1
end

local function utf8_char(code)
  if code < 0x80 then
    return char(code)
  elseif code < 0x800 then
    return char(0xc0 + floor(code / 0x40), 0x80 + code % 0x40)
  elseif code < 0x10000 then
    return char(0xe0 + floor(code / 0x1000), 0x80 + floor(code / 0x40) % 0x40,
      0x80 + code % 0x40)
  end
  return char(0xf0 + floor(code / 0x40000), 0x80 + floor(code / 0x1000) % 0x40,
    0x80 + floor(code / 0x40) % 0x40, 0x80 + code % 0x40)
end

local unescapes = {
  b = "\b", f = "\f", n = "\n", r = "\r", t = "\t",
  ['"'] = '"', ["\\"] = "\\", ["/"] = "/",
}

local function decode_unicode(text, pos)
  local hex = text:match("^%x%x%x%x", pos)
  if not hex then fail(text, pos, "bad unicode escape") end
  local code = tonumber(hex, 16)
  if code < 0xd800 or code > 0xdbff then return utf8_char(code), pos + 4 end
  local low = text:match("^\\u(%x%x%x%x)", pos + 4)
  if not low then fail(text, pos, "lone surrogate") end
  code = 0x10000 + (code - 0xd800) * 0x400 + tonumber(low, 16) - 0xdc00
  return utf8_char(code), pos + 10
end

local function decode_string(text, pos)
  local parts, n = nil, 0
  local start = pos + 1
  while true do
    local stop = find(text, '["\\%c]', start)
    if not stop then fail(text, pos, "string without an end") end
    local c = sub(text, stop, stop)
    if c == '"' then
      local tail = sub(text, start, stop - 1)
      if not parts then return tail, stop + 1 end
      parts[n + 1] = tail
      return concat(parts), stop + 1
    elseif c ~= "\\" then
      fail(text, stop, "control character in a string")
    end
    parts = parts or {}
    parts[n + 1] = sub(text, start, stop - 1)
    local e = sub(text, stop + 1, stop + 1)
    if e == "u" then
      parts[n + 2], start = decode_unicode(text, stop + 2)
    else
      parts[n + 2] = unescapes[e] or fail(text, stop, "bad escape")
      start = stop + 2
    end
    n = n + 2
  end
end

local function decode_number(text, pos)
  local digits = text:match("^-?%d+%.?%d*[eE]?[+-]?%d*", pos)
  local value = digits and tonumber(digits)
  if not value then fail(text, pos, "bad number") end
  return value, pos + #digits
end

local decode_value

local function decode_array(text, pos)
  local out = array()
  pos = skip(text, pos + 1)
  if sub(text, pos, pos) == "]" then return out, pos + 1 end
  while true do
    out[#out + 1], pos = decode_value(text, pos)
    pos = skip(text, pos)
    local c = sub(text, pos, pos)
    if c == "]" then return out, pos + 1 end
    if c ~= "," then fail(text, pos, "expected , or ]") end
    pos = skip(text, pos + 1)
  end
end

local function decode_object(text, pos)
  local out = {}
  pos = skip(text, pos + 1)
  if sub(text, pos, pos) == "}" then return out, pos + 1 end
  while true do
    if sub(text, pos, pos) ~= '"' then fail(text, pos, "expected a name") end
    local key
    key, pos = decode_string(text, pos)
    pos = skip(text, pos)
    if sub(text, pos, pos) ~= ":" then fail(text, pos, "expected :") end
    out[key], pos = decode_value(text, skip(text, pos + 1))
    pos = skip(text, pos)
    local c = sub(text, pos, pos)
    if c == "}" then return out, pos + 1 end
    if c ~= "," then fail(text, pos, "expected , or }") end
    pos = skip(text, pos + 1)
  end
end

local words = { t = { "true", true }, f = { "false", false }, n = { "null", null } }

function decode_value(text, pos)
  local c = sub(text, pos, pos)
  if c == "{" then return decode_object(text, pos) end
  if c == "[" then return decode_array(text, pos) end
  if c == '"' then return decode_string(text, pos) end
  local word = words[c]
  if word then
    if sub(text, pos, pos + #word[1] - 1) ~= word[1] then fail(text, pos, "bad word") end
    return word[2], pos + #word[1]
  end
  return decode_number(text, pos)
end

local function decode(text)
  local value, pos = decode_value(text, skip(text, 1))
  pos = skip(text, pos)
  if pos <= #text then fail(text, pos, "text after the end") end
  return value
end

------------------------------------------------------------------- testing --

-- A generator of our own: the same documents with every VM.
local seed = 42
local function random(n)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return floor(seed / 65536) % n + 1
end

local texts = {
  "", "plain", 'with "quotes"', "tab\tand\nnewline", "back\\slash", "caf\195\169",
  "\1\2\31", "\240\159\152\128", "a rather longer text that is not interned early",
}

local function document(depth)
  local kind = random(depth > 0 and 8 or 5)
  if kind == 1 then return random(1000000) - 500000 end
  if kind == 2 then return (random(1000000) - 500000) / 1024 end
  if kind == 3 then return texts[random(#texts)] .. random(100) end
  if kind == 4 then return random(2) == 1 end
  if kind == 5 then return null end
  local out = kind == 6 and array() or {}
  for i = 1, random(9) - 1 do
    out[kind == 6 and i or "key" .. random(50)] = document(depth - 1)
  end
  return out
end

local function equal(a, b)
  if type(a) ~= "table" or a == null then return a == b end
  if type(b) ~= "table" or getmetatable(a) ~= getmetatable(b) then return false end
  for k, v in pairs(a) do
    if not equal(v, b[k]) then return false end
  end
  for k in pairs(b) do
    if a[k] == nil then return false end
  end
  return true
end

local broken = {
  "", "{", "[1,", '{"a"}', '{"a":1,}', "[1 2]", '"abc', '"\\x"', '"\\u12"', "tru", "-",
  "[1]]", '"\\ud800"', '{1:2}', "[\n\n\n!]",
}

local sum = 0
local function add(text)
  for i = 1, #text, 7 do sum = (sum * 31 + byte(text, i)) % 4294967296 end
end

for round = 1, rounds do
  local root = array()
  for i = 1, 20 do root[i] = document(5) end
  local short, long = encode(root), encode(root, true)
  assert(equal(root, decode(short)) and equal(root, decode(long)))
  assert(encode(decode(long)) == short)
  add(short)
  for _, text in ipairs(broken) do
    local ok, why = pcall(decode, text)
    assert(not ok and type(why) == "string" and find(why, "^line %d+: "), text)
    add(why)
  end
  assert(not pcall(encode, { [1] = 2 }) and not pcall(encode, 0 / 0))
end
assert(decode('"\\u0041\\u00e9\\ud83d\\ude00"') == "A\195\169\240\159\152\128")
print(format("json %d %.0f", rounds, sum))
