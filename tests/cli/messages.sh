# messages.sh - what is said where a user may have meant something else, and
# files with strange names.
. "$(dirname "$0")/lib.sh"

# Line 4 makes 100 tables, line 8 50; leaf() of line 2 is called from a() and b().
cat >app.lua <<'L'
local ok, ljperf = pcall(require, "ljperf")
local function leaf() return {} end
local function a()
  for i = 1, 100 do local t = leaf() end return nil
end
local function b()
  for i = 1, 50 do
    local t = leaf() end return nil
end
a()
if ok then ljperf.mark("between") end
b()
L
LUA_CPATH="$("$LJPERF" --cpath);;" "$LJPERF" record -q -g --jit off app.lua
report()
{
	"$LJPERF" report -q -t '|' -F allocs,symbol "$@"
}

# ---- marks ----
run "$LJPERF" report --from between
is "a mark that is there" "$status $err" "0 "
for part in "--from no" "--from no --to between" "--from between --to no" "--to no"; do
	# shellcheck disable=SC2086
	run "$LJPERF" report $part
	like "$part: status and message" "$status $err" \
		"2 ljperf: 'ljperf.ljm.zst' has no mark 'no'*(report --timeline shows all)"
done
like "which it does" "$("$LJPERF" report --timeline)" "*a  at *: between*"

# ---- callers ----
is "--parent alone: what has such a caller" "$(report --parent '^a ' | grep leaf)" "100|leaf  app.lua:2"
is "--parent alone: nothing else" "$(report --parent '^a ' | wc -l)" 1
is "with the key, all" "$(report --parent '^a ' -F allocs,parent --sort parent | grep -c .)" 2
is "with the key and -x, what has one" "$(report --parent '^a ' -x -F allocs,parent --sort parent | cut -d '|' -f 2)" a
"$LJPERF" record -q -o flat.zst app.lua
run "$LJPERF" report --parent a flat.zst
like "without call stacks" "$status $err" "2 ljperf: no call stacks were recorded*"

for format in folded speedscope pprof callgrind firefox csv json ljm; do
	run "$LJPERF" export --format $format -o exported ljperf.ljm.zst
	is "export --format $format, with stacks" "$status $err" "0 "
	run "$LJPERF" export --format $format -o exported flat.zst
	want="0 ljperf: warning: no call stacks were recorded (ljperf record -g does it): each stack is one frame"
	case $format in csv | json | ljm) want="0 " ;; esac
	is "export --format $format, without" "$status $err" "$want"
	run "$LJPERF" export -q --format $format -o exported flat.zst
	is "export -q --format $format" "$status $err" "0 "
done

# ---- numbers in words ----
rows=$(report | wc -l)
is "one row is left out" "$("$LJPERF" report --limit $((rows - 1)) | tail -n 1)" "# 1 more row below the limit"
is "two rows are" "$("$LJPERF" report --limit $((rows - 2)) | tail -n 1)" "# 2 more rows below the limit"
is "no limit" "$("$LJPERF" report -q --limit 0 | wc -l)" "$rows"

# ---- a separator that the shell has not made ----
tab=$(printf '\t')
for command in "report -F allocs,symbol" "annotate" "diff -a ljperf.ljm.zst ljperf.ljm.zst"; do
	# shellcheck disable=SC2086
	is "-t '\\t' is a tab: $command" "$("$LJPERF" $command -q -t '\t')" "$("$LJPERF" $command -q -t "$tab")"
	# shellcheck disable=SC2086
	like "and there is one" "$("$LJPERF" $command -q -t '\t')" "*$tab*"
done

# ---- nothing to show ----
# A collector frees long after a block is dead, and nothing is resized at once here.
echo 'local keep = {} for i = 1, 10 do keep[i] = { i } end os.exit(0)' >keep.lua
"$LJPERF" record -q -o keep.zst --jit off keep.lua
is "no block is temporary" "$("$LJPERF" report --metric temporary --symbol /keep.lua/ -q keep.zst)" ""
like "the reason is named" "$("$LJPERF" report --metric temporary --time 1000, keep.zst)" \
	"*# no block was freed before 1 other was allocated (--temporary-threshold)"
like "with its number" "$("$LJPERF" report --metric temporary --temporary-threshold 3 --time 1000, keep.zst)" \
	"*# no block was freed before 3 others were allocated (--temporary-threshold)"

# ---- where a recording ends ----
like "a script ends" "$("$LJPERF" report)" "*live at exit *"
like "a part does" "$("$LJPERF" report --to between)" "*live at its end *"
like "a program that ends at once does not tell" "$("$LJPERF" report keep.zst)" "*live at the end *"

# ---- what was imported has no times ----
"$LJPERF" export --format ljm -o app.bin
"$LJPERF" import -q -o imported.zst app.bin
is "no duration and no time of the peak" "$("$LJPERF" report imported.zst | grep -c ' 0 s\| at [0-9.]* m*s')" 0
like "but the event" "$("$LJPERF" report imported.zst)" "* peak * at event *"
is "nor in info" "$("$LJPERF" info imported.zst | grep -c '^duration')" 0

# ---- recordings and sources ----
run "$LJPERF" annotate flat.zst
is "annotate takes sources" "$status $err" "2 ljperf: 'flat.zst' is no source (-i names the recording)"
run "$LJPERF" annotate appp.lua
is "one that is similar" "$status $err" "2 ljperf: nothing was recorded in 'appp.lua', did you mean 'app.lua'?"
mkdir empty
run sh -c 'cd empty && "$0" report' "$LJPERF"
is "no recording" "$status $err" "2 ljperf: cannot open 'ljperf.ljm.zst': No such file or directory (run 'ljperf record' first, or name a file with -i)"

# ---- programs that were meant to stand behind "--" ----
cp ljperf.ljm.zst kept
for program in env "$LJPERF" ./copy; do
	[ -e copy ] || cp "$LJPERF" copy
	run "$LJPERF" record "$program" app.lua
	is "record $(basename "$program") app.lua" "$status $err" \
		"2 ljperf: '$program' is a program and no script: put '--' before it"
done
holds "the last recording is still there" cmp ljperf.ljm.zst kept
echo 'print("a script")' >env
run "$LJPERF" record -q -o s.zst env
is "a script may be called like a program" "$status $out $err" "0 a script "
chmod +x env
run "$LJPERF" record -q -o s.zst ./env
is "and be one" "$status $out $err" "0 a script "

# ---- names of scripts ----
# strange NAME SHOWN: the script is recorded, reported and annotated under its name.
strange()
{
	echo 'local t = {} for i = 1, 100 do t[i] = { i } end' >"$1"
	run "$LJPERF" record -q --jit off -o s.zst -- "$1"
	is "record $2" "$status $err" "0 "
	like "report $2" "$(report -i s.zst)" "*|$2:1*"
	like "export $2" "$("$LJPERF" export --format csv -i s.zst)" "*$(printf '%s' "$2" | sed 's/"/""/g'):1*"
	like "annotate $2" "$("$LJPERF" annotate -q -i s.zst)" "*  1  local t = {} for i = 1, 100*"
	is "nothing steers a terminal" "$("$LJPERF" report -i s.zst | tr -d '\n[:print:]·' | wc -c)" 0
}
strange 'with spaces.lua' 'with spaces.lua'
strange "it's \$x;y.lua" "it's \$x;y.lua"
strange '"quoted".lua' '"quoted".lua'
strange '-jdash.lua' '-jdash.lua'
strange "$(printf 'two\nlines.lua')" 'two\\nlines.lua'
strange "$(printf 'esc\033[31m.lua')" 'esc\\x1b\[31m.lua'
mkdir 'a folder'
strange 'a folder/script.lua' 'a folder/script.lua'

finish
