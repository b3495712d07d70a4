/* process.c - see process.h. */
#include "record/process.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARGS_MAX ((size_t)1 << 20)

static int open_pidfd(pid_t pid)
{
	/* Close-on-exec by itself (pidfd_open(2)). */
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

struct process *processes__find(struct processes *ps, pid_t pid)
{
	struct process *p;

	for (p = ps->first; p; p = p->next)
		if (p->pid == pid && p->alive)
			return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	p->alive = true;
	p->pidfd = open_pidfd(pid);
	p->next = ps->first;
	ps->first = p;
	return p;
}

/* Device and inode of the program that PID runs, mixed; 0: it runs no more. */
static uint64_t exe_of(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return stat(path, &st) == 0 ? (uint64_t)st.st_ino ^ (uint64_t)st.st_dev << 32 : 0;
}

void process__forked(struct process *p)
{
	p->exe = exe_of(p->pid);
}

bool process__is_awaited(const struct process *p)
{
	if (!p->alive || p->pidfd < 0)
		return false;
	return p->records || (p->exe && exe_of(p->pid) == p->exe);
}

unsigned processes__n_awaited(const struct processes *ps)
{
	const struct process *p;
	unsigned n = 0;

	for (p = ps->first; p; p = p->next)
		n += process__is_awaited(p);
	return n;
}

bool processes__any_awaited(const struct processes *ps)
{
	return processes__n_awaited(ps) > 0;
}

void process__ended(struct process *p)
{
	p->alive = false;
	if (p->pidfd >= 0)
		close(p->pidfd);
	p->pidfd = -1;
}

static char *read_all(int fd, size_t *len)
{
	char *text = malloc(ARGS_MAX + 1);
	ssize_t n = 1;

	*len = 0;
	while (text && *len < ARGS_MAX && n > 0) {
		n = read(fd, text + *len, ARGS_MAX - *len);
		*len += n > 0 ? (size_t)n : 0;
	}
	if (text)
		text[*len] = 0;
	return text;
}

const char **process__split(const char *text, size_t len, size_t *argc)
{
	size_t n = 0, i;
	const char **argv;
	char *copy;

	/* What is empty at the end is left over from a title that was set. */
	while (len > 1 && text[len - 1] == 0 && text[len - 2] == 0)
		len--;
	for (i = 0; i < len; i++)
		n += text[i] == 0;
	argv = malloc((n + 1) * sizeof(*argv) + len + 1);
	if (!argv)
		return NULL;
	copy = (char *)(argv + n + 1);
	memcpy(copy, text, len);
	copy[len] = 0;
	for (i = 0; i < n; i++, copy += strlen(copy) + 1)
		argv[i] = copy;
	argv[n] = NULL;
	*argc = n;
	return argv;
}

const char **process__argv(pid_t pid, size_t *argc)
{
	const char **argv = NULL;
	char path[64], *text;
	size_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	text = read_all(fd, &len);
	close(fd);
	if (text && len)
		argv = process__split(text, len, argc);
	free(text);
	return argv;
}

char *process__cwd(pid_t pid)
{
	char path[64], target[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/cwd", (int)pid);
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return NULL;
	target[n] = 0;
	return strdup(target);
}

void processes__exit(struct processes *ps)
{
	struct process *p;

	while ((p = ps->first)) {
		ps->first = p->next;
		process__ended(p);
		free(p);
	}
}
