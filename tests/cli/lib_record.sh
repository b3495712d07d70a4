# lib_record.sh - for record_*.sh: runs a script with the stock luajit command
# and under ljperf record, and compares what can be seen from outside.
. "$(dirname "$0")/lib.sh"

programs=$LJPERF_SOURCE/tests/programs

# Addresses differ from process to process.
plain()
{
	sed 's/0x[0-9a-f][0-9a-f]*/0x/g' "$1"
}

need_luajit()
{
	have luajit && return
	skip "$1" "because there is no luajit command to compare with"
	finish
}

# stock ARG...: luajit ARG with the input of the file "in", if there is one.
stock()
{
	[ -f in ] || : >in
	# shellcheck disable=SC2086
	luajit ${luajit_options:-} "$@" <in >stock.out 2>stock.err
	stock_status=$?
}

# recorded ARG...: the same under ljperf record, into r.zst.
recorded()
{
	[ -f in ] || : >in
	# shellcheck disable=SC2086
	"$LJPERF" record -q -o r.zst ${record_options:-} "$@" <in >rec.out 2>rec.err
	rec_status=$?
}

# same NAME ARG...: status, stdout and stderr are those of the stock command,
# and the file is whole and agrees with its own totals.
same()
{
	what=$1
	shift
	rm -f r.zst
	stock "$@"
	recorded "$@"
	plain stock.out >stock.1
	plain rec.out >rec.1
	plain stock.err >stock.2
	# ljperf's own line about a script that never ran is told apart in record_files.sh.
	plain rec.err | grep -vx 'ljperf: nothing was recorded: the script cannot be loaded' >rec.2
	if [ "$stock_status" != "$rec_status" ]; then
		not_ok "$what" "status $rec_status, with luajit $stock_status: $(head -c 500 rec.err)"
	elif ! cmp -s stock.1 rec.1; then
		not_ok "$what" "stdout differs: $(diff stock.1 rec.1 | head -5)"
	elif ! cmp -s stock.2 rec.2; then
		not_ok "$what" "stderr differs: $(diff stock.2 rec.2 | head -5)"
	elif grep -q '^ljperf: nothing was recorded: the script cannot be loaded' rec.err; then
		if [ -e r.zst ]; then not_ok "$what" "there is a recording all the same"; else ok "$what"; fi
	elif ! "$LJPERF" info r.zst >info 2>&1 || ! grep -q '^complete : yes' info ||
		! grep -q '^footer totals : agree' info || ! grep -q '^lost events : 0' info; then
		not_ok "$what" "the file is not whole: $(cat info)"
	else
		ok "$what"
	fi
}

# wanted NAME STATUS TEXT: what the stock command did is the case meant: it has
# the status and prints the text, if one is given.
wanted()
{
	if [ "$stock_status" -ne "$2" ]; then
		not_ok "$1" "luajit itself has status $stock_status, not $2"
	elif [ -n "$3" ] && ! grep -Fq -e "$3" stock.out stock.err; then
		not_ok "$1" "luajit itself does not print '$3'"
	fi
}
