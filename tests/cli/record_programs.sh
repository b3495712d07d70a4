# record_programs.sh - the programs of tests/programs behave under ljperf
# record as under luajit, with the JIT compiler and without.
. "$(dirname "$0")/lib_record.sh"
need_luajit "the programs of tests/programs"

for file in "$programs"/*.lua; do
	name=$(basename "$file")
	cp "$file" .
	luajit_options='' record_options=''
	same "$name" "$name"
	luajit_options=-joff record_options='--jit off'
	same "$name without JIT" "$name"
	rm -f "$name"
done
finish
