# coverage.py - how many lines of each folder the tests have run: called by "make
# coverage" with the build folder, the least percentage, and the folders that
# must have it.  Lines that were not run are listed in uncovered.txt there.
#
# gcov tells of each object the lines of its source and of the headers in it; a
# line is run when it is in any of them.
import collections
import json
import os
import shlex
import subprocess
import sys

BUILD, LEAST, FOLDERS = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
GCOV = shlex.split(os.environ.get("GCOV", "gcov"))


# Of the product itself; without what a generator wrote into the build folder.
def data_files():
    for folder, folders, names in os.walk(BUILD):
        folders[:] = sorted(x for x in folders if x != "tests")
        for name in sorted(names):
            if name.endswith(".gcda") and not name.endswith(".pb-c.gcda"):
                yield os.path.join(folder, name)


def lines_run():
    """{file: {line: True when it was run}}"""
    found = collections.defaultdict(dict)
    out = subprocess.run(GCOV + ["--json-format", "--stdout", *data_files()], check=True, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL).stdout
    for text in out.splitlines():
        for file in json.loads(text)["files"]:
            path = os.path.normpath(file["file"])
            if path.startswith(("/", "..", BUILD)):
                continue
            for line in file["lines"]:
                n = line["line_number"]
                found[path][n] = found[path].get(n, False) or line["count"] > 0
    return found


def percent(lines):
    return 100 * sum(lines) / len(lines)


def print_table(rows):
    for name, lines in sorted(rows.items()):
        print("%-28s %6.2f %% of %5d lines" % (name, percent(lines), len(lines)))


found = lines_run()
if not found:
    sys.exit("coverage: nothing was run in '%s'" % BUILD)
folders = collections.defaultdict(list)
for path, lines in found.items():
    folders[os.path.dirname(path) or "."] += lines.values()
print_table(folders)

with open(os.path.join(BUILD, "uncovered.txt"), "w") as f:
    for path, lines in sorted(found.items()):
        with open(path) as source:
            text = source.readlines()
        f.writelines("%s:%d:%s\n" % (path, n, text[n - 1].rstrip()) for n, run in sorted(lines.items()) if not run)

low = [x for x in FOLDERS if percent(folders.get(x, [False])) < LEAST]
for folder in low:
    print("coverage: less than %g %% of %s; its files below that are:" % (LEAST, folder))
    print_table({p: list(x.values()) for p, x in found.items()
                 if os.path.dirname(p) == folder and percent(list(x.values())) < LEAST})
if low:
    print("coverage: %s/uncovered.txt lists the lines" % BUILD)
sys.exit(1 if low else 0)
