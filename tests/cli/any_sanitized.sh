# any_sanitized.sh - the C hosts with the agent in them, under valgrind and under
# AddressSanitizer: neither has anything to report.
. "$(dirname "$0")/lib_any.sh"

if ! pkg-config --exists luajit; then
	skip hosts "because there is no LuaJIT to build with"
	finish
fi
flags="-g -O1 $(pkg-config --cflags luajit)"
libs="$(pkg-config --libs luajit) -pthread"
modes="own threads close fork many dropped"
cc=${CC:-gcc}

# shellcheck disable=SC2086
$cc $flags -o host "$LJPERF_SOURCE/tests/hosts/host.c" $libs || exit 1
# shellcheck disable=SC2086
$cc $flags -std=c11 -D_GNU_SOURCE -o native "$LJPERF_SOURCE/tests/hosts/native.c" $libs || exit 1
cat >native.lua <<'L'
for _, f in ipairs { host.plain, host.loads, host.loads_protected, host.huge, host.elsewhere } do f() end
for i = 0, 150, 50 do host.deep(i) host.sized(i + 1) host.aligned(i + 1) end
host.through(function(n) host.deep(n) end)
print(pcall(host.in_protected_call))
L
stacks="--call-graph lua,native"
record_options=
if have valgrind && valgrind -q true 2>/dev/null; then
	record_options=$stacks
	same_as_alone "valgrind, native stacks" valgrind -q --vgdb=no --error-exitcode=9 ./native notes native.lua
	is "valgrind, native stacks: status" "$status" 0
	record_options=
	for mode in $modes; do
		same_as_alone "valgrind, $mode" valgrind -q --vgdb=no --error-exitcode=9 ./host $mode
		is "valgrind, $mode: status" "$status" 0
	done
else
	skip valgrind "because it is not installed"
fi

# A recorder of its own folder takes the agent that lies beside it.
mkdir bin
cp "$LJPERF" bin/ljperf
san='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer'
# shellcheck disable=SC2086
if ! $cc $flags $san -o asan "$LJPERF_SOURCE/tests/hosts/host.c" $libs 2>cc.log ||
	! $cc $flags $san -std=c11 -D_GNU_SOURCE -o native "$LJPERF_SOURCE/tests/hosts/native.c" $libs 2>cc.log; then
	skip sanitizers "because the compiler has none: $(head -1 cc.log)"
	finish
fi
# shellcheck disable=SC2086
if ! (cd "$LJPERF_SOURCE" && $cc $flags $san -std=c11 -D_GNU_SOURCE -I. -fPIC -fvisibility=hidden \
	-ftls-model=initial-exec -shared -Wl,-z,defs -Wl,-z,nodelete -o "$TMPDIR/bin/libljperf-agent.so" \
	backends/luajit/*.c backends/preload/*.c backends/memprof/*.c vendor/luajit/*.c) 2>cc.log; then
	not_ok "the agent compiles with sanitizers" "$(head -20 cc.log)"
	finish
fi
# The sanitizer must come first of all libraries: also a case for a user's
# own LD_PRELOAD.
libasan=$($cc -print-file-name=libasan.so)
LJPERF=$PWD/bin/ljperf
sanitized()
{
	what=$1
	shift
	LD_PRELOAD=$libasan
	ASAN_OPTIONS=detect_leaks=1:exitcode=9
	export LD_PRELOAD ASAN_OPTIONS
	run "$@"
	alone="$status $out $(echo "$err" | sed 's/^==[0-9]*==//')"
	fresh
	# shellcheck disable=SC2086
	run "$LJPERF" record -q $record_options -- "$@"
	unset LD_PRELOAD ASAN_OPTIONS
	is "sanitizers, $what" "$status $out $(echo "$err" | sed 's/^==[0-9]*==//')" "$alone"
	like "sanitizers, $what: recorded" "$(files)" "[1-9]*"
}
for mode in $modes; do
	sanitized $mode ./asan $mode
done
record_options=$stacks
sanitized "native stacks" ./native notes native.lua
finish
