-- mix.lua [N] - objects of many kinds, sizes and lifetimes, from a dozen lines
-- in several functions.  N = 2.9e6 makes about 10 M events.
local n = tonumber(arg[1]) or 2900000
local seed = 11
local function random(limit)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return math.floor(seed / 65536) % limit + 1
end

local text = ("some words to cut pieces from "):rep(300)
local kinds = {
  function(i) return { i } end,
  function(i) return { x = i, y = i } end,
  function(i)
    local list = {}
    for k = 1, random(16) do list[k] = i end
    return list
  end,
  function(i)
    local map = {}
    for k = 1, random(5) do map["key" .. k] = i end
    return map
  end,
  function(i) return function() return i end end,
  function()
    local from = random(7000)
    return text:sub(from, from + random(150))
  end,
  function(i) return "number" .. i end,
  function(i) return ("xy"):rep(random(50)) .. i end,
  function(i) return { { i }, { i, { i } } } end,
  function(i) return tostring(i + 0.5) end,
  function(i)
    if i % 50 ~= 0 then return { i, i, i } end
    return coroutine.wrap(function(a) return { a } end)(i)
  end,
}

local alive, size = {}, 20000
for i = 1, n do
  alive[random(size)] = kinds[random(#kinds)](i)
end
-- For the benchmarks: the CPU time of this process alone.
io.stderr:write(("cpu %.6f\n"):format(os.clock()))
