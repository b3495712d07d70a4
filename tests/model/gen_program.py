#!/usr/bin/env python3
"""gen_program.py SEED - writes a random Lua program to stdout that allocates in
many ways, from many depths of calls; used by tests/cli/stacks_random.sh.

Functions call earlier ones, so the program ends.  They allocate tables,
strings, closures and buffers, keep some and drop most, recurse, call at the
tail, through pcall, error, coroutines, metamethods, string.gsub, table.sort and
iterators.  Nothing it does depends on addresses or times.
"""
import random
import sys

HEADER = """-- made by gen_program.py
local kept, n_kept = {}, 0
local function keep(v)
  n_kept = n_kept % 200 + 1
  kept[n_kept] = v
  return v
end
-- Calls that may still be made: they would double from function to function.
local left = 300
"""


class Generator:
    def __init__(self, seed):
        self.rnd = random.Random(seed)
        self.lines = HEADER.split("\n")[:-1]
        self.n = 0

    def call(self):
        """A call of an earlier function, or of one of the library."""
        if self.n == 0 or self.rnd.random() < 0.2:
            return self.rnd.choice(["string.rep('ab', n + 3)", "tostring(n + 0.5)",
                                    "table.concat({n, n + 1}, ',')", "('x'):rep(n % 50)"])
        return "f%d(n %% %d)" % (self.rnd.randrange(max(0, self.n - 4), self.n),
                                 self.rnd.randrange(2, 7))

    def statement(self):
        c = self.call
        kinds = [
            lambda: ["local t = {n, n}; keep(t)"],
            lambda: ["keep({a = n, b = {n}})"],
            lambda: ["for i = 1, n %% 5 + 1 do local s = 'k' .. i .. n; %s end" % c()],
            lambda: ["keep(function() return n, %d end)" % self.rnd.randrange(99)],
            lambda: ["local t = {}", "for i = 1, n * %d %% 60 do t[i] = i end" %
                     self.rnd.randrange(2, 30)],
            lambda: ["local s = ''", "for i = 1, n % 9 do s = s .. tostring(i) end"],
            lambda: ["pcall(function() %s; error({n}) end)" % c()],
            lambda: ["local ok, why = pcall(error, 'no ' .. n)", "keep(why)"],
            lambda: ["local co = coroutine.wrap(function(a) local b = coroutine.yield({a})"
                     " return %s end)" % c(), "co(n); co(n)"],
            lambda: ["for v in coroutine.wrap(function() for i = 1, 3 do"
                     " coroutine.yield({i, n}) end end) do keep(v) end"],
            lambda: ["local m = setmetatable({}, {__index = function(_, k) return {k, %s} end,"
                     " __add = function(a, b) return {n} end})" % c(), "local _ = m.key, m + 1"],
            lambda: ["local s = ('a,b,c'):gsub('%%a', function(x) return x .. tostring((%s)) end)" %
                     c()],
            lambda: ["local t = {3, 1, 2, n}", "table.sort(t, function(a, b)"
                     " local _ = {a}; return a < b end)"],
            lambda: ["if n > 0 then r(n - 1) end"],
            lambda: [c()],
            lambda: [c(), c()],
        ]
        return self.rnd.choice(kinds)()

    def block(self):
        """A statement, which may be a value that nobody takes."""
        words = ("local", "keep", "for", "pcall", "co(", "table.sort", "if")
        return ["  do"] + ["    " + (s if s.startswith(words) else "local _ = " + s)
                           for s in self.statement()] + ["  end"]

    def function(self):
        body = ["  left = left - 1; if left < 0 then return n end"]
        for _ in range(self.rnd.randrange(1, 4)):
            body += self.block()
        if self.rnd.random() < 0.5:
            body.append("  return " + self.call())
        else:
            body += ["  local v = %s" % self.call(), "  return v"]
        self.lines.append("local f%d; do local r; r = function(n)" % self.n)
        self.lines += body
        self.lines.append("end; f%d = r end" % self.n)
        self.n += 1

    def run(self):
        for _ in range(self.rnd.randrange(4, 12)):
            self.function()
        for i in range(self.n):
            self.lines.append("for n = 1, %d do f%d(n) end" % (self.rnd.randrange(1, 12), i))
        self.lines.append("kept = nil")
        if self.rnd.random() < 0.5:
            self.lines.append("collectgarbage()")
        return "\n".join(self.lines) + "\n"


def main():
    sys.stdout.write(Generator(sys.argv[1]).run())


if __name__ == "__main__":
    main()
