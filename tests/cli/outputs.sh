# outputs.sh - what -o names and is no regular file: a device and a FIFO are
# written to and stay what they are, and a symbolic link stays too, whether a
# command succeeds or fails.
. "$(dirname "$0")/lib.sh"

echo 'local t = {} for i = 1, 100 do t[i] = { i } end' >t.lua
echo 'local x = = 1' >syntax.lua
"$LJPERF" record -q -g -o good.zst t.lua || not_ok "record" "status $?"
zstd -dcq good.zst >good.ljm
head -c 100 good.ljm >cut.ljm
echo "not a recording" >bad

# each COMMAND: gives it a name, the status that is wanted, and the arguments of
# each way to write to "$to".  Those that fail do so before or after the output
# is opened.
each()
{
	"$1" "record" 0 record -q -o "$to" t.lua
	"$1" "record, a script that cannot be loaded" 1 record -q -o "$to" syntax.lua
	"$1" "record, a script that is not there" 1 record -q -o "$to" missing.lua
	"$1" "record, a program that is not there" 2 record -q -o "$to" -- ./missing
	"$1" "record, a program without a VM" 2 record -q -o "$to" -- true
	"$1" "import" 0 import -q -o "$to" good.ljm
	"$1" "import, cut" 1 import -q -o "$to" cut.ljm
	"$1" "import, no recording" 2 import -q -o "$to" bad
	"$1" "import, not there" 2 import -q -o "$to" missing
	"$1" "archive" 0 archive -q -o "$to" good.zst
	"$1" "archive, no recording" 2 archive -q -o "$to" bad
	"$1" "archive, not there" 2 archive -q -o "$to" missing
	for format in folded ljm pprof; do
		"$1" "export $format" 0 export --format $format -o "$to" good.zst
		"$1" "export $format, no recording" 2 export --format $format -o "$to" bad
		"$1" "export $format, not there" 2 export --format $format -o "$to" missing
	done
}

# What the file itself is, not what it points to.
identity()
{
	stat -c '%F %i %t:%T %a' "$to"
}

# ---- a device ----

to=device
stays()
{
	what=$1 wanted=$2
	shift 2
	run "$LJPERF" "$@"
	is "$what: status with a device" "$status" "$wanted"
	is "$what: the device stays" "$(identity 2>&1)" "$before"
	[ -c device ] || make_device
}

# As /dev/null.
make_device()
{
	rm -f device
	mknod -m 666 device c 1 3 2>/dev/null && (: >device) 2>/dev/null
}

if [ "$(id -u)" -ne 0 ]; then
	skip "devices" "because only root can make one"
elif ! make_device; then
	skip "devices" "because one cannot be made, or not be used, in $TMPDIR"
else
	before=$(identity)
	each stays
	is "nothing is made beside the device" "$(ls | grep device)" device
fi

# ---- a FIFO ----

to=fifo
mkfifo fifo
before=$(identity)

# What was written is left in "got".  Opening for both waits for no one; cat
# reads until this end is closed too, whether the command wrote or not.
through()
{
	what=$1 wanted=$2
	shift 2
	exec 3<>fifo 4<fifo
	cat <&4 >got 3>&- 4<&- &
	run "$LJPERF" "$@" 3>&- 4<&-
	exec 3>&- 4<&-
	wait $!
	is "$what: status with a FIFO" "$status" "$wanted"
	is "$what: the FIFO stays" "$(identity 2>&1)" "$before"
	[ "$wanted" -ne 0 ] || arrived "$@"
	[ -p fifo ] || mkfifo fifo
}

# The whole came through.
arrived()
{
	case $1 in
	record) like "$what: through a FIFO" "$("$LJPERF" info got)" "*complete : yes*" ;;
	import) is "$what: through a FIFO" "$("$LJPERF" export --format csv got 2>/dev/null)" \
		"$("$LJPERF" export --format csv "$5" 2>/dev/null)" ;;
	archive) like "$what: through a FIFO" "$(zstd -dcq got | tar tf -)" "good.zst*" ;;
	export) "$LJPERF" export --format "$3" good.zst >direct
		holds "$what: through a FIFO" cmp direct got ;;
	esac
}
each through
is "nothing is made beside the FIFO" "$(ls | grep fifo)" fifo

# ---- a symbolic link ----

to=link
echo precious >target
ln -s target link
before=$(identity)

# Only export follows a link, as the shell's ">" does.
linked()
{
	what=$1 wanted=$2
	shift 2
	echo precious >target
	run "$LJPERF" "$@"
	is "$what: the link stays" "$(identity 2>&1)" "$before"
	case $1$wanted in
	export0) "$LJPERF" export --format "$3" good.zst >direct
		holds "$what: through a link" cmp direct target ;;
	export*) is "$what: status with a link" "$status" "$wanted" ;;
	*) is "$what: what a link points to is not touched" "$status $(cat target)" "2 precious" ;;
	esac
	[ -h link ] || ln -sf target link
}
each linked
is "nothing is made beside the link" "$(ls | grep link)" link

finish
