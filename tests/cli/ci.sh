# ci.sh - what .ci/run and tests/run.sh make of what fails: the last line, and
# the status.  Neither make nor a test of ljperf is run.
. "$(dirname "$0")/lib.sh"

# ---- tests/run.sh ----

cat >good.sh <<'END'
echo "ok one"
echo "ok two"
echo "skip three because of this"
END
cat >bad.sh <<'END'
echo "ok one"
echo "not ok two: no"
exit 1
END
echo 'echo nothing' >silent.sh
echo 'echo "ok one"; exit 3' >status.sh
echo 'exec sleep 600' >slow.sh
cat >suite <<'END'
#!/bin/sh
echo "75%: Checks: 4, Failures: 1, Errors: 0"
exit 1
END
cat >wrap <<'END'
#!/bin/sh
echo "ok wrapped $(basename "$1")"
END
chmod +x suite wrap

# sum NAME WANTED TEST...: the status, and the last line; one test at a time, and
# three.
sum()
{
	what=$1 wanted=$2
	shift 2
	for jobs in 1 3; do
		run env TEST_JOBS=$jobs TEST_TIMEOUT="${limit:-60}" sh "$LJPERF_SOURCE/tests/run.sh" "$@"
		is "$what, $jobs at once" "$status $(echo "$out" | tail -n 1)" "$wanted"
	done
}

sum "passed and skipped" "0 2 passed, 0 failed, 1 skipped" good.sh
sum "one fails" "1 3 passed, 1 failed, 1 skipped" good.sh bad.sh
like "what it said is shown" "$out" "*FAIL	bad.sh (1 failed)*not ok two: no*"
sum "a suite of Check" "1 5 passed, 1 failed, 1 skipped" ./suite good.sh
sum "no test ran" "1 0 passed, 1 failed, 0 skipped" silent.sh
sum "a status alone" "1 1 passed, 1 failed, 0 skipped" status.sh
sum "not there" "1 2 passed, 1 failed, 1 skipped" good.sh missing.sh
sum "nothing to run" "1 0 passed, 0 failed, 0 skipped"
sum "many" "0 8 passed, 0 failed, 4 skipped" good.sh good.sh good.sh good.sh
limit=1
sum "too slow" "1 0 passed, 1 failed, 0 skipped" slow.sh
like "it is said" "$out" "*FAIL	slow.sh (1 failed, stopped after 1 s)*"
unset limit
run env TEST_WRAP="$PWD/wrap" sh "$LJPERF_SOURCE/tests/run.sh" ./suite good.sh
is "programs are wrapped, scripts not" "$(echo "$out" | tail -n 1)" "3 passed, 0 failed, 1 skipped"

# ---- .ci/run ----

mkdir copy copy/.ci bin
cp "$LJPERF_SOURCE/.ci/run" copy/.ci/run
# Fails for the target in $fail, and prints what a failure in between looks like.
cat >bin/make <<'END'
#!/bin/sh
for target; do :; done
echo "$target" >>"$TMPDIR/targets"
echo "3 passed, 2 failed, 1 skipped"
echo "$target is done"
if [ "$target" = check ]; then
	[ -z "$last" ] || echo "$last"
	[ -z "$fail_check" ] || { echo "make: *** [GNUmakefile:1: check] Error 1" >&2; exit 2; }
fi
case " $fail " in *" $target "*) exit 2 ;; esac
END
printf '#!/bin/sh\n[ "$*" = --developer ] && [ -z "$fail_deps" ]\n' >copy/deps.sh
chmod +x bin/make copy/deps.sh

# ends NAME STATUS LAST-LINE SETTING...
ends()
{
	what=$1 wanted=$2 line=$3
	shift 3
	rm -f targets
	env PATH="$PWD/bin:$PATH" fail= fail_check= fail_deps= last="9 passed, 0 failed, 2 skipped" "$@" \
		sh copy/.ci/run >both 2>&1
	is "$what: status and last line" "$? $(tail -n 1 both)" "$wanted $line"
}

ends "all pass" 0 "9 passed, 0 failed, 2 skipped"
gates=$(tr '\n' ' ' <targets)
for gate in layer-check format-check spell-check tests check-install check-clang check-valgrind \
	check-sanitize coverage fuzz check; do
	like "$gate is a gate" " $gates" "* $gate *"
	holds "$gate is a target" grep -q "^$gate:.*## " "$LJPERF_SOURCE/GNUmakefile"
	case $gate in
	tests | check) ;;
	*) ends "$gate fails" 1 "9 passed, 1 failed, 2 skipped" fail=$gate
		is "$gate fails: the others are run" "$(tr '\n' ' ' <targets)" "$gates" ;;
	esac
done
ends "two fail" 1 "9 passed, 2 failed, 2 skipped" fail="fuzz coverage"
ends "a package cannot be had" 1 "9 passed, 1 failed, 2 skipped" fail_deps=yes
ends "a test fails" 1 "8 passed, 1 failed, 2 skipped" last="8 passed, 1 failed, 2 skipped" fail_check=yes
ends "a test and a gate fail" 1 "8 passed, 2 failed, 2 skipped" last="8 passed, 1 failed, 2 skipped" \
	fail_check=yes fail=fuzz
ends "make check fails without a line" 1 "0 passed, 1 failed, 0 skipped" last= fail_check=yes
ends "it does not compile" 1 "0 passed, 1 failed, 0 skipped" fail=tests
is "then nothing is run" "$(tr '\n' ' ' <targets)" "layer-check format-check spell-check tests "
finish
