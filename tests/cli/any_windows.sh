# any_windows.sh - parts of a run: a delay, a duration, commands and a signal
# turn recording on and off, and what happens in between is not in the file.
. "$(dirname "$0")/lib_any.sh"
need luajit luajit

# Lines 4, 8 and 12 make 100 tables each; what separates them is in $1.
cat >parts.lua <<'L'
jit.off()
local t, wait
if arg[1] == "sleep" then wait = function() os.execute("sleep 2") end else wait = io.read end
for i = 1, 100 do t = { i } end
io.stderr:write("part 1\n")
wait()
--
for i = 1, 100 do t = { i } end
io.stderr:write("part 2\n")
wait()
--
for i = 1, 100 do t = { i } end
io.stderr:write("part 3\n")
wait()
L

# parts: how much of each was recorded.
parts()
{
	echo "$(allocs ljperf.ljm.zst parts.lua:4) $(allocs ljperf.ljm.zst parts.lua:8) $(allocs ljperf.ljm.zst parts.lua:12)"
}

for how in "" "--"; do
	luajit=
	[ -z "$how" ] || luajit="-- luajit"
	name=${luajit:+luajit command}
	name=${name:-embedded VM}
	fresh
	# shellcheck disable=SC2086
	run "$LJPERF" record -q -D 1s --duration 2s $luajit parts.lua sleep
	is "delay and duration, $name" "$status $(parts)" "0 0 100 0"
	whole "delay and duration, $name" ljperf.ljm.zst
done
fresh
run "$LJPERF" record -q --duration 1000ms parts.lua sleep
is "a duration" "$status $(parts)" "0 100 0 0"
fresh
run "$LJPERF" record -q --duration 0.0003h parts.lua sleep
is "a duration of 1.08 s" "$status $(parts)" "0 100 0 0"
fresh
run "$LJPERF" record -q --toggle-signal -D -1 w.lua
is "never told to begin" "$status $err $(files)" \
	"2 ljperf: nothing was recorded: nobody turned recording on 0"
# As with perf a delay without a unit is in milliseconds.
for time in 600000 600s 10m; do
	run "$LJPERF" record -q -D "$time" w.lua
	is "a delay of $time is longer than the program" "$status $err $(files)" \
		"2 ljperf: nothing was recorded: 'w.lua' ended before the delay of 600 s (-D) was over 0"
done
run "$LJPERF" record -q -D 10m -- luajit w.lua
is "so it is for a command" "$status $err $(files)" \
	"2 ljperf: nothing was recorded: 'luajit' ended before the delay of 600 s (-D) was over 0"
for time in x 1x -2 '' 1e99 1sm; do
	run "$LJPERF" record -D "$time" w.lua
	like "-D '$time' is refused" "$status $err" "2 ljperf: *no time*"
	run "$LJPERF" record --duration "$time" w.lua
	like "--duration '$time' is refused" "$status $err" "2 ljperf: *no time*"
done
run "$LJPERF" record -D -1 w.lua
like "a delay that nobody could end is refused" "$status $err" "2 ljperf: -D -1 waits for *"
for time in 1 1000 -1 0s; do
	run "$LJPERF" record --duration "$time" w.lua
	like "--duration $time is refused" "$status $err" "2 ljperf: '$time' is no time*"
done
is "what is refused leaves no file" "$(files)" 0

# await TEXT: waits until the program has said it, at most 20 s.
await()
{
	n=0
	while ! grep -q "$1" err && [ $n -lt 200 ]; do
		sleep 0.1
		n=$((n + 1))
	done
}

# tell COMMAND: and waits for the answer.
tell()
{
	echo "$1" >control
	answer=$(timeout 20 head -n 1 <&8)
	[ "$answer" = ack ] || not_ok "'$1' is answered" "got '$answer'"
}

mkfifo control ack input
# Held open: an answer is not lost when the recorder ends before it is read.
exec 8<>ack
# begin OPTION...: the program in the background, its input in our hands.
begin()
{
	fresh
	: >err
	"$LJPERF" record -q "$@" parts.lua read <input >out 2>err &
	job=$!
	exec 9>input
	await "part 1"
}

begin -D -1 --control fifo:control,ack
is "disabled: no file yet" "$(files)" 0
tell enable
echo >&9
await "part 2"
tell snapshot
is "snapshot: what was so far can be read" "$(allocs ljperf.ljm.zst parts.lua:8)" 100
tell disable
tell ping
echo >&9
await "part 3"
tell enable
exec 9>&-
wait "$job"
is "enable and disable" "$? $(parts)" "0 0 100 0"
whole "enable and disable" ljperf.ljm.zst
like "a pause is marked" "$("$LJPERF" script -q | grep ' mark ' | awk '{ printf "%s ", $4 }')" "pause resume *"

# Who has it open is the program; it closes when that has ended.
mkfifo alive
timeout 60 cat alive >/dev/null &
alive=$!
exec 7>alive
begin --control fifo:control,ack
exec 7>&-
tell stop
n=0
while kill -0 "$job" 2>/dev/null && [ $n -lt 200 ]; do
	sleep 0.1
	n=$((n + 1))
done
whole "stop ends the recording" ljperf.ljm.zst
echo >&9
await "part 2"
echo >&9
await "part 3"
wait "$job"
is "stop: the status says that all went well" "$?" 0
exec 9>&-
wait "$alive"
is "stop: the program goes on to its end, and says nothing of it" "$? $(cat err)" \
	"0 $(printf 'part 1\npart 2\npart 3')"
is "stop: nothing comes after it" "$(parts)" "100 0 0"

begin --toggle-signal
kill -USR2 "$job"
sleep 1
echo >&9
await "part 2"
kill -USR2 "$job"
sleep 1
echo >&9
await "part 3"
exec 9>&-
wait "$job"
is "a signal turns it off and on" "$? $(parts)" "0 100 0 100"

# What was alive before a pause is not known after it.
cat >live.lua <<'L'
jit.off()
keep = {}
for i = 1, 100 do keep[i] = ("x"):rep(10000 + i) end
io.stderr:write("part 1\n")
io.read()
keep = nil
collectgarbage()
io.stderr:write("part 2\n")
io.read()
local t = {}
os.exit(0)
L
fresh
: >err
"$LJPERF" record -q --control fifo:control,ack live.lua <input >out 2>err &
job=$!
exec 9>input
await "part 1"
tell disable
echo >&9
await "part 2"
tell enable
exec 9>&-
wait "$job"
live=$("$LJPERF" report -q -t , -F live --sort line | awk '{ n += $1 } END { print (n < 100000) ? "few" : n }')
is "what died in a pause is not called alive" "$live" few
finish
