/* settings.h - the user's settings: INI files in which a section is a command and
 * a name one of its long options.  Loaded by main() before a command runs, taken by
 * options__parse() before what stands on the command line.
 */
#ifndef LJPERF_UTIL_SETTINGS_H
#define LJPERF_UTIL_SETTINGS_H

#include <stddef.h>

struct setting {
	char *section, *name, *value;
	const char *file;
	unsigned line; /* from 1 on */
};

/* Reads the system's file and then the user's, those that there are; or only the
 * one that $LJPERF_CONFIG names, which must be there.  A file that others could
 * have written is left out with a warning.  0, or negative with err__msg(). */
int settings__load(void);

/* Adds those of the LEN bytes at TEXT, which are what FILE holds; that must stay.
 * 0, or negative with err__msg(), which begins with FILE:LINE. */
int settings__read(const char *text, size_t len, const char *file);

/* In the order of the files: the last one of a name counts. */
size_t settings__count(void);
const struct setting *settings__at(size_t i);

/* Before the error that err__msg() tells: where the setting stands.  Returns ERR. */
int setting__fail(const struct setting *s, int err);

/* Forgets all. */
void settings__clear(void);

#endif
