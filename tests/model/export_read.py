"""export_read.py - reads the files that ljperf export writes, and checks the rules
of each format; used by export_model.py and by tests/cli/export_*.sh.

Nothing here is made from ljperf's code: the rules are those that the formats'
own documents state.  Each reader returns {name of an amount: {stack: sum}}; a
stack is a tuple of frames, the outermost first, and a frame is (name, file,
line) with "" and 0 where there is none.
"""
import csv
import gzip
import io
import json
import re


class Wrong(Exception):
    pass


def need(condition, *what):
    if not condition:
        raise Wrong(" ".join(str(w) for w in what))


def add(table, key, v):
    table[key] = table.get(key, 0) + v


def is_count(v):
    return isinstance(v, int) and not isinstance(v, bool) and v >= 0


# ---- folded ----

def read_folded(data):
    """Frames are texts.  Every line ends in a space and a whole number, and nothing in
    it can be taken for the border of a frame, of the amount or of the line."""
    text = data.decode("utf-8")
    need(not text or text.endswith("\n"), "no end of the last line")
    out = {}
    for line in text.split("\n")[:-1]:
        need(re.fullmatch(r"[^ \x00-\x1f\x7f]+ [0-9]+", line), "not a stack and a number:", repr(line))
        stack, value = line.split(" ")
        frames = tuple(stack.split(";"))
        need(all(frames), "an empty frame:", repr(line))
        need(frames not in out, "a stack twice:", repr(line))
        out[frames] = int(value)
    return {"": out}


# ---- speedscope ----

UNITS = ("none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes")


def speedscope_frame(f):
    need(isinstance(f["name"], str) and f["name"], "a frame without a name")
    need(set(f) <= {"name", "file", "line", "col"}, "unknown members of a frame:", set(f))
    need(isinstance(f.get("file", ""), str), "a file that is no text")
    need("line" not in f or (is_count(f["line"]) and f["line"] >= 1), "a line that is none")
    return (f["name"], f.get("file", ""), f.get("line", 0))


def read_speedscope(data):
    obj = json.loads(data)
    need(obj["$schema"] == "https://www.speedscope.app/file-format-schema.json", "no schema")
    need(isinstance(obj["profiles"], list) and obj["profiles"], "no profiles")
    need(0 <= obj.get("activeProfileIndex", 0) < len(obj["profiles"]), "no such profile is active")
    need(re.fullmatch(r"ljperf@[0-9.]+", obj["exporter"]), "exporter is", obj["exporter"])
    frames = [speedscope_frame(f) for f in obj["shared"]["frames"]]
    need(len(set(frames)) == len(frames), "a frame twice")
    out = {}
    for p in obj["profiles"]:
        need(p["type"] == "sampled" and p["unit"] in UNITS, "type or unit of", p["name"])
        need(p["unit"] == ("none" if "(blocks)" in p["name"] or p["name"] == "count" else "bytes"),
             "unit of", p["name"])
        need(len(p["samples"]) == len(p["weights"]), "as many weights as samples")
        need(p["startValue"] == 0 and p["endValue"] == sum(p["weights"]), "the end is the sum")
        need(p["name"] not in out, "a name twice")
        stacks = out[p["name"]] = {}
        for sample, weight in zip(p["samples"], p["weights"]):
            need(sample and all(is_count(i) and i < len(frames) for i in sample), "sample", sample)
            need(is_count(weight) and weight, "weight", weight)
            add(stacks, tuple(frames[i] for i in sample), weight)
    return out


# ---- pprof: the wire format of protobuf, and the message of profile.proto ----

def varint(data, at):
    value = shift = 0
    while True:
        need(at < len(data) and shift < 70, "a number that does not end")
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value & (2 ** 64 - 1), at


def fields(data):
    """(number, value) of a message; bytes for what has a length."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            need(key & 7 == 2, "wire type", key & 7)
            size, at = varint(data, at)
            need(size <= len(data) - at, "a message that is too long")
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def numbers(value):
    """A repeated number: packed, or one."""
    if isinstance(value, int):
        return [value]
    out, at = [], 0
    while at < len(value):
        n, at = varint(value, at)
        out.append(n)
    return out


def signed(v):
    return v - 2 ** 64 if v >= 2 ** 63 else v


def record(data):
    """A message whose fields are numbers that stand once."""
    out = {}
    for number, value in fields(data):
        need(number not in out and isinstance(value, int), "field", number)
        out[number] = value
    return out


class Pprof:
    def __init__(self, data):
        self.types, self.samples, self.strings, self.comments = [], [], [], []
        self.mappings, self.locations, self.functions = {}, {}, {}
        self.one = {}
        for number, value in fields(gzip.decompress(data)):
            if number == 1:
                self.types.append(record(value))
            elif number == 2:
                self.samples.append(self.sample(value))
            elif number in (3, 5):
                table, rec = (self.mappings if number == 3 else self.functions), record(value)
                need(rec[1] and rec[1] not in table, "an id that is 0 or there twice")
                table[rec[1]] = rec
            elif number == 4:
                self.location(value)
            elif number == 6:
                self.strings.append(value.decode("utf-8"))
            elif number == 13:
                self.comments += numbers(value)
            else:
                need(number in (9, 10, 11, 12, 14) and number not in self.one, "field", number)
                self.one[number] = record(value) if number == 11 else value

    def sample(self, data):
        out = {1: [], 2: [], 3: []}
        for number, value in fields(data):
            out[number] += [record(value)] if number == 3 else numbers(value)
        return out

    def location(self, data):
        rec = {4: []}
        for number, value in fields(data):
            if number == 4:
                rec[4].append(record(value))
            else:
                need(number not in rec, "field", number)
                rec[number] = value
        need(rec[1] and rec[1] not in self.locations, "a place that is 0 or there twice")
        self.locations[rec[1]] = rec

    def text(self, index):
        need(index < len(self.strings), "no string", index)
        return self.strings[index]

    def frame(self, location_id):
        need(location_id in self.locations, "no place", location_id)
        loc = self.locations[location_id]
        need(len(loc[4]) == 1, "one line for each place")
        line = loc[4][0]
        need(line[1] in self.functions, "no function", line[1])
        func = self.functions[line[1]]
        mapping = loc.get(2, 0)
        need(mapping == 0 or mapping in self.mappings, "no mapping", mapping)
        if mapping:
            m = self.mappings[mapping]
            need(m[2] <= loc.get(3, 0) < m[3], "an address outside its mapping")
        return (self.text(func[2]), self.text(func.get(4, 0)), line.get(2, 0))


def read_pprof(data):
    p = Pprof(data)
    need(p.strings and p.strings[0] == "", "string 0 is the empty one")
    need(len(set(p.strings)) == len(p.strings), "a string twice")
    names = [p.text(t[1]) for t in p.types]
    need(len(set(names)) == len(names) and names, "types", names)
    for name, t in zip(names, p.types):
        need(p.text(t[2]) == ("bytes" if name.endswith("_space") else "count"), "unit of", name)
    need(p.text(p.one[14]) in names, "no such default type")
    need(p.text(p.one[11][1]) == "space" and p.text(p.one[11][2]) == "bytes", "period type")
    for m in p.mappings.values():
        need(p.text(m[5]) and re.fullmatch("([0-9a-f]{2})*", p.text(m.get(6, 0))), "mapping")
    out = {name: {} for name in names}
    for s in p.samples:
        need(len(s[2]) == len(names) and s[1], "a value for each type, and a place")
        stack = tuple(p.frame(i) for i in reversed(s[1]))
        for name, v in zip(names, s[2]):
            need(signed(v) >= 0, "value", v)
            if v:
                add(out[name], stack, v)
        for label in s[3]:
            need(p.text(label[1]) == "bytes" and p.text(label[4]) == "bytes", "label")
    return out


# ---- callgrind ----

class Callgrind:
    """Costs by (file, function, line, object), and of calls.  An object holds until
    the next one; the callee of a call has that of its caller, unless it says so."""

    def __init__(self, text):
        self.names = {"f": {}, "n": {}, "o": {}}
        self.object = self.call_object = ""
        self.self_costs, self.calls = {}, {}
        self.file = self.func = self.callee = self.call_file = None
        lines = text.split("\n")
        need(lines[0] == "# callgrind format" and lines[-1] == "", "first and last line")
        head = self.read_head(lines[1:])
        need(head["version"] == "1" and head["positions"] == "line", "version, positions")
        self.events = head["events"].split()
        need(self.events and all(re.fullmatch("[A-Za-z][A-Za-z0-9_]*", e) for e in self.events),
             "events", self.events)
        for line in lines[1 + head["n"]:-1]:
            self.line(line)
        need(self.callee is None, "a call without a cost")
        sums = [sum(c[i] for c in self.self_costs.values()) for i in range(len(self.events))]
        need(sums == [int(v) for v in head["summary"].split()], "the summary is the sum:", sums)

    def read_head(self, lines):
        head = {}
        for n, line in enumerate(lines):
            if not line:
                head["n"] = n
                return head
            key, value = line.split(":", 1)
            head[key] = value.strip()
        head["n"] = len(lines) - 1
        return head

    def name(self, kind, text):
        m = re.fullmatch(r"\(([0-9]+)\)(?: (.+))?", text)
        need(m, "not a compressed name:", text)
        names = self.names[kind]
        if m.group(2):
            need(m.group(1) not in names, "named twice:", text)
            names[m.group(1)] = m.group(2)
        need(m.group(1) in names, "used before it is named:", text)
        return names[m.group(1)]

    def object_name(self, text):
        name = self.name("o", text)
        return "" if name == "???" else name

    def line(self, line):
        key, _, value = line.partition("=")
        if not line:
            return
        if key == "ob":
            self.object = self.call_object = self.object_name(value)
        elif key == "cob":
            self.call_object = self.object_name(value)
        elif key == "fl":
            self.file = self.call_file = self.name("f", value)
        elif key == "fn":
            self.func = self.name("n", value)
        elif key == "cfi":
            self.call_file = self.name("f", value)
        elif key == "cfn":
            self.callee = self.name("n", value)
        elif key == "calls":
            need(re.fullmatch("[1-9][0-9]* [0-9]+", value) and self.callee, "calls", value)
        else:
            self.cost(line)

    def cost(self, line):
        values = [int(v) for v in line.split(" ")]
        need(len(values) == 1 + len(self.events) and min(values) >= 0, "costs", line)
        place = (self.file, self.func, values[0], self.object)
        if self.callee is None:
            need(place not in self.self_costs, "costs twice", place)
            self.self_costs[place] = values[1:]
            return
        key = place, (self.call_file, self.callee, self.call_object)
        need(key not in self.calls, "a call twice", key)
        self.calls[key] = values[1:]
        self.callee, self.call_object = None, self.object


def read_callgrind(data):
    return Callgrind(data.decode("utf-8"))


# ---- Firefox Profiler, processed format, version 60 ----

TABLES = {
    "stackTable": ("frame", "prefix"),
    "frameTable": ("address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol",
                   "innerWindowID", "line", "column"),
    "funcTable": ("name", "isJS", "relevantForJS", "resource", "source", "lineNumber",
                  "columnNumber"),
    "resourceTable": ("type", "lib", "name", "host"),
    "nativeSymbols": ("libIndex", "address", "name", "functionSize"),
    "sources": ("id", "filename"),
}
THREAD = ("processType", "processStartupTime", "processShutdownTime", "registerTime",
          "unregisterTime", "pausedRanges", "name", "isMainThread", "pid", "tid", "samples",
          "markers", "nativeAllocations")


def table(obj, columns, optional=()):
    """A table has its columns and nothing else, all of its length."""
    need(set(obj) - set(optional) == set(columns) | {"length"}, "columns", sorted(obj))
    for c in columns:
        need(len(obj[c]) == obj["length"], "length of", c)


def indices(column, n, null=False):
    need(all((null and i is None) or (is_count(i) and i < n) for i in column), "indices")


def firefox_stacks(shared):
    """The frames of each stack."""
    strings, frames, funcs = shared["stringArray"], shared["frameTable"], shared["funcTable"]
    sources, stacks = shared["sources"], shared["stackTable"]
    for name, columns in TABLES.items():
        table(shared[name], columns)
    need(all(isinstance(s, str) for s in strings), "strings")
    indices(funcs["name"], len(strings))
    indices(funcs["source"], sources["length"], null=True)
    indices(sources["filename"], len(strings))
    indices(frames["func"], funcs["length"])
    indices(stacks["frame"], frames["length"])

    def frame(i):
        func = frames["func"][i]
        source = funcs["source"][func]
        return (strings[funcs["name"][func]],
                "" if source is None else strings[sources["filename"][source]],
                frames["line"][i] or 0)

    out = []
    for i, (f, prefix) in enumerate(zip(stacks["frame"], stacks["prefix"])):
        need(prefix is None or 0 <= prefix < i, "a stack before its prefix")
        out.append((out[prefix] if prefix is not None else ()) + (frame(f),))
    return out


def firefox_thread(thread, profile, stacks):
    need(all(k in thread for k in THREAD), "members of a thread:", sorted(thread))
    need(isinstance(thread["pid"], str) and isinstance(thread["registerTime"], (int, float)), "pid")
    table(thread["samples"], ("stack", "time"), ("weight", "weightType"))
    table(thread["markers"], ("data", "name", "startTime", "endTime", "phase", "category"))
    indices(thread["markers"]["name"], len(profile["shared"]["stringArray"]))
    allocations = thread["nativeAllocations"]
    table(allocations, ("time", "weight", "stack"), ("weightType",))
    need(allocations["weightType"] == "bytes", "weightType")
    need(allocations["time"] == sorted(allocations["time"]), "times that fall")
    indices(allocations["stack"], len(stacks))
    plus, minus = {}, {}
    for stack, weight in zip(allocations["stack"], allocations["weight"]):
        if weight:
            add(plus if weight > 0 else minus, stacks[stack], abs(weight))
    return plus, minus


def firefox_counter(counter, n_threads):
    for key in ("name", "category", "description", "pid"):
        need(isinstance(counter[key], str), key)
    need(counter["category"] == "Memory" and counter["mainThreadIndex"] < n_threads, "counter")
    table(counter["samples"], ("time", "count"))
    need(counter["samples"]["time"] == sorted(counter["samples"]["time"]), "times that fall")
    size = most = 0
    for change in counter["samples"]["count"]:
        size += change
        most = max(most, size)
        need(size >= 0, "a heap below nothing")
    return most


def read_firefox(data):
    """Also "NAME freed" for what was freed, and "heap" for its largest size."""
    p = json.loads(data)
    meta = p["meta"]
    need(meta["preprocessedProfileVersion"] == 60 and isinstance(meta["version"], int), "version")
    for key, kind in (("interval", (int, float)), ("startTime", (int, float)), ("product", str),
                      ("processType", int), ("stackwalk", int), ("markerSchema", list)):
        need(isinstance(meta[key], kind), key)
    need(any(c["color"] == "grey" for c in meta["categories"]), "a grey category is the default")
    need(all(c["subcategories"] for c in meta["categories"]), "subcategories")
    indices(p["shared"]["frameTable"]["category"], len(meta["categories"]))
    need(p["libs"] == [] and p["threads"], "libs, threads")
    need(len({(t["pid"], t["tid"]) for t in p["threads"]}) == len(p["threads"]), "a tid twice")
    stacks = firefox_stacks(p["shared"])
    out = {}
    for t in p["threads"]:
        out[t["name"]], minus = firefox_thread(t, p, stacks)
        if t["name"] == "allocated":
            out["deallocated"] = minus
        else:
            need(not minus, "less than nothing")
    out["heap"] = {(): max(firefox_counter(c, len(p["threads"])) for c in p["counters"])}
    return out


# ---- tables ----

def read_csv(data):
    text = data.decode("utf-8")
    need(text.count("\r\n") == text.count("\n"), "lines end in CR LF")
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    need(rows and all(len(r) == len(rows[0]) for r in rows), "as many fields in each line")
    return [dict(zip(rows[0], r)) for r in rows[1:]]


def read_json(data):
    obj = json.loads(data)
    need({"metric", "files", "totals", "rows"} == set(obj), "members", sorted(obj))
    return obj
