/* strbuf.h - a growing string, for output and names.
 *
 * Running out of memory is sticky: later additions do nothing and FAILED
 * stays true, so that callers check once, when the string is complete.
 */
#ifndef LJPERF_UTIL_STRBUF_H
#define LJPERF_UTIL_STRBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct strbuf {
	char *buf; /* NUL-terminated once anything was added; else NULL */
	size_t len, cap;
	bool failed;
};

#define STRBUF_INIT \
	{ \
		NULL, 0, 0, false \
	}

/* Whether any string ever ran out of memory: for main(), so that a text in which
 * one was cut never passes for the whole. */
bool strbuf__any_failed(void);

void strbuf__exit(struct strbuf *sb); /* frees; SB is empty and usable afterwards */

/* Makes room for N more bytes and a NUL; false when there is no memory. */
bool strbuf__grow(struct strbuf *sb, size_t n);

void strbuf__addmem(struct strbuf *sb, const void *p, size_t n);
void strbuf__addf(struct strbuf *sb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strbuf__addu(struct strbuf *sb, uint64_t v); /* decimal */
void strbuf__addx(struct strbuf *sb, uint64_t v); /* "0x" and lower case hex */
void strbuf__addch_n(struct strbuf *sb, char c, size_t n); /* N times C */

static inline void strbuf__reset(struct strbuf *sb)
{
	sb->len = 0;
}

static inline void strbuf__addch(struct strbuf *sb, char c)
{
	if (sb->cap - sb->len < 2 && !strbuf__grow(sb, 1))
		return;
	sb->buf[sb->len++] = c;
	sb->buf[sb->len] = '\0';
}

static inline void strbuf__addstr(struct strbuf *sb, const char *s)
{
	strbuf__addmem(sb, s, strlen(s));
}

/* The text so far, never NULL. */
static inline const char *strbuf__str(const struct strbuf *sb)
{
	return sb->len ? sb->buf : "";
}

#endif
