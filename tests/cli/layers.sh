# layers.sh - make layer-check finds what it is there to find.
. "$(dirname "$0")/lib.sh"

# A copy of the sources, in which one thing at a time is made wrong.
mkdir copy
(cd "$LJPERF_SOURCE" && find ljperf.c ljperf.h record backends formats report vendor util \
	tests -name '*.[chs]*' | tar cf - -T -) | tar xf - -C copy

check_copy()
{
	run sh copy/tests/layer-check.sh
}

# wrong NAME FILE TEXT COMPLAINT
wrong()
{
	printf '/* x.c - planted by a test. */\n%s\n' "$3" >"copy/$2"
	check_copy
	rm -f "copy/$2"
	like "$1" "$status $out" "1 *$4*"
}

check_copy
is "the sources as they are" "$status" 0
wrong "formats does not include report" formats/x.c '#include "report/symtab.h"' \
	"formats/x.c: may not include report/symtab.h"
wrong "report does not include record" report/x.c '#include "record/ring.h"' \
	"report/x.c: may not include record/ring.h"
wrong "report does not see the VM" report/x.c '#include <lua.h>' "report/x.c:2:*only beside the VM"
wrong "strcpy is banned" util/x.c 'void f(char *a) { strcpy(a, "x"); }' "util/x.c:2:*banned function"
wrong "sprintf is banned" record/x.c 'void f(char *a) { sprintf (a, "x"); }' \
	"record/x.c:2:*banned function"
wrong "raw reads of memory" record/x.c 'long f(void) { return process_vm_readv(0); }' \
	"record/x.c:2:*only vendor/luajit reads memory raw"
wrong "a header that needs another" util/x.h 'size_t f(struct y z);' \
	"util/x.h: does not compile alone"
wrong "a promise" util/x.c "/* $(printf 'TO%s' DO) */" "util/x.c:2:*do it or leave it"
printf '/* x.c - fine: strcpy() in a comment. */\nconst char *const s = "gets(";\n' >copy/util/x.c
check_copy
is "comments and strings are no calls" "$status" 0

finish
