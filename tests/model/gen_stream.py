#!/usr/bin/env python3
"""gen_stream.py SEED [VARIANT] [--events N] [--cut] - writes a random but valid
memory profile stream to stdout; used by tests/cli/model_random.sh.

The streams are nastier than a VM's: prototypes and traces get new names while
their blocks live, blocks older than the recording are resized and freed, an
address is handed out twice, sizes reach 2^64-1, allocations fail, chunk names
are source text, bytecode or missing.  --cut ends in the middle.
VARIANT is one of V1 V1b V2 V3a V3b V4 (the default).
"""
import random
import sys

import ljm_stream
from ljm_stream import MAX64
from session_writer import string, uleb

HEADERS = {"lua": 0x08, "c": 0x0c, "trace": 0x10}
SOURCES = {"internal": 1, "lua": 2, "c": 3, "trace": 4}
NAMES = [
    b"@a.lua", b"@dir/b.lua", b"=name", b"=stdin", b"return 1", b"@with space.lua",
    b"local x = 1\nreturn x", b"local x = 1\n\n\nreturn x\n", b"\n", b"a = 1\r\nb = 2\n\rc = 3\r",
    b"@caf\xc3\xa9.lua", b"\x1bLJ\x02\n\x0a", b"\x1bLJ\x02", b"", b"=", b"@", b"@a.lua:7",
    b"INTERNAL", b"x" * 3000,
]
NEVER_NAMED = 0x7f00dead0000
BUILTINS = [b"remove", b"foreach", b"deg"]


class Generator:
    def __init__(self, seed, variant):
        self.rnd = random.Random(seed)
        self.variant = variant
        self.protos = [0x7f0000001000 + 0x60 * i for i in range(12)]
        self.funcs = [0x550000000000 + 0x777 * i for i in range(1, 9)]
        self.named = set()
        self.traces = {}
        self.blocks = []
        self.next_block = 0x7f5500000000
        self.out = bytearray()

    # ---- symbols ----

    def lua_symbol(self, addr):
        self.named.add(addr)
        if self.rnd.random() < 0.1:
            return uleb(addr) + string(self.rnd.choice(BUILTINS)) + uleb(MAX64)
        name = self.rnd.choice(NAMES)
        if self.rnd.random() < 0.3:
            name += b"%d" % self.rnd.randrange(40)
        return uleb(addr) + string(name) + uleb(self.rnd.randrange(0, 500))

    def c_symbol(self, addr):
        return uleb(addr) + string(b"func_%d" % self.rnd.randrange(30))

    def trace_symbol(self, num):
        mcode = self.rnd.randrange(1, 2 ** 47)
        self.traces[num] = mcode
        # In a prototype that has a name already, as a VM does it, or none ever.
        known = sorted(self.named) or self.protos[:6]
        proto = self.rnd.choice(known) if self.rnd.random() < 0.9 else NEVER_NAMED
        return (uleb(num) + (uleb(mcode) if self.variant.mcode else b"") + uleb(proto) +
                uleb(self.rnd.randrange(1, 400)))

    def table(self):
        tags = {kind: tag for tag, kind in self.variant.tags.items()}
        if "trace" in tags:
            # Before the prototypes that they start in, as a VM does it.
            for num in range(1, 4):
                self.out += bytes([tags["trace"]]) + self.trace_symbol(num)
        for addr in self.protos[:6]:
            self.out += bytes([tags["lua"]]) + self.lua_symbol(addr)
        if "c" in tags:
            self.load_base(tags["c"])
            for addr in self.rnd.sample(self.funcs, 4):
                self.out += bytes([tags["c"]]) + self.c_symbol(addr)
        self.out.append(0x80)

    def load_base(self, header):
        """The undefined symbols of a module all stand at its load base."""
        for i in range(20):
            self.out += bytes([header]) + uleb(0x550000000000) + string(b"undefined_%d" % i)

    def symbol(self):
        kinds = sorted(self.variant.symbols.values())
        if not kinds:
            return
        kind = self.rnd.choice(kinds)
        body = {"lua": lambda: self.lua_symbol(self.rnd.choice(self.protos)),
                "c": lambda: self.c_symbol(self.rnd.choice(self.funcs)),
                "trace": lambda: self.trace_symbol(self.rnd.randrange(1, 6))}[kind]()
        self.out += bytes([HEADERS[kind]]) + body

    # ---- events ----

    def location(self):
        kinds = ["internal", "lua", "lua", "lua", "c"]
        if self.variant.ljm > 1:
            kinds += ["trace", "trace"]
        kind = self.rnd.choice(kinds)
        body = b""
        if kind == "lua":
            line = self.rnd.choice([1, 2, 3, 3, 7, 400, 2 ** 31 - 1])
            if self.rnd.random() < 0.05:
                line = self.rnd.choice([0, MAX64])
            body = uleb(self.rnd.choice(self.protos)) + uleb(line)
        elif kind == "c":
            body = uleb(self.rnd.choice(self.funcs) + self.rnd.choice([0, 0, 16, 400]))
        elif kind == "trace":
            num = self.rnd.randrange(1, 6)
            body = uleb(num)
            if self.variant.mcode:
                body += uleb(self.traces.get(num, 0x7f00dead))
        return SOURCES[kind], body

    def size(self):
        r = self.rnd.random()
        if r < 0.02:
            return self.rnd.choice([MAX64, MAX64 - 1, 2 ** 63, 2 ** 62 + 1, 2 ** 32])
        if r < 0.05:
            return 0
        return self.rnd.choice([24, 40, 64, 88, self.rnd.randrange(1, 5000)])

    def new_addr(self):
        r = self.rnd.random()
        if r < 0.01:
            return 0
        if r < 0.03 and self.blocks:
            return self.rnd.choice(self.blocks)[0]
        self.next_block += 16 * self.rnd.randrange(1, 300)
        # A high address needs all ten bytes.
        return self.next_block if r < 0.99 else MAX64 - self.next_block

    def old_block(self):
        r = self.rnd.random()
        if r < 0.06 or not self.blocks:
            return 0x7e0000000000 + 32 * self.rnd.randrange(50), self.size()
        if r < 0.07:
            return 0, 0
        return self.blocks.pop(self.rnd.randrange(len(self.blocks)))

    def give(self, addr, size):
        self.out += uleb(addr) + uleb(size)
        if addr:
            self.blocks = [b for b in self.blocks if b[0] != addr]
            self.blocks.append((addr, size))

    def event(self):
        kind = self.rnd.choice([1, 1, 1, 2, 2, 3])
        source, location = self.location()
        self.out += bytes([kind | source << 2]) + location
        old = None
        if kind & 2:
            old = self.old_block()
            self.out += uleb(old[0]) + uleb(old[1])
        if kind & 1:
            # A resize may stay where it is.
            stays = old is not None and old[0] and self.rnd.random() < 0.2
            addr = old[0] if stays else self.new_addr()
            self.give(addr, self.size())
            if old is not None and old[0] and not addr:
                self.blocks.append(old)

    def run(self, n_events):
        self.out += b"ljs" + bytes([self.variant.ljs, 0, 0, 0])
        self.table()
        self.out += b"ljm" + bytes([self.variant.ljm, 1, 2, 3])
        for _ in range(n_events):
            if self.rnd.random() < 0.05:
                self.symbol()
            self.event()
        self.out.append(0x80)
        return bytes(self.out)


def generate(seed, variant="V4", n_events=3000, cut=False):
    variants = {v.name: v for v in ljm_stream.VARIANTS}
    gen = Generator("%s %s" % (seed, variant), variants[variant])
    data = gen.run(n_events)
    if cut:
        data = data[:gen.rnd.randrange(len(data) // 2, len(data))]
    return data


def main():
    args = sys.argv[1:]
    cut = "--cut" in args
    if cut:
        args.remove("--cut")
    n_events = 3000
    if "--events" in args:
        at = args.index("--events")
        n_events = int(args[at + 1])
        del args[at:at + 2]
    variant = args[1] if len(args) > 1 else "V4"
    sys.stdout.buffer.write(generate(args[0], variant, n_events, cut))


if __name__ == "__main__":
    main()
