#!/bin/sh
# coverage.sh - prints how many lines of each folder the tests have run; called
# by "make coverage" with the build folder, after the tests.
set -eu
build=$1
gcov=${GCOV:-gcov}

find "$build" -name '*.gcda' ! -path '*/tests/*' | while read -r data; do
	"$gcov" -n -o "$(dirname "$data")" "$data" 2>/dev/null
done | awk '
	/^File/ { file = $2; gsub(/\047/, "", file); next }
	/^Lines executed:/ {
		if (file ~ /^\// || file ~ /\.h$/) next
		folder = file
		if (!sub(/\/[^\/]*$/, "", folder)) folder = "."
		split($2, part, /[:%]/)
		lines[folder] += $4
		hit[folder] += part[2] * $4 / 100
	}
	END {
		for (f in lines)
			printf "%-18s %6.1f %% of %5d lines\n", f, 100 * hit[f] / lines[f], lines[f]
	}' | sort
