/* regular.h - opens files that a stranger may have named.  Called by those that
 * open modules.
 */
#ifndef LJPERF_UTIL_REGULAR_H
#define LJPERF_UTIL_REGULAR_H

/* Opens PATH, through links, for reading: the descriptor, for close().  Never
 * anything but a regular file, which is -EISDIR or -EINVAL; or another negative
 * errno.  There is no message. */
int regular__open(const char *path);

#endif
