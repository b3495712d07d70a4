/* escape.h - text of strangers made safe to print, and numbers made readable.
 * Used by everything of the report that prints.
 */
#ifndef LJPERF_REPORT_ESCAPE_H
#define LJPERF_REPORT_ESCAPE_H

#include "util/strbuf.h"
#include "util/text.h"

typedef unsigned __int128 u128;
typedef __int128 s128;

enum { ESCAPE_KEEP_TAB = 1 };

/* Appends S with everything that could steer a terminal written as \n, \t or
 * \xHH: control characters (C1 too), bytes that are not UTF-8, and characters
 * that change the direction of text. */
void escape__text(struct strbuf *out, const char *s, size_t len, unsigned flags);

/* Appends S as a JSON string, quotes included.  A byte that is not UTF-8
 * becomes U+DC80 + (byte - 0x80), as Python's surrogateescape does. */
void escape__json(struct strbuf *out, const char *s, size_t len);

/* Columns that valid text of one cell per character takes. */
size_t utf8__width(const char *s, size_t len);

/* Appends S, cut to MAX columns where it is longer.  What is left out is in the
 * middle, so that "file:line" at the end stays, and the name before it. */
void cut__name(struct strbuf *out, const char *s, size_t len, size_t max);

void number__dec(struct strbuf *out, u128 v); /* "36893488147419103230" */
void number__bytes(struct strbuf *out, u128 v); /* "334.7 MiB", "0 B" */
void number__count(struct strbuf *out, u128 v); /* "123456", "2.00 M" */
void number__time(struct strbuf *out, uint64_t ns); /* "2.41 s", "15.0 ms", "1.50 ms" */

#endif
