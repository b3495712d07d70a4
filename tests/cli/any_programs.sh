# any_programs.sh - real programs that use LuaJIT, unmodified.
. "$(dirname "$0")/lib_any.sh"

nvim_lines()
{
	same_as_alone "nvim" nvim --headless --clean -c 'luafile w.lua' -c 'qa!'
	whole "nvim, which never closes its VM" ljperf.ljm.zst
	is "nvim: one VM" "$(files)" 1
	is "nvim: lines of the script" "$(allocs ljperf.ljm.zst w.lua:4)" 1000
	same_as_alone "nvim that fails" nvim --headless --clean -c 'luafile w.lua' -c 'cq 7'
	is "nvim that fails: status" "$status" 7
	cat >thread.lua <<'L'
local thread = vim.loop.new_thread(function()
	jit.off()
	local u
	for i = 1, 500 do
		u = { i }
	end
end)
vim.loop.thread_join(thread)
dofile("w.lua")
L
	same_as_alone "nvim with a thread" nvim --headless --clean -c 'luafile thread.lua' -c 'qa!'
	is "nvim with a thread: two VMs" "$(files)" 2
	whole "nvim with a thread" ljperf*.zst
	is "nvim with a thread: the first VM" \
		"$(allocs ljperf.ljm.zst w.lua:4) $(allocs ljperf.ljm.zst thread.lua:5)" "1000 0"
	is "nvim with a thread: the thread's VM" \
		"$(allocs "$(ls ljperf.*.2.ljm.zst)" w.lua:4) $(allocs "$(ls ljperf.*.2.ljm.zst)" thread.lua:5)" \
		"0 500"
}

sysbench_lines()
{
	cat >sb.lua <<'L'
jit.off()
function event()
	local t
	t = { 1 }
end
L
	fresh
	run "$LJPERF" record -- sysbench --threads=2 --events=2000 --time=0 ./sb.lua run
	is "sysbench: status" "$status" 0
	like "sysbench: its output" "$out" "*total number of events:*2000*"
	is "sysbench: three VMs" "$(files)" 3
	whole "sysbench" ljperf*.zst
	total=0
	for file in ljperf*.zst; do
		total=$((total + $(allocs "$file" sb.lua:4)))
	done
	# One table on line 4 for each event, whichever thread took it.
	is "sysbench: the events of all VMs" "$total" 2000
	is "sysbench: threads have names and VMs numbers" \
		"$("$LJPERF" info -i "$(ls ljperf.*.3.ljm.zst)" | grep '^vm number')" "vm number : 3"
}

dnsjit_lines()
{
	same_as_alone "dnsjit" dnsjit w.lua
	is "dnsjit: one VM" "$(files)" 1
	whole "dnsjit" ljperf.ljm.zst
	is "dnsjit: lines of the script" "$(allocs ljperf.ljm.zst w.lua:4)" 1000
}

if have nvim; then nvim_lines; else skip nvim "because it is not installed (Debian package neovim)"; fi
if have sysbench; then sysbench_lines; else skip sysbench "because it is not installed"; fi
if have dnsjit; then dnsjit_lines; else skip dnsjit "because it is not installed"; fi
finish
