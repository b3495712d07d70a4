#!/usr/bin/env python3
"""compare.py - compares texts in the memprof layout; used by tests/cli.

  compare.py same OURS MODEL
      The layout of both is right, and both have the same rows; the order among
      rows of the same rank is free.
  compare.py explain RECORDING THEIRS OURS [defects]
      Prints one line for each difference between the text of Tarantool's tool
      and ours: section, row, theirs, ours, and the smallest set of the known
      defects (see tarantool_model.py) that turns our value into theirs.  DEFECTS
      are those that the tool of that recording has, all by default.  Columns
      are separated by tabs.
The status is 0 when all is equal or explained.
"""
import itertools
import re
import sys

import ljm_stream
import tarantool_model

TABLES = ["ALLOCATIONS", "REALLOCATIONS", "DEALLOCATIONS"]
ROW = re.compile(r"^(.+): (\d+) events\t\+(\d+)B\t-(\d+)B$")
HELD = re.compile(r"^(.+) holds (\d+)B: (\d+) allocs, (\d+) frees$")


class LayoutError(Exception):
    pass


class Lines:
    def __init__(self, text):
        if text and not text.endswith("\n"):
            raise LayoutError("no newline at the end")
        self.lines = text.split("\n")[:-1]
        self.pos = 0

    def peek(self):
        return self.lines[self.pos] if self.pos < len(self.lines) else None

    def next(self):
        line = self.peek()
        if line is None:
            raise LayoutError("text ends early")
        self.pos += 1
        return line

    def expect(self, line):
        got = self.next()
        if got != line:
            raise LayoutError("line %d: %r instead of %r" % (self.pos, got, line))


def descending(what, numbers):
    if any(a < b for a, b in zip(numbers, numbers[1:])):
        raise LayoutError(what + " is not sorted")


def parse_table(lines, title, out):
    lines.expect(title)
    counts = []
    while lines.peek() != "":
        row = ROW.match(lines.next())
        if not row:
            raise LayoutError("line %d is no row of %s" % (lines.pos, title))
        label, n, new, old = row.groups()
        counts.append(int(n))
        out.append((title, label, "%s events +%sB -%sB" % (n, new, old)))
        if lines.peek() == "\tOverrides:":
            lines.next()
            names = []
            while lines.peek() != "":
                name = lines.next()
                if not name.startswith("\t\t"):
                    raise LayoutError("line %d is no override" % lines.pos)
                names.append(name[2:])
            if not names or names != sorted(names):
                raise LayoutError("overrides before line %d are not sorted" % lines.pos)
            lines.next()
            out.extend((title + " of " + label, name, "overrides") for name in names)
    lines.next()
    descending(title, counts)


def parse_heap(lines, out):
    lines.expect("HEAP SUMMARY:")
    sizes = []
    while lines.peek() != "":
        row = HELD.match(lines.next())
        if not row:
            raise LayoutError("line %d is no row of the heap summary" % lines.pos)
        sizes.append(int(row.group(2)))
        out.append(("HEAP SUMMARY", row.group(1), "%sB: %s allocs, %s frees" % row.groups()[1:]))
    lines.next()
    descending("HEAP SUMMARY", sizes)


def parse_aliases(lines, out):
    lines.expect("ALIASES:")
    while lines.peek() is not None:
        alias = lines.next()
        if not re.match(r"^function_alias_\d+:$", alias):
            raise LayoutError("line %d is no alias" % lines.pos)
        while lines.peek() != "":
            line = re.match(r"^(\d+)\t\| (.*)$", lines.next())
            if not line:
                raise LayoutError("line %d is no line of a chunk" % lines.pos)
            out.append(("ALIASES of " + alias[:-1], line.group(1), "| " + line.group(2)))
        lines.expect("")
        lines.expect("")


def parse(text):
    """All that a text says, as a list of (section, row, value)."""
    lines = Lines(text)
    out = []
    if lines.peek() != "HEAP SUMMARY:":
        for title in TABLES:
            parse_table(lines, title, out)
    parse_heap(lines, out)
    if lines.peek() is not None:
        parse_aliases(lines, out)
    if lines.peek() is not None:
        raise LayoutError("text after the end at line %d" % (lines.pos + 1))
    return out


def by_row(items):
    out = {}
    for section, row, value in items:
        out.setdefault((section, row), []).append(value)
    return {k: " | ".join(sorted(v)) for k, v in out.items()}


def differences(a, b):
    a, b = by_row(a), by_row(b)
    keys = sorted(set(a) | set(b))
    return [(k, a.get(k, "none"), b.get(k, "none")) for k in keys if a.get(k) != b.get(k)]


def read(path):
    with open(path, "rb") as f:
        text = f.read().decode("latin1")
    # Older tools wrote the unit in full.
    return re.sub(r"^(.*: \d+ events\t\+\d+) bytes(\t-\d+) bytes$", r"\1B\2B",
                  re.sub(r"^(.* holds \d+) bytes(: \d+ allocs)", r"\1B\2", text, flags=re.M),
                  flags=re.M)


def same(ours, model):
    with open(ours, "rb") as f:
        text = f.read().decode("latin1")
    diffs = differences(parse(text), parse(read(model)))
    for (section, row), got, want in diffs:
        print("%s: %s: %s instead of %s" % (section, row, got, want))
    return not diffs


def emulations(path, defects):
    """(set of defects, what the tool says with these), the smallest sets first."""
    events, aliases = tarantool_model.labelled(ljm_stream.read_stream(ljm_stream.load(path)))
    for n in range(len(defects) + 1):
        for on in itertools.combinations(defects, n):
            text = tarantool_model.memprof_text(events, aliases, "".join(on))
            yield "".join(on), by_row(parse(text.decode("latin1")))


def explain(recording, theirs, ours, defects=tarantool_model.ALL):
    diffs = {k: (a, b) for k, a, b in differences(parse(read(theirs)), parse(read(ours)))}
    why = {}
    right = None
    for on, rows in emulations(recording, defects):
        right = right or rows
        for k, (a, b) in diffs.items():
            if k not in why and rows.get(k, "none") == a and right.get(k, "none") == b:
                why[k] = on
        if len(why) == len(diffs):
            break
    for k in sorted(diffs):
        print("\t".join(k + diffs[k] + (why.get(k, "UNEXPLAINED"),)))
    return len(why) == len(diffs)


def main():
    modes = {"same": same, "explain": explain}
    if len(sys.argv) < 4 or sys.argv[1] not in modes:
        sys.exit(__doc__)
    try:
        ok = modes[sys.argv[1]](*sys.argv[2:])
    except LayoutError as err:
        print("layout: %s" % err)
        ok = False
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
