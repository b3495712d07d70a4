-- events.lua [TICKS] - coroutines under a scheduler with timers in a heap,
-- channels, a lock, cancelling, and tasks that fail: a small server farm in
-- simulated time.  A program to be recorded; prints one checksum.
local ticks = tonumber(arg and arg[1]) or 20000

local floor, format = math.floor, string.format
local create, resume, yield, status, running = coroutine.create, coroutine.resume,
  coroutine.yield, coroutine.status, coroutine.running

---------------------------------------------------------------------- heap --

-- The earliest timer first; of equal ones the older.
local Heap = {}
Heap.__index = Heap

function Heap.new()
  return setmetatable({ n = 0, count = 0 }, Heap)
end

local function before(a, b)
  if a.time ~= b.time then return a.time < b.time end
  return a.order < b.order
end

function Heap:push(item)
  self.count = self.count + 1
  item.order = self.count
  local i = self.n + 1
  self.n = i
  while i > 1 do
    local parent = floor(i / 2)
    if not before(item, self[parent]) then break end
    self[i] = self[parent]
    i = parent
  end
  self[i] = item
end

function Heap:pop()
  local n = self.n
  if n == 0 then return nil end
  local top, last = self[1], self[n]
  self[n] = nil
  self.n = n - 1
  n = n - 1
  if n == 0 then return top end
  local i = 1
  while true do
    local child = 2 * i
    if child > n then break end
    if child < n and before(self[child + 1], self[child]) then child = child + 1 end
    if not before(self[child], last) then break end
    self[i] = self[child]
    i = child
  end
  self[i] = last
  return top
end

----------------------------------------------------------------- scheduler --

local Loop = { now = 0, ready = {}, first = 1, last = 0, timers = Heap.new(), tasks = {} }
local started, finished, failed = 0, 0, 0

local function wake(task, ...)
  if task.done then return end
  task.waiting = nil
  Loop.last = Loop.last + 1
  Loop.ready[Loop.last] = { task, ... }
end

local function spawn(name, f, ...)
  started = started + 1
  local task = { name = name, co = create(f), watchers = {} }
  Loop.tasks[task.co] = task
  wake(task, ...)
  return task
end

local function current()
  return Loop.tasks[running()]
end

local function finish(task, ok, value)
  task.done, task.ok, task.value = true, ok, value
  Loop.tasks[task.co] = nil
  if ok then finished = finished + 1 else failed = failed + 1 end
  for _, watcher in ipairs(task.watchers) do wake(watcher) end
end

local function step(entry)
  local task = entry[1]
  if task.done then return end
  local ok, value = resume(task.co, unpack(entry, 2))
  if not ok or status(task.co) == "dead" then finish(task, ok, value) end
end

local function run(limit)
  while true do
    while Loop.first <= Loop.last do
      local entry = Loop.ready[Loop.first]
      Loop.ready[Loop.first] = nil
      Loop.first = Loop.first + 1
      step(entry)
    end
    local timer = Loop.timers:pop()
    if not timer or timer.time > limit then return end
    Loop.now = timer.time
    if not timer.cancelled then timer.fire() end
  end
end

local function after(delay, fire)
  local timer = { time = Loop.now + delay, fire = fire }
  Loop.timers:push(timer)
  return timer
end

local function sleep(delay)
  local task = current()
  task.waiting = after(delay, function() wake(task, "slept") end)
  local why = yield()
  if why == "cancelled" then error({ cancelled = true }) end
  return why
end

local function cancel(task)
  if task.done or not task.waiting then return false end
  task.waiting.cancelled = true
  wake(task, "cancelled")
  return true
end

local function join(task)
  while not task.done do
    task.watchers[#task.watchers + 1] = current()
    yield()
  end
  return task.ok, task.value
end

------------------------------------------------------------------ channels --

local Channel = {}
Channel.__index = Channel

function Channel.new(size)
  return setmetatable({ size = size, items = {}, head = 1, tail = 0, readers = {},
    writers = {}, closed = false }, Channel)
end

local function shift(queue)
  return table.remove(queue, 1)
end

function Channel:put(value)
  while self.tail - self.head + 1 >= self.size do
    self.writers[#self.writers + 1] = current()
    yield()
  end
  if self.closed then error("channel is closed", 0) end
  self.tail = self.tail + 1
  self.items[self.tail] = value
  local reader = shift(self.readers)
  if reader then wake(reader) end
end

function Channel:get()
  while self.head > self.tail do
    if self.closed then return nil end
    self.readers[#self.readers + 1] = current()
    yield()
  end
  local value = self.items[self.head]
  self.items[self.head] = nil
  self.head = self.head + 1
  local writer = shift(self.writers)
  if writer then wake(writer) end
  return value
end

function Channel:close()
  self.closed = true
  for _, reader in ipairs(self.readers) do wake(reader) end
  self.readers = {}
end

function Channel:each()
  return function() return self:get() end
end

-------------------------------------------------------------------- a lock --

local Lock = {}
Lock.__index = Lock

function Lock.new()
  return setmetatable({ holder = nil, queue = {} }, Lock)
end

function Lock:with(f, ...)
  while self.holder do
    self.queue[#self.queue + 1] = current()
    yield()
  end
  self.holder = current()
  local ok, value = pcall(f, ...)
  self.holder = nil
  local nextone = shift(self.queue)
  if nextone then wake(nextone) end
  if not ok then error(value, 0) end
  return value
end

-------------------------------------------------------------- the workload --

local seed = 7
local function random(n)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return floor(seed / 65536) % n + 1
end

local journal, sum = {}, 0
local lock = Lock.new()

local function note(text)
  journal[#journal + 1] = text
  if #journal < 100 then return end
  lock:with(function()
    local whole = table.concat(journal, ";")
    journal = {}
    for i = 1, #whole, 11 do sum = (sum * 31 + whole:byte(i)) % 4294967296 end
    sleep(1)
  end)
end

local function client(id, requests)
  while Loop.now < ticks do
    sleep(random(20))
    requests:put({ id = id, size = random(40), sent = Loop.now, reply = Channel.new(1) })
  end
end

local function work(request)
  local parts = {}
  for i = 1, request.size do parts[i] = format("%x", request.id * i + Loop.now) end
  sleep(random(5))
  if request.size == 13 then error("request of size 13", 0) end
  if request.size == 26 then error({ code = request.id }) end
  return table.concat(parts)
end

local function worker(id, requests, results)
  for request in requests:each() do
    local task = spawn("work", work, request)
    local guard = after(4, function() cancel(task) end)
    local ok, value = join(task)
    guard.cancelled = true
    results:put({ worker = id, ok = ok, value = value, took = Loop.now - request.sent })
  end
end

local counts = { good = 0, text = 0, code = 0, cancelled = 0 }
local function collector(results)
  for result in results:each() do
    local value = result.value
    if result.ok then
      counts.good = counts.good + 1
      note(result.worker .. ":" .. #value .. ":" .. result.took)
    elseif type(value) == "string" then
      counts.text = counts.text + 1
    elseif value.cancelled then
      counts.cancelled = counts.cancelled + 1
    else
      counts.code = counts.code + 1
    end
  end
end

-- Recursion through wraps: every number of a tree, smallest first.
local function inorder(tree)
  return coroutine.wrap(function()
    if not tree then return end
    for v in inorder(tree.left) do yield(v) end
    yield(tree.value)
    for v in inorder(tree.right) do yield(v) end
  end)
end

local function insert(tree, value)
  if not tree then return { value = value } end
  local side = value < tree.value and "left" or "right"
  tree[side] = insert(tree[side], value)
  return tree
end

local function sorter()
  while Loop.now < ticks do
    local tree, last = nil, 0
    for _ = 1, 15 do tree = insert(tree, random(1000)) end
    for v in inorder(tree) do
      assert(v >= last)
      last = v
    end
    note("tree " .. last)
    sleep(50)
  end
end

local requests, results = Channel.new(4), Channel.new(8)
for i = 1, 12 do spawn("client", client, i, requests) end
for i = 1, 6 do spawn("worker", worker, i, requests, results) end
spawn("collector", collector, results)
spawn("sorter", sorter)
run(ticks * 2)
requests:close()
run(ticks * 3)
results:close()
run(ticks * 4)

assert(next(Loop.tasks) == nil, "a task is left")
assert(started == finished + failed)
assert(failed == counts.text + counts.code + counts.cancelled)
print(format("events %d %d %d %d %d %d %.0f", ticks, started, counts.good, counts.text,
  counts.code, counts.cancelled, sum))
