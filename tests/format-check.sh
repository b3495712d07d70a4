#!/bin/sh
# format-check.sh - compares the layout of the C files with .clang-format; run
# by "make format-check".  Says so where there is no clang-format.
set -eu
cd "$(dirname "$0")/.."

tool=${CLANG_FORMAT:-clang-format}
if ! command -v "$tool" >/dev/null 2>&1; then
	echo "format-check: $tool is not installed, nothing was checked"
	exit 0
fi
find ljperf.c ljperf.h record backends formats report vendor util tests -name '*.[ch]' |
	sort | xargs "$tool" --dry-run -Werror
echo "format-check: the layout is as .clang-format says"
