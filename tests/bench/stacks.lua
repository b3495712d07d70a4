-- stacks.lua [N [DEPTH]] - makes N small tables, in a function that is called
-- DEPTH calls below the main chunk: what a call stack of that depth costs.
local n, depth = tonumber(arg[1]) or 4000000, tonumber(arg[2]) or 1

local function allocate()
	local clock, t = os.clock()
	for i = 1, n do t = { i } end
	return os.clock() - clock
end

local function call(left)
	if left > 1 then
		local cpu = call(left - 1)
		return cpu
	end
	local cpu = allocate()
	return cpu
end

io.stderr:write(string.format("cpu %.3f\n", depth > 1 and call(depth - 1) or allocate()))
os.exit(0)
