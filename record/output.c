/* output.c - see output.h. */
#include "record/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/siblings.h"
#include "util/error.h"

static char *name_of(const char *output, pid_t pid, unsigned number, bool first)
{
	if (first)
		return strdup(output);
	return siblings__name(strcmp(output, "-") == 0 ? DEFAULT_OUTPUT : output, pid, number);
}

/* Only a regular file is kept as .old; anything else is written to as it is
 * (/dev/null, a FIFO), and a symbolic link is refused by the open. */
static int keep_old(const char *path, bool first)
{
	struct stat st;
	char *old;
	int err = 0;

	if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return 0;
	if (first)
		siblings__rotate(path);
	if (asprintf(&old, "%s.old", path) < 0)
		return err__set(-ENOMEM, "no memory for a file name");
	if (rename(path, old) != 0)
		err = err__errno(errno, "cannot rename '%s' to '%s'", path, old);
	free(old);
	return err;
}

static int open_new(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 && errno == EEXIST)
		fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 ? fd : err__errno(errno, "cannot create '%s'", path);
}

int output__open(const char *output, pid_t pid, unsigned number, bool first, char **path)
{
	int err;

	*path = name_of(output, pid, number, first);
	if (!*path)
		return err__set(-ENOMEM, "no memory for a file name");
	if (first && strcmp(output, "-") == 0)
		return STDOUT_FILENO;
	err = keep_old(*path, first);
	return err ? err : open_new(*path);
}

int output__open_memprof(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	return fd >= 0 ? fd : err__errno(errno, "cannot create '%s'", path);
}

void output__remove(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
		unlink(path);
}

/* Only making a file shows whether one can be made (a folder of /proc looks
 * writable); it goes again, so that nothing is there if the target fails to
 * start. */
static int check_new(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return err__errno(errno, "cannot create '%s'", path);
	close(fd);
	unlink(path);
	return 0;
}

int output__check(const char *output)
{
	struct stat st;
	char *copy;
	int err = 0;

	if (strcmp(output, "-") == 0)
		return 0;
	if (lstat(output, &st) != 0)
		return check_new(output);
	if (S_ISDIR(st.st_mode))
		return err__errno(EISDIR, "cannot create '%s'", output);
	if (S_ISLNK(st.st_mode))
		return err__set(-ELOOP, "cannot create '%s': it is a symbolic link", output);
	if (!S_ISREG(st.st_mode))
		return access(output, W_OK) ? err__errno(errno, "cannot write '%s'", output) : 0;
	copy = strdup(output); /* it is renamed, which takes the right to its folder */
	if (!copy)
		return err__set(-ENOMEM, "no memory for a file name");
	if (access(dirname(copy), W_OK | X_OK) != 0)
		err = err__errno(errno, "cannot create '%s'", output);
	free(copy);
	return err;
}
