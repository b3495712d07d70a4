#!/usr/bin/env python3
"""make_corpus.py - writes the corpus of fuzz_report: a recording full of hostile
names for each way of showing it, framed as lib_frames.h has it.

    tests/fuzz/make_corpus.py ROWS

ROWS is how many rows the table in fuzz_report.c has.
"""
import os
import struct
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "model"))
from session_writer import hostile  # noqa: E402

folder = os.path.join(HERE, "corpus", "fuzz_report")
os.makedirs(folder, exist_ok=True)
content = b"".join(bytes([kind]) + struct.pack("<H", len(body)) + body for kind, body in hostile())
for row in range(int(sys.argv[1])):
    with open(os.path.join(folder, "hostile%02d" % row), "wb") as f:
        f.write(bytes([row, 1]) + content)
