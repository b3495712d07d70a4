-- odd_exit.lua - os.exit(7) in the middle: inside a coroutine, inside pcall,
-- inside a sort, with much still alive.
local alive = {}
for i = 1, 2000 do alive[i] = { i, tostring(i) } end
print("exit", #alive)
coroutine.wrap(function()
  pcall(function()
    table.sort(alive, function(a, b)
      alive.extra = { a, b }
      os.exit(7)
    end)
  end)
end)()
print("not reached")
