/* term.h - what standard output is: a terminal with a pager and colours, or a
 * pipe with neither.  Used by report and script.
 */
#ifndef LJPERF_REPORT_TERM_H
#define LJPERF_REPORT_TERM_H

#include <signal.h>
#include <stdbool.h>

#include "util/strbuf.h"

enum { TERM_SIGNALS = 3 };

struct term {
	bool color; /* a terminal, and NO_COLOR is not set */
	unsigned columns; /* of the terminal; 0: no limit */
	int saved_fd; /* standard output while a pager runs, else -1 */
	int pager_pid;
	struct sigaction old[TERM_SIGNALS]; /* as they were before the pager */
};

/* Looks at standard output, and starts LJPERF_PAGER, PAGER or less when it is
 * a terminal.  Where that cannot be run, the text comes out as it is. */
void term__begin(struct term *t);
void term__end(struct term *t); /* waits for the pager */

/* The size that text made for a screen should have: that of COLUMNS and LINES,
 * else of the terminal, else 80 by 24.  Asked before there is a pager. */
void term__size(unsigned *columns, unsigned *lines);

/* Writes SB to stdout and empties it.  False when nobody reads any more. */
bool term__flush(struct strbuf *sb);

#endif
