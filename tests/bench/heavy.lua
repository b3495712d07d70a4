-- heavy.lua [N] - almost nothing but allocations: three kinds in turn, with
-- short lives in a table of 4096 places.  N = 2.6e6 makes about 10 M events.
local n = tonumber(arg[1]) or 2600000
local places = {}
for i = 1, 4096 do places[i] = false end

local function pair(i)
  return { i, -i, name = i }
end

local function work(count)
  for i = 1, count do
    local place = i % 4096 + 1
    local kind = i % 4
    if kind == 0 then
      places[place] = "text" .. i
    elseif kind == 1 then
      places[place] = pair(i)
    elseif kind == 2 then
      local list = {}
      list[1], list[2], list[3] = i, places[place], i
      if i % 36 == 2 then list[2] = nil end
      places[place] = list
    else
      places[place] = { i }
    end
    if i % 9 == 0 then places[place] = false end
  end
end

work(n)
-- For the benchmarks: the CPU time of this process alone.
io.stderr:write(("cpu %.6f\n"):format(os.clock()))
