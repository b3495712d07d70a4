# deps.sh - what deps.sh asks for: the packages that are missing, with apt,
# and their names elsewhere.  No package is installed: apt-get is a fake that
# writes down what it is asked for, and pkg-config one that knows nothing.
. "$(dirname "$0")/lib.sh"

mkdir bin
for tool in sh sed awk sort env dirname id cat tr uname; do
	ln -s "$(command -v $tool)" "bin/$tool"
done

# deps ARGUMENT...
deps()
{
	rm -f asked
	run env -i PATH="$TMPDIR/bin" sh "$LJPERF_SOURCE/deps.sh" "$@"
	asked=$(cat asked 2>/dev/null)
}

deps
is "without apt the status is 1" "$status" 1
for package in luajit zstd check libelf elfutils-dev "'pkgconfig(libdw)'"; do
	like "names $package" "$out" "*$package*"
done

printf '#!/bin/sh\necho "$*" >>"%s/asked"\n' "$TMPDIR" >bin/apt-get
printf '#!/bin/sh\nexit 1\n' >bin/pkg-config
printf '#!/bin/sh\nexec "$@"\n' >bin/sudo
chmod +x bin/apt-get bin/pkg-config bin/sudo
deps
for package in gcc make mandoc libluajit-5.1-dev libelf-dev libdw-dev libzstd-dev libarchive-dev libiberty-dev \
	libpcre2-dev libprotobuf-c-dev protobuf-c-compiler zlib1g-dev libinih-dev liblzma-dev elfutils valgrind check; do
	like "asks apt for $package" " $asked " "*install -y --no-install-recommends* $package *"
done
like "asks apt for a program that tests record" " $asked " "*install* sysbench*"
is "fails when the libraries are still missing" "$status" 1
case $asked in
*clang* | *codespell* | *golang* | *zsh* | *dwz*) not_ok "asks for no tool of developers" "asked for $asked" ;;
*) ok "asks for no tool of developers" ;;
esac
deps --developer
for package in gcc clang clang-format codespell libclang-rt-dev; do
	like "asks apt for $package for a developer" " $asked " "*install -y --no-install-recommends* $package *"
done
for package in golang-go zsh dwz xz-utils; do
	like "asks apt for $package to compare with" "$asked" "*install -y --no-install-recommends $package*"
done
printf '#!/bin/sh\ncase "$*" in *golang-go*) exit 1 ;; esac\n' >bin/apt-get
deps --developer
like "one that cannot be had is no failure" "$out" "*deps.sh: without golang-go some tests are skipped*"
printf '#!/bin/sh\necho "$*" >>"%s/asked"\n' "$TMPDIR" >bin/apt-get
deps --devel
is "an unknown argument" "$status $asked" "2 "

printf '#!/bin/sh\nexit 0\n' >bin/pkg-config
for tool in gcc make protoc-c luajit zstd python3 mandoc man eu-addr2line callgrind_annotate pgrep nvim \
	sysbench dnsjit lua5.1 lua5.4; do
	cp bin/pkg-config "bin/$tool"
done
deps
is "asks for nothing when nothing is missing" "$status $asked" "0 "

finish
