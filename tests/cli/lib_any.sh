# lib_any.sh - for any_*.sh: programs that bring a LuaJIT of their own, alone
# and under ljperf record.
. "$(dirname "$0")/lib.sh"

# need COMMAND PACKAGE: ends the test when there is no such program.
need()
{
	have "$1" && return
	skip "$1" "because it is not installed (Debian package $2)"
	finish
}

# fresh: no recording is left of the step before.
fresh()
{
	rm -f ljperf*.zst ljperf*.old
}

# files: how many recordings there are.
files()
{
	set -- ljperf*.zst
	[ -e "$1" ] || set --
	echo $#
}

# allocs FILE PLACE: how many allocations (not reallocations) there were on a
# line, such as w.lua:4; others on other lines do not count.
allocs()
{
	"$LJPERF" script -q --no-symbols -i "$1" | grep -c "^.* alloc .*[ /]$2  "
}

# whole NAME FILE...: each is closed, and its totals agree with its events.
whole()
{
	what=$1
	shift
	for file in "$@"; do
		"$LJPERF" info -i "$file" >.info 2>&1
		if ! grep -q '^complete : yes' .info || ! grep -q '^footer totals : agree' .info; then
			not_ok "$what: $file is whole" "$(cat .info)"
			return
		fi
	done
	ok "$what: $# files are whole"
}

# Addresses differ from process to process.
same_text()
{
	sed 's/0x[0-9a-f][0-9a-f]*/0x/g' "$1" >.plain1
	sed 's/0x[0-9a-f][0-9a-f]*/0x/g' "$2" >.plain2
	cmp -s .plain1 .plain2
}

# same_as_alone NAME COMMAND...: the program prints and ends as it does alone,
# and ljperf adds nothing to its stderr but its end lines.
same_as_alone()
{
	what=$1
	shift
	[ -f in ] || : >in
	"$@" <in >alone.out 2>alone.err
	alone=$?
	fresh
	# shellcheck disable=SC2086
	"$LJPERF" record ${record_options:-} -- "$@" <in >rec.out 2>rec.both
	status=$?
	grep -v '^\[ ljperf record: ' rec.both >rec.err
	if [ "$alone" != "$status" ]; then
		not_ok "$what" "status $status, alone $alone: $(head -c 500 rec.both)"
	elif ! same_text alone.out rec.out; then
		not_ok "$what" "stdout differs: $(diff alone.out rec.out | head -5)"
	elif ! same_text alone.err rec.err; then
		not_ok "$what" "stderr differs: $(diff alone.err rec.err | head -5)"
	else
		ok "$what"
	fi
}

# 1000 tables, each one allocation, on line 4: the compiler is off, so the place
# is the line and not a trace.
cat >w.lua <<'L'
jit.off()
local t
for i = 1, 1000 do
	t = { i }
end
L
