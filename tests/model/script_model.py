#!/usr/bin/env python3
"""script_model.py - reads the lines of `ljperf script --json`.

  script_model.py totals <LINES
      Prints what the events add up to: for each place the events, new and old
      bytes by kind, then what each place owns at the end.
  script_model.py against RECORDING [--no-labels] <LINES
      The lines are the events of the recording, one for one, as an independent
      reader reads them, and add up to the same.  --no-labels does not compare
      the names of places, which a session file can tell better.
  script_model.py symbols RECORDING <LINES
      The lines of --show-symbols are the symbols of the recording, each where it
      stands; as text, too.
"""
import json
import re
import sys

import labels
import ljm_stream
import memprof_model

SOURCES = {"vm": "internal", "lua": "lua", "c": "c", "trace": "trace"}


def number(value):
    return int(value, 0) if isinstance(value, str) else value


def to_event(line):
    """A line as the event of the stream reader, without the place."""
    obj = json.loads(line)
    if obj["event"] not in ("alloc", "free", "realloc"):
        return None, None, None
    get = {k: number(obj.get(k, 0)) for k in ("old_addr", "old_size", "new_addr", "new_size")}
    ev = ljm_stream.Event(obj["event"], SOURCES[obj["source"]], 0, number(obj.get("line", 0)),
                          number(obj.get("trace", 0)), 0, offset=0, **get)
    return obj["n"], ev, obj["symbol"].encode("utf-8", "surrogateescape")


def read_lines(f):
    for line in f:
        n, ev, label = to_event(line)
        if ev is not None:
            yield n, ev, label


def numbers(ev):
    return (ev.kind, ev.source, ev.old_addr, ev.old_size, ev.new_addr, ev.new_size)


def totals(f):
    result = memprof_model.Result()
    for _, ev, label in read_lines(f):
        result.event(ev, label)
    for kind in ("alloc", "realloc", "free"):
        for label, row in sorted(result.rows[kind].items()):
            print("%s\t%s\t%d\t%d\t%d" % (kind, label.decode("utf-8", "replace"), row.events,
                                          row.new, row.old))
    for label, owner in sorted(result.owners.items()):
        print("live\t%s\t%d\t%d" % (label.decode("utf-8", "replace"),
                                   owner.allocs - owner.frees, owner.live))


def right_events(stream):
    """The events with their labels, internal ones without line as the reader makes them."""
    names = labels.Labels()
    for tag, item in stream.items:
        if tag == "symbol":
            if not item.in_table:
                names.end_of_table()
            names.add(item)
            continue
        names.end_of_table()
        label = names.of(item)
        if label == b"INTERNAL":
            item = item._replace(source="internal")
        yield item, label


def against(path, f, with_labels):
    stream = ljm_stream.read_stream(ljm_stream.load(path))
    got_all, want_all = memprof_model.Result(), memprof_model.Result()
    lines = read_lines(f)
    count = 0
    for want, label in right_events(stream):
        count += 1
        n, got, got_label = next(lines, (None, None, None))
        if got is None:
            return "only %d events" % (count - 1)
        if n != count:
            return "event %d has number %d" % (count, n)
        if numbers(got) != numbers(want):
            return "event %d: %s instead of %s" % (count, numbers(got), numbers(want))
        if with_labels and got_label != label:
            return "event %d: place %r instead of %r" % (count, got_label, label)
        if want.source == "lua" and got.line not in (0, want.line):
            return "event %d: line %d instead of %d" % (count, got.line, want.line)
        if want.source == "trace" and got.num != want.num:
            return "event %d: trace %d instead of %d" % (count, got.num, want.num)
        got_all.event(got, got_label)
        want_all.event(want, got_label)
    if next(lines, None) is not None:
        return "more events than %d" % count
    if got_all.blocks != want_all.blocks:
        return "other blocks are left"
    return None


def right_symbols(stream):
    """What a line has to say: event before it, source, address or number, line, name."""
    n = 0
    for tag, item in stream.items:
        if tag == "event":
            n += 1
            continue
        line = item.line - 2 ** 64 if item.line >= 2 ** 63 else item.line
        yield (n, item.kind, item.num if item.kind == "trace" else item.addr,
               item.addr if item.kind == "trace" else 0, 0 if item.kind == "c" else line,
               b"" if item.kind == "trace" else item.name)


TEXT_SYMBOL = re.compile(
    r" *(\d+) +(?:[\d.]+ +)?symbol +(?:(lua) +0x([0-9a-f]+) (.*):(-?\d+)|(c) +0x([0-9a-f]+) (.*)|"
    r"(trace) +TRACE \[(\d+)\] 0x([0-9a-f]+) (\d+))$")


def read_symbol(line):
    """The same of a line; names as text are those that need no escape, or None."""
    if not line.startswith("{"):
        m = TEXT_SYMBOL.match(line.rstrip("\n"))
        if not m:
            return None if " symbol  " not in line else line
        plain = lambda x: x.encode() if re.fullmatch(r"[ -\[\]-~]*", x) else None
        if m[2]:
            return int(m[1]), "lua", int(m[3], 16), 0, int(m[5]), plain(m[4])
        if m[6]:
            return int(m[1]), "c", int(m[7], 16), 0, 0, plain(m[8])
        return int(m[1]), "trace", int(m[10]), int(m[11], 16), int(m[12]), b""
    obj = json.loads(line)
    if obj["event"] != "symbol":
        return None
    trace = obj["source"] == "trace"
    return (obj["n"], obj["source"], obj["trace"] if trace else number(obj["addr"]),
            number(obj.get("proto_addr", 0)), obj.get("line", 0),
            b"" if trace else obj["name"].encode("utf-8", "surrogateescape"))


def symbols(path, f):
    got = [x for x in map(read_symbol, f) if x]
    want = list(right_symbols(ljm_stream.read_stream(ljm_stream.load(path))))
    for i, (a, b) in enumerate(zip(got, want)):
        if a[:5] != b[:5] or a[5] not in (None, b[5]):
            return "symbol %d: %r instead of %r" % (i + 1, a, b)
    return None if len(got) == len(want) and got else "%d symbols instead of %d" % (len(got), len(want))


def main():
    if sys.argv[1:] == ["totals"]:
        totals(sys.stdin)
        return
    if len(sys.argv) < 3 or sys.argv[1] not in ("against", "symbols"):
        sys.exit(__doc__)
    if sys.argv[1] == "symbols":
        why = symbols(sys.argv[2], sys.stdin)
    else:
        why = against(sys.argv[2], sys.stdin, "--no-labels" not in sys.argv)
    if why:
        sys.exit(why)


if __name__ == "__main__":
    main()
