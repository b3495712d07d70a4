"""ljm_stream.py - an independent reader of the memory profile stream.

Used by the Python models of this folder.  It is written for being right, not
for being fast, shares nothing with the C reader, and holds a whole recording
in memory.  The grammar is that of ljperf-file(5).

read_stream(data) returns a Stream: its items are ("symbol", Symbol) and
("event", Event) in the order of the file, symbols of the table first.
"""
import collections
import lzma
import subprocess

MAX64 = 2 ** 64 - 1

Variant = collections.namedtuple("Variant", "name ljs ljm mcode tags symbols")

# tags: what the two low bits of a symbol of the table mean.
# symbols: header bytes of symbol events.  mcode: trace locations and trace
# symbols carry the address of the machine code.
V1 = Variant("V1", 1, 1, False, {0: "lua"}, {})
V1B = Variant("V1b", 1, 2, True, {0: "lua"}, {})
V2 = Variant("V2", 2, 2, True, {0: "lua", 1: "trace"}, {})
V3A = Variant("V3a", 2, 3, True, {0: "lua", 1: "trace"}, {0x08: "lua"})
V3B = Variant("V3b", 2, 3, False, {0: "lua", 1: "trace"}, {0x08: "lua", 0x10: "trace"})
V4 = Variant("V4", 3, 3, False, {0: "lua", 1: "c", 2: "trace"},
             {0x08: "lua", 0x0c: "c", 0x10: "trace"})
# The order matters for the two variants with the same version numbers.
VARIANTS = [V1, V1B, V2, V3B, V3A, V4]

Symbol = collections.namedtuple("Symbol", "kind addr name line num mcode in_table")
# kind: alloc, free, realloc.  source: internal, lua, c, trace.
Event = collections.namedtuple(
    "Event", "kind source addr line num mcode old_addr old_size new_addr new_size offset")

KINDS = {1: "alloc", 2: "free", 3: "realloc"}
SOURCES = {1: "internal", 2: "lua", 3: "c", 4: "trace"}


class Corrupt(Exception):
    pass


class Truncated(Exception):
    pass


class Cursor:
    def __init__(self, data):
        self.data = data
        self.pos = 0

    def byte(self):
        if self.pos >= len(self.data):
            raise Truncated()
        self.pos += 1
        return self.data[self.pos - 1]

    def uleb(self):
        value = 0
        for i in range(10):
            b = self.byte()
            value |= (b & 0x7f) << (7 * i)
            if b < 0x80:
                if value > MAX64:
                    raise Corrupt("number above 64 bits")
                return value
        raise Corrupt("number longer than 10 bytes")

    def bytes(self, n):
        if n > len(self.data) - self.pos:
            raise Truncated()
        self.pos += n
        return self.data[self.pos - n:self.pos]

    def string(self):
        return self.bytes(self.uleb())


class Stream:
    def __init__(self):
        self.variant = None
        self.items = []
        self.state = "complete"  # or truncated, corrupt
        self.message = ""
        self.offset = 0  # where a whole item was last known to begin

    def events(self):
        return [x for tag, x in self.items if tag == "event"]


def _symbol(cur, kind, variant, in_table):
    addr = num = mcode = line = 0
    name = b""
    if kind == "lua":
        addr = cur.uleb()
        name = cur.string()
        line = cur.uleb()
    elif kind == "c":
        addr = cur.uleb()
        name = cur.string()
    else:
        num = cur.uleb()
        if variant.mcode:
            mcode = cur.uleb()
        addr = cur.uleb()
        line = cur.uleb()
    return Symbol(kind, addr, name, line, num, mcode, in_table)


def _event(cur, header, variant, offset):
    kind = KINDS[header & 3]
    source = SOURCES[header >> 2]
    addr = line = num = mcode = old_addr = old_size = new_addr = new_size = 0
    if source == "lua":
        addr = cur.uleb()
        line = cur.uleb()
    elif source == "c":
        addr = cur.uleb()
    elif source == "trace":
        num = cur.uleb()
        if variant.mcode:
            mcode = cur.uleb()
    if kind in ("free", "realloc"):
        old_addr = cur.uleb()
        old_size = cur.uleb()
    if kind in ("alloc", "realloc"):
        new_addr = cur.uleb()
        new_size = cur.uleb()
    return Event(kind, source, addr, line, num, mcode,
                 old_addr, old_size, new_addr, new_size, offset)


def _magic(cur, magic):
    head = cur.bytes(7)
    if head[:3] != magic:
        raise Corrupt("no %s magic" % magic.decode())
    return head[3]


def _read_as(data, variant):
    out = Stream()
    out.variant = variant
    cur = Cursor(data)
    valid = {h for h in range(0x05, 0x14) if h & 3 and h >> 2 <= (3 if variant.ljm == 1 else 4)}
    try:
        _magic(cur, b"ljs")
        while True:
            out.offset = cur.pos
            header = cur.byte()
            if header & 0x80:
                break
            if header & 3 not in variant.tags:
                raise Corrupt("bad symbol header %#x" % header)
            out.items.append(("symbol", _symbol(cur, variant.tags[header & 3], variant, True)))
        out.offset = cur.pos
        if _magic(cur, b"ljm") != variant.ljm:
            raise Corrupt("unexpected ljm version")
        while True:
            out.offset = cur.pos
            header = cur.byte()
            if header == 0x80:
                break
            if header in variant.symbols:
                sym = _symbol(cur, variant.symbols[header], variant, False)
                out.items.append(("symbol", sym))
            elif header in valid:
                out.items.append(("event", _event(cur, header, variant, out.offset)))
            else:
                raise Corrupt("bad event header %#x" % header)
    except Truncated:
        out.state = "truncated"
        out.message = "truncated at offset %d" % out.offset
    except Corrupt as err:
        out.state = "corrupt"
        out.message = "corrupt at offset %d: %s" % (out.offset, err)
    return out


def read_stream(data):
    """Tries the variants that the version numbers allow; the first without a
    wrong byte is it, else the one that got furthest."""
    if len(data) < 7 or data[:3] != b"ljs":
        raise ValueError("not a recording")
    best = None
    for variant in VARIANTS:
        if data[3] != variant.ljs:
            continue
        out = _read_as(data, variant)
        if out.state != "corrupt":
            return out
        if best is None or out.offset > best.offset:
            best = out
    if best is None:
        raise ValueError("unknown version %d" % data[3])
    return best


def load(path):
    """The plain stream of a raw, .xz or zstd-compressed recording, or of a session file."""
    with open(path, "rb") as f:
        data = f.read()
    if data[:6] == b"\xfd7zXZ\0":
        return lzma.decompress(data)
    magic = int.from_bytes(data[:4], "little")
    if magic == 0xFD2FB528 or magic & 0xFFFFFFF0 == 0x184D2A50:
        # A cut session file gives what precedes the cut, and a failure.
        return subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout
    return data
