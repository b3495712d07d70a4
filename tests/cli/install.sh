# install.sh - make install puts a ljperf somewhere that works from there, and
# uninstall takes all of it away.
. "$(dirname "$0")/lib.sh"

# The settings of the build (SAN, CFLAGS, prefix) are in the environment.
build=$(dirname "$LJPERF")
make_it()
{
	make -C "$LJPERF_SOURCE" O="$build" DESTDIR="$TMPDIR/root" "$@"
}

run make_it install
is "make install" "$status" 0
is "nothing is compiled for it" "$(echo "$out" | grep '^  CC')" ""
prefix=$(dirname "$(dirname "$(find "$TMPDIR/root" -path '*/bin/ljperf')")")
# Packagers count on this list: a file that comes or goes is entered there, too.
(cd "$prefix" && find . ! -type d -printf '%m %P\n') | sort -k 2 >installed
is "what is not as tests/data/installed.txt says" \
	"$(diff "$LJPERF_SOURCE/tests/data/installed.txt" installed | grep '^[<>]')" ""
is "nothing lies outside of the prefix" "$(find "$TMPDIR/root" ! -type d ! -path "$prefix/*")" ""
run "$prefix/bin/ljperf" version
like "the installed program runs" "$status $out" "0 ljperf *"
libexec=$("$prefix/bin/ljperf" version --build-options | sed -n 's/^libexec: *//p')
holds "the VM is where the installed program looks for it" \
	test -x "$TMPDIR/root$libexec/ljperf-luajit"
if have luajit; then
	run luajit -e "package.cpath = '$prefix/lib/lua/5.1/?.so' print(require('ljperf').running())"
	is "the installed module loads" "$out$err" false
fi
run "$prefix/bin/ljperf" --cpath
like "--cpath of the installed program" "$out" "*/lib/lua/5.1/?.so"
if have man; then
	run "$prefix/bin/ljperf" help record
	like "the installed page is found" "$out" "*LJPERF-RECORD(1)*"
fi
holds "make uninstall" make_it uninstall
is "nothing is left" "$(find "$TMPDIR/root" ! -type d -o -name '*ljperf*')" ""

# Another prefix is known to four files, and to the manual pages.
cp -a "$build" "$TMPDIR/build"
make_other()
{
	make -C "$LJPERF_SOURCE" O="$TMPDIR/build" DESTDIR="$TMPDIR/root" prefix=/opt/other "$@"
}
run make_other install
is "make install prefix=/opt/other" "$status" 0
is "what is compiled for it" "$(echo "$out" | sed -n 's/^  CC	//p' | sort | tr '\n' ' ')" \
	"backends/lua/module.o ljperf.o record/launch.o util/manpage.o util/settings.o "
other=$TMPDIR/root/opt/other
is "it knows where it is" "$("$other/bin/ljperf" --cpath)" "/opt/other/lib/lua/5.1/?.so"
is "and its VM" "$("$other/bin/ljperf" version --build-options | sed -n 's/^libexec: *//p')" \
	/opt/other/libexec/ljperf
holds "so does its manual" grep -q '/opt/other/libexec/ljperf/ljperf-luajit' "$other/share/man/man1/ljperf.1"
run make_other install
is "once more nothing is made" "$(echo "$out" | grep -c '^  [A-Z]*	')" 0

finish
