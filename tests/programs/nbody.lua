-- nbody.lua [STEPS] - planets as vectors that are made anew by every operator,
-- the same with plain numbers, matrices, and a quaternion or two: loops that the
-- JIT compiles, some of whose objects it can sink and some not.
-- A program to be recorded; prints one checksum.
local steps = tonumber(arg and arg[1]) or 40000

local sqrt, sin, cos, abs, floor, pi = math.sqrt, math.sin, math.cos, math.abs,
  math.floor, math.pi
local format = string.format

------------------------------------------------------------------- vectors --

local Vec = {}
Vec.__index = Vec

local function vec(x, y, z)
  return setmetatable({ x = x, y = y, z = z }, Vec)
end

function Vec.__add(a, b) return vec(a.x + b.x, a.y + b.y, a.z + b.z) end
function Vec.__sub(a, b) return vec(a.x - b.x, a.y - b.y, a.z - b.z) end
function Vec.__unm(a) return vec(-a.x, -a.y, -a.z) end
function Vec.__eq(a, b) return a.x == b.x and a.y == b.y and a.z == b.z end
function Vec.__tostring(a) return format("(%.9g, %.9g, %.9g)", a.x, a.y, a.z) end

function Vec.__mul(a, b)
  if type(a) == "number" then return vec(a * b.x, a * b.y, a * b.z) end
  if type(b) == "number" then return vec(a.x * b, a.y * b, a.z * b) end
  return a.x * b.x + a.y * b.y + a.z * b.z
end

function Vec:cross(b)
  return vec(self.y * b.z - self.z * b.y, self.z * b.x - self.x * b.z,
    self.x * b.y - self.y * b.x)
end

function Vec:length()
  return sqrt(self * self)
end

-------------------------------------------------------------------- bodies --

local solar_mass = 4 * pi * pi
local year = 365.24

local function body(name, x, y, z, vx, vy, vz, mass)
  return {
    name = name,
    pos = vec(x, y, z),
    vel = vec(vx * year, vy * year, vz * year),
    mass = mass * solar_mass,
  }
end

-- Round figures: what counts is that they are always the same.
local function make_system()
  return {
    body("star", 0, 0, 0, 0, 0, 0, 1),
    body("first", 4.84, -1.16, -0.10, 0.00166, 0.00770, -0.0000690, 9.5e-4),
    body("second", 8.34, 4.12, -0.40, -0.00277, 0.00500, 0.0000230, 2.9e-4),
    body("third", 12.9, -15.1, -0.22, 0.00296, 0.00238, -0.0000297, 4.4e-5),
    body("fourth", 15.4, -25.9, 0.18, 0.00268, 0.00163, -0.0000952, 5.2e-5),
  }
end

local function settle(bodies)
  local momentum = vec(0, 0, 0)
  for _, b in ipairs(bodies) do momentum = momentum + b.vel * b.mass end
  bodies[1].vel = -momentum * (1 / solar_mass)
end

local function advance(bodies, dt)
  local n = #bodies
  for i = 1, n do
    local a = bodies[i]
    for j = i + 1, n do
      local b = bodies[j]
      local d = a.pos - b.pos
      local square = d * d
      local pull = dt / (square * sqrt(square))
      a.vel = a.vel - d * (b.mass * pull)
      b.vel = b.vel + d * (a.mass * pull)
    end
  end
  for i = 1, n do
    bodies[i].pos = bodies[i].pos + bodies[i].vel * dt
  end
end

local function energy(bodies)
  local sum = 0
  for i, a in ipairs(bodies) do
    sum = sum + 0.5 * a.mass * (a.vel * a.vel)
    for j = i + 1, #bodies do
      sum = sum - a.mass * bodies[j].mass / (a.pos - bodies[j].pos):length()
    end
  end
  return sum
end

-- The same without vectors: the two must agree to the last bit.
local function flatten(bodies)
  local out = {}
  for i, b in ipairs(bodies) do
    out[i] = { b.pos.x, b.pos.y, b.pos.z, b.vel.x, b.vel.y, b.vel.z, b.mass }
  end
  return out
end

local function advance_flat(bodies, dt)
  local n = #bodies
  for i = 1, n do
    local a = bodies[i]
    for j = i + 1, n do
      local b = bodies[j]
      local dx, dy, dz = a[1] - b[1], a[2] - b[2], a[3] - b[3]
      local square = dx * dx + dy * dy + dz * dz
      local pull = dt / (square * sqrt(square))
      local ma, mb = a[7] * pull, b[7] * pull
      a[4], a[5], a[6] = a[4] - dx * mb, a[5] - dy * mb, a[6] - dz * mb
      b[4], b[5], b[6] = b[4] + dx * ma, b[5] + dy * ma, b[6] + dz * ma
    end
  end
  for i = 1, n do
    local b = bodies[i]
    b[1], b[2], b[3] = b[1] + b[4] * dt, b[2] + b[5] * dt, b[3] + b[6] * dt
  end
end

------------------------------------------------------------------ matrices --

local Matrix = {}
Matrix.__index = Matrix

function Matrix.new(rows, cols, fill)
  local m = setmetatable({ rows = rows, cols = cols }, Matrix)
  for i = 1, rows do
    local row = {}
    for j = 1, cols do row[j] = fill(i, j) end
    m[i] = row
  end
  return m
end

function Matrix.identity(n)
  return Matrix.new(n, n, function(i, j) return i == j and 1 or 0 end)
end

function Matrix.__mul(a, b)
  assert(a.cols == b.rows, "sizes do not fit")
  local turned = b:transpose()
  return Matrix.new(a.rows, b.cols, function(i, j)
    local row, col, sum = a[i], turned[j], 0
    for k = 1, a.cols do sum = sum + row[k] * col[k] end
    return sum
  end)
end

function Matrix.__add(a, b)
  return Matrix.new(a.rows, a.cols, function(i, j) return a[i][j] + b[i][j] end)
end

function Matrix:transpose()
  return Matrix.new(self.cols, self.rows, function(i, j) return self[j][i] end)
end

function Matrix:power(n)
  local out, base = Matrix.identity(self.rows), self
  while n > 0 do
    if n % 2 == 1 then out = out * base end
    base = base * base
    n = floor(n / 2)
  end
  return out
end

-- Gauss with the largest pivot; returns the inverse and the determinant.
function Matrix:inverse()
  local n, det = self.rows, 1
  local a = Matrix.new(n, n, function(i, j) return self[i][j] end)
  local out = Matrix.identity(n)
  for col = 1, n do
    local best = col
    for row = col + 1, n do
      if abs(a[row][col]) > abs(a[best][col]) then best = row end
    end
    if a[best][col] == 0 then return nil, 0 end
    if best ~= col then
      a[best], a[col] = a[col], a[best]
      out[best], out[col] = out[col], out[best]
      det = -det
    end
    local pivot = a[col][col]
    det = det * pivot
    for j = 1, n do
      a[col][j], out[col][j] = a[col][j] / pivot, out[col][j] / pivot
    end
    for row = 1, n do
      local factor = a[row][col]
      if row ~= col and factor ~= 0 then
        for j = 1, n do
          a[row][j] = a[row][j] - factor * a[col][j]
          out[row][j] = out[row][j] - factor * out[col][j]
        end
      end
    end
  end
  return out, det
end

local function rotation(axis, angle)
  local c, s = cos(angle), sin(angle)
  local d = axis * (1 / axis:length())
  local x, y, z = d.x, d.y, d.z
  local rows = {
    { c + x * x * (1 - c), x * y * (1 - c) - z * s, x * z * (1 - c) + y * s },
    { y * x * (1 - c) + z * s, c + y * y * (1 - c), y * z * (1 - c) - x * s },
    { z * x * (1 - c) - y * s, z * y * (1 - c) + x * s, c + z * z * (1 - c) },
  }
  return Matrix.new(3, 3, function(i, j) return rows[i][j] end)
end

function Matrix:apply(v)
  return vec(
    self[1][1] * v.x + self[1][2] * v.y + self[1][3] * v.z,
    self[2][1] * v.x + self[2][2] * v.y + self[2][3] * v.z,
    self[3][1] * v.x + self[3][2] * v.y + self[3][3] * v.z)
end

------------------------------------------------------------------- testing --

local function run_planets()
  local bodies = make_system()
  settle(bodies)
  local flat, before = flatten(bodies), energy(bodies)
  for _ = 1, steps do
    advance(bodies, 0.01)
    advance_flat(flat, 0.01)
  end
  for i, b in ipairs(bodies) do
    assert(b.pos == vec(flat[i][1], flat[i][2], flat[i][3]), b.name)
  end
  local drift = abs(energy(bodies) / before - 1)
  assert(drift < 0.001, "energy is not kept: " .. drift)
  return tostring(bodies[2].pos)
end

local function run_matrices()
  local n = 24
  local hilbert = Matrix.new(n, n, function(i, j) return (i == j and 3 or 0) + 1 / (i + j) end)
  local worst, trace = 0, 0
  for round = 1, 1 + floor(steps / 600) do
    local inverse, det = hilbert:inverse()
    assert(det > 0)
    local one = hilbert * inverse
    for i = 1, n do
      for j = 1, n do worst = math.max(worst, abs(one[i][j] - (i == j and 1 or 0))) end
    end
    local fib = Matrix.new(2, 2, function(i, j) return i + j < 4 and 1 or 0 end):power(70)
    assert(fib[1][2] == 190392490709135)
    trace = trace + (hilbert + inverse)[1 + round % n][1 + round % n]
  end
  assert(worst < 1e-9)
  assert(not Matrix.new(2, 2, function() return 1 end):inverse())
  return format("%.9g", trace)
end

local function run_rotations()
  local v, turned = vec(1, 2, 3), vec(1, 2, 3)
  for i = 1, steps do
    turned = rotation(vec(1, i % 5, 2), pi / 180):apply(turned)
    if i % 1000 == 0 then assert(abs(turned:length() - v:length()) < 1e-6) end
  end
  local normal = v:cross(turned)
  assert(abs(normal * v) < 1e-6)
  return format("%.6g", turned.x)
end

print("nbody", steps, run_planets(), run_matrices(), run_rotations())
