/* error.h - one error message per thread for library code.
 *
 * Library code returns 0 (or a useful non-negative number) on success and a
 * negative errno value on failure, and leaves one sentence here.  Only
 * commands print it and exit.  Messages are lower case, have no full stop and
 * read like "cannot open 'x': No such file or directory".  What would steer a
 * terminal is escaped in them.
 */
#ifndef LJPERF_UTIL_ERROR_H
#define LJPERF_UTIL_ERROR_H

/* Formats the message of this thread and returns CODE (a negative errno). */
int err__set(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Like err__set(), and appends ": " and strerror(ERRNUM); returns -ERRNUM. */
int err__errno(int errnum, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The last message of this thread; "" when there was none.  Owned here. */
const char *err__msg(void);

/* For commands, what is no failure: prints "ljperf: ..." and a newline to
 * standard error, escaped as messages are. */
void err__print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
