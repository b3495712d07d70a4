/* cmd_list.c - "ljperf list": the events and backends of this machine, and
 * why one is not usable.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/backend.h"
#include "ljperf.h"
#include "record/launch.h"
#include "util/error.h"
#include "util/options.h"
#include "util/text.h"

/* The first line of what FD gives; BUF stays as it is when there is nothing. */
static void read_line(int fd, char *buf, size_t len)
{
	size_t n = 0;
	ssize_t got = 1;

	while (got != 0 && n < len - 1) {
		got = read(fd, buf + n, len - 1 - n);
		if (got < 0 && errno != EINTR)
			break;
		n += got > 0 ? (size_t)got : 0;
	}
	if (n)
		buf[n] = 0;
	buf[strcspn(buf, "\n")] = 0;
}

/* Without a shell, which would take the path for words of its own. */
static bool probe(const char *runner, const int fds[2], char *buf, size_t len)
{
	char *argv[] = { (char *)(uintptr_t)runner, (char[]){ "--probe" }, NULL };
	posix_spawn_file_actions_t actions;
	int status, err;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	err = posix_spawn(&pid, runner, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	if (err)
		return false;
	read_line(fds[0], buf, len);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Asks the program with the VM in it, which is the one that would record;
 * what it says goes into BUF.  Whether it can record. */
static bool ask_runner(char *buf, size_t len)
{
	const char *runner = launch__runner();
	int fds[2];
	bool ok;

	if (!runner) {
		snprintf(buf, len, "%s", err__msg());
		return false;
	}
	if (pipe2(fds, O_CLOEXEC) != 0) {
		snprintf(buf, len, "cannot make a pipe: %s", strerror(errno));
		return false;
	}
	snprintf(buf, len, "cannot run '%s'", runner);
	ok = probe(runner, fds, buf, len);
	close(fds[0]);
	return ok;
}

int cmd_list(int argc, const char **argv)
{
	static const struct option options[] = { OPT_END() };
	int n = options__parse(argc, argv, options, "ljperf list", 0, NULL);
	char answer[512], safe[1024];
	size_t i;

	if (n == OPTIONS_HELP)
		return 0;
	if (n != 0) {
		fprintf(stderr, "ljperf: %s\n", n < 0 ? err__msg() : "list takes no arguments");
		return EXIT_LJPERF;
	}
	printf("Events:\n  alloc     every allocation, reallocation and free of the Lua VM\n\nBackends:\n");
	for (i = 0; i < n_backends; i++) {
		bool usable = backends[i].built_in || ask_runner(answer, sizeof(answer));

		if (backends[i].built_in)
			snprintf(answer, sizeof(answer),
				 "in programs whose VM has it (record --backend %s -- COMMAND)",
				 backends[i].name);
		text__safe(safe, sizeof(safe), answer); /* it has paths in it */
		printf("  %-9s %s\n            %s: %s\n", backends[i].name, backends[i].desc,
		       usable ? "usable" : "not usable", safe);
	}
	return 0;
}
