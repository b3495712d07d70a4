/* names.c - sites as text; see names.h. */
#include "report/names.h"

#include "report/escape.h"

/* A chunk name that is source text shows this many bytes of it in a table. */
enum { TABLE_TEXT = 48, ALIAS_WORDS = 24 };

static const char *const source_names[] = {
	[LJM_SRC_INTERNAL] = "vm",
	[LJM_SRC_LUA] = "lua",
	[LJM_SRC_C] = "c",
	[LJM_SRC_TRACE] = "trace",
};

static const char *const vmstate_names[LJM_VMSTATE_MAX] = {
	[LJM_VMSTATE_UNKNOWN] = "unknown",
	[LJM_VMSTATE_INTERP] = "interpreter",
	[LJM_VMSTATE_C] = "c",
	[LJM_VMSTATE_GC] = "gc",
	[LJM_VMSTATE_EXIT] = "exit",
	[LJM_VMSTATE_RECORD] = "record",
	[LJM_VMSTATE_OPT] = "optimize",
	[LJM_VMSTATE_ASM] = "assemble",
	[LJM_VMSTATE_TRACE] = "trace",
	[LJM_VMSTATE_HOST] = "host",
	[LJM_VMSTATE_STACK] = "stack",
};

/* What the VM was doing, in words for people. */
static const char *const internal_names[LJM_VMSTATE_MAX] = {
	[LJM_VMSTATE_INTERP] = "interpreter", [LJM_VMSTATE_C] = "C code",
	[LJM_VMSTATE_GC] = "collector",       [LJM_VMSTATE_EXIT] = "trace exit",
	[LJM_VMSTATE_RECORD] = "recorder",    [LJM_VMSTATE_OPT] = "optimiser",
	[LJM_VMSTATE_ASM] = "assembler",      [LJM_VMSTATE_TRACE] = "compiled code",
	[LJM_VMSTATE_HOST] = "host",          [LJM_VMSTATE_STACK] = "VM stack",
};

static const char *const linktype_names[] = {
	[LJM_LINK_UNKNOWN] = "unknown", [LJM_LINK_NONE] = "none",
	[LJM_LINK_ROOT] = "root",       [LJM_LINK_LOOP] = "loop",
	[LJM_LINK_TAILREC] = "tailrec", [LJM_LINK_UPREC] = "uprec",
	[LJM_LINK_DOWNREC] = "downrec", [LJM_LINK_INTERP] = "interpreter",
	[LJM_LINK_RETURN] = "return",   [LJM_LINK_STITCH] = "stitch",
};

const char *names__source(enum ljm_source source)
{
	return source >= LJM_SRC_INTERNAL && source <= LJM_SRC_TRACE ? source_names[source]
								     : "unknown";
}

const char *names__vmstate(unsigned vmstate)
{
	return vmstate_names[vmstate < LJM_VMSTATE_MAX ? vmstate : LJM_VMSTATE_UNKNOWN];
}

const char *names__linktype(unsigned linktype)
{
	return linktype_names[linktype <= LJM_LINK_STITCH ? linktype : LJM_LINK_UNKNOWN];
}

static bool str__is_named(const struct str *chunk)
{
	return chunk->len && (chunk->s[0] == '@' || chunk->s[0] == '=');
}

/* Built-in Lua functions have a first line of -1 and are named after
 * themselves. */
static bool proto__is_builtin(const struct proto *p, const struct str *chunk)
{
	return p->first_line == UINT64_MAX && !str__is_named(chunk);
}

/* Stripped bytecode is loaded under its own bytes as a name. */
static bool str__is_bytecode(const struct str *chunk)
{
	return chunk->len && chunk->s[0] == '\033';
}

static void names__text(const struct str *s, enum name_style style, struct strbuf *out)
{
	if (style == NAME_RAW)
		strbuf__addmem(out, s->s, s->len);
	else
		escape__text(out, s->s, s->len, 0);
}

/* The first words of a source text, on one line, with "..." when cut. */
static void names__words(const struct str *s, size_t max, struct strbuf *out)
{
	size_t i, n = 0;
	uint32_t cp;

	while (n < s->len && n < max) { /* never half a character */
		i = utf8__decode(s->s + n, s->len - n, &cp);
		n += i ? i : 1;
	}
	for (i = 0; i < n; i++) {
		size_t blank = i;

		while (i < n && (s->s[i] == '\n' || s->s[i] == '\t' || s->s[i] == ' '))
			i++;
		if (i > blank && blank > 0 && i < n)
			strbuf__addch(out, ' ');
		for (blank = i; i < n && s->s[i] != '\n' && s->s[i] != '\t' && s->s[i] != ' ';)
			i++;
		escape__text(out, s->s + blank, i - blank, 0);
		i--;
	}
	if (n < s->len)
		strbuf__addstr(out, "...");
}

static void names__alias(const struct symtab *st, uint32_t chunk, enum name_style style,
			 struct strbuf *out)
{
	strbuf__addf(out, "function_alias_%zu", symtab__alias(st, chunk));
	if (style != NAME_TABLE)
		return;
	strbuf__addstr(out, " \"");
	names__words(strpool__get(&st->strings, chunk), ALIAS_WORDS, out);
	strbuf__addch(out, '"');
}

void names__chunk(const struct symtab *st, const struct proto *p, enum name_style style,
		  struct strbuf *out)
{
	const struct str *chunk;
	struct str file;

	if (p->chunk == STR_NONE) {
		strbuf__addx(out, p->addr);
		return;
	}
	chunk = strpool__get(&st->strings, p->chunk);
	if (style == NAME_RAW) {
		names__text(chunk, style, out);
	} else if (str__is_bytecode(chunk)) {
		strbuf__addch(out, '?');
	} else if (proto__is_builtin(p, chunk)) {
		strbuf__addstr(out, "[builtin:");
		names__text(chunk, style, out);
		strbuf__addch(out, ']');
	} else if (symtab__alias(st, p->chunk)) {
		names__alias(st, p->chunk, style, out);
	} else if (style == NAME_TABLE && str__is_named(chunk)) {
		file = (struct str){ chunk->s + 1, chunk->len - 1 };
		names__text(&file, style, out);
	} else if (style == NAME_TABLE) {
		names__words(chunk, TABLE_TEXT, out);
	} else {
		names__text(chunk, style, out);
	}
}

static void names__line(const struct symtab *st, const struct proto *p, uint64_t line,
			enum name_style style, struct strbuf *out)
{
	/* Tarantool's tool calls every address without a name a C function. */
	if (p->chunk == STR_NONE && style == NAME_MEMPROF) {
		strbuf__addf(out, "CFUNC 0x%llx", (unsigned long long)p->addr);
		return;
	}
	names__chunk(st, p, style, out);
	if (p->chunk != STR_NONE && proto__is_builtin(p, strpool__get(&st->strings, p->chunk)))
		return;
	if (!line) /* not known, in a call stack */
		return;
	strbuf__addch(out, ':');
	strbuf__addu(out, line);
}

void names__module(const struct symtab *st, const struct module *m, struct strbuf *out)
{
	const struct str *path = strpool__get(&st->strings, m->path);
	const char *slash = memrchr(path->s, '/', path->len);
	const char *base = slash ? slash + 1 : path->s;

	if (path->len)
		escape__text(out, base, path->len - (size_t)(base - path->s), 0);
	else
		strbuf__addstr(out, "[unknown]");
}

void names__c_symbol(const struct symtab *st, const char *func, struct strbuf *out)
{
	struct strbuf readable = STRBUF_INIT;

	symbolizer__add_func(st->symbolizer, func, &readable);
	escape__text(out, strbuf__str(&readable), readable.len, 0);
	out->failed |= readable.failed;
	strbuf__exit(&readable);
}

/* The name that Lua has for it, or else that of its code. */
static bool names__c_name(const struct symtab *st, const struct site *s, enum name_style style,
			  struct strbuf *out)
{
	const struct cfunc *c = &st->cfuncs.at[s->ref];
	struct symbol sym;

	if (c->name != STR_NONE) {
		names__text(strpool__get(&st->strings, c->name), style, out);
		return true;
	}
	sym = symtab__symbol_of(st, s);
	if (sym.n)
		names__c_symbol(st, sym.frames[sym.n - 1].func, out);
	return sym.n > 0;
}

/* Of a call inside of C code: " cmod.c:42", when the module tells. */
static void names__c_place(const struct symtab *st, const struct site *s, struct strbuf *out)
{
	struct symbol sym = symtab__symbol_of(st, s);
	const struct symbol_frame *f = sym.n ? &sym.frames[sym.n - 1] : NULL;
	const char *slash;

	if (!f || !f->line || !*f->file)
		return;
	slash = strrchr(f->file, '/');
	strbuf__addch(out, ' ');
	names__text(&(struct str){ slash ? slash + 1 : f->file,
				   strlen(slash ? slash + 1 : f->file) },
		    NAME_TABLE, out);
	strbuf__addch(out, ':');
	strbuf__addu(out, f->line);
}

static void names__c(const struct symtab *st, const struct site *s, enum name_style style,
		     bool place, struct strbuf *out)
{
	const struct module *m = symtab__module_of(st, s);

	if (names__c_name(st, s, style, out)) {
		if (st->cfuncs.at[s->ref].code && place)
			names__c_place(st, s, out);
		if (style != NAME_MEMPROF)
			return;
		strbuf__addch(out, ':');
		strbuf__addx(out, st->cfuncs.at[s->ref].addr);
	} else if (m && style == NAME_TABLE) {
		names__module(st, m, out);
		strbuf__addch(out, '+');
		strbuf__addx(out, s->arg - m->bias);
	} else {
		strbuf__addstr(out, "CFUNC ");
		strbuf__addx(out, s->arg);
	}
}

static void names__trace(const struct symtab *st, const struct trace *t, enum name_style style,
			 struct strbuf *out)
{
	strbuf__addf(out, "TRACE [%llu]", (unsigned long long)t->num);
	if (t->mcode) {
		strbuf__addch(out, ' ');
		strbuf__addx(out, t->mcode);
	}
	if (t->proto == HASHMAP_NONE)
		return;
	strbuf__addstr(out, " started at ");
	names__line(st, &st->protos[t->proto], t->line, style, out);
}

/* Other tools know the one word only. */
static void names__internal(uint64_t vmstate, enum name_style style, struct strbuf *out)
{
	strbuf__addstr(out, "INTERNAL");
	if (style != NAME_MEMPROF && vmstate < LJM_VMSTATE_MAX && internal_names[vmstate])
		strbuf__addf(out, " (%s)", internal_names[vmstate]);
}

void names__site(const struct symtab *st, uint32_t site, enum name_style style, struct strbuf *out)
{
	const struct site *s = &st->sites[site];

	switch (s->source) {
	case LJM_SRC_LUA:
		names__line(st, &st->protos[s->ref], s->arg, style, out);
		break;
	case LJM_SRC_C:
		names__c(st, s, style, style == NAME_TABLE, out);
		break;
	case LJM_SRC_TRACE:
		names__trace(st, &st->traces[s->ref], style, out);
		break;
	default:
		names__internal(s->arg, style, out);
	}
}

void names__func(const struct symtab *st, uint32_t site, struct strbuf *out)
{
	const struct site *s = &st->sites[site];
	const struct proto *p;

	if (s->source == LJM_SRC_C) {
		names__c(st, s, NAME_TABLE, false, out);
		return;
	}
	if (s->source != LJM_SRC_LUA) {
		names__site(st, site, NAME_TABLE, out);
		return;
	}
	p = &st->protos[s->ref];
	/* The main chunk is of no line, and as a traceback calls it. */
	if (p->chunk != STR_NONE && !p->first_line && p->func == STR_NONE)
		strbuf__addstr(out, "main chunk  ");
	if (p->chunk == STR_NONE)
		names__chunk(st, p, NAME_TABLE, out);
	else
		names__line(st, p, p->first_line, NAME_TABLE, out);
}

/* ---- the text of multi-line chunks ---- */

static bool is_eol(char c)
{
	return c == '\n' || c == '\r';
}

/* Every line under the number Lua gives it: empty ones count, a last line
 * without an end is one, and so is what \r\n and \n\r end. */
static void names__listing(const struct str *text, struct strbuf *out)
{
	const char *s = text->s, *end = s + text->len, *eol;
	uint64_t line = 1;

	for (; s < end; line++) {
		for (eol = s; eol < end && !is_eol(*eol);)
			eol++;
		strbuf__addu(out, line);
		strbuf__addstr(out, "\t| ");
		escape__text(out, s, (size_t)(eol - s), ESCAPE_KEEP_TAB);
		strbuf__addch(out, '\n');
		s = eol + 1;
		if (s < end && is_eol(*s) && *s != *eol)
			s++;
	}
}

void names__aliases(const struct symtab *st, const bool *wanted, struct strbuf *out)
{
	bool any = false;
	size_t i;

	for (i = 0; i < st->n_aliases; i++) {
		if (wanted && !wanted[i])
			continue;
		if (!any)
			strbuf__addstr(out, "ALIASES:\n");
		any = true;
		strbuf__addf(out, "function_alias_%zu:\n", i + 1);
		names__listing(strpool__get(&st->strings, st->aliases[i]), out);
		strbuf__addstr(out, "\n\n");
	}
}
