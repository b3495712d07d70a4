-- odd_callbacks.lua - C code that calls back into Lua: qsort and bsearch with
-- comparators that allocate, collect and start coroutines; errors stay inside.
local ffi = require "ffi"
ffi.cdef [[
typedef int (*odd_compare_t)(const int *, const int *);
void qsort(void *base, size_t n, size_t size, odd_compare_t f);
int *bsearch(const int *key, const int *base, size_t n, size_t size, odd_compare_t f);
int abs(int);
long strtol(const char *, char **, int);
int snprintf(char *buf, size_t n, const char *fmt, ...);
]]

local mode, calls, errors = "plain", 0, 0
local compare = ffi.cast("odd_compare_t", function(a, b)
  calls = calls + 1
  local pair = { a[0], b[0] }
  if mode == "collect" and calls % 50 == 0 then
    collectgarbage()
  elseif mode == "coroutine" then
    pair = coroutine.wrap(function(p) return { unpack(p) } end)(pair)
  elseif mode == "error" then
    local ok = pcall(error, { calls })
    errors = errors + (ok and 0 or 1)
  elseif mode == "load" and calls % 20 == 0 then
    pair = loadstring("return { ... }", "=callback" .. calls)(unpack(pair))
  end
  return pair[1] < pair[2] and -1 or pair[1] > pair[2] and 1 or 0
end)

local function sort(list, n) ffi.C.qsort(list, n, 4, compare) end
jit.off(sort)

local seed, n = 3, 120
local list = ffi.new("int[?]", n)
for _, m in ipairs { "plain", "collect", "coroutine", "error", "load" } do
  mode = m
  for round = 1, 8 do
    for i = 0, n - 1 do
      seed = (seed * 1103515245 + 12345) % 2147483648
      list[i] = math.floor(seed / 65536) % 5000
    end
    sort(list, n)
    for i = 1, n - 1 do assert(list[i - 1] <= list[i]) end
    local key = ffi.new("int[1]", list[round * 10])
    assert(ffi.C.bsearch(key, list, n, 4, compare)[0] == key[0])
  end
end
assert(errors > 0)

-- From within a coroutine, and a callback inside a callback.
mode = "coroutine"
assert(coroutine.wrap(function() sort(list, n) return true end)())
local inner = 0
local outer = ffi.cast("odd_compare_t", function(a, b)
  local small = ffi.new("int[4]", 4, 3, 2, 1)
  if inner < 10 then
    inner = inner + 1
    sort(small, 4)
    assert(small[0] == 1)
  end
  return a[0] - b[0]
end)
ffi.C.qsort(list, n, 4, outer)
outer:free()
compare:free()

-- Plain C functions in a compiled loop.
local buf, sum = ffi.new("char[64]"), 0
for i = 1, 2000 do
  sum = sum + ffi.C.abs(-i) + tonumber(ffi.C.strtol(tostring(i), nil, 10))
  ffi.C.snprintf(buf, 64, "%d-%s", ffi.cast("int", i), "x")
  sum = sum + #ffi.string(buf)
end
print("callbacks", sum)
