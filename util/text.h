/* text.h - which characters of a stranger's text would steer a terminal, and
 * how they are written instead.  Used by error.c and report/escape.c.
 */
#ifndef LJPERF_UTIL_TEXT_H
#define LJPERF_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most bytes that a character becomes: "\xHH" for each of four. */
enum { TEXT_CHAR_MAX = 16 };

/* The number of bytes of the UTF-8 character at S, 0 when it is none; its
 * code point goes to *CP. */
size_t utf8__decode(const char *s, size_t len, uint32_t *cp);

/* Controls (C1 too), and the marks that change the direction of text or end a
 * line. */
bool text__is_unsafe(uint32_t cp);

/* Writes the N bytes at S to OUT as \n, \t, \r or \xHH; how much that is. */
size_t text__escape(char *out, const char *s, size_t n);

/* Writes S to OUT, which has SIZE bytes, with what is unsafe or no UTF-8
 * escaped; what does not fit is left out.  OUT ends with a NUL. */
void text__safe(char *out, size_t size, const char *s);

#endif
