-- tokens.lua [ROUNDS] - a small expression language: lexer, parser to a tree,
-- constant folding, a printer, an interpreter and a stack machine that must
-- agree.  A program to be recorded; prints one checksum.
local rounds = tonumber(arg and arg[1]) or 100

local format, floor, concat = string.format, math.floor, table.concat

--------------------------------------------------------------------- lexer --

local keywords = {}
for word in ("let if then else while do end fn return and or not true false nil"):gmatch("%a+") do
  keywords[word] = true
end

local Lexer = {}
Lexer.__index = Lexer

function Lexer.new(text)
  return setmetatable({ text = text, pos = 1, line = 1 }, Lexer)
end

function Lexer:skip_space()
  while true do
    local _, stop, space = self.text:find("^([ \t\r\n]+)", self.pos)
    if stop then
      for _ in space:gmatch("\n") do self.line = self.line + 1 end
      self.pos = stop + 1
    elseif self.text:find("^#", self.pos) then
      self.pos = self.text:find("\n", self.pos, true) or #self.text + 1
    else
      return
    end
  end
end

local patterns = {
  { "number", "^%d+%.?%d*" },
  { "name", "^[%a_][%w_]*" },
  { "string", "^'([^'\n]*)'" },
  { "op", "^[=<>!]=" },
  { "op", "^[-+*/%%^<>=(),;]" },
}

function Lexer:next()
  self:skip_space()
  if self.pos > #self.text then
    return { kind = "end of text", line = self.line }
  end
  for _, rule in ipairs(patterns) do
    local start, stop, inner = self.text:find(rule[2], self.pos)
    if start then
      local value = inner or self.text:sub(start, stop)
      self.pos = stop + 1
      local kind = rule[1]
      if kind == "name" and keywords[value] then kind = value end
      return { kind = kind == "op" and value or kind, value = value, line = self.line }
    end
  end
  error(format("line %d: unexpected %q", self.line, self.text:sub(self.pos, self.pos)), 0)
end

-------------------------------------------------------------------- parser --

local Parser = {}
Parser.__index = Parser

function Parser.new(text)
  local self = setmetatable({ lexer = Lexer.new(text) }, Parser)
  self.token = self.lexer:next()
  return self
end

function Parser:fail(what)
  error(format("line %d: expected %s, not %s", self.token.line, what, self.token.kind), 0)
end

function Parser:accept(kind)
  local token = self.token
  if token.kind ~= kind then return nil end
  self.token = self.lexer:next()
  return token
end

function Parser:expect(kind)
  return self:accept(kind) or self:fail(kind)
end

local priorities = {
  ["or"] = { 1, 2 }, ["and"] = { 3, 4 },
  ["=="] = { 5, 6 }, ["!="] = { 5, 6 }, ["<"] = { 5, 6 }, [">"] = { 5, 6 },
  ["<="] = { 5, 6 }, [">="] = { 5, 6 },
  ["+"] = { 7, 8 }, ["-"] = { 7, 8 }, ["*"] = { 9, 10 }, ["/"] = { 9, 10 }, ["%"] = { 9, 10 },
  ["^"] = { 14, 13 },
}

function Parser:primary()
  local token = self.token
  if self:accept("number") then return { "number", tonumber(token.value) } end
  if self:accept("string") then return { "string", token.value } end
  if self:accept("true") then return { "bool", true } end
  if self:accept("false") then return { "bool", false } end
  if self:accept("-") then return { "neg", self:expression(11) } end
  if self:accept("not") then return { "not", self:expression(11) } end
  if self:accept("(") then
    local inner = self:expression(0)
    self:expect(")")
    return inner
  end
  if self:accept("name") then
    if not self:accept("(") then return { "name", token.value } end
    local call = { "call", token.value }
    while not self:accept(")") do
      call[#call + 1] = self:expression(0)
      if self.token.kind ~= ")" then self:expect(",") end
    end
    return call
  end
  self:fail("a value")
end

function Parser:expression(limit)
  local left = self:primary()
  while true do
    local op = self.token.kind
    local p = priorities[op]
    if not p or p[1] < limit then return left end
    self:accept(op)
    left = { "binary", op, left, self:expression(p[2]) }
  end
end

function Parser:block(...)
  local out = { "block" }
  while true do
    for i = 1, select("#", ...) do
      if self.token.kind == select(i, ...) then return out end
    end
    out[#out + 1] = self:statement()
  end
end

function Parser:statement()
  if self:accept("let") then
    local name = self:expect("name").value
    self:expect("=")
    local value = self:expression(0)
    self:expect(";")
    return { "let", name, value }
  elseif self:accept("if") then
    local cond = self:expression(0)
    self:expect("then")
    local yes, no = self:block("else", "end"), nil
    if self:accept("else") then no = self:block("end") end
    self:expect("end")
    return { "if", cond, yes, no }
  elseif self:accept("while") then
    local cond = self:expression(0)
    self:expect("do")
    local body = self:block("end")
    self:expect("end")
    return { "while", cond, body }
  elseif self:accept("return") then
    local value = self:expression(0)
    self:expect(";")
    return { "return", value }
  end
  local value = self:expression(0)
  self:expect(";")
  return { "expr", value }
end

local function parse(text)
  local parser = Parser.new(text)
  local tree = parser:block("end of text")
  parser:expect("end of text")
  return tree
end

-------------------------------------------------------------- tree walking --

local operators = {
  ["+"] = function(a, b) return a + b end, ["-"] = function(a, b) return a - b end,
  ["*"] = function(a, b) return a * b end, ["/"] = function(a, b) return a / b end,
  ["%"] = function(a, b) return a % b end, ["^"] = function(a, b) return a ^ b end,
  ["=="] = function(a, b) return a == b end, ["!="] = function(a, b) return a ~= b end,
  ["<"] = function(a, b) return a < b end, [">"] = function(a, b) return a > b end,
  ["<="] = function(a, b) return a <= b end, [">="] = function(a, b) return a >= b end,
}

local builtins = {
  max = math.max, min = math.min, floor = math.floor,
  len = function(s) return #s end,
  cat = function(...) return concat({ ... }) end,
  str = function(v) return tostring(v) end,
}

local walk = {}
local function eval(node, env)
  return walk[node[1]](node, env)
end

local RETURN = {}
function walk.number(n) return n[2] end
function walk.string(n) return n[2] end
function walk.bool(n) return n[2] end
function walk.name(n, env) return env[n[2]] end
function walk.neg(n, env) return -eval(n[2], env) end
walk["not"] = function(n, env) return not eval(n[2], env) end
function walk.call(n, env)
  local args = {}
  for i = 3, #n do args[i - 2] = eval(n[i], env) end
  return builtins[n[2]](unpack(args))
end
function walk.binary(n, env)
  local left = eval(n[3], env)
  if n[2] == "and" then return left and eval(n[4], env) end
  if n[2] == "or" then return left or eval(n[4], env) end
  return operators[n[2]](left, eval(n[4], env))
end
function walk.let(n, env) env[n[2]] = eval(n[3], env) end
function walk.expr(n, env) eval(n[2], env) end
walk["return"] = function(n, env)
  env[RETURN] = eval(n[2], env)
  return RETURN
end
walk["if"] = function(n, env)
  if eval(n[2], env) then return eval(n[3], env) end
  if n[4] then return eval(n[4], env) end
end
walk["while"] = function(n, env)
  while eval(n[2], env) do
    if eval(n[3], env) == RETURN then return RETURN end
  end
end
function walk.block(n, env)
  for i = 2, #n do
    if eval(n[i], env) == RETURN then return RETURN end
  end
end

local function fold(node)
  if type(node) ~= "table" then return node end
  local out = {}
  for i = 1, #node do out[i] = fold(node[i]) end
  if out[1] == "binary" and out[3][1] == "number" and out[4][1] == "number" then
    local value = operators[out[2]] and operators[out[2]](out[3][2], out[4][2])
    if type(value) == "number" then return { "number", value } end
    if type(value) == "boolean" then return { "bool", value } end
  end
  return out
end

------------------------------------------------------------ stack machine --

local function compile(node, code)
  local kind = node[1]
  local function emit(...) code[#code + 1] = { ... } return #code end
  if kind == "number" or kind == "string" or kind == "bool" then
    emit("push", node[2])
  elseif kind == "name" then
    emit("get", node[2])
  elseif kind == "neg" or kind == "not" then
    compile(node[2], code)
    emit(kind)
  elseif kind == "call" then
    for i = 3, #node do compile(node[i], code) end
    emit("call", node[2], #node - 2)
  elseif kind == "binary" and (node[2] == "and" or node[2] == "or") then
    compile(node[3], code)
    local jump = emit(node[2] == "and" and "keep_false" or "keep_true")
    compile(node[4], code)
    code[jump][2] = #code + 1
  elseif kind == "binary" then
    compile(node[3], code)
    compile(node[4], code)
    emit("op", operators[node[2]])
  elseif kind == "let" then
    compile(node[3], code)
    emit("set", node[2])
  elseif kind == "expr" then
    compile(node[2], code)
    emit("drop")
  elseif kind == "return" then
    compile(node[2], code)
    emit("return")
  elseif kind == "if" then
    compile(node[2], code)
    local jump = emit("jump_false")
    compile(node[3], code)
    local over = emit("jump")
    code[jump][2] = #code + 1
    if node[4] then compile(node[4], code) end
    code[over][2] = #code + 1
  elseif kind == "while" then
    local top = #code + 1
    compile(node[2], code)
    local jump = emit("jump_false")
    compile(node[3], code)
    emit("jump", top)
    code[jump][2] = #code + 1
  else
    for i = 2, #node do compile(node[i], code) end
  end
  return code
end

local function run(code)
  local env, stack, sp, pc = {}, {}, 0, 1
  while code[pc] do
    local op = code[pc]
    local what = op[1]
    pc = pc + 1
    if what == "push" then sp = sp + 1; stack[sp] = op[2]
    elseif what == "get" then sp = sp + 1; stack[sp] = env[op[2]]
    elseif what == "set" then env[op[2]] = stack[sp]; sp = sp - 1
    elseif what == "drop" then sp = sp - 1
    elseif what == "op" then sp = sp - 1; stack[sp] = op[2](stack[sp], stack[sp + 1])
    elseif what == "neg" then stack[sp] = -stack[sp]
    elseif what == "not" then stack[sp] = not stack[sp]
    elseif what == "jump" then pc = op[2]
    elseif what == "jump_false" then sp = sp - 1; if not stack[sp + 1] then pc = op[2] end
    elseif what == "keep_false" then if stack[sp] then sp = sp - 1 else pc = op[2] end
    elseif what == "keep_true" then if stack[sp] then pc = op[2] else sp = sp - 1 end
    elseif what == "call" then
      sp = sp - op[3]
      stack[sp + 1] = builtins[op[2]](unpack(stack, sp + 1, sp + op[3]))
      sp = sp + 1
    elseif what == "return" then return stack[sp]
    end
  end
end

------------------------------------------------------------------- testing --

local template = [[
# collatz lengths, and a string made on the way
let n = %d; let longest = 0; let best = 0; let text = '';
while n > %d do
  let k = n; let steps = 0;
  while k != 1 do
    if k %% 2 == 0 then let k = k / 2; else let k = 3 * k + 1; end
    let steps = steps + 1;
  end
  if steps > longest and not (steps < 2 * 3 - 6) then
    let longest = steps; let best = n;
    let text = cat(text, str(best), ' ');
  end
  let n = n - 1;
end
return cat(text, '= ', str(max(longest, -2 ^ 2 + 1)), '/', str(len(text)));
]]

local broken = { "let = 1;", "if 1 then", "1 +;", "(1;", "'abc", "f(1 2);", "let x 1;", "$" }

local function answer(tree)
  local env = {}
  eval(tree, env)
  return env[RETURN]
end

local sum = 0
for round = 1, rounds do
  local text = format(template, 40 + round % 7 * 13, round % 5)
  local tree = parse(text)
  local a, b, c = answer(tree), answer(fold(tree)), run(compile(tree, {}))
  assert(a == b and b == c, "the three ways differ")
  for i = 1, #a do sum = (sum * 31 + a:byte(i)) % 4294967296 end
  for _, bad in ipairs(broken) do
    local ok, why = pcall(parse, bad)
    assert(not ok and why:find("^line 1: "), bad)
  end
end
assert(answer(parse("return 2 ^ 3 ^ 2 - 10 / 2;")) == 507)
print(format("tokens %d %.0f", rounds, sum))
