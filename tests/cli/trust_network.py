# trust_network.py - debug information from servers: they are asked only where the
# user has said so, by build ids and nothing else, and whatever they answer does no
# harm.
import http.server
import sys
import threading

from lib_trust import *

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "tests", "model"))
from session_writer import ALLOC, Batch, C, DATA, FOOTER, HEADER, SIDE, STREAM_END, footer, header, session  # noqa: E402

os.chdir(os.environ["TMPDIR"])
BUILD_ID = bytes(range(0x10, 0x24))
asked, answer = [], b""


class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        asked.append(self.path)
        self.send_response(200 if answer else 404)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args):
        pass


def report(urls):
    """Each time with an empty cache."""
    shutil.rmtree("cache", ignore_errors=True)
    env = {k: v for k, v in os.environ.items() if k != "DEBUGINFOD_URLS"}
    env.update(DEBUGINFOD_CACHE_PATH=os.path.abspath("cache"), DEBUGINFOD_TIMEOUT="20", XDG_CACHE_HOME=os.path.abspath("cache"))
    if urls is not None:
        env["DEBUGINFOD_URLS"] = urls
    del asked[:]
    return run([LJPERF, "report", "-q", "r.zst"], env=env)


if not re.search(r"libdebuginfod\.so", run(["ldconfig", "-p"])[1]):
    skip("servers of debug information", "libdebuginfod is not installed")
    finish()
b = Batch()
b.module(0x7000000, 0x10000, 0, 0x7000000, b"/no/such/module.so", BUILD_ID)
b.event(ALLOC, (C, 0x7000100), 0x100, 40)
b.stream += STREAM_END
with open("r.zst", "wb") as f:
    f.write(session([(HEADER, header(argv=[b"x"])), (SIDE, b.side_frame()), (DATA, bytes(b.stream)), (FOOTER, footer(1, 0, 0, 40, 0, 1))]))
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = "http://127.0.0.1:%d" % server.server_port
plain = report(None)
check("without servers none is asked", plain[0] == 0 and "module.so+0x100" in plain[1] and not asked, (plain, asked))
check("an empty list is none", report("")[:2] == plain[:2] and not asked, asked)
check("a server is asked", report(url)[:2] == plain[:2] and asked, asked)
wild = [x for x in asked if not re.fullmatch(r"/buildid/%s/(executable|debuginfo)" % BUILD_ID.hex(), x)]
check("by the build id and nothing else", not wild, wild)
with open("/bin/true", "rb") as f:
    other = f.read()
for name, what in (("text", b"no such thing\n"), ("an empty ELF file", b"\x7fELF" + bytes(60)), ("half of a program", other[:len(other) // 2]),
                   ("another program", other), ("zeros", bytes(1 << 20)), ("noise", os.urandom(1 << 16))):
    answer = what
    status, out, err = report(url)
    check("a server that answers with %s" % name, (status, out) == plain[:2] and asked, (status, out, err))
# One that has a function there, and another build id: it is not that module.
with open("f.c", "w") as f:
    f.write("int wrong_name(int x);\nint wrong_name(int x) { int a[64], i; for (i = 0; i < 64; i++) a[i] = x * i; return a[x & 63]; }\n")
cc = shlex.split(os.environ.get("CC", "cc"))
flags = ["-g", "-O1", "-shared", "-fPIC", "-nostdlib", "-Wl,-Ttext=0x100f0"]
if run([*cc, *flags, "-Wl,--build-id=0x%s" % bytes(20).hex(), "-o", "f.so", "f.c"])[0] != 0:
    skip("a server that answers with another module", "there is no C compiler")
else:
    b = Batch()
    b.module(0x7000000, 0x100000, 0, 0x7000000, b"/no/such/module.so", BUILD_ID)
    b.event(ALLOC, (C, 0x7000000 + 0x10100), 0x100, 40)
    b.stream += STREAM_END
    with open("r.zst", "wb") as f:
        f.write(session([(HEADER, header(argv=[b"x"])), (SIDE, b.side_frame()), (DATA, bytes(b.stream)), (FOOTER, footer(1, 0, 0, 40, 0, 1))]))
    with open("f.so", "rb") as f:
        answer = f.read()
    status, out, err = report(url)
    check("a server that answers with another module", status == 0 and "wrong_name" not in out and asked, (status, out, err))
    run([*cc, *flags, "-Wl,--build-id=0x%s" % BUILD_ID.hex(), "-o", "f.so", "f.c"])
    with open("f.so", "rb") as f:
        answer = f.read()
    status, out, err = report(url)
    check("and with the right one", status == 0 and "wrong_name" in out, (status, out, err, asked))
server.shutdown()
server.server_close()
plain = report(None)
check("a server that is not there", report(url)[:2] == plain[:2])
finish()
