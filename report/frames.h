/* frames.h - a site as a frame of a call stack: which function, in which file,
 * at which line.  Used by the trees of report, by script and by exporters.
 */
#ifndef LJPERF_REPORT_FRAMES_H
#define LJPERF_REPORT_FRAMES_H

#include "report/names.h"

/* Each takes SITE_NONE, too: it stands for frames that were left out. */

/* Appends the function: "parse_row", "main chunk", "function <app.lua:12>" as
 * a traceback calls one without a name, "string.format", "TRACE [7]".  Text is
 * escaped unless STYLE is NAME_RAW. */
void frame__name(const struct symtab *st, uint32_t site, enum name_style style, struct strbuf *out);

/* Appends the file, or what else the chunk is called; of a C function its
 * module; nothing when there is none.  With NAME_RAW the name as it was given,
 * "@" or "=" included; a chunk that is source text is all of the text. */
void frame__file(const struct symtab *st, uint32_t site, enum name_style style, struct strbuf *out);

/* The line of the frame; 0: none, or not known. */
uint64_t frame__line(const struct symtab *st, uint32_t site);

/* The line on which its function begins; 0: a main chunk, none, or not known. */
uint64_t frame__first_line(const struct symtab *st, uint32_t site);

/* Appends the parts of a text, of a Lua function: "parse_row", and " app.lua:42" or,
 * with LINE 0, " app.lua"; a built-in function has no place. */
void frame__proto_name(const struct symtab *st, const struct proto *p, enum name_style style,
		       struct strbuf *out);
void frame__proto_place(const struct symtab *st, const struct proto *p, uint64_t line,
			struct strbuf *out);

/* Appends "parse_row app.lua:42", for people; with FUNCTION the line is the one
 * the function begins on, so that its frames are called alike. */
void frame__text(const struct symtab *st, uint32_t site, bool function, struct strbuf *out);

#endif
