# runner.sh - tests/run.sh itself: what it counts, and when it fails.
. "$(dirname "$0")/lib.sh"

# try NAME STATUS SUM FILE...
try()
{
	name=$1 want=$2 sum=$3
	shift 3
	run env TEST_TIMEOUT=2 "$LJPERF_SOURCE/tests/run.sh" "$@"
	is "$name" "$status $(echo "$out" | tail -n 1)" "$want $sum"
}

echo 'echo ok a; echo ok b; echo skip c no disk' >good.sh
echo 'echo ok a; echo not ok b: broken' >bad.sh
echo 'echo ok a; exit 3' >status.sh
echo 'echo nothing' >empty.sh
echo 'echo skip a not here' >skips.sh
echo 'echo ok a; sleep 30' >slow.sh
echo 'print("ok lua")' >one.lua
echo 'print("ok python")' >one.py
printf '#!/bin/sh\necho "80%%: Checks: 5, Failures: 1, Errors: 0"\nexit 1\n' >check_bad
printf '#!/bin/sh\necho "100%%: Checks: 4, Failures: 0, Errors: 0"\n' >check_good
printf '#!/bin/sh\nkill -SEGV $$\n' >check_dead
chmod +x check_*

try "good tests" 0 "2 passed, 0 failed, 1 skipped" ./good.sh
like "a skip shows its reason" "$out" "*SKIP	c no disk*"
try "a bad test" 1 "1 passed, 1 failed, 0 skipped" ./bad.sh
like "a failure shows its output" "$out" "*not ok b: broken*"
try "a script with a bad status" 1 "1 passed, 1 failed, 0 skipped" ./status.sh
try "a script without a test" 1 "0 passed, 1 failed, 0 skipped" ./empty.sh
try "only skips" 1 "0 passed, 0 failed, 1 skipped" ./skips.sh
try "no test at all" 1 "0 passed, 0 failed, 0 skipped"
try "a test that hangs" 1 "1 passed, 1 failed, 0 skipped" ./slow.sh
try "other languages" 0 "2 passed, 0 failed, 0 skipped" ./one.lua ./one.py
try "a good Check program" 0 "4 passed, 0 failed, 0 skipped" ./check_good
try "a bad Check program" 1 "4 passed, 1 failed, 0 skipped" ./check_bad
try "a Check program that dies" 1 "0 passed, 1 failed, 0 skipped" ./check_dead
try "all together" 1 "10 passed, 2 failed, 1 skipped" ./good.sh ./check_good ./check_bad ./check_dead

finish
