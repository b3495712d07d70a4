# trust_packed.py - a module whose file unpacks to far more than it holds, or says
# so, costs a report no memory: it is refused with a warning, and its functions stay
# offsets.  One that is packed as compilers and distributions do it has its names.
import os
import shutil
import struct
import subprocess
import sys

from lib_trust import LJPERF, SOURCE, check, finish, run, sanitized, skip

SCRIPT = 'package.cpath = "./?.so"\nlocal make = require "cmod".hidden\nfor i = 1, 1000 do make() end\n'
LARGE = 300 << 20
MOST = 64 << 10  # KiB above what the report of the plain module needs


def tool(*cmd):
    subprocess.run(cmd, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def report(*more):
    """(status, stdout, stderr, peak memory in KiB)"""
    with open("out", "w+") as out, open("err", "w+") as err:
        p = subprocess.Popen([LJPERF, "report", "--no-symbol-cache", "-i", "r.zst", *more], stdout=out, stderr=err)
        status, usage = os.wait4(p.pid, 0)[1:]
        p.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return p.returncode, out.read(), err.read(), usage.ru_maxrss


def refused(name, base):
    status, out, err, peak = report()
    warned = err.count("cmod.so") == 1 and "what it says it holds would take too much memory" in err
    check(name + ": one warning", status == 0 and warned, (status, err))
    # 300 MiB if it were unpacked; what is looked at takes a dictionary of xz.
    check(name + ": little memory", peak - base < MOST, (peak, base))


def section_at(path, name):
    """Where a section begins, in the file."""
    for line in subprocess.run(["readelf", "-SW", path], capture_output=True, text=True).stdout.splitlines():
        fields = line.replace("[ ", "[").split()
        if len(fields) > 5 and fields[1] == name:
            return int(fields[4], 16)
    sys.exit("no " + name)


def claims(base):
    """The size that a compressed section is said to have (Elf64_Chdr.ch_size)."""
    tool("objcopy", "--compress-debug-sections=zlib-gabi", "full.so", "packed.so")
    at = section_at("packed.so", ".debug_info") + 8
    for size in 1 << 31, 1 << 32, 1 << 62, (1 << 64) - 1:
        shutil.copy("packed.so", "cmod.so")
        with open("cmod.so", "r+b") as f:
            f.seek(at)
            f.write(struct.pack("<Q", size))
        refused("a section of %#x bytes" % size, base)


def many(base):
    """Sections of 40 MiB each, of which none is too large."""
    with open("zeros", "wb") as f:
        f.truncate(40 << 20)
    names = ".debug_info", ".debug_str", ".debug_line", ".debug_abbrev"
    update = [x for name in names for x in ("--update-section", name + "=zeros")]
    tool("objcopy", *update, "full.so", "large.so")
    tool("objcopy", "--compress-debug-sections=zlib-gabi", "large.so", "cmod.so")
    refused("4 sections of 40 MiB", base)


def supplement():
    """The file that several modules share the debug information of; or a FIFO in its place."""
    if not shutil.which("dwz"):
        skip("a supplementary file", "dwz is not installed")
        return
    for name in "x.so", "y.so":
        shutil.copy("full.so", name)
    tool("dwz", "-m", "common", "x.so", "y.so")
    shutil.move("x.so", "cmod.so")
    out = report("-v")[1]
    check("a supplementary file", "cmod.c:" in out, out)
    os.remove("common")
    os.mkfifo("common")
    status, out, err = run([LJPERF, "report", "-v", "--no-symbol-cache", "-i", "r.zst"], 20)
    check("a FIFO as the supplementary file", status == 0 and "cmod.hidden" in out, (status, out, err))


def bombs(base):
    with open("zeros", "wb") as f:
        f.truncate(LARGE)
    tool("objcopy", "--update-section", ".debug_info=zeros", "full.so", "large.so")
    for kind in "zlib-gabi", "zlib-gnu":
        tool("objcopy", "--compress-debug-sections=" + kind, "large.so", "cmod.so")
        os.utime("cmod.so")
        refused("300 MiB as " + kind, base)
    os.remove("large.so")
    # The symbols that a stripped file may carry.
    tool("strip", "-o", "stripped.so", "full.so")
    for packer in ["xz", "-0"], ["gzip"], ["bzip2"]:
        with open("packed", "wb") as f:
            subprocess.run([*packer, "-c", "zeros"], stdout=f, check=True)
        tool("objcopy", "--add-section", ".gnu_debugdata=packed", "stripped.so", "cmod.so")
        refused("300 MiB of symbols by " + packer[0], base)


def holes(base):
    """A file with a section of 6 GiB, all of it a hole."""
    shutil.copy("full.so", "cmod.so")
    with open("cmod.so", "r+b") as f:
        head = f.read(64)
        at = struct.unpack_from("<Q", head, 0x28)[0]  # e_shoff; entries have 64 bytes
        names = [line.split("] ")[1].split()[0] for line in
                 subprocess.run(["readelf", "-SW", "full.so"], capture_output=True, text=True).stdout.splitlines()
                 if line.lstrip().startswith("[") and "] ." in line]
        f.seek(at + 64 * (names.index(".symtab") + 1) + 32)  # sh_size; section 0 has no name
        f.write(struct.pack("<Q", 6 << 30))
        f.truncate(7 << 30)
    refused("a section that is a hole", base)


def counts(base):
    """The number of sections stands in the first one: 2^32 - 1."""
    shutil.copy("full.so", "cmod.so")
    with open("cmod.so", "r+b") as f:
        at = struct.unpack_from("<Q", f.read(64), 0x28)[0]
        f.seek(60)  # e_shnum
        f.write(struct.pack("<H", 0))
        f.seek(at + 32)
        f.write(struct.pack("<Q", (1 << 32) - 1))
    refused("2^32 - 1 sections", base)


def harmless():
    for kind in "none", "zlib-gabi", "zlib-gnu":
        tool("objcopy", "--compress-debug-sections=" + kind, "full.so", "cmod.so")
        status, out, err, _ = report("-v")
        check("debug information, packed as " + kind, status == 0 and "cmod.c:" in out and not err, (out, err))


def main():
    os.chdir(os.environ["TMPDIR"])
    for name in "readelf", "objcopy", "strip", "xz", "gzip", "bzip2":
        if not shutil.which(name):
            skip("packed modules", name + " is not installed")
            finish()
    if sanitized():
        skip("packed modules", "sanitizers take memory of their own")
        finish()
    cc = os.environ.get("CC", "cc").split()
    # dwz of 2022 knows not all sections of DWARF 5.
    tool(*cc, "-gdwarf-4", "-O2", "-shared", "-fPIC", "-Wl,--build-id", "-o", "cmod.so", SOURCE + "/tests/hosts/cmod.c")
    with open("w.lua", "w") as f:
        f.write(SCRIPT)
    status, _, err = run([LJPERF, "record", "-q", "--jit", "off", "-o", "r.zst", "w.lua"])
    check("the module is recorded", status == 0, err)
    shutil.copy("cmod.so", "full.so")
    base = report()[3]
    harmless()
    holes(base)
    counts(base)
    claims(base)
    many(base)
    bombs(base)
    supplement()
    finish()


main()
