/* manpage.c - finds a manual page beside the program and hands it to man(1).
 *
 * Called by "ljperf help".  The page is given to man by its path, so that the
 * one that belongs to this program is shown: from the build folder, or from
 * where it is installed, also when that place is not searched by man.
 */
#include "util/manpage.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/error.h"

extern char **environ;

/* The folder of the running program, without a slash at the end. */
static int program_folder(char *buf, size_t size)
{
	ssize_t len = readlink("/proc/self/exe", buf, size - 1);
	char *slash;

	if (len < 0)
		return -errno;
	buf[len] = '\0';
	slash = strrchr(buf, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	return 0;
}

/* FOLDER/SUB/man1/PAGE.1, plain or compressed, if it can be read. */
static int try_folder(const char *folder, const char *sub, const char *page, char *path,
		      size_t size)
{
	static const char *const suffixes[] = { "", ".gz", ".zst" };

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		int len = snprintf(path, size, "%s%s/man1/%s.1%s", folder, sub, page, suffixes[i]);

		if (len > 0 && (size_t)len < size && !access(path, R_OK))
			return 0;
	}
	return -ENOENT;
}

static int find_page(const char *page, char *path, size_t size)
{
	char folder[PATH_MAX];

	if (!program_folder(folder, sizeof(folder)) &&
	    (!try_folder(folder, "/man", page, path, size) ||
	     !try_folder(folder, "/../share/man", page, path, size)))
		return 0;
	if (!try_folder(LJPERF_MANDIR, "", page, path, size))
		return 0;
	return err__set(-ENOENT, "cannot find the manual page %s(1)", page);
}

static int run_man(char *path)
{
	char *argv[] = { (char[]){ "man" }, (char[]){ "-l" }, path, NULL };
	pid_t pid;
	int err = posix_spawnp(&pid, "man", NULL, NULL, argv, environ);

	if (err)
		return err__errno(err, "cannot run 'man'");
	while (waitpid(pid, NULL, 0) < 0)
		if (errno != EINTR)
			return err__errno(errno, "cannot wait for 'man'");
	return 0;
}

int manpage__show(const char *command)
{
	char page[64], path[PATH_MAX];
	int err;

	snprintf(page, sizeof(page), "ljperf%s%s", command ? "-" : "", command ? command : "");
	err = find_page(page, path, sizeof(path));
	return err ? err : run_man(path);
}
