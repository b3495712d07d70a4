/* owner.c - see owner.h. */
#include "util/owner.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

int owner__check(int fd, bool force)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return force || !st.st_uid || st.st_uid == geteuid() ? 0 : -EPERM;
}
