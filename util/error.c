/* error.c - the one error message of a thread.  Called by all library code.
 *
 * Names of strangers go into messages, and messages to terminals: what would
 * steer one is escaped here, once for all.
 */
#include "util/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/text.h"

enum { MESSAGE_MAX = 1024, WITHOUT_REASON_MAX = 800, REASON_MAX = 128 };

static _Thread_local char message[MESSAGE_MAX];

/* A caller may pass the old message as an argument of the new one. */
static void format(char *safe, size_t size, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

static void format(char *safe, size_t size, const char *fmt, va_list ap)
{
	char text[MESSAGE_MAX];

	vsnprintf(text, sizeof(text), fmt, ap);
	text__safe(safe, size, text);
}

int err__set(int code, const char *fmt, ...)
{
	char safe[MESSAGE_MAX];
	va_list ap;

	va_start(ap, fmt);
	format(safe, sizeof(safe), fmt, ap);
	va_end(ap);
	memcpy(message, safe, sizeof(message));
	return code;
}

int err__errno(int errnum, const char *fmt, ...)
{
	/* A very long path must not push the reason out of the message. */
	char safe[WITHOUT_REASON_MAX], why[REASON_MAX];
	va_list ap;

	va_start(ap, fmt);
	format(safe, sizeof(safe), fmt, ap);
	va_end(ap);
	snprintf(message, sizeof(message), "%s: %s", safe, strerror_r(errnum, why, sizeof(why)));
	return -errnum;
}

const char *err__msg(void)
{
	return message;
}

void err__print(const char *fmt, ...)
{
	char safe[MESSAGE_MAX];
	va_list ap;

	va_start(ap, fmt);
	format(safe, sizeof(safe), fmt, ap);
	va_end(ap);
	fprintf(stderr, "ljperf: %s\n", safe);
}
