/* error.c - the one error message of a thread.  Called by all library code. */
#include "util/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char message[1024];

int err__set(int code, const char *fmt, ...)
{
	/* A caller may pass the old message as an argument of the new one. */
	char text[sizeof(message)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	memcpy(message, text, sizeof(message));
	return code;
}

int err__errno(int errnum, const char *fmt, ...)
{
	char text[sizeof(message)], why[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* A very long path must not push the reason out of the message. */
	return err__set(-errnum, "%.800s: %s", text, strerror_r(errnum, why, sizeof(why)));
}

const char *err__msg(void)
{
	return message;
}
