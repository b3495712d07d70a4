# export_tools.sh - the tools that exports are for open them, and show what the
# program did: "a" makes 1000 tables and "b" 3000, both in "leaf".
. "$(dirname "$0")/lib.sh"

model=$LJPERF_SOURCE/tests/model
export PYTHONDONTWRITEBYTECODE=1

# program N: b makes N tables.
program()
{
	cat <<END
local function leaf()
	return {}
end
local function a()
	for i = 1, 1000 do leaf() end
end
local function b()
	for i = 1, $1 do leaf() end
end
a()
b()
END
}

# The size of an empty table, as the VM itself counts.
if have luajit; then
	size=$(luajit -joff -e 'collectgarbage() collectgarbage("stop") local c = collectgarbage
		local before = c("count") local t = {} print((c("count") - before) * 1024)')
else
	skip "exports in other tools" "because there is no luajit to tell the size of a table"
	finish
fi
program 3000 >t.lua
"$LJPERF" record -q -g --jit off -o t.zst t.lua >out 2>&1 || not_ok "record" "$(cat out)"
mkdir more
program 5000 >more/t.lua
(cd more && "$LJPERF" record -q -g --jit off -o ../more.zst t.lua) >out 2>&1 ||
	not_ok "record" "$(cat out)"

# ---- pprof ----

# pprof ARG...: go tool pprof, which wants a home and no network.
pprof()
{
	HOME=$TMPDIR PPROF_TMPDIR=$TMPDIR GOFLAGS=-mod=mod go tool pprof "$@" 2>err
}

# column N NAME: of the line of a function in the output of pprof -top.
column()
{
	awk -v n="$1" -v name="$2" '$6 == name { print $n }' top
}

"$LJPERF" export --format pprof -o t.pb.gz t.zst
"$LJPERF" export --format pprof -o more.pb.gz more.zst
if have go && go tool pprof -h 2>&1 | grep -q -- -diff_base; then
	pprof -top -nodefraction=0 -sample_index=alloc_objects t.pb.gz >top
	is "pprof: tables of leaf" "$(column 1 leaf)" 4000
	is "pprof: tables below a" "$(column 4 a)" 1000
	is "pprof: tables below b" "$(column 4 b)" 3000
	pprof -top -nodefraction=0 -unit=B t.pb.gz >top
	like "pprof: allocated bytes come first" "$(cat top)" "*Type: alloc_space*"
	is "pprof: bytes of leaf" "$(column 1 leaf)" $((4000 * size))B
	pprof -top -nodefraction=0 -sample_index=alloc_objects -diff_base t.pb.gz more.pb.gz >top
	is "pprof: 2000 tables more in leaf" "$(column 1 leaf)" 2000
	is "pprof: 2000 tables more below b" "$(column 4 b)" 2000
	is "pprof: none below a" "$(column 4 a)" ""
	pprof -top -nodefraction=0 -lines -sample_index=alloc_objects t.pb.gz >top
	like "pprof: the line" "$(cat top)" "* 4000 *leaf t.lua:2*"
	pprof -list leaf -sample_index=alloc_objects t.pb.gz >top
	like "pprof: the source" "$(cat top)" "*4000 *2:*return {}*"
	pprof -raw t.pb.gz >top
	like "pprof: build ids of modules" "$(cat top)" "*Mappings*/*ljperf-luajit [0-9a-f][0-9a-f]*"
else
	skip "pprof" "because there is no go tool pprof"
fi

# ---- callgrind ----

"$LJPERF" export --format callgrind --metric count -o count.out t.zst
"$LJPERF" export --format callgrind -o t.out t.zst
# line NAME PATTERN: a line of the output fits the pattern of grep.
line()
{
	if echo "$out" | grep -Eq -- "$2"; then
		ok "$1"
	else
		not_ok "$1" "no line '$2' in: $out"
	fi
}

# 256000 as 256,000
commas()
{
	echo "$1" | sed -E ':a; s/^([0-9]+)([0-9]{3})/\1,\2/; ta'
}

if have callgrind_annotate; then
	run callgrind_annotate --threshold=100 count.out
	is "callgrind_annotate has no complaint" "$status $err" "0 "
	line "callgrind: tables of leaf" "^ *4,000 \(.*\)  t\.lua:leaf$"
	run callgrind_annotate --threshold=100 --inclusive=yes --tree=calling count.out
	is "callgrind_annotate has a tree" "$status" 0
	line "callgrind: tables below a" "^ *1,000 \(.*\)  \*  t\.lua:a$"
	line "callgrind: tables below b" "^ *3,000 \(.*\)  \*  t\.lua:b$"
	line "callgrind: b calls leaf" "^ *3,000 \(.*\)  >   t\.lua:leaf \(3,000x\)"
	run callgrind_annotate --threshold=100 t.out
	line "callgrind: bytes beside the source" \
		"^ *$(commas $((4000 * size))) \(.*\) +4,000 \(.*return \{\}$"
else
	skip "callgrind" "because there is no callgrind_annotate"
fi

# ---- the plain stream, in a model of luajit-parse-memprof ----

"$LJPERF" export --format ljm -o t.ljm t.zst
like "ljm begins as a stream does" "$(od -An -c -N 4 t.ljm)" *l*j*s*003*
zstd -dcq t.zst >plain.ljm
python3 "$model/tarantool_model.py" t.ljm >theirs 2>err
like "ljm: tables of leaf" "$(cat theirs)" "*@t.lua:2: 4000 events	+$((4000 * size))B*"
# The runner calls the program; only its file knows the name.
like "ljm: C functions have names" "$(cat theirs)" "*protected_main:0x*"
case $(python3 "$model/tarantool_model.py" plain.ljm 2>err) in
*protected_main*) not_ok "the stream itself has no such name" "it has" ;;
*) ok "the stream itself has no such name" ;;
esac

# ---- the Firefox Profiler: marks are markers ----

"$LJPERF" export --format firefox -o t.json t.zst
is "firefox: marks" "$(python3 -c 'import json
p = json.load(open("t.json"))
m = p["threads"][0]["markers"]
print(*[p["shared"]["stringArray"][i] for i in m["name"]], sep=", ")')" \
	"script end, full collection, close"

# ---- files and streams ----

run "$LJPERF" export --format pprof -o nofolder/x t.zst
is "no folder" "$status $err" "2 ljperf: cannot open 'nofolder/x': No such file or directory"
"$LJPERF" export --format folded t.zst | head -1 >first
like "a reader that goes away" "$(cat first)" "*?[0-9]"
cp t.zst ljperf.ljm.zst
run "$LJPERF" export --format folded
is "the default file" "$out" "$("$LJPERF" export --format folded t.zst)"
run "$LJPERF" export --format folded -i - -q
is "no standard input" "$status" 2
"$LJPERF" export --format folded -i - <t.zst >piped
is "standard input" "$(cat piped)" "$out$("$LJPERF" export --format folded t.zst)"
head -c 3000 t.zst >cut.zst
run "$LJPERF" export --format folded cut.zst
like "a cut recording has a warning" "$status $err" "2 ljperf: warning: 'cut.zst': truncated at offset 3000: *"
# What is no text is nothing for a terminal.
python3 -c 'import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \
	"$LJPERF" export --format pprof t.zst >tty 2>&1
like "a terminal" "$? $(cat tty)" "2 ljperf: pprof is nothing for a terminal (use -o FILE)*"
# Twice the same file is twice the numbers.
is "several files are added up" "$("$LJPERF" export --format folded --metric count t.zst t.zst |
	sed -n 's/.*a@t.lua:5;leaf@t.lua:2 //p')" 2000
is "a part of the time" "$("$LJPERF" export --format csv --time 0%-100% -F count,symbol t.zst |
	grep -c leaf)" 1

finish
