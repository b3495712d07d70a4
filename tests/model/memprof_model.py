#!/usr/bin/env python3
"""memprof_model.py FILE [--leak-only] - the right `report --format memprof` of
a recording, from an independent reader.

Meaning of the numbers:
- ALLOCATIONS, REALLOCATIONS, DEALLOCATIONS: events by the place that made them,
  one row per label; + new bytes, - old bytes.  Overrides: who owned the blocks
  that were resized or freed, as far as they are known.
- A block is owned by the place that last sized it.  HEAP SUMMARY: bytes of live
  blocks by owner; "allocs": how often the place sized a block; "frees": how
  often such a block ended, because it was freed, or sized again, or its address
  was handed out again; so allocs - frees blocks are alive.  Only places that
  own at least one live block are listed.
- Blocks older than the recording are unknown: freeing one changes no owner's
  numbers, and resizing one makes it known.
- A failed allocation (address 0) is no event of the tables and owns nothing; a
  failed resize leaves the block as it was.
- ALIASES: the text of every chunk whose name has several lines, with its own
  line numbers as Lua counts them.
"""
import re
import sys

import labels
import ljm_stream


class Row:
    def __init__(self):
        self.events = self.new = self.old = 0
        self.overrides = set()


class Owner:
    def __init__(self):
        self.live = self.allocs = self.frees = 0


class Result:
    def __init__(self):
        self.rows = {"alloc": {}, "realloc": {}, "free": {}}
        self.owners = {}
        self.aliases = []
        self.failed = self.failed_bytes = 0
        self.unknown_freed = self.unknown_freed_bytes = 0
        self.unknown_resized = 0
        self.blocks = {}  # address -> (size, label)

    def owner(self, label):
        return self.owners.setdefault(label, Owner())

    def take(self, addr):
        """Ends the block at ADDR and returns its owner, None when unknown."""
        if addr not in self.blocks:
            return None
        size, label = self.blocks.pop(addr)
        owner = self.owner(label)
        owner.live -= size
        owner.frees += 1
        return label

    def give(self, addr, size, label):
        self.take(addr)
        self.blocks[addr] = (size, label)
        owner = self.owner(label)
        owner.live += size
        owner.allocs += 1

    def event(self, ev, label):
        if ev.kind != "free" and ev.new_addr == 0:
            self.failed += 1
            self.failed_bytes += ev.new_size
            return
        row = self.rows[ev.kind].setdefault(label, Row())
        row.events += 1
        row.new += ev.new_size
        row.old += ev.old_size
        if ev.kind != "alloc":
            owner = self.take(ev.old_addr)
            if owner is not None:
                row.overrides.add(owner)
            elif ev.kind == "free":
                self.unknown_freed += 1
                self.unknown_freed_bytes += ev.old_size
            else:
                self.unknown_resized += 1
        if ev.kind != "free":
            self.give(ev.new_addr, ev.new_size, label)


def compute(stream):
    out = Result()
    names = labels.Labels()
    for tag, item in stream.items:
        if tag == "symbol":
            if not item.in_table:
                names.end_of_table()
            names.add(item)
        else:
            names.end_of_table()
            out.event(item, names.of(item))
    out.aliases = names.aliases
    return out


def lua_lines(text):
    """Lua counts \\n, \\r, \\r\\n and \\n\\r as one line end each."""
    lines = re.split(rb"\r\n|\n\r|\n|\r", text)
    if lines and lines[-1] == b"":
        lines.pop()
    return lines


def print_rows(title, rows, put):
    put(title)
    for label, row in sorted(rows.items(), key=lambda x: (-x[1].events, x[0])):
        put(b"%s: %d events\t+%dB\t-%dB" % (label, row.events, row.new, row.old))
        if row.overrides:
            put(b"\tOverrides:")
            for owner in sorted(row.overrides):
                put(b"\t\t" + owner)
            put(b"")
    put(b"")


def print_heap(result, put):
    put(b"HEAP SUMMARY:")
    live = [(o.live, label, o) for label, o in result.owners.items() if o.allocs > o.frees]
    for size, label, owner in sorted(live, key=lambda x: (-x[0], x[1])):
        put(b"%s holds %dB: %d allocs, %d frees" % (label, size, owner.allocs, owner.frees))
    put(b"")


def print_aliases(result, put):
    if not result.aliases:
        return
    put(b"ALIASES:")
    for i, text in enumerate(result.aliases):
        put(b"function_alias_%d:" % (i + 1))
        for n, line in enumerate(lua_lines(text)):
            put(b"%d\t| %s" % (n + 1, line))
        put(b"")
        put(b"")


def memprof_text(result, leak_only=False):
    out = []
    put = out.append
    if not leak_only:
        print_rows(b"ALLOCATIONS", result.rows["alloc"], put)
        print_rows(b"REALLOCATIONS", result.rows["realloc"], put)
        print_rows(b"DEALLOCATIONS", result.rows["free"], put)
    print_heap(result, put)
    print_aliases(result, put)
    return b"".join(line + b"\n" for line in out)


def main():
    args = [a for a in sys.argv[1:] if not a.startswith("--")]
    if len(args) != 1:
        sys.exit(__doc__.splitlines()[0])
    stream = ljm_stream.read_stream(ljm_stream.load(args[0]))
    if stream.state != "complete":
        print("warning: " + stream.message, file=sys.stderr)
    sys.stdout.buffer.write(memprof_text(compute(stream), "--leak-only" in sys.argv))


if __name__ == "__main__":
    main()
