#!/bin/sh
# leaks.sh - prints the options of the sanitizers for this machine.  Memory that is
# lost is an error, unless it cannot be looked for here (the sanitizer traces its
# own process, which not every container allows); the status is one that ljperf
# does not have.  Called by "make check-sanitize".
set -eu

work=$(mktemp -d "${TMPDIR:-/tmp}/ljperf-leaks.XXXXXX")
trap 'rm -rf "$work"' EXIT
cat >"$work/leak.c" <<'C'
#include <stdlib.h>
int main(void)
{
	return malloc(10) == 0;
}
C
${CC:-gcc} -O0 -fsanitize=address -o "$work/leak" "$work/leak.c"
if ASAN_OPTIONS=detect_leaks=1 "$work/leak" 2>"$work/err"; then
	echo "leaks.sh: a leak was not found" >&2
	exit 1
fi
if grep -q 'detected memory leaks' "$work/err"; then
	echo detect_leaks=1:exitcode=99
else
	echo "leaks.sh: leaks cannot be looked for here: $(head -n 1 "$work/err")" >&2
	echo detect_leaks=0:exitcode=99
fi
