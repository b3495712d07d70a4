# deps.sh - what deps.sh asks for: the packages that are missing, with apt,
# and their names elsewhere.  No package is installed: apt-get is a fake that
# writes down what it is asked for, and pkg-config one that knows nothing.
. "$(dirname "$0")/lib.sh"

mkdir bin
for tool in sh sed awk sort env dirname id cat tr; do
	ln -s "$(command -v $tool)" "bin/$tool"
done

run env -i PATH="$TMPDIR/bin" sh "$LJPERF_SOURCE/deps.sh"
is "without apt the status is 1" "$status" 1
for package in luajit zstd check libelf elfutils-dev "'pkgconfig(libdw)'"; do
	like "names $package" "$out" "*$package*"
done

printf '#!/bin/sh\necho "$*" >>"%s/asked"\n' "$TMPDIR" >bin/apt-get
printf '#!/bin/sh\nexit 1\n' >bin/pkg-config
printf '#!/bin/sh\nexec "$@"\n' >bin/sudo
chmod +x bin/apt-get bin/pkg-config bin/sudo
run env -i PATH="$TMPDIR/bin" sh "$LJPERF_SOURCE/deps.sh"
asked=$(cat asked 2>/dev/null)
for package in gcc make mandoc libluajit-5.1-dev libelf-dev libdw-dev libzstd-dev libarchive-dev libiberty-dev \
	libpcre2-dev libprotobuf-c-dev protobuf-c-compiler zlib1g-dev elfutils valgrind check; do
	like "asks apt for $package" " $asked " "*install -y --no-install-recommends* $package *"
done
like "asks apt for a program that tests record" " $asked " "*install* sysbench*"
is "fails when the libraries are still missing" "$status" 1

printf '#!/bin/sh\nexit 0\n' >bin/pkg-config
for tool in gcc make protoc-c luajit zstd python3 mandoc man eu-addr2line callgrind_annotate pgrep nvim \
	sysbench dnsjit lua5.1 lua5.4; do
	cp bin/pkg-config "bin/$tool"
done
rm -f asked
run env -i PATH="$TMPDIR/bin" sh "$LJPERF_SOURCE/deps.sh"
is "asks for nothing when nothing is missing" "$status $(test -e asked && cat asked)" "0 "

finish
