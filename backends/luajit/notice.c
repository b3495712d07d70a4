/* notice.c - see notice.h. */
#include "backends/luajit/notice.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct stat at_start;
static bool known;

void agent_notice__init(void)
{
	known = fstat(STDERR_FILENO, &at_start) == 0;
}

/* The program may have closed it and opened a file of its own under its
 * number; a pipe may be full or have lost its reader. */
static bool can_write(void)
{
	struct pollfd pfd = { .fd = STDERR_FILENO, .events = POLLOUT };
	struct stat st;

	return known && fstat(STDERR_FILENO, &st) == 0 && st.st_dev == at_start.st_dev &&
	       st.st_ino == at_start.st_ino && poll(&pfd, 1, 0) == 1 && pfd.revents == POLLOUT;
}

void agent_notice(const char *text)
{
	int saved = errno;
	ssize_t n = can_write() ? write(STDERR_FILENO, text, strlen(text)) : 0;

	(void)n;
	errno = saved;
}
