/* spawn.c - see spawn.h.
 *
 * The program may have threads, handlers of fork() and of SIGCHLD, and may wait
 * for any child.  So the system call makes a process that tells nobody when it
 * ends, which starts the collector and ends: the collector's parent is init.
 */
#include "backends/lua/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/protocol.h"

/* Only system calls from here to exec: other threads are gone, and may have
 * held any lock. */
static long fork_silently(unsigned long signal)
{
	return syscall(SYS_clone, signal, 0, 0, 0, 0);
}

static void close_others(void)
{
	int fd;

	if (syscall(SYS_close_range, 4, ~0U, 0) == 0)
		return;
	for (fd = 4; fd < 65536; fd++)
		close(fd);
}

static void become_collector(char *const argv[], char *const envp[], int sock)
{
	sigset_t none;
	int null;

	sigemptyset(&none);
	setsid();
	if (sock != 3 && dup2(sock, 3) < 0)
		return;
	if (sock == 3 && fcntl(3, F_SETFD, 0) < 0)
		return;
	close_others();
	null = open("/dev/null", O_RDWR);
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0)
		return;
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(argv[0], argv, envp);
}

static int count(char *const *list)
{
	int n = 0;

	while (list && list[n])
		n++;
	return n;
}

static bool is_passed(const char *var)
{
	return strncmp(var, "LD_PRELOAD=", 11) != 0 &&
	       strncmp(var, AGENT_ENV "=", strlen(AGENT_ENV) + 1) != 0;
}

int spawn_collector(char *const argv[], int sock)
{
	char **envp = calloc((size_t)count(environ) + 1, sizeof(*envp));
	long pid;
	int i, n = 0, status;

	if (!envp)
		return -ENOMEM;
	for (i = 0; environ && environ[i]; i++)
		if (is_passed(environ[i]))
			envp[n++] = environ[i];
	pid = fork_silently(0);
	if (pid == 0) {
		if (fork_silently(SIGCHLD) == 0)
			become_collector(argv, envp, sock);
		_exit(0);
	}
	status = pid < 0 ? -errno : 0;
	while (pid > 0 && waitpid((pid_t)pid, NULL, __WCLONE) < 0 && errno == EINTR)
		;
	free(envp);
	return status;
}
