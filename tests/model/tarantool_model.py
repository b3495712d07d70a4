#!/usr/bin/env python3
"""tarantool_model.py FILE [defects] - what Tarantool's luajit-parse-memprof
prints for a recording, its known defects included.  Used by compare.py to say
which defect makes a row of its text differ from the right one.

DEFECTS is a string of the digits of those that are on, all by default:
1  a reused prototype address or trace number keeps the name of its first row;
2  a resize leaves the new size with the old owner;
3  a resize of an unknown block gives nothing to anybody;
4  the alias listing drops empty lines, but goes on numbering (that of older
   tools drops a last line without a newline, too);
5  one row per prototype, not per file and line;
6  places whose live bytes are zero or negative vanish, and those that only made
   zero-size blocks.
With all of them off this is a second way to the right values, which shares
only the reading of the stream and the labels with memprof_model.py.
"""
import sys

import labels
import ljm_stream
import memprof_model

ALL = "123456"


class Chain:
    """What one row did to the blocks of one owner."""

    def __init__(self, label):
        self.label = label
        self.allocated = self.freed = self.count = 0


class Row:
    def __init__(self, label):
        self.label = label
        self.events = self.new = self.old = 0
        self.own_new = self.own_count = 0  # sized by this row, for HEAP SUMMARY
        self.chains = {}
        self.reused = []  # (label, size) of blocks whose address was handed out again


class Tool:
    def __init__(self, defects):
        self.on = set(defects)
        self.rows = {"alloc": {}, "realloc": {}, "free": {}}
        self.heap = {}

    def key(self, ev, label):
        if "5" not in self.on and "1" not in self.on:
            return label
        where = {"internal": (), "lua": (ev.addr, ev.line), "c": (ev.addr,),
                 "trace": (ev.num, ev.mcode)}[ev.source]
        if label == b"INTERNAL":
            where = ()
        return (where,) if "1" in self.on else (where, label)

    def link(self, row, addr, size):
        if addr not in self.heap:
            return False
        old_size, key, label = self.heap.pop(addr)
        chain = row.chains.setdefault(key, Chain(label))
        chain.freed += old_size
        chain.count += 1
        if "2" in self.on:
            chain.allocated += size
        return True

    def event(self, ev, label):
        if ev.kind != "free" and ev.new_addr == 0:
            return
        key = self.key(ev, label)
        row = self.rows[ev.kind].setdefault(key, Row(label))
        row.events += 1
        row.new += ev.new_size
        row.old += ev.old_size
        known = False
        if ev.kind != "alloc":
            known = self.link(row, ev.old_addr, ev.new_size)
        if ev.kind != "free":
            if "2" not in self.on and ev.new_addr in self.heap:
                size, _, owner = self.heap[ev.new_addr]
                row.reused.append((owner, size))
            self.heap[ev.new_addr] = (ev.new_size, key, label)
        if ev.kind == "alloc" or (ev.kind == "realloc" and
                                  not ("2" in self.on if known else "3" in self.on)):
            row.own_new += ev.new_size
            row.own_count += 1

    def merged(self, kind):
        """Rows of one table; by label unless defect 5 is on."""
        rows = list(self.rows[kind].values())
        if "5" in self.on:
            return rows
        out = {}
        for row in rows:
            to = out.setdefault(row.label, Row(row.label))
            to.events += row.events
            to.new += row.new
            to.old += row.old
            for chain in row.chains.values():
                to.chains[chain.label] = chain
        return list(out.values())

    def heap_summary(self):
        owners = {}

        def owner(label):
            return owners.setdefault(label, memprof_model.Owner())
        for kind in self.rows:
            for row in self.rows[kind].values():
                if row.own_count and (row.own_new or "6" not in self.on):
                    owner(row.label).live += row.own_new
                    owner(row.label).allocs += row.own_count
                for chain in row.chains.values():
                    o = owner(chain.label)
                    if "2" in self.on and chain.allocated:
                        o.live += chain.allocated
                        o.allocs += chain.count
                    if chain.freed or "6" not in self.on:
                        o.live -= chain.freed
                        o.frees += chain.count
                for label, size in row.reused:
                    owner(label).live -= size
                    owner(label).frees += 1
        if "6" in self.on:
            return {k: o for k, o in owners.items() if o.live > 0}
        return {k: o for k, o in owners.items()
                if o.live > 0 or o.live == 0 and o.allocs > o.frees}


def alias_lines(text, on):
    if "4" not in on:
        return memprof_model.lua_lines(text)
    return [line for line in text.split(b"\n") if line]


def labelled(stream):
    """The events with their labels, and the texts of the aliases."""
    names = labels.Labels()
    events = []
    for tag, item in stream.items:
        if tag == "symbol" and item.in_table:
            names.add(item)
            continue
        names.end_of_table()
        if tag == "symbol":
            names.add(item)
        else:
            events.append((item, names.of(item)))
    return events, names.aliases


def memprof_text(events, aliases, defects=ALL, leak_only=False):
    tool = Tool(defects)
    for ev, label in events:
        tool.event(ev, label)
    out = []
    put = out.append
    titles = {"alloc": b"ALLOCATIONS", "realloc": b"REALLOCATIONS", "free": b"DEALLOCATIONS"}
    for kind in () if leak_only else titles:
        put(titles[kind])
        for row in sorted(tool.merged(kind), key=lambda r: (-r.events, r.label)):
            put(b"%s: %d events\t+%dB\t-%dB" % (row.label, row.events, row.new, row.old))
            if row.chains:
                put(b"\tOverrides:")
                out.extend(b"\t\t" + name for name in sorted(c.label for c in row.chains.values()))
                put(b"")
        put(b"")
    put(b"HEAP SUMMARY:")
    summary = tool.heap_summary()
    for label, o in sorted(summary.items(), key=lambda x: (-x[1].live, x[0])):
        put(b"%s holds %dB: %d allocs, %d frees" % (label, o.live, o.allocs, o.frees))
    put(b"")
    if aliases:
        put(b"ALIASES:")
        for i, text in enumerate(aliases):
            put(b"function_alias_%d:" % (i + 1))
            out.extend(b"%d\t| %s" % (n + 1, line)
                       for n, line in enumerate(alias_lines(text, tool.on)))
            put(b"")
            put(b"")
    return b"".join(line + b"\n" for line in out)


if __name__ == "__main__":
    recording = ljm_stream.read_stream(ljm_stream.load(sys.argv[1]))
    switches = sys.argv[2] if len(sys.argv) > 2 else ALL
    sys.stdout.buffer.write(memprof_text(*labelled(recording), switches))
