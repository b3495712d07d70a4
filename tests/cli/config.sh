# config.sh - settings: a section is a command, a name one of its options; what
# stands in a file does what the same option does on the command line, which counts
# more.  A file that is wrong, or that others could have written, is told.
. "$(dirname "$0")/lib.sh"

export LJPERF_CONFIG="$TMPDIR/config"
cat >w.lua <<'L'
local t = {}
for i = 1, 100 do t[i] = { i } end
local s = ("x"):rep(100)
L
LJPERF_CONFIG=/dev/null "$LJPERF" record -q -g w.lua

# setting TEXT
setting()
{
	printf '%b' "$1" >"$LJPERF_CONFIG"
}

# by_option ARGUMENT...: without any file.
by_option()
{
	LJPERF_CONFIG=/dev/null "$LJPERF" "$@" 2>&1
}

# acts_as NAME TEXT COMMAND OPTION...: the file makes of COMMAND what the options do.
acts_as()
{
	name=$1
	setting "$2"
	cmd=$3
	shift 3
	want=$(by_option "$cmd" "$@")
	is "$name" "$("$LJPERF" "$cmd" 2>&1)" "$want"
	if [ "$want" = "$(by_option "$cmd")" ]; then
		not_ok "$name: the option does something" "it does not"
	fi
}

acts_as "a text" '[report]\nsort = func\n' report --sort func
acts_as "indented" '[report]\n\tsort = func\n' report --sort func
acts_as "indented by other blanks" '[report]\nsort = line\n\fsort = func\n\v\r\n' report --sort func
acts_as "comments" '# one\n[report] ; two\n; three\nsort = func ; four\n' report --sort func
acts_as "a colon, and the end of lines of others" '[report]\r\nsort: func\r\n' report --sort func
acts_as "a flag" '[report]\nheader = true\n' report --header
acts_as "a flag that is not set" '[report]\nno-demangle = no\nheader = yes\n' report --header
acts_as "a fraction" '[report]\npercent-limit = 50\n' report --percent-limit 50
acts_as "several" '[report]\nsort = func\npercent-limit = 50\n' report --sort func --percent-limit 50
acts_as "an option without its value" '[report]\ncall-graph = true\n' report -g
acts_as "the same with one" '[report]\ncall-graph = caller\n' report --call-graph=caller
acts_as "the last one counts" '[report]\nsort = line\n[diff]\nsort = chunk\n[report]\nsort = func\n' report --sort func
acts_as "script" '[script]\njson = on\n' script --json
cp ljperf.ljm.zst ljperf.ljm.zst.old
acts_as "diff" '[diff]\nsort = func\n' diff --sort func

setting '[report]\nsort = func\nheader = true\n'
is "the command line counts more" "$("$LJPERF" report --sort line --no-header)" "$(by_option report --sort line)"
is "other commands do not care" "$("$LJPERF" info)" "$(by_option info)"

setting '[record]\ncall-graph = lua\nquiet = true\noutput = set.zst\n'
run "$LJPERF" record w.lua
is "record" "$status$out$err" 0
like "record takes stacks" "$("$LJPERF" script --json -i set.zst)" '*"frames"*'
cat >env.lua <<'L'
print(os.getenv("LJPERF_CONFIG"))
L
is "the program sees what it saw" "$("$LJPERF" record env.lua)" "$LJPERF_CONFIG"

setting '[report]\nsort = func\n[diff]\norder = 2\n[report]\nsort = line\n'
is "config lists what counts" "$("$LJPERF" config)" "diff.order=2	# $LJPERF_CONFIG:4
report.sort=line	# $LJPERF_CONFIG:6"
is "config of one" "$("$LJPERF" config report.sort)" line
run "$LJPERF" config report.order
is "config of one that is not set" "$status$out$err" 1
run "$LJPERF" config report sort
like "config of two" "$status $err" "2 ljperf: config takes one name*"
setting '[report]\nsort = func\n[diff]\nsrot = func\n'
run "$LJPERF" config
like "config checks all" "$status $out$err" "2 ljperf: $LJPERF_CONFIG:4: unknown option '--srot', did you mean '--sort'?"
setting '[record]\ncontrol = fifo:x\n'
run "$LJPERF" config
like "control" "$status $out$err" "2 ljperf: $LJPERF_CONFIG:2: 'control' cannot be set in a file"
setting '[report]\nparent = \033[31m\n'
is "config escapes" "$("$LJPERF" config)" "report.parent=\\x1b[31m	# $LJPERF_CONFIG:2"
is "config of one escapes" "$("$LJPERF" config report.parent)" "\\x1b[31m"
setting '# nothing\n'
run "$LJPERF" config
like "config without any" "$status $out$err" "0 ljperf: nothing is set; see ljperf-config(1)"

# is_wrong NAME TEXT LINE MESSAGE
is_wrong()
{
	setting "$2"
	run "$LJPERF" report
	like "$1" "$status $out$err" "2 ljperf: $LJPERF_CONFIG:$3: $4"
	like "$1: help is there" "$("$LJPERF" report -h 2>&1)" "Usage: *"
	is "$1: completion is there" "$("$LJPERF" --list-opts report)" "$(by_option --list-opts report)"
}
is_wrong "an unknown option" '[report]\nsrot = func\n' 2 "unknown option '--srot', did you mean '--sort'?"
is_wrong "a shortened option" '[report]\nsor = func\n' 2 "unknown option '--sor', *"
is_wrong "an unknown command" '[report]\nsort = func\n[reprot]\nsort = func\n' 4 \
	"no command 'reprot' has settings, did you mean 'report'?"
is_wrong "help has no settings" '[help]\nsort = func\n' 2 "no command 'help' has settings*"
is_wrong "no value" '[report]\n\nsort\n' 3 "neither '?command?' nor 'option = value'"
is_wrong "no bracket" '[report\n' 1 "neither '?command?' nor 'option = value'"
is_wrong "no command" 'sort = func\n' 1 "a setting before the first ?command?"
is_wrong "a number that is none" '[report]\npercent-limit = few\n' 2 "option '--percent-limit' needs a number, not 'few'"
is_wrong "a flag that is none" '[report]\nheader = maybe\n' 2 "'header' is true or false, not 'maybe'"
is_wrong "force" '[report]\nforce = true\n' 2 "'force' cannot be set in a file"
is_wrong "input" '[report]\ninput = x\n' 2 "'input' cannot be set in a file"
is_wrong "a byte 0" '[report]\nsort = f\0000unc\n' 2 "the line has a byte 0"
is_wrong "help" '[report]\nhelp = true\n' 2 "'help' cannot be set in a file"
is_wrong "control" '[record]\ncontrol = fifo:x\n[report]\ncontrol = x\n' 4 "unknown option '--control', *"
is_wrong "a setting behind the bracket" '[report] sort = func\n' 1 "only a comment may follow a ?command?"
is_wrong "more behind the bracket" '[report]]\n' 1 "only a comment may follow a ?command?"
is_wrong "escapes" '[report]\n\033[31m = func\n' 2 "unknown option *x1b?31m*"
# inih takes lines of 199 bytes; ljperf says 190, and more is not cut but told.
is_wrong "a long line" "[report]\nsort = $(printf '%0190d' 0)\n" 2 "the line is too long"

export LJPERF_CONFIG="$TMPDIR/none"
run "$LJPERF" report
like "a file that is not there" "$status $err" "2 ljperf: cannot read settings from '$TMPDIR/none': No such file*"
export LJPERF_CONFIG="$TMPDIR"
run "$LJPERF" report
like "a folder" "$status $err" "2 ljperf: cannot read settings from '$TMPDIR': Is a directory"
export LJPERF_CONFIG="$TMPDIR/config"
setting '[report]\nsort = func\n'
chmod 666 config
run "$LJPERF" report
like "one that others may write" "$status $err" "2 ljperf: cannot read settings from *: others may write to it"
chmod 664 config
run "$LJPERF" report
like "one that the group may write" "$status $err" "2 ljperf: cannot read settings from *: others may write to it"
rm config
mkfifo config
run timeout 20 "$LJPERF" report
like "a FIFO" "$status $err" "2 ljperf: cannot read settings from *: it is no regular file"
run env LJPERF_CONFIG=/dev/zero "$LJPERF" report
like "a device" "$status $err" "2 ljperf: cannot read settings from *: it is no regular file"
rm config
head -c 1048577 /dev/zero | tr '\0' '\n' >config
run "$LJPERF" report
like "a huge one" "$status $err" "2 ljperf: cannot read settings from *: it is too large for one"

unset LJPERF_CONFIG
export HOME="$TMPDIR/home"
mkdir home
is "without a file" "$("$LJPERF" report)" "$(by_option report)"
printf '[report]\nsort = func\n' >home/.ljperfconfig
is "the user's file" "$("$LJPERF" report)" "$(by_option report --sort func)"
is "an empty name is none" "$(LJPERF_CONFIG= "$LJPERF" report)" "$(by_option report --sort func)"
chmod 666 home/.ljperfconfig
run "$LJPERF" report
is "one that others may write to is left out" "$out" "$(by_option report)"
like "and that is said" "$err" "ljperf: warning: cannot read settings from '$HOME/.ljperfconfig': others may write to it"
chmod 644 home/.ljperfconfig
if [ "$(id -u)" -eq 0 ]; then
	chown 65534 home/.ljperfconfig
	run "$LJPERF" report
	is "another user's is left out" "$out" "$(by_option report)"
	like "another user's: that is said" "$err" "ljperf: warning: *belongs to another user"
	chown 0 home/.ljperfconfig
else
	skip "another user's file" "because only root can make one"
fi
HOME= run "$LJPERF" report
is "without a home" "$out$err" "$(by_option report)"

finish
