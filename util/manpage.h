/* manpage.h - shows a manual page of ljperf, installed or not. */
#ifndef LJPERF_UTIL_MANPAGE_H
#define LJPERF_UTIL_MANPAGE_H

/* Shows the page of COMMAND, or of ljperf itself when that is NULL, and waits
 * for the reader to finish.  Negative errno with err__msg() when there is no
 * such page, or no program to show it with. */
int manpage__show(const char *command);

#endif
