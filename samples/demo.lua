-- demo.lua - the program that "make demo" records: reads sales as lines of
-- CSV, sums them by city, and prints a table.  One of its caches never
-- forgets anything; the report of ljperf shows which.

local function make_lines(n)
	local cities = { "Aachen", "Bergen", "Cork", "Delft", "Evora" }
	local lines = {}
	for i = 1, n do
		local city = cities[i % #cities + 1]
		lines[i] = city .. ",item " .. i % 700 .. "," .. i % 9 + 1 .. "," .. i % 50 * 0.5
	end
	return lines
end

local function parse_line(line)
	local fields = {}
	for field in line:gmatch("[^,]+") do
		fields[#fields + 1] = field
	end
	return fields
end

-- Meant to save work, but each receipt number is new, so that no entry is
-- ever used again; and as a global it outlives everything else.
receipts = {}

local function receipt(number, fields)
	local text = receipts[number]
	if not text then
		text = string.format("%06d %-8s %s", number, fields[1], fields[2])
		receipts[number] = text
	end
	return text
end

local function add_sale(groups, fields)
	local group = groups[fields[1]]
	if not group then
		group = { city = fields[1], count = 0, total = 0 }
		groups[fields[1]] = group
	end
	group.count = group.count + tonumber(fields[3])
	group.total = group.total + tonumber(fields[3]) * tonumber(fields[4])
end

local function print_groups(groups)
	local sorted = {}
	for _, group in pairs(groups) do
		sorted[#sorted + 1] = group
	end
	table.sort(sorted, function(a, b) return a.total > b.total end)
	for _, group in ipairs(sorted) do
		print(("%-8s %8d items %12.2f"):format(group.city, group.count, group.total))
	end
end

local groups, width = {}, 0
for number, line in ipairs(make_lines(100000)) do
	local fields = parse_line(line)
	add_sale(groups, fields)
	width = math.max(width, #receipt(number, fields))
end
print_groups(groups)
print("widest receipt: " .. width)
