-- odd_finalizers.lua - finalizers of proxies and of FFI objects: they allocate,
-- fail, bring objects back, run coroutines, collect, and run at the very end.
local count = { made = 0, gone = 0, failed = 0 }
local saved = {}

local function make(f)
  local proxy = newproxy(true)
  count.made = count.made + 1
  local mt = getmetatable(proxy)
  mt.__index = { payload = ("p"):rep(count.made % 50) }
  mt.__gc = function(p)
    count.gone = count.gone + 1
    return f(p)
  end
  return proxy
end

for i = 1, 300 do
  make(function() local t = {} for j = 1, 10 do t[j] = { j, "s" .. j } end return t end)
  make(function(p) saved[i % 10] = p end)
  make(function() return coroutine.wrap(function() coroutine.yield({ 1 }) end)() end)
  make(function() return loadstring("return { " .. i .. " }", "=final" .. i)() end)
end
for _ = 1, 5 do collectgarbage() end
assert(count.gone == count.made)

-- Those that fail: the error comes out of the collection, if anywhere.
for i = 1, 20 do
  make(function() error({ i }) end)
  local ok = pcall(collectgarbage)
  count.failed = count.failed + (ok and 0 or 1)
  pcall(collectgarbage)
end
assert(count.gone == count.made)

-- One that collects in turn, and one that makes another.
make(function() collectgarbage() return { 1 } end)
local generations = 0
local function again()
  generations = generations + 1
  if generations < 20 then make(again) end
  return { generations }
end
make(again)
for _ = 1, 50 do collectgarbage() end
assert(generations == 20)

local ok, ffi = pcall(require, "ffi")
if ok then
  local freed = 0
  for i = 1, 500 do
    local c = ffi.gc(ffi.new("int[?]", i), function(p) freed = freed + #{ p[0], 1 } - 1 end)
    c[0] = i
    if i % 5 == 0 then ffi.gc(c, nil) end
  end
  for _ = 1, 4 do collectgarbage() end
  assert(freed == 400)
end

-- While the program ends: these run inside lua_close.
keep_to_the_end = {}
for i = 1, 50 do
  keep_to_the_end[i] = make(function() return { i, tostring(i) } end)
end
print("finalizers", count.made, count.gone)
