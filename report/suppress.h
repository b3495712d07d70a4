/* suppress.h - memory that is known to stay, which a report of leaks leaves out.
 * Used by report.
 *
 * A file has a rule on each line; "#" begins a comment.
 *
 *	leak:PATTERN		any frame of the call stack, the place included
 *	symbol:PATTERN		the place alone
 *	chunk:PATTERN		the chunk of the place
 *	module:PATTERN		its module
 *	stack:PATTERN < PATTERN < ...
 *				the innermost frames, each called by the next;
 *				"..." stands for any number of frames
 *
 * A pattern is for the whole text, see glob__fits(); a frame is known by its
 * function, as "file:line", and as "function file:line".
 */
#ifndef LJPERF_REPORT_SUPPRESS_H
#define LJPERF_REPORT_SUPPRESS_H

#include "report/aggregate.h"

struct suppress;

/* NULL with err__msg(), which names the line. */
struct suppress *suppress__load(const char *path);
void suppress__delete(struct suppress *s); /* S may be NULL */

/* Sets SKIP of the cells that a rule fits.  0 or -ENOMEM. */
int suppress__apply(struct suppress *s, struct aggregate *a, bool *skip);

/* Says on stderr which rules fitted nothing. */
void suppress__warn(const struct suppress *s);

#endif
