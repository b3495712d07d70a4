"""labels.py - what a place is called in the memprof layout; used by the models.

Labels carry the names in force when the event was written: a symbol for an
address or a trace number which already has one begins a new epoch of it.
"""
import bisect

from ljm_stream import MAX64

LOAD_BASE_NAMES = 8  # no function has more names than this


class Labels:
    def __init__(self):
        self.lua = {}      # prototype -> (shown chunk name, is a built-in function)
        self.c = {}        # address -> latest name
        self.c_names = {}  # address -> all names it ever had
        self.c_sorted = []
        self.traces = {}   # (number, mcode) -> label of its start, or its symbol
        self.aliases = []  # chunk texts, in order of appearance
        self.pending = []  # trace symbols of the table: their prototypes come after them

    def add(self, sym):
        if sym.kind == "lua":
            first = sym.addr not in self.lua
            self.lua[sym.addr] = self._chunk(sym)
            if first:
                self._traces_in(sym.addr)
        elif sym.kind == "c":
            if sym.addr not in self.c:
                bisect.insort(self.c_sorted, sym.addr)
            self.c[sym.addr] = sym.name
            self.c_names.setdefault(sym.addr, set()).add(sym.name)
        elif sym.in_table:
            self.pending.append(sym)
        else:
            self._trace(sym)

    def end_of_table(self):
        for sym in self.pending:
            self._trace(sym)
        self.pending = []

    def _trace(self, sym):
        """A trace starts in the prototype as it is named now, because a later
        name is that of another one; or, if it has none yet, as it is named next."""
        known = sym.addr in self.lua
        self.traces[sym.num, sym.mcode] = self._lua(sym.addr, sym.line) if known else sym

    def _traces_in(self, addr):
        for key, start in self.traces.items():
            if not isinstance(start, bytes) and start.addr == addr:
                self.traces[key] = self._lua(addr, start.line)

    def _chunk(self, sym):
        name = sym.name
        if sym.line == MAX64 and name[:1] not in (b"@", b"="):
            return b"[builtin:" + name + b"]", True
        if name[:1] == b"\x1b":  # bytecode without a name of its own
            return b"?", False
        if b"\n" in name and name[:1] not in (b"@", b"="):  # text, and no file's name
            if name not in self.aliases:
                self.aliases.append(name)
            return b"function_alias_%d" % (self.aliases.index(name) + 1), False
        return name, False

    def _lua(self, addr, line):
        if addr not in self.lua:
            # Never named (V1 names nothing that is loaded later).
            return b"CFUNC %#x" % addr
        chunk, builtin = self.lua[addr]
        return chunk if builtin else b"%s:%d" % (chunk, line)

    def _c(self, addr):
        i = bisect.bisect_right(self.c_sorted, addr)
        if i:
            key = self.c_sorted[i - 1]
            # Undefined symbols all stand at the load base of their module.
            if key % 4096 or len(self.c_names[key]) <= LOAD_BASE_NAMES:
                return b"%s:%#x" % (self.c[key], key)
        return b"CFUNC %#x" % addr

    def of(self, ev):
        if ev.source == "internal":
            return b"INTERNAL"
        if ev.source == "lua":
            if ev.line in (0, MAX64):
                return b"INTERNAL"
            return self._lua(ev.addr, ev.line)
        if ev.source == "c":
            return self._c(ev.addr)
        label = b"TRACE [%d]" % ev.num
        if ev.mcode:
            label += b" %#x" % ev.mcode
        start = self.traces.get((ev.num, ev.mcode))
        if start is None:
            return label
        if not isinstance(start, bytes):
            start = self._lua(start.addr, start.line)
        return label + b" started at " + start
