-- odd_error_object.lua - an error object that nobody catches, which can be
-- made a string, but by code that allocates.
print("error_object")
local t = setmetatable({ "made" }, { __tostring = function(e) return "an object " .. e[1] .. #{ 1, 2 } end })
coroutine.wrap(function() error(t) end)()
