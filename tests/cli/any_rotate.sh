# any_rotate.sh - a recording of several VMs makes way for the next one as a
# whole, and files that are not its own are never touched.
. "$(dirname "$0")/lib_any.sh"
need luajit luajit

cat >kids.lua <<'L'
os.execute("luajit w.lua")
os.execute("luajit w.lua")
L
# names: the recordings, without the numbers of processes.
names()
{
	for name in *.zst *.old *.data* part*; do
		[ -e "$name" ] && echo "$name"
	done | sed 's/\.[0-9][0-9]*\./.PID./g; s/\.[0-9][0-9]*$/.PID/' | sort -u | tr '\n' ' '
}
three()
{
	run "$LJPERF" record -q "$@" kids.lua
	is "a parent and two children: status" "$status" 0
}

# ---- one recording has one id, and another recording another ----
three
first=$(echo ljperf.[0-9]*.zst)
is "two files of children" "$(echo "$first" | wc -w)" 2
id=$("$LJPERF" info ljperf.ljm.zst | sed -n 's/^recording : //p')
like "the recording has an id" "$id" "????????????????????????????????"
is "its files share it" "$("$LJPERF" info ljperf*.zst | grep -c "^recording : $id\$")" 3

# ---- what else is told of several VMs ----
run "$LJPERF" record -o p.zst -- sh -c 'echo $$ >sh.pid; luajit w.lua; luajit w.lua; true'
is "the parent is who has started the process" "$("$LJPERF" info p*.zst |
	grep -c "^process : [0-9]*, parent $(cat sh.pid), thread ")" 2
is "how to report all of them is said" "$(echo "$err" | tail -n 1)" \
	"[ ljperf record: One file for each of 2 VMs: 'ljperf report p*.zst' ]"
is "and true" "$("$LJPERF" report -q -t, -F allocs,symbol p*.zst | sed -n 's/,w.lua:4$//p')" 2000
run "$LJPERF" record -qv -o p.zst -- sh -c 'luajit w.lua; luajit w.lua'
is "-v tells of each VM" "$(echo "$err" | sed 's/process [0-9]*/process PID/; s/\.[0-9]*\.zst/.PID.zst/; s/: LuaJIT .*, .*/: VERSION, FILE/' | sort)" \
	"ljperf: VM 1 of process PID (luajit) goes to 'p.PID.zst': VERSION, FILE
ljperf: VM 1 of process PID (luajit) goes to 'p.zst': VERSION, FILE"
run "$LJPERF" record -o p.zst w.lua
is "not of one" "$(echo "$err" | grep -c 'ljperf report')" 0
rm p.*

# ---- files of the user that look like some of the recording ----
# No process has such a number: they end at 4194304 (proc(5), pid_max).
cp ljperf.ljm.zst ljperf.5000001.ljm.zst # a copy of the first
cp ljperf.ljm.zst ljperf.5000002.ljm.zst.old
echo "not a recording" >ljperf.5000003.ljm.zst
: >ljperf.5000004.ljm.zst
ln -s ljperf.5000003.ljm.zst ljperf.5000005.ljm.zst
mkdir ljperf.5000006.ljm.zst
mkfifo ljperf.5000007.ljm.zst
"$LJPERF" record -q -o ljperf.5000008.ljm.zst w.lua # another recording
for file in $first; do
	cp "$file" "copy-$file"
	cp "$file" "$file.copy"
done
ls -lid --time-style=full-iso ljperf.5000* ./*copy* >before

three
is "the children of the recording before are .old" "$(ls $(printf '%s.old ' $first))" \
	"$(printf '%s.old\n' $first)"
is "no other is" "$(ls ljperf.[0-9]*.old | grep -v 5000 | wc -l)" 2
second=$(echo ljperf.[0-9]*.zst | tr ' ' '\n' | grep -v 5000 | tr '\n' ' ')
is "two new children" "$(echo "$second" | wc -w)" 2
is "a report of the last has what the last did" \
	"$("$LJPERF" report -q -t, -F allocs,symbol ljperf.ljm.zst $second | sed -n 's/,w.lua:4$//p')" 2000
is "the recording before is whole, too" \
	"$("$LJPERF" report -q -t, -F allocs,symbol ljperf.ljm.zst.old $(printf '%s.old ' $first) |
		sed -n 's/,w.lua:4$//p')" 2000

three
is "of the last but one nothing is left" "$(ls $(printf '%s.old ' $first) 2>/dev/null)" ""
is "the children of the last but one are .old" "$(ls $(printf '%s.old ' $second))" \
	"$(printf '%s.old\n' $second)"
run "$LJPERF" record -q w.lua
run "$LJPERF" record -q w.lua
is "then there are no more children" "$(ls -d ljperf.[0-9]* | grep -vc '5000\|copy')" 0
ls -lid --time-style=full-iso ljperf.5000* ./*copy* >after
is "files of the user are as they were" "$(cat after)" "$(cat before)"
is "the id is of one recording" "$("$LJPERF" info ljperf.ljm.zst ljperf.ljm.zst.old |
	grep '^recording' | sort -u | wc -l)" 2

# A recording that the user has taken away leaves its children alone.
rm -rf ljperf.5000*
fresh
three
mv ljperf.ljm.zst kept.ljm.zst
run "$LJPERF" record -q w.lua
run "$LJPERF" record -q w.lua
is "children of a file that was renamed stay" "$(ls ljperf.[0-9]*.zst | wc -l)" 2
fresh
# So does one that says nothing of itself, of an older ljperf or of another tool.
three
zstd -dqc ljperf.ljm.zst | zstd -q >plain.zst
mv plain.zst ljperf.ljm.zst
run "$LJPERF" record -q w.lua
is "children of a stream without a header stay" "$(ls ljperf.[0-9]*.zst | wc -l)" 2

# ---- names ----
rm -f ./*.zst ./*.old ./*copy*
mkdir dir.d
three -o rec.zst
is "-o rec.zst" "$(names)" "rec.PID.zst rec.zst "
three -o rec.zst
is "-o rec.zst again" "$(names)" "rec.PID.zst rec.PID.zst.old rec.zst rec.zst.old "
rm -f rec*
three -o rec.ljm.zst
is "-o rec.ljm.zst" "$(names)" "rec.PID.ljm.zst rec.ljm.zst "
rm -f rec*
three -o rec.data
is "-o rec.data" "$(names)" "rec.PID.data rec.data "
rm -f rec*
three -o part1.2
is "-o part1.2: a number is no extension" "$(ls part* | sed 's/[0-9]*$/N/' | sort | uniq -c | tr -s ' \n' ' ')" \
	" 2 part1.2.N 1 part1.N "
rm -f part*
three -o dir.d/part
is "-o dir.d/part: nor is what a folder has" "$(ls dir.d | sed 's/[0-9][0-9]*/PID/' | sort -u | tr '\n' ' ')" \
	"part part.PID "
three -o dir.d/part
is "in another folder" "$(ls dir.d | sed 's/[0-9][0-9]*/PID/' | sort | uniq -c | tr -s ' \n' ' ')" \
	" 1 part 2 part.PID 2 part.PID.old 1 part.old "
finish
