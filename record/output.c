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

/* In a folder that others write to, a FIFO or a device may be theirs, and have
 * been put there to get the recording. */
static int check_special(const char *path, const struct stat *st)
{
	if (st->st_uid == 0 || st->st_uid == geteuid())
		return 0;
	return err__set(-EPERM, "cannot write '%s': it belongs to another user", path);
}

/* A regular file has been put away: one that is here now was made since, by
 * whom is not known. */
static int open_special(const char *path)
{
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC), err;
	struct stat st;

	if (fd < 0)
		return err__errno(errno, "cannot create '%s'", path);
	if (fstat(fd, &st) != 0 || S_ISREG(st.st_mode))
		err = err__errno(EEXIST, "cannot create '%s'", path);
	else
		err = check_special(path, &st);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int open_new(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 && errno == EEXIST)
		return open_special(path);
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

/* A file is renamed, which takes the right to its folder; in one like /tmp only
 * who owns it may. */
static int check_rename(const char *path, const struct stat *st)
{
	char *copy = strdup(path), *folder;
	struct stat dir;
	int err = 0;

	if (!copy)
		return err__set(-ENOMEM, "no memory for a file name");
	folder = dirname(copy);
	if (access(folder, W_OK | X_OK) != 0 || stat(folder, &dir) != 0)
		err = err__errno(errno, "cannot create '%s'", path);
	else if (dir.st_mode & S_ISVTX && geteuid() != 0 && st->st_uid != geteuid() &&
		 dir.st_uid != geteuid())
		err = err__set(-EPERM,
			       "cannot create '%s': the one that is there belongs to "
			       "another user",
			       path);
	free(copy);
	return err;
}

int output__check(const char *output)
{
	struct stat st;

	if (strcmp(output, "-") == 0)
		return 0;
	if (lstat(output, &st) != 0)
		return check_new(output);
	if (S_ISDIR(st.st_mode))
		return err__errno(EISDIR, "cannot create '%s'", output);
	if (S_ISLNK(st.st_mode))
		return err__set(-ELOOP, "cannot create '%s': it is a symbolic link", output);
	if (!S_ISREG(st.st_mode) && access(output, W_OK) != 0)
		return err__errno(errno, "cannot write '%s'", output);
	if (!S_ISREG(st.st_mode))
		return check_special(output, &st);
	return check_rename(output, &st);
}
