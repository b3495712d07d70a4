-- odd_error.lua - an error that nobody catches: status 1 and a traceback.
local function level(n, t)
  if n == 0 then error("nobody catches this") end
  return level(n - 1, { t }), t
end
print("error")
level(10, {})
