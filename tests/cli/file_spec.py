"""file_spec.py - reads a recording by the letter of ljperf-file(5).

An independent reader of the session file: frames, sections, batches.  What it
counts in the stream is compared with what the side frames and the footer say.
Run by tests/run.sh, in an empty folder $TMPDIR.
"""
import os
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["LJPERF_SOURCE"], "tests", "model"))
import ljm_stream  # noqa: E402

SCRIPT = """
local keep = {}
for i = 1, 200000 do
    keep[i % 1000] = { i, tostring(i) }
end
local function maker() local t = { keep, {} } return t end
keep[1] = maker()
os.exit(tonumber(arg[1]))
"""

failed = False


def check(name, got, wanted):
    global failed
    if got == wanted:
        print("ok", name)
    else:
        print("not ok %s: got %r, wanted %r" % (name, got, wanted))
        failed = True


def decode(frame):
    return subprocess.run(["zstd", "-dcq"], input=frame, stdout=subprocess.PIPE, check=True).stdout


def zstd_frame_end(data, pos):
    """RFC 8878, 3.1.1: walks the blocks of the frame at POS; its end, its
    content size and whether it has a checksum."""
    descriptor = data[pos + 4]
    single, checksum = descriptor >> 5 & 1, descriptor >> 2 & 1
    size_of_size = [single, 2, 4, 8][descriptor >> 6]
    p = pos + 5 + (0 if single else 1) + [0, 1, 2, 4][descriptor & 3]
    content = int.from_bytes(data[p:p + size_of_size], "little")
    if size_of_size == 2:
        content += 256
    p += size_of_size
    while True:
        block = int.from_bytes(data[p:p + 3], "little")
        p += 3 + (1 if block >> 1 & 3 == 1 else block >> 3)
        if block & 1:
            break
    return p + 4 * checksum, content if size_of_size else None, checksum


def frames(data):
    """(offset, kind or "data", decoded bytes)"""
    pos = 0
    while pos < len(data):
        magic, size = struct.unpack_from("<II", data, pos)
        if magic == 0xFD2FB528:
            end, content, checksum = zstd_frame_end(data, pos)
            plain = decode(data[pos:end])
            if content != len(plain) or not checksum:
                raise ValueError("a batch without its size or checksum")
            yield pos, "data", plain
        elif magic == 0x184D2A5C:
            end = pos + 8 + size
            sig, version, kind, required, _ = struct.unpack_from("<4sHHII", data, pos + 8)
            if sig != b"LJPF" or version != 1 or required:
                raise ValueError("bad fixed part of a frame")
            yield pos, {1: "header", 2: "side", 3: "footer"}[kind], decode(data[pos + 24:end])
        else:
            raise ValueError("unknown magic %#x at %d" % (magic, pos))
        pos = end


def sections(plain):
    cur, out = ljm_stream.Cursor(plain), {}
    while cur.pos < len(plain):
        number = cur.uleb()
        out.setdefault(number, cur.string())
    return out


def numbers(data):
    cur, out = ljm_stream.Cursor(data), []
    while cur.pos < len(data):
        out.append(cur.uleb())
    return out


def strings(data):
    cur, out = ljm_stream.Cursor(data), []
    while cur.pos < len(data):
        out.append(cur.string())
    return out


def marks(data):
    """(at, kind) of section MARK"""
    cur, at = ljm_stream.Cursor(data), 0
    while cur.pos < len(data):
        at += cur.uleb()
        kind = cur.uleb()
        cur.uleb()
        cur.string()
        yield at, kind


def functions(side, symbols):
    """Names of functions by the details of section SYMBOL."""
    cur, at = ljm_stream.Cursor(side.get(4, b"")), 0
    while cur.pos < len(cur.data):
        at += cur.uleb()
        detail = ljm_stream.Cursor(cur.string())
        if symbols[at].kind == "lua":
            yield detail.string()


def modules(data):
    """path and build id of section MODULE, whose numbers must fit together"""
    cur = ljm_stream.Cursor(data)
    while cur.pos < len(data):
        cur.uleb()
        start, length, offset, bias = (cur.uleb() for _ in range(4))
        path, build_id = cur.string(), cur.string()
        # The bytes at OFFSET stand at START; pages of a file are mapped whole.
        if not length or start % 4096 or offset % 4096 or bias > start:
            raise ValueError("a module that cannot be")
        yield path, build_id.hex().encode()


def read_build_id(path):
    notes = subprocess.run(["readelf", "-n", path], stdout=subprocess.PIPE, check=True).stdout
    return notes.split(b"Build ID:")[1].split()[0]


def stack_nodes(data):
    """id: (parent, source, address, line) of section STACK"""
    row, at = numbers(data), 0
    for i in range(0, len(row), 6):
        at += row[i + 1]
        yield at, tuple(row[i + 2:i + 6])


def record(status, *options):
    run = subprocess.run([os.environ["LJPERF"], "record", "-q", "-o", "a.ljm.zst", *options,
                          "spec.lua", str(status)], stdin=subprocess.DEVNULL)
    check("the status is that of the script", run.returncode, status)
    with open("a.ljm.zst", "rb") as f:
        return f.read()


def check_header(plain):
    header = sections(plain)
    check("the command line ends with the script", strings(header[1])[-2:], [b"spec.lua", b"7"])
    check("working directory", header[2], os.getcwd().encode())
    check("architecture", header[5], os.uname().machine.encode())
    check("release of the system", os.uname().release.encode() in header[4], True)
    check("GC64", numbers(header[13]), [1])
    check("the first VM", numbers(header[17]), [1])


def check_batches(pairs):
    """PAIRS of side and data; returns events, marks by event number, offsets."""
    parts, first, found, offsets = [], 0, [], []
    right = named = vmstates = True
    names = set()
    whole = ljm_stream.read_stream(b"".join(data for _, _, data in pairs))
    check("the joined stream", (whole.variant.name, whole.state), ("V4", "complete"))
    items = whole.items
    for number, (offset, side, _) in enumerate(pairs):
        batch = numbers(side[1])
        n_events, n_symbols = batch[2], batch[3]
        part, items = items[:n_events + n_symbols], items[n_events + n_symbols:]
        events = [x for tag, x in part if tag == "event"]
        symbols = [x for tag, x in part if tag == "symbol"]
        right &= batch == [number, first, len(events), len(symbols)]
        runs = numbers(side.get(5, b""))
        internal = sum(e.source == "internal" for e in events)
        vmstates &= sum(runs[1::2]) == internal and all(1 <= s <= 10 for s in runs[::2])
        found += [(first + at, kind) for at, kind in marks(side.get(3, b""))]
        names.update(functions(side, symbols))
        offsets.append((offset, first))
        first += n_events
        parts += events
    check("numbers of the batches", right, True)
    check("runs of VM states cover the internal events", vmstates, True)
    check("nothing is left over", items, [])
    check("a function's name", b"maker" in names, True)
    return parts, found, offsets


def check_stacks(pairs):
    """On line 6 the main chunk, which C code calls, makes a closure, and that
    makes tables when it is called on line 7."""
    nodes, fits, own = {}, True, []
    items = ljm_stream.read_stream(b"".join(data for _, _, data in pairs)).items
    events = [x for tag, x in items if tag == "event"]
    for _, side, _ in pairs:
        new = list(stack_nodes(side.get(8, b"")))
        fits &= [i for i, _ in new] == list(range(len(nodes) + 1, len(nodes) + 1 + len(new)))
        nodes.update(new)
        fits &= all(node[0] < i for i, node in new)
        part, events = events[:numbers(side[1])[2]], events[numbers(side[1])[2]:]
        part = [e for e in part if e.kind != "free"]
        ids = numbers(side.get(9, b""))
        fits &= len(ids) == len(part) and all(i in nodes for i in ids if i)
        own += [nodes[i] for i, e in zip(ids, part) if e.source == "lua" and e.line == 6]
    check("nodes and stacks fit together", fits, True)
    check("the place of what line 6 allocates", {node[1::2] for node in own}, {(2, 6)})
    check("its callers", {nodes[node[0]][1::2] for node in own}, {(2, 7), (3, 0)})


def check_footer(plain, events, offsets):
    footer = sections(plain)
    one = lambda number: (numbers(footer.get(number, b"\0")))[0]  # noqa: E731
    for number, kind in (1, "alloc"), (2, "free"), (3, "realloc"):
        check("number of kind %s" % kind, one(number), sum(e.kind == kind for e in events))
    check("sum of new sizes", one(4), sum(e.new_size for e in events))
    check("sum of old sizes", one(5), sum(e.old_size for e in events))
    check("nothing was dropped", one(9), 0)
    check("end by exit with 7", (one(10), one(11)), (1, 7 << 1))
    check("number of batches", one(13), len(offsets))
    index = numbers(ljm_stream.Cursor(footer[14]).string())
    got, at = [], (0, 0)
    for i in range(0, len(index), 3):
        at = (at[0] + index[i], at[1] + index[i + 1])
        got.append(at)
    check("the index", got, offsets)


def main():
    os.chdir(os.environ["TMPDIR"])
    with open("spec.lua", "w") as f:
        f.write(SCRIPT)
    data = record(7)
    parts = list(frames(data))
    kinds = [kind for _, kind, _ in parts]
    batches = (len(kinds) - 2) // 2
    check("order of the frames", kinds, ["header"] + ["side", "data"] * batches + ["footer"])
    check("more than one batch", batches > 1, True)
    check_header(parts[0][2])
    pairs = [(parts[i][0], sections(parts[i][2]), parts[i + 1][2])
             for i in range(1, len(parts) - 1, 2)]
    check("zstd -dc gives the joined frames", decode(data), b"".join(p[2] for p in pairs))
    loaded = dict(row for _, side, _ in pairs for row in modules(side.get(7, b"")))
    check("a module is known", len(loaded) > 0, True)
    for path, build_id in loaded.items():
        check("build id of %s" % os.path.basename(path).decode(), build_id, read_build_id(path))
    events, _, offsets = check_batches(pairs)
    check_footer(parts[-1][2], events, offsets)
    parts = list(frames(record(0, "-g", "--jit", "off")))
    check_stacks([(0, sections(parts[i][2]), parts[i + 1][2])
                  for i in range(1, len(parts) - 1, 2)])
    return failed


sys.exit(main())
