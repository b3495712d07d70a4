# export_diff.sh - two recordings as one export: against the exports of each, and
# against what pprof makes of these.
. "$(dirname "$0")/lib.sh"

model=$LJPERF_SOURCE/tests/model
export PYTHONDONTWRITEBYTECODE=1

# With --jit off, so that all frames are called alike in each export.
for seed in 21 22; do
	python3 "$model/gen_program.py" $seed >p.lua
	"$LJPERF" record -q -g --jit off -o old$seed.zst p.lua
	sed 's/^for n = 1, [0-9]* do/for n = 1, 15 do/' p.lua >q.lua && mv q.lua p.lua
	"$LJPERF" record -q -g --jit off -o new$seed.zst p.lua
done

# ---- folded ----

# both OLD NEW: the lines of two exports put together: STACK OLD NEW.
both()
{
	awk 'FNR == NR { old[$1] = $2; next } { new[$1] = $2 }
		END { for (s in new) print s, old[s] + 0, new[s]
			for (s in old) if (!(s in new)) print s, old[s], 0 }' "$1" "$2" | sort
}

for seed in 21 22; do
	for by in line func; do
		for side in old new; do
			"$LJPERF" export --format folded --by $by $side$seed.zst >$side
		done
		both old new >want
		"$LJPERF" export --diff --format folded --by $by old$seed.zst new$seed.zst |
			sort >got
		# By function, lines are not told where the name is enough.
		[ $by = line ] || { sed 's/@[^; ]*//g' want | sort >w && mv w want; }
		[ $by = line ] || { sed 's/@[^; ]*//g' got | sort >g && mv g got; }
		holds "folded by $by, seed $seed" cmp want got
		holds "something differs, seed $seed" grep -Evq ' ([0-9]+) \1$' got
	done
done

mv old21.zst ljperf.ljm.zst.old
mv new21.zst ljperf.ljm.zst
"$LJPERF" export --diff --format folded ljperf.ljm.zst.old ljperf.ljm.zst >want
"$LJPERF" export --diff --format folded >got
holds "the last two recordings" cmp want got
"$LJPERF" export --diff --format folded ljperf.ljm.zst >got
holds "one file and the recording before" cmp want got
is "a file with itself" "$("$LJPERF" export --diff --format folded new22.zst new22.zst |
	awk '$(NF - 1) != $NF')" ""
is "live blocks" "$("$LJPERF" export --diff --format folded --metric live new22.zst old22.zst |
	awk '{ s += $NF } END { print s }')" \
	"$("$LJPERF" export --format folded --metric live old22.zst | awk '{ s += $NF } END { print s }')"

# ---- pprof ----

pprof()
{
	HOME=$TMPDIR PPROF_TMPDIR=$TMPDIR GOFLAGS=-mod=mod go tool pprof "$@" 2>err
}

# The lines of an output behind its head; pprof has no order for equal amounts.
table()
{
	sed '1,/^Showing nodes/d' | sort
}

if have go && go tool pprof -h 2>&1 | grep -q -- -diff_base; then
	"$LJPERF" export --format pprof -o old.pb.gz old22.zst
	"$LJPERF" export --format pprof -o new.pb.gz new22.zst
	"$LJPERF" export --diff --format pprof -o both.pb.gz old22.zst new22.zst
	for amount in alloc_objects alloc_space inuse_objects inuse_space; do
		for how in -top "-top -cum -lines" -tree; do
			# shellcheck disable=SC2086
			pprof $how -nodefraction=0 -edgefraction=0 -unit=B -sample_index=$amount \
				-diff_base old.pb.gz new.pb.gz | table >want
			# shellcheck disable=SC2086
			pprof $how -nodefraction=0 -edgefraction=0 -unit=B -sample_index=$amount \
				both.pb.gz | table >got
			holds "pprof $how $amount is as with -diff_base" cmp want got
		done
	done
	holds "there is something to compare" test "$(wc -l <got)" -gt 20
	pprof -top -sample_index=alloc_space both.pb.gz >got
	like "pprof: what the total is" "$(cat got)" "*% of * total*"
else
	skip "pprof's own differences" "because there is no go tool pprof"
fi

# ---- what cannot be ----

for format in speedscope callgrind firefox csv json ljm; do
	run "$LJPERF" export --diff --format $format old22.zst new22.zst
	is "no differences in $format" "$status $err" \
		"2 ljperf: the format $format holds no differences (folded and pprof do)"
done
run "$LJPERF" export --diff --format folded old22.zst new22.zst new22.zst
is "three recordings" "$status $err" "2 ljperf: a difference is of two recordings, not of 3"
run "$LJPERF" export --diff --format folded - -
is "standard input twice" "$status $err" "2 ljperf: standard input can be read only once"
run "$LJPERF" export --diff --format folded nosuch.zst old22.zst
is "no such file" "$status $err" "2 ljperf: cannot open 'nosuch.zst': No such file or directory"

finish
