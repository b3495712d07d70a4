/* owner.h - whose file it is that is to be read.  Called by the commands that
 * open recordings.
 */
#ifndef LJPERF_UTIL_OWNER_H
#define LJPERF_UTIL_OWNER_H

#include <stdbool.h>

/* 0 when FD may be read: no folder, and a file of the present user or of root,
 * or FORCE.  As perf: what another user wrote may have been made to deceive.
 * -EISDIR, -EPERM for another user's, or the error of fstat(). */
int owner__check(int fd, bool force);

#endif
