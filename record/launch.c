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

#include "record/protocol.h"
#include "util/error.h"

#define RUNNER_NAME "ljperf-luajit"
#define AGENT_NAME "libljperf-agent.so"

static const char *own_file(const char *name, int mode, char path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash;

	if (n > 0) {
		path[n] = 0;
		slash = strrchr(path, '/');
		snprintf(slash + 1, (size_t)(path + PATH_MAX - slash - 1), "%s", name);
		if (access(path, mode) == 0)
			return path;
	}
	snprintf(path, PATH_MAX, "%s/%s", LJPERF_LIBEXECDIR, name);
	if (access(path, mode) == 0)
		return path;
	err__errno(errno, "cannot use '%s'", path);
	return NULL;
}

const char *launch__runner(void)
{
	static char path[PATH_MAX];

	return own_file(RUNNER_NAME, X_OK, path);
}

const char *launch__agent(void)
{
	static char path[PATH_MAX];
	const char *agent = own_file(AGENT_NAME, R_OK, path);

	/* ld.so(8): the list in LD_PRELOAD has both as separators. */
	if (agent && strpbrk(agent, " :")) {
		err__set(-EINVAL, "'%s' cannot be preloaded: its path has a space or a colon",
			 agent);
		return NULL;
	}
	return agent;
}

/* The user's own value comes first: it may have to (a sanitizer's). */
static int add_preload(const char *agent)
{
	const char *old = getenv("LD_PRELOAD");
	char *value;
	int err;

	if (!old || !*old)
		return setenv("LD_PRELOAD", agent, 1);
	if (asprintf(&value, "%s:%s", old, agent) < 0)
		return -1;
	err = setenv("LD_PRELOAD", value, 1);
	free(value);
	return err;
}

/* In the child: only returns when the program cannot be executed. */
static int exec_target(const struct launch *l)
{
	size_t i;

	if (l->stdout_to_stderr && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return errno;
	for (i = 0; i < 2; i++)
		if (fcntl(l->fds[i], F_SETFD, 0) < 0)
			return errno;
	if (setenv(AGENT_ENV, l->spec, 1) != 0 || (l->preload && add_preload(l->preload) != 0))
		return errno;
	sigprocmask(SIG_SETMASK, &l->mask, NULL);
	execvp(l->program, (char **)(uintptr_t)l->argv);
	return errno;
}

/* The child's error comes through a pipe that a successful exec closes. */
pid_t launch__start(const struct launch *l)
{
	int fds[2], err = 0;
	pid_t pid;
	ssize_t n;

	if (pipe2(fds, O_CLOEXEC) != 0)
		return err__errno(errno, "cannot make a pipe");
	pid = fork();
	if (pid == 0) {
		err = exec_target(l);
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
	if (n <= 0)
		return pid; /* if it was not told: how the child ends will tell */
	waitpid(pid, NULL, 0);
	return err__errno(err, "cannot run '%s'", l->program);
}
