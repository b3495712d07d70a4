/* launch.c - see launch.h. */
#include "record/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/error.h"

#define RUNNER_NAME "ljperf-luajit"

const char *launch__runner(void)
{
	static char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - sizeof(RUNNER_NAME) - 1);
	char *slash;

	if (n > 0) {
		path[n] = 0;
		slash = strrchr(path, '/');
		memcpy(slash + 1, RUNNER_NAME, sizeof(RUNNER_NAME));
		if (access(path, X_OK) == 0)
			return path;
	}
	snprintf(path, sizeof(path), "%s/%s", LJPERF_LIBEXECDIR, RUNNER_NAME);
	if (access(path, X_OK) == 0)
		return path;
	err__errno(errno, "cannot run '%s'", path);
	return NULL;
}

/* In the child: only returns when the program cannot be executed. */
static int exec_target(const struct launch *l, int sock, const char **argv)
{
	if (l->stdout_to_stderr && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return errno;
	if (fcntl(sock, F_SETFD, 0) < 0)
		return errno;
	sigprocmask(SIG_SETMASK, &l->mask, NULL);
	execv(l->runner, (char **)(uintptr_t)argv);
	return errno;
}

/* The child's error comes through a pipe that a successful exec closes. */
static pid_t fork_target(const struct launch *l, int sock, const char **argv)
{
	int fds[2], err = 0;
	pid_t pid;
	ssize_t n;

	if (pipe2(fds, O_CLOEXEC) != 0)
		return err__errno(errno, "cannot make a pipe");
	pid = fork();
	if (pid == 0) {
		err = exec_target(l, sock, argv);
		n = write(fds[1], &err, sizeof(err));
		_exit(n == (ssize_t)sizeof(err) ? 127 : 126);
	}
	close(fds[1]);
	do {
		n = pid < 0 ? 0 : read(fds[0], &err, sizeof(err));
	} while (n < 0 && errno == EINTR);
	close(fds[0]);
	if (pid < 0)
		return err__errno(errno, "cannot fork");
	if (n == 0)
		return pid;
	waitpid(pid, NULL, 0);
	return err__errno(err, "cannot run '%s'", l->runner);
}

pid_t launch__start(const struct launch *l, int sock)
{
	const char **argv = calloc((size_t)(l->n_agent_args + l->n_args) + 3, sizeof(*argv));
	char fd_arg[32];
	pid_t pid;
	int n = 0;

	if (!argv)
		return err__set(-ENOMEM, "no memory for the command line");
	snprintf(fd_arg, sizeof(fd_arg), "--fd=%d", sock);
	argv[n++] = l->runner;
	argv[n++] = fd_arg;
	memcpy(argv + n, l->agent_args, (size_t)l->n_agent_args * sizeof(*argv));
	n += l->n_agent_args;
	memcpy(argv + n, l->args, (size_t)l->n_args * sizeof(*argv));
	pid = fork_target(l, sock, argv);
	free(argv);
	return pid;
}
