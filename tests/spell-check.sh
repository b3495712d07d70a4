#!/bin/sh
# spell-check.sh - looks for common misspellings with codespell; run by "make
# spell-check".  Words that are meant as they stand are in tests/spelling.txt.
set -eu
cd "$(dirname "$0")/.."

if ! command -v codespell >/dev/null 2>&1; then
	echo "spell-check: codespell is not installed, nothing was checked"
	exit 0
fi
codespell --quiet-level=3 --ignore-words=tests/spelling.txt --skip='tests/data,tests/fuzz/corpus' \
	.ci GNUmakefile README.md deps.sh ljperf.c ljperf.h backends completion Documentation formats \
	record report samples tests util vendor
echo "spell-check: no known misspelling"
