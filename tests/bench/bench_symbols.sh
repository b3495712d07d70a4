#!/bin/sh
# bench_symbols.sh - what names of C functions cost report: a session of
# EVENTS events (10 M) in MODULES modules (200), with and without --no-symbols.
# Run by "make bench".
set -eu

: "${LJPERF:?run this with make bench}" "${LJPERF_SOURCE:?}" "${CC:=gcc}"
events=${EVENTS:-10000000} modules=${MODULES:-200}
build=$(dirname "$LJPERF")
bench=$LJPERF_SOURCE/tests/bench
work=$(mktemp -d "${TMPDIR:-/tmp}/ljperf-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
export XDG_CACHE_HOME="$work/cache"
unset DEBUGINFOD_URLS

# shellcheck disable=SC2046
$CC -std=c11 -D_GNU_SOURCE -O2 -I"$LJPERF_SOURCE" -o gen "$bench/gen_modules.c" \
	"$build/libcommands.a" "$build/libbase.a" $(pkg-config --libs libzstd libdw libelf) -lm
$CC -g -O2 -fPIC -c -o cmod.o "$LJPERF_SOURCE/tests/hosts/cmod.c"
set --
for i in $(seq "$modules"); do
	$CC -shared -Wl,--build-id="0x$(printf %040x "$i")" -o "m$i.so" cmod.o
	set -- "$@" "$work/m$i.so"
done
nm m1.so | sed -n 's/^\([0-9a-f]*\) [tT] .*\(make\|hidden\|inlined\|fill\|pad\|nameless\|closure\).*/\1/p' |
	./gen "$events" "$@" >s.ljm

PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$bench python3 - "$events" "$modules" <<'P'
import shutil
import sys

from lib_bench import LJPERF, RUNS, Run, median, table

events, modules = int(sys.argv[1]), int(sys.argv[2])
print("names of C functions, %.1f M events in %d modules, medians of %d runs" % (
    events / 1e6, modules, RUNS))
SORT = ["--sort", "module,symbol"]  # the modules are alike: their names would be one row
ways = (
    ("--no-symbols", False, ["--no-symbols"]),
    ("20 rows, no cache yet", True, ["--limit", "20"]),
    ("20 rows", False, ["--limit", "20"]),
    ("all rows, no cache yet", True, []),
    ("all rows", False, []),
    ("all rows with lines (-v)", False, ["-v"]),
)
runs = [[] for _ in ways]
for _ in range(RUNS):
    for (_, cold, args), times in zip(ways, runs):
        if cold:
            shutil.rmtree("cache", ignore_errors=True)
        with open("out", "w") as out:
            times.append(Run([LJPERF, "report", *SORT, *args, "-i", "s.ljm"], out))
        with open("out") as out:
            named = out.read().count("cmod.c") if "-v" in args else -1
        if named == 0:
            sys.exit("no line of a module was found")
base = median([r.cpu for r in runs[0]])
table(["report", "CPU s", "ratio"],
      [[name, "%.2f" % median([r.cpu for r in times]),
        "%.2f" % (median([r.cpu for r in times]) / base)]
       for (name, _, _), times in zip(ways, runs)])
P
