# main.sh - ljperf as a whole: the list of commands, help, version, mistakes.
. "$(dirname "$0")/lib.sh"

run "$LJPERF"
is "bare ljperf has status 1" "$status" 1
like "bare ljperf lists the commands on stdout" "$out" "Usage: ljperf COMMAND*record*report*script*info*list*help*version*"
is "bare ljperf writes nothing to stderr" "$err" ""
listed=$out

for word in help --help -h; do
	run "$LJPERF" $word
	is "$word has status 0" "$status" 0
	is "$word prints the same list" "$out" "$listed"
done

for word in version --version -v; do
	run "$LJPERF" $word
	is "$word has status 0" "$status" 0
	like "$word prints one number" "$out" "ljperf [0-9]*.[0-9]*.[0-9]*"
done
run "$LJPERF" version --build-options
like "build options name LuaJIT" "$out" "*LuaJIT: *2.1*"
like "build options name zstd as it tells its version itself" "$out" "*zstd: *, running $(
	zstd --version | sed 's/.* v\([0-9.]*\).*/\1/')*"
run "$LJPERF" version now
is "version takes no argument" "$status $err" "2 ljperf: version takes no argument, not 'now'"

run "$LJPERF" reprot
is "a mistyped command" "$status $out $err" "2  ljperf: unknown command 'reprot', did you mean 'report'?"
run "$LJPERF" zzz
is "an unknown command" "$status $err" "2 ljperf: unknown command 'zzz', 'ljperf help' lists them"
run "$LJPERF" help zzz
is "help for an unknown command" "$status $err" "2 ljperf: unknown command 'zzz', 'ljperf help' lists them"
run "$LJPERF" help a b
is "help for two commands" "$status" 2

for cmd in $("$LJPERF" --list-cmds | cut -f1); do
	run "$LJPERF" "$cmd" -h
	is "$cmd -h has status 0" "$status" 0
	like "$cmd -h says how it is called" "$out" "Usage: ljperf $cmd*-h, --help *"
	run env COLUMNS=60 "$LJPERF" "$cmd" --help
	is "$cmd --help keeps to 60 columns" "$(echo "$out" | grep -v '^Usage\|^   or' | awk 'length > 60')" ""
	run "$LJPERF" "$cmd" --no-such-option
	is "$cmd refuses an unknown option" "$status" 2
	like "$cmd names the unknown option" "$err" "ljperf: unknown option '--no-such-option', see 'ljperf $cmd -h'"
done

# A full disk is a failure, a reader that has gone is none.
run sh -c '"$0" version >/dev/full' "$LJPERF"
is "a full disk" "$status $err" "2 ljperf: cannot write standard output: No space left on device"
run sh -c '"$0" version >&-' "$LJPERF"
is "a closed stdout" "$status" 2
# The reader is gone before ljperf writes.
cat >pipe.py <<'PY'
import os, subprocess, sys
r, w = os.pipe()
os.close(r)
p = subprocess.run([sys.argv[1], "help"], stdout=w, stderr=subprocess.PIPE,
                   restore_signals=sys.argv[2] == "default")
sys.exit(p.returncode if p.returncode > 0 else 0 if not p.stderr else 99)
PY
run python3 pipe.py "$LJPERF" default
is "a broken pipe is quiet" "$status" 0
run python3 pipe.py "$LJPERF" ignored
is "a broken pipe is quiet where SIGPIPE is ignored" "$status" 0

finish
