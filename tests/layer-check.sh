#!/bin/sh
# layer-check.sh - enforces the rules that a compiler does not: which folder
# may include which, headers that compile alone, functions that are banned,
# words that promise work, and the length of files.  Run by "make layer-check".
set -u
cd "$(dirname "$0")/.."

work=$(mktemp -d "${TMPDIR:-/tmp}/ljperf-layers.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
: >"$work/bad"

sources=$(find ljperf.c ljperf.h record backends formats report vendor util tests \
	-name '*.[ch]' | sort)
product=$(echo "$sources" | grep -v '^tests/')

complain()
{
	echo "$*" >>"$work/bad"
}

# allowed FILE: the project's headers that FILE may include, as a pattern.
# Source files of tests may include everything.
allowed()
{
	case $1 in
	util/*) echo '^util/' ;;
	formats/*) echo '^(util|formats)/' ;;
	report/*) echo '^(util|formats|report)/|^ljperf\.h$' ;;
	vendor/*) echo '^(util|vendor)/' ;;
	backends/*) echo '^(util|formats|vendor|backends)/|^record/(ring|protocol)\.h$' ;;
	record/runner*) echo '^(util|formats|record|backends|vendor)/' ;;
	record/*) echo '^(util|formats|record)/|^backends/backend\.h$|^ljperf\.h$' ;;
	ljperf.*) echo '^util/|^ljperf\.h$' ;;
	tests/*) echo '.' ;;
	esac
}

check_includes()
{
	for f in $sources; do
		sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' "$f" |
			grep -Ev "$(allowed "$f")" | sed "s|^|$f: may not include |"
	done >>"$work/bad"
}

# Headers of the VM are seen only by what lives beside it.
check_vm_headers()
{
	grep -nE '^[ \t]*#[ \t]*include[ \t]*<(lua|lualib|lauxlib|luajit|lj_[a-z]*)\.h' $product |
		grep -Ev '^(vendor/luajit|backends|record/runner[^/]*)[/.:]' |
		sed 's/$/: only beside the VM/' >>"$work/bad"
}

# Only vendor/luajit knows the VM's memory, so only there is it read raw.
check_vm_memory()
{
	grep -nE 'process_vm_readv|/proc/self/mem' $product |
		grep -v '^vendor/luajit/' | sed 's/$/: only vendor\/luajit reads memory raw/' >>"$work/bad"
}

# without_comments FILE: comments and strings blanked, lines kept.
without_comments()
{
	awk '{
		line = $0
		gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
		if (inside) {
			if (!sub(/^.*\*\//, "", line)) { print ""; next }
			inside = 0
		}
		gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", line)
		sub(/\/\/.*/, "", line)
		if (sub(/\/\*.*/, "", line)) inside = 1
		print line
	}' "$1"
}

check_functions()
{
	for f in $sources; do
		without_comments "$f" | grep -nE \
			'(^|[^A-Za-z0-9_])(strcpy|strcat|sprintf|vsprintf|strtok|gets|alloca)[ ]*\(' |
			sed "s|^|$f:|; s|\$|: banned function|"
	done >>"$work/bad"
}

check_words()
{
	grep -nwE 'TODO|FIXME|XXX|HACK' $sources | sed 's/$/: do it or leave it/' >>"$work/bad"
}

check_headers()
{
	for f in $(echo "$product" | grep '\.h$'); do
		${CC:-gcc} -std=c11 -D_GNU_SOURCE -I. $(pkg-config --cflags luajit 2>/dev/null) \
			-Wall -Wextra -fsyntax-only -x c "$f" 2>"$work/err" ||
			complain "$f: does not compile alone: $(head -n 1 "$work/err")"
	done
}

check_first_comment()
{
	for f in $sources; do
		head -n 1 "$f" | grep -q '^/\*' || complain "$f:1: says not what it is for"
	done
}

warn_long_files()
{
	wc -l $sources | awk '$2 != "total" && $1 > 600 {
		print "warning: " $2 " has " $1 " lines, more than 600"
	}'
}

check_includes
check_vm_headers
check_vm_memory
check_functions
check_words
check_headers
check_first_comment
warn_long_files
if [ -s "$work/bad" ]; then
	cat "$work/bad"
	echo "layer-check: $(grep -c . "$work/bad") complaints"
	exit 1
fi
echo "layer-check: $(echo "$sources" | grep -c .) files follow the rules"
