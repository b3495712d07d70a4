# stacks_random.sh - call trees of random programs: each against a model, for
# each metric, and everything adds up, from trees to rows to events.
. "$(dirname "$0")/lib.sh"

model=$LJPERF_SOURCE/tests/model
export PYTHONDONTWRITEBYTECODE=1

# recorded SEED JIT: a random program is recorded with its call stacks.
recorded()
{
	python3 "$model/gen_program.py" "$1" >p.lua &&
		"$LJPERF" record -q --jit "$2" -g -o p.zst p.lua
}

for seed in 1 2 3 5; do
	for jit in off on; do
		name="seed $seed, JIT $jit"
		recorded $seed $jit || { not_ok "$name is recorded" "status $?"; continue; }
		holds "trees and numbers of $name" \
			python3 "$model/metrics_model.py" "$LJPERF" p.zst
	done
done

# The sum of the rows is that of the events and of the footer.
new_bytes()
{
	"$LJPERF" info -i p.zst | sed -n 's/^new bytes : .*(\([0-9]*\))$/\1/p'
}
run "$LJPERF" info -i p.zst
like "the footer agrees with the events" "$out" "*footer totals : agree with the events*"
is "rows add up to the footer" \
	"$("$LJPERF" report -q -t , -F allocated --sort source --with-close p.zst |
		awk -F, '{ s += $1 } END { print s }')" "$(new_bytes)"
is "trees add up to the footer" \
	"$("$LJPERF" report -q -t '	' -F allocated --sort source --with-close -g folded p.zst |
		grep -v '	' | awk '{ s += $1 } END { print s }')" "$(new_bytes)"
finish
