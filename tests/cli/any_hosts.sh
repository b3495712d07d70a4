# any_hosts.sh - programs in C that embed LuaJIT (tests/hosts): they see their
# own allocators, any thread may close a state, states are forked, and threads
# have states of their own.
. "$(dirname "$0")/lib_any.sh"

if ! pkg-config --exists luajit; then
	skip hosts "because there is no LuaJIT to build with"
	finish
fi
libs="$(pkg-config --cflags --libs luajit) -pthread"
# shellcheck disable=SC2086
if ! ${CC:-gcc} -g -O1 -Wall -Wextra -Werror -o host "$LJPERF_SOURCE/tests/hosts/host.c" $libs 2>cc.log ||
	! ${CC:-gcc} -g -O1 -Wall -Wextra -Werror -o local $(pkg-config --cflags luajit) \
		"$LJPERF_SOURCE/tests/hosts/local.c" 2>>cc.log; then
	not_ok "hosts compile" "$(head -20 cc.log)"
	finish
fi

same_as_alone "an allocator of its own, without data" ./host own
like "an allocator of its own: what the host sees" "$(cat rec.out)" "*allocator own, data own*left in use: 0*"
whole "an allocator of its own" ljperf.ljm.zst
is "an allocator of its own: lines" \
	"$(allocs ljperf.ljm.zst own.lua:3) $(allocs ljperf.ljm.zst other.lua:3)" "1000 1000"
is "an allocator of its own: a failure is no event" "$(allocs ljperf.ljm.zst limit.lua:1)" 0

same_as_alone "threads that are dropped" ./host threads
whole "threads that are dropped" ljperf.ljm.zst
# The error's message and its position: at least one string each time.
is "threads that are dropped: lines after" \
	"$([ "$(allocs ljperf.ljm.zst after.lua:1)" -ge 200 ] && echo all)" all

same_as_alone "finalizers while closing" ./host close
whole "finalizers while closing" ljperf.ljm.zst

same_as_alone "a state before a fork" ./host fork
is "a state before a fork: parent and two children that use it" "$(files)" 3
whole "a state before a fork" ljperf*.zst
is "a state before a fork: the parent's file" \
	"$(allocs ljperf.ljm.zst before.lua:3) $(allocs ljperf.ljm.zst parent.lua:3) $(allocs ljperf.ljm.zst child.lua:3)" \
	"100 1500 0"
for file in ljperf.[0-9]*.zst; do
	is "a state before a fork: a child's file" \
		"$(allocs "$file" before.lua:3) $(allocs "$file" parent.lua:3) $(allocs "$file" child.lua:3)" \
		"0 0 1000"
done

same_as_alone "eight threads with a state each" ./host many
is "eight threads: eight files" "$(files)" 8
whole "eight threads" ljperf*.zst
for file in ljperf*.zst; do
	# One table on each of 20000 rounds.
	is "eight threads: $(echo "$file" | sed 's/[0-9][0-9]*/N/') has its own rounds" \
		"$(allocs "$file" thread.lua:3)" 20000
done

# Closed states do not pile up in the recorder: 100 one after the other.
same_as_alone "a hundred states in a row" ./host row
is "a hundred states: a file each" "$(files)" 100
whole "a hundred states" ljperf*.zst

luajit=$(ls /usr/lib/*/libluajit-5.1.so.2 2>/dev/null | head -1)
if [ -n "$luajit" ]; then
	cp "$luajit" ./libcopy.so
	same_as_alone "two libraries that only the program sees" ./local "$luajit" ./libcopy.so
	is "two libraries: a file each" "$(files)" 2
	whole "two libraries" ljperf*.zst
	for file in ljperf*.zst; do
		is "two libraries: lines" "$(allocs "$file" local.lua:3)" 100
	done
else
	skip "libraries that only the program sees" "because no libluajit was found"
fi

fresh
run "$LJPERF" record -- ./host none
is "no VM: status" "$status" 2
like "no VM: the reason" "$err" "ljperf: nothing was recorded: './host' made no LuaJIT VM*"
is "no VM: no file" "$(files)" 0
finish
