#!/bin/sh
# deps.sh - installs what building and testing ljperf needs and this machine
# lacks.  With apt it installs; elsewhere it prints the names of the packages.
# Run by hand, and by .ci/run with --developer: then also what the gates need
# that are not "make check".  The libraries stand in vendor/*.mk.
set -eu
cd "$(dirname "$0")"

usage()
{
	echo "Usage: ./deps.sh [--developer]"
	exit "$1"
}

developer=
case "$#${1:-}" in
0) ;;
1--developer) developer=yes ;;
1-h | 1--help) usage 0 ;;
*) usage 2 >&2 ;;
esac

# COMMAND DEBIAN ARCH ALPINE: the programs that the build and the tests run.
tools='
gcc gcc gcc gcc
make make make make
pkg-config pkg-config pkgconf pkgconf
protoc-c protobuf-c-compiler protobuf-c protobuf-c-compiler
luajit luajit luajit luajit
zstd zstd zstd zstd
python3 python3 python python3
mandoc mandoc mandoc mandoc
man man-db man-db mandoc
eu-addr2line elfutils elfutils elfutils
callgrind_annotate valgrind valgrind valgrind
pgrep procps procps-ng procps
'

# COMMAND DEBIAN: what --developer adds.
developer_tools='
clang clang
clang-format clang-format
codespell codespell
'

# COMMAND DEBIAN: programs that some tests record; without one they are skipped.
# Debian's nginx is unpacked by its test, because its LuaJIT cannot be installed
# beside the other one.
recorded='
nvim neovim
sysbench sysbench
dnsjit dnsjit
lua5.1 lua5.1
lua5.4 lua5.4
'

# The same for programs that tests only compare with, with --developer: they are
# large, or few have a use for them.
compared='
go golang-go
zsh zsh
dwz dwz
xz xz-utils
'

# field FILE SUFFIX: the value of the variable in a vendor/*.mk.
field()
{
	sed -n "s/^[A-Z0-9_]*_$2 = //p" "$1"
}

# A library without a pkg-config file is known by its header.
have_header()
{
	gcc -E -include "$1" -x c /dev/null >/dev/null 2>&1 ||
		gcc -E -include "${1##*/}" -x c /dev/null >/dev/null 2>&1
}

have_library()
{
	if [ -z "$(field "$1" PKG)" ]; then
		have_header "$(field "$1" HEADER)"
		return
	fi
	pkg-config --exists "$(field "$1" PKG) >= $(field "$1" LEAST)" 2>/dev/null
}

# Headers of libc come with their own package on Debian.
have_libc_headers()
{
	[ -e /usr/include/stdlib.h ]
}

# Sanitizers and libFuzzer are no part of the package of clang.
have_clang_runtime()
{
	[ -e "$(clang -print-resource-dir 2>/dev/null)/lib/linux/libclang_rt.fuzzer-$(uname -m).a" ]
}

# missing_tools LIST: the packages of the commands that are not there.
missing_tools()
{
	echo "$1" | while read -r command debian _; do
		[ -z "$command" ] || command -v "$command" >/dev/null 2>&1 || echo "$debian"
	done
}

missing_debian()
{
	have_libc_headers || echo libc6-dev
	missing_tools "$tools"
	if [ -n "$developer" ]; then
		missing_tools "$developer_tools"
		have_clang_runtime || echo libclang-rt-dev
	fi
	for mk in vendor/*.mk; do
		have_library "$mk" || field "$mk" DEBIAN
	done
}

as_root()
{
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null 2>&1; then
		sudo "$@"
	else
		echo "deps.sh: not root and no sudo; as root, run: $*" >&2
		exit 1
	fi
}

# A mirror that fails once is asked again.
apt()
{
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 "$@"
}

apt_install()
{
	apt install -y --no-install-recommends "$@"
}

# install_optional LIST
install_optional()
{
	echo "$1" | while read -r command package; do
		[ -z "$command" ] || command -v "$command" >/dev/null 2>&1 || apt_install "$package" </dev/null ||
			echo "deps.sh: without $package some tests are skipped"
	done
}

# Lists of packages are fetched only when there are none or they are stale.
install_debian()
{
	packages=$(missing_debian | sort -u)
	if [ -n "$packages" ]; then
		echo "deps.sh: installing" $packages
		if ! apt_install $packages; then
			apt update
			apt_install $packages
		fi
	fi
	install_optional "$recorded"
	[ -z "$developer" ] || install_optional "$compared"
	[ -n "$packages" ] || echo "deps.sh: nothing is missing"
	for mk in vendor/*.mk; do
		have_library "$mk" && continue
		echo "deps.sh: $(basename "$mk" .mk) is missing, or older than $(field "$mk" LEAST)" >&2
		exit 1
	done
}

# column N: the names of the tools on another system.
column()
{
	echo "$tools" | awk -v n="$1" 'NF { print $n }'
}

print_names()
{
	pkgconfig=$(for mk in vendor/*.mk; do
		pkg=$(field "$mk" PKG)
		[ -z "$pkg" ] && field "$mk" RPM || echo "'pkgconfig($pkg)'"
	done)
	arch=$({ column 3; for mk in vendor/*.mk; do field "$mk" ARCH; done; } | sort -u)
	alpine=$({ column 4; for mk in vendor/*.mk; do field "$mk" ALPINE; done; } | sort -u)
	rpm='gcc make pkgconf-pkg-config protobuf-c-compiler zstd python3 mandoc man-db elfutils valgrind'

	echo "deps.sh: no apt here; install these with your package manager:"
	echo "Fedora:   dnf install $rpm luajit" $pkgconfig
	echo "openSUSE: zypper install gcc make pkgconf protobuf-c zstd python3 mandoc man elfutils valgrind luajit" $pkgconfig
	echo "Arch:     pacman -S --needed" $arch
	echo "Alpine:   apk add" $alpine musl-dev
	[ -z "$developer" ] ||
		echo "and clang with its sanitizers and libFuzzer, clang-format of LLVM 14, codespell"
}

if command -v apt-get >/dev/null 2>&1; then
	install_debian
else
	print_names
	exit 1
fi
