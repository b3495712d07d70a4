"""session_writer.py - writes session files, by ljperf-file(5) and not by ljperf:
for tests that need names that no VM gives, and frames as no collector writes
them.  Sizes and times are the caller's; nothing is checked.
"""
import struct
import subprocess

HEADER, SIDE, FOOTER, DATA = 1, 2, 3, 0
BATCH, TIME, MARK, SYMBOL, VMSTATE, LOST, MODULE, STACK, STACK_OF = range(1, 10)
INTERNAL, LUA, C, TRACE, NATIVE = 1, 2, 3, 4, 5  # the last in call stacks only
ALLOC, FREE, REALLOC = 1, 2, 3
STREAM_HEAD = b"ljs\3\0\0\0\x80ljm\3\0\0\0"
STREAM_END = b"\x80"
# Numbers of sections of HEADER; all but these are text.
HEADER_IDS = dict(argv=1, cwd=2, hostname=3, os_release=4, arch=5, ljperf_version=6, backend=7, backend_options=8,
                  vm_version=9, vm_path=10, vm_build_id=11, vm_options=12, vm_gc64=13, pid=14, ppid=15, tid=16,
                  vm_number=17, thread_name=18, start_mono_ns=19, start_wall_ns=20, heap_start=21, recording=22)


def uleb(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7f | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def string(s):
    return uleb(len(s)) + s


def numbers(*ns):
    return b"".join(uleb(n) for n in ns)


def sections(kind, parts):
    """PARTS: (id, bytes); the kind of the frame comes first."""
    return b"".join(uleb(i) + string(body) for i, body in [(0, uleb(kind))] + parts)


def header(**fields):
    parts = []
    for name, value in fields.items():
        if name == "argv":
            value = b"".join(string(x) for x in value)
        elif isinstance(value, int):
            value = uleb(value)
        parts.append((HEADER_IDS[name], value))
    return sections(HEADER, parts)


class Batch:
    """A batch under construction: the stream, and what stands beside it."""

    def __init__(self, number=0, first_event=0, head=True):
        self.number, self.first = number, first_event
        self.stream = bytearray(STREAM_HEAD if head else b"")
        self.side = {i: bytearray() for i in range(TIME, STACK_OF + 1)}
        self.last = dict.fromkeys(self.side, 0)
        self.events = self.symbols = self.stack_id = 0

    def put(self, section, at, body):
        self.side[section] += uleb(at - self.last[section]) + body
        self.last[section] = at

    def lua(self, addr, chunk, line, name=None, last_line=0):
        self.stream += b"\x08" + uleb(addr) + string(chunk) + uleb(line)
        if name is not None:
            self.put(SYMBOL, self.symbols, string(string(name) + uleb(last_line)))
        self.symbols += 1

    def c(self, addr, name):
        self.stream += b"\x0c" + uleb(addr) + string(name)
        self.symbols += 1

    def trace(self, number, proto, line, detail=None):
        self.stream += b"\x10" + numbers(number, proto, line)
        if detail:
            self.put(SYMBOL, self.symbols, string(numbers(*detail)))
        self.symbols += 1

    def event(self, kind, loc, *block, stack=None, state=3):
        source = loc[0]
        self.stream += uleb(source << 2 | kind) + numbers(*loc[1:]) + numbers(*block)
        if source == INTERNAL:
            self.side[VMSTATE] += numbers(state, 1)
        if stack is not None and kind & ALLOC:
            self.side[STACK_OF] += uleb(stack)
        self.events += 1

    def time(self, ns):
        self.put(TIME, self.events, uleb(ns))

    def mark(self, kind, ns, name=b""):
        self.put(MARK, self.events, numbers(kind, ns) + string(name))

    def lost(self, n):
        self.put(LOST, self.events, uleb(n))

    def module(self, start, length, offset, bias, path, build_id=b""):
        self.put(MODULE, self.events, numbers(start, length, offset, bias) + string(path) + string(build_id))

    def node(self, parent, source, addr, num):
        self.stack_id += 1
        self.put(STACK, self.events, numbers(1, parent, source, addr, num))
        return self.stack_id

    def side_frame(self):
        batch = numbers(self.number, self.first, self.events, self.symbols)
        return sections(SIDE, [(BATCH, batch)] + [(i, bytes(b)) for i, b in self.side.items() if b])


def footer(n_alloc, n_free, n_realloc, new, old, batches, **more):
    parts = [(i + 1, uleb(n)) for i, n in enumerate((n_alloc, n_free, n_realloc, new, old))] + [(13, uleb(batches))]
    for name, i in dict(peak=6, peak_event=7, blocks=8, lost=9, end=10, code=11, duration=12).items():
        if name in more:
            parts.append((i, uleb(more[name])))
    return sections(FOOTER, parts)


def zstd(content):
    return subprocess.run(["zstd", "-cq1", "--check", "--stream-size=%d" % len(content)], input=content,
                          stdout=subprocess.PIPE, check=True).stdout


def frame(kind, content):
    body = zstd(content)
    if kind == DATA:
        return body
    return struct.pack("<II4sHHII", 0x184D2A5C, 16 + len(body), b"LJPF", 1, kind, 0, 0) + body


def session(frames):
    """FRAMES: (kind, content), as a file."""
    return b"".join(frame(kind, content) for kind, content in frames)


# What would steer a terminal, end a line, a cell or a string, or leave a folder.
EVIL = b"\x1b[31m\x1b]0;t\x07\r\n\x9b2J\xc2\x9b1m\xe2\x80\xae|`<b>&\"';,\\ \xff\x7f\t{}"


def hostile(evil=EVIL, path=b"/../.."):
    """Frames of a session in which every name is hostile."""
    b = Batch()
    L1, L2, F1 = 0x10000, 0x20000, 0x7000100
    b.time(1000)
    b.module(0x7000000, 0x10000, 0, 0x7000000, path + b"/" + evil + b".so", b"\1\2\3\4")
    b.lua(L1, b"@" + evil + b".lua", 5, evil, 30)
    b.lua(L2, b"x = 1\n" + evil + b"\nreturn x\n", 1, b"f" + evil, 3)
    b.c(F1, evil)
    b.trace(7, L1, 6, (0, 0, 0, 7, 3))
    main = b.node(0, LUA, L1, 5)
    inner = b.node(main, LUA, L2, 2)
    native = b.node(inner, NATIVE, F1 + 0x40, 0)
    leaf = b.node(native, C, F1, 0)
    b.mark(0, 1500, evil)
    b.event(ALLOC, (LUA, L1, 5), 0x100, 40, stack=main)
    b.event(ALLOC, (LUA, L2, 2), 0x200, 50, stack=inner)
    b.event(ALLOC, (C, F1), 0x300, 60, stack=leaf)
    b.event(ALLOC, (TRACE, 7), 0x400, 70, stack=main)
    b.time(2000)
    b.event(REALLOC, (INTERNAL,), 0x200, 50, 0x500, 80, stack=0, state=10)
    b.event(FREE, (INTERNAL,), 0x100, 40)
    b.lost(3)
    b.mark(1, 2500)
    b.mark(2, 2600)
    b.mark(3, 2700)
    b.event(FREE, (INTERNAL,), 0x300, 60)
    b.stream += STREAM_END
    head = header(argv=[evil, b"--x=" + evil, b""], cwd=b"/" + evil, hostname=evil, os_release=evil, arch=evil,
                  ljperf_version=evil, backend=evil, backend_options=evil, vm_version=evil, vm_path=b"/" + evil,
                  vm_build_id=evil, vm_options=evil, vm_gc64=1, pid=77, ppid=76, tid=77, vm_number=1, thread_name=evil,
                  start_mono_ns=1000, start_wall_ns=1700000000000000000, heap_start=100, recording=evil)
    end = footer(4, 2, 1, 300, 150, 1, peak=400, peak_event=4, blocks=4, lost=3, end=1, code=0, duration=3000)
    return [(HEADER, head), (SIDE, b.side_frame()), (DATA, bytes(b.stream)), (FOOTER, end)]
