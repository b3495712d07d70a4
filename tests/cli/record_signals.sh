# record_signals.sh - interrupted recordings: signals to the target, to ljperf
# and to both, pipes that close, memory that ends.
. "$(dirname "$0")/lib_record.sh"

# Makes events for ever; says so when it has begun.
cat >loop.lua <<'L'
local out = io.open("started", "w") out:write("x") out:close()
local t = {}
while true do for i = 1, 1000 do t[i] = { i } end end
L
# The same for ever, without events.
cat >idle.lua <<'L'
local t = {} for i = 1, 1000 do t[i] = { i } end
local out = io.open("started", "w") out:write("x") out:close()
local ffi = require "ffi"
ffi.cdef "unsigned sleep(unsigned);"
while true do ffi.C.sleep(1) end
L
# Makes 1000 tables, then waits for a line, then 1000 more.
cat >wait.lua <<'L'
local t = {}
for i = 1, 1000 do t[i] = { i } end
local out = io.open("started", "w") out:write("x") out:close()
io.read()
for i = 1, 200000 do t[i % 1000 + 1] = { i } end
local done = io.open("done", "w") done:write("x") done:close()
print("finished", #t)
os.exit(6)
L

# await FILE: waits for it at most 20 s.
await()
{
	n=0
	while [ ! -s "$1" ] && [ $n -lt 200 ]; do
		sleep 0.1
		n=$((n + 1))
	done
	[ -s "$1" ]
}

# begin SCRIPT: a recording in the background; $pid is ljperf, $child the VM.
# Asynchronous commands of a shell ignore SIGINT, so python3 starts it.
begin()
{
	rm -f started done r.zst pid
	python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
open("pid", "w").write(str(os.getpid()))
os.execv(sys.argv[1], sys.argv[1:])' "$LJPERF" record -o r.zst "$1" >rec.out 2>rec.err <"${2:-/dev/null}" &
	job=$!
	await started || { not_ok "$1 starts" "$(cat rec.err)"; finish; }
	pid=$(cat pid)
	child=$(cut -d " " -f 1 "/proc/$pid/task/$pid/children")
}

# end: how ljperf ended, into $status, after at most 20 s.
end()
{
	( sleep 20; kill -9 "$pid" "$child" 2>/dev/null ) &
	guard=$!
	wait "$job"
	status=$?
	kill "$guard" 2>/dev/null
	wait "$guard" 2>/dev/null
	info=$("$LJPERF" info r.zst 2>&1)
}

# whole NAME: the file is complete.
whole()
{
	like "$1: the file is closed" "$info" "*complete : yes*footer totals : agree*"
	"$LJPERF" report --format memprof r.zst >report.txt 2>report.err
	is "$1: the report warns of nothing" "$? $(cat report.err)" "0 "
}

# The luajit command makes an error of SIGINT; SIGTERM (15) ends it.
for sig in INT TERM; do
	for script in loop.lua idle.lua; do
		begin $script
		kill -$sig "$pid"
		end
		case $sig in
		INT)
			is "SIGINT to ljperf during $script: status" "$status" 1
			like "SIGINT to ljperf during $script: text" "$(cat rec.err)" \
				"luajit: $script:*: interrupted!*stack traceback:*"
			;;
		TERM) is "SIGTERM to ljperf during $script: status" "$status" $((128 + 15)) ;;
		esac
		whole "SIG$sig to ljperf during $script"
		like "SIG$sig to ljperf during $script: the end line" "$(cat rec.err)" \
			"*Captured and wrote *r.zst (*events*"
		fails "SIG$sig to ljperf during $script: the target is gone" kill -0 "$child"
	done
done

# The target dies by itself.
begin idle.lua
kill -9 "$child"
end
is "SIGKILL to the target: status" "$status" 137
like "SIGKILL to the target: the file says so" "$info" "*end of target : killed by signal 9 (*"
whole "SIGKILL to the target"
# 1000 tables that hold their slot, the list, and its first array; none is lost.
tables=$("$LJPERF" script -i r.zst | grep -c ' alloc .*idle.lua:1 \| alloc .*started at @*idle.lua:1 ')
is "SIGKILL to the target: every event before it is there" "$tables" 1002

begin loop.lua
kill -9 "$child"
end
is "SIGKILL in the middle of events: status" "$status" 137
whole "SIGKILL in the middle of events"
begin loop.lua
kill -SEGV "$child"
end
is "SIGSEGV from outside: status" "$status" 139
whole "SIGSEGV from outside"

# ljperf dies: the target runs on unharmed.
rm -f fifo
mkfifo fifo
(
	exec 3>fifo
	await started
	await killed
	echo go >&3
) &
feeder=$!
rm -f killed
begin wait.lua fifo
kill -9 "$pid"
wait "$job" 2>/dev/null
echo x >killed
holds "SIGKILL to ljperf: the target runs to its end" await done
wait "$feeder"
"$LJPERF" info -f r.zst >info 2>&1
is "SIGKILL to ljperf: what was written can be read" "$?" 0
"$LJPERF" report r.zst >report.txt 2>report.err
is "SIGKILL to ljperf: the report has one warning line, and a status" "$? $(wc -l <report.err)" "2 1"

# A stopped ljperf does not hold the target for ever.
begin loop.lua
kill -STOP "$pid"
sleep 1
kill -0 "$child" 2>/dev/null
is "ljperf stopped: the target lives" "$?" 0
kill -CONT "$pid"
kill -TERM "$pid"
end
is "ljperf stopped and continued: status" "$status" 143
whole "ljperf stopped and continued"

# Pipes.
yes 'print(("x"):rep(100))' | head -20000 >much.lua
"$LJPERF" record -q -o r.zst much.lua 2>rec.err | head -1 >head.out
is "a reader that leaves: what it got" "$(cat head.out | wc -c)" 101
like "a reader that leaves: the file is closed" "$("$LJPERF" info r.zst 2>&1)" "*complete : yes*"
have luajit && {
	sh -c 'luajit much.lua; echo $? >stock.st' 2>/dev/null | head -1 >/dev/null
	sh -c '"$0" record -q -o r.zst much.lua; echo $? >rec.st' "$LJPERF" 2>/dev/null | head -1 >/dev/null
	is "a reader that leaves: status" "$(cat rec.st)" "$(cat stock.st)"
}
"$LJPERF" report r.zst 2>err | head -1 >/dev/null
is "a report into a closed pipe is quiet" "$(cat err)" ""

# Memory that ends.
cat >hungry.lua <<'L'
local t, n = {}, 0
local ok, why = pcall(function()
  while true do n = n + 1 t[n] = ("x"):rep(2 ^ 20) .. n end
end)
t = nil collectgarbage()
print(ok, why)
L
if have luajit; then
	(ulimit -v 400000; exec luajit hungry.lua) >stock.out 2>stock.err
	stock_status=$?
	(ulimit -v 400000; exec "$LJPERF" record -q -o r.zst hungry.lua) >rec.out 2>rec.err </dev/null
	rec_status=$?
	is "out of memory: output and status" "$rec_status $(cat rec.out rec.err)" \
		"$stock_status $(cat stock.out stock.err)"
	like "out of memory: the file is whole" "$("$LJPERF" info r.zst 2>&1)" "*complete : yes*"
else
	skip "out of memory" "because there is no luajit command to compare with"
fi
finish
