-- structs.lua [ROUNDS] - FFI: structures from a pool, a hash table and a linked
-- list in C memory, metatypes, arrays, 64-bit numbers, finalizers, callbacks.
-- A program to be recorded; prints one checksum.
local rounds = tonumber(arg and arg[1]) or 400

local ffi = require "ffi"
local bit = require "bit"
local band, bxor, lshift, rshift, tobit = bit.band, bit.bxor, bit.lshift, bit.rshift, bit.tobit
local format = string.format

ffi.cdef [[
typedef struct node { struct node *next; uint32_t key; int32_t value; } node_t;
typedef struct { double x, y; } point_t;
typedef struct { uint8_t r, g, b, a; } pixel_t;
typedef struct { int64_t total; uint32_t n; point_t corners[4]; char name[16]; } shape_t;
typedef union { double d; uint64_t u; uint8_t bytes[8]; } word_t;
struct flags { unsigned a : 3, b : 5, c : 24; };
enum state { IDLE, BUSY = 7, GONE };
void *malloc(size_t n);
void free(void *p);
size_t strlen(const char *s);
void qsort(void *base, size_t n, size_t size, int (*compare)(const uint32_t *, const uint32_t *));
]]

----------------------------------------------------------------- metatypes --

local point
point = ffi.metatype("point_t", {
  __add = function(a, b) return point(a.x + b.x, a.y + b.y) end,
  __sub = function(a, b) return point(a.x - b.x, a.y - b.y) end,
  __mul = function(a, k) return point(a.x * k, a.y * k) end,
  __eq = function(a, b) return a.x == b.x and a.y == b.y end,
  __len = function() return 2 end,
  __tostring = function(p) return format("(%g, %g)", p.x, p.y) end,
  __index = {
    dot = function(a, b) return a.x * b.x + a.y * b.y end,
    turn = function(p) return point(-p.y, p.x) end,
  },
})

local shape_methods = {}
local shape = ffi.metatype("shape_t", { __index = shape_methods })

function shape_methods:area()
  local sum = 0
  for i = 0, self.n - 1 do
    local p, q = self.corners[i], self.corners[(i + 1) % self.n]
    sum = sum + p.x * q.y - p.y * q.x
  end
  return sum / 2
end

function shape_methods:rename(name)
  ffi.copy(self.name, name:sub(1, 15))
  return self
end

---------------------------------------------------------------------- pool --

-- Nodes by the hundred from malloc; freed all at once by a finalizer.
local Pool = {}
Pool.__index = Pool
local blocks_alive, blocks_made = 0, 0

local function release(block)
  blocks_alive = blocks_alive - 1
  ffi.C.free(block)
end

function Pool.new()
  return setmetatable({ blocks = {}, free = nil, used = 0 }, Pool)
end

function Pool:grow()
  local n = 100
  local raw = ffi.C.malloc(n * ffi.sizeof("node_t"))
  assert(raw ~= nil, "out of memory")
  blocks_alive, blocks_made = blocks_alive + 1, blocks_made + 1
  local block = ffi.gc(ffi.cast("node_t *", raw), release)
  self.blocks[#self.blocks + 1] = block
  for i = 0, n - 1 do
    block[i].next = self.free
    self.free = block + i
  end
end

function Pool:get()
  if self.free == nil then self:grow() end
  local node = self.free
  self.free = node.next
  if self.free == nil then self.free = nil end
  self.used = self.used + 1
  return node
end

function Pool:put(node)
  node.next = self.free
  self.free = node
  self.used = self.used - 1
end

---------------------------------------------------------------- hash table --

local Table = {}
Table.__index = Table

function Table.new(bits)
  return setmetatable({
    mask = lshift(1, bits) - 1,
    heads = ffi.new("node_t *[?]", lshift(1, bits)),
    pool = Pool.new(),
    n = 0,
  }, Table)
end

local function hash(key)
  key = tobit(key)
  key = bxor(key, rshift(key, 16))
  key = bxor(key, lshift(key, 5))
  return bxor(key, rshift(key, 9))
end

function Table:set(key, value)
  local slot = band(hash(key), self.mask)
  local node = self.heads[slot]
  while node ~= nil do
    if node.key == key then
      node.value = value
      return
    end
    node = node.next
  end
  node = self.pool:get()
  node.key, node.value, node.next = key, value, self.heads[slot]
  self.heads[slot] = node
  self.n = self.n + 1
end

function Table:get(key)
  local node = self.heads[band(hash(key), self.mask)]
  while node ~= nil do
    if node.key == key then return node.value end
    node = node.next
  end
end

function Table:remove(key)
  local slot = band(hash(key), self.mask)
  local node, last = self.heads[slot], nil
  while node ~= nil do
    if node.key == key then
      if last then last.next = node.next else self.heads[slot] = node.next end
      self.pool:put(node)
      self.n = self.n - 1
      return true
    end
    node, last = node.next, node
  end
  return false
end

------------------------------------------------------------------- testing --

local seed = 99
local function random(n)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return math.floor(seed / 65536) % n + 1
end

local function test_table()
  local t, mirror = Table.new(7), {}
  for _ = 1, 600 do
    local key, value = random(500), random(1000)
    if value % 3 == 0 then
      assert(t:remove(key) == (mirror[key] ~= nil))
      mirror[key] = nil
    else
      t:set(key, value)
      mirror[key] = value
    end
  end
  local sum, n = 0, 0
  for key = 1, 500 do
    assert(t:get(key) == mirror[key])
    if mirror[key] then sum, n = sum + key * mirror[key], n + 1 end
  end
  assert(n == t.n and n == t.pool.used)
  return sum
end

local function test_points()
  local sum, turned = point(0, 0), point(1, 2)
  for i = 1, 400 do
    turned = turned:turn() * 1.0 + point(i, -i) - point(i, -i)
    sum = sum + turned
  end
  assert(#sum == 2 and turned == point(1, 2) and tostring(turned) == "(1, 2)")
  return sum:dot(sum)
end

local function test_shapes()
  local list = {}
  for i = 1, 50 do
    local s = shape({ n = 4, corners = { { 0, 0 }, { i, 0 }, { i, 2 }, { 0, 2 } } })
    s:rename("box number " .. i .. " of many")
    s.total = ffi.cast("int64_t", i) * 1000000000000LL
    list[i] = s
  end
  local area, total = 0, 0LL
  for _, s in ipairs(list) do area, total = area + s:area(), total + s.total end
  assert(area == 2550 and total == 1275000000000000LL)
  assert(ffi.string(list[50].name) == "box number 50 o" and ffi.C.strlen(list[1].name) == 15)
  return area
end

local function test_pixels()
  local w, h = 64, 16
  local image = ffi.new("pixel_t[?]", w * h)
  for y = 0, h - 1 do
    for x = 0, w - 1 do
      local p = image[y * w + x]
      p.r, p.g, p.b, p.a = x * 4, y * 16, bxor(x, y), 255
    end
  end
  local copy = ffi.new("pixel_t[?]", w * h, image[0])
  ffi.copy(copy, image, ffi.sizeof(image))
  local bytes, sum = ffi.cast("const uint8_t *", copy), 0
  for i = 0, ffi.sizeof(copy) - 1 do sum = (sum * 31 + bytes[i]) % 65521 end
  return sum
end

local function test_words()
  local word, flags = ffi.new("word_t"), ffi.new("struct flags")
  word.d = -2
  assert(word.u == 0xc000000000000000ULL and word.bytes[7] == 0xc0)
  flags.a, flags.b, flags.c = 9, 33, 0x1234567
  assert(flags.a == 1 and flags.b == 1 and flags.c == 0x234567)
  local state = ffi.new("enum state", "GONE")
  assert(tonumber(state) == 8 and state == ffi.C.GONE)
  local big = 1ULL
  for i = 1, 63 do big = big * 2 end
  assert(big == 9223372036854775808ULL and tostring(big) == "9223372036854775808ULL")
  local varying = ffi.new("struct { int n; char text[?]; }", 32)
  assert(ffi.sizeof(varying) == 36)
  return tonumber(big % 1000003)
end

-- qsort calls back into Lua, which allocates there.
local function test_callback()
  local n, calls = 64, 0
  local list = ffi.new("uint32_t[?]", n)
  for i = 0, n - 1 do list[i] = random(10000) end
  local compare = ffi.cast("int (*)(const uint32_t *, const uint32_t *)", function(a, b)
    calls = calls + 1
    local pair = { a[0], b[0] }
    return pair[1] < pair[2] and -1 or pair[1] > pair[2] and 1 or 0
  end)
  ffi.C.qsort(list, n, 4, compare)
  compare:free()
  for i = 1, n - 1 do assert(list[i - 1] <= list[i]) end
  assert(calls >= n - 1)
  return list[0]
end
-- A callback cannot be entered from a compiled call.
jit.off(test_callback)

local function test_errors()
  assert(not pcall(ffi.new, "no_such_type"))
  assert(not pcall(function() return point(1, 2).z end))
  assert(not pcall(function() return point(1, 2) + "x" end))
  assert(not pcall(ffi.cdef, "struct {"))
  assert(not pcall(ffi.cast, "int *", {}))
  return 1
end

local sum = 0
for round = 1, rounds do
  for _, test in ipairs { test_table, test_points, test_shapes, test_pixels, test_words,
      test_callback, test_errors } do
    sum = (sum * 31 + test()) % 4294967296
  end
end
collectgarbage()
collectgarbage()
assert(blocks_alive == 0, "blocks are left: " .. blocks_alive)
assert(blocks_made >= rounds)
print(format("structs %d %.0f", rounds, sum))
