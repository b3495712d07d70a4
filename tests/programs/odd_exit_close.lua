-- odd_exit_close.lua - os.exit(5, true): the VM is closed inside the call, and
-- finalizers run there.
local alive = {}
for i = 1, 500 do
  local p = newproxy(true)
  getmetatable(p).__gc = function() alive.last = { i, "s" .. i } end
  alive[i] = p
end
print("exit_close", #alive)
os.exit(5, true)
