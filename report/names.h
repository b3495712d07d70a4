/* names.h - sites as text.  Called for what is printed only. */
#ifndef LJPERF_REPORT_NAMES_H
#define LJPERF_REPORT_NAMES_H

#include "report/symtab.h"
#include "util/strbuf.h"

enum name_style {
	NAME_MEMPROF, /* as luajit-parse-memprof writes: "@file:3", "name:0xaddr" */
	NAME_TABLE, /* for people: "file:3", "name" */
	NAME_RAW, /* NAME_TABLE with "@" and "=", whole and not escaped: for JSON */
};

/* Each appends to OUT; the text is escaped unless NAME_RAW. */
void names__site(const struct symtab *st, uint32_t site, enum name_style style, struct strbuf *out);
void names__chunk(const struct symtab *st, const struct proto *proto, enum name_style style,
		  struct strbuf *out);
/* "file:first line"; the name of the function is a field of its own. */
void names__func(const struct symtab *st, uint32_t site, struct strbuf *out);
/* The file name of a module, without its folder. */
void names__module(const struct symtab *st, const struct module *m, struct strbuf *out);
/* A symbol of C, C++ or Rust. */
void names__c_symbol(const struct symtab *st, const char *func, struct strbuf *out);
/* What the name of a site does not say, in parentheses, or nothing: the code of
 * a C function with file, line and inlined functions; where a trace leads. */
void names__detail(const struct symtab *st, uint32_t site, struct strbuf *out);
/* "lua", "c", "trace", "vm" */
const char *names__source(enum ljm_source source);
const char *names__vmstate(unsigned vmstate); /* "gc", ... */
const char *names__linktype(unsigned linktype);

/* Appends "ALIASES:" and the text of the multi-line chunks for which WANTED
 * is true (NULL: all), in the layout of luajit-parse-memprof; nothing when
 * there is none. */
void names__aliases(const struct symtab *st, const bool *wanted, struct strbuf *out);

#endif
