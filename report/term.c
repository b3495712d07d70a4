/* term.c - terminal, pager and colours; see term.h. */
#include "report/term.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *term__pager(void)
{
	const char *pager = getenv("LJPERF_PAGER");

	if (!pager)
		pager = getenv("PAGER");
	if (!pager)
		pager = "less";
	return *pager && strcmp(pager, "cat") ? pager : NULL;
}

static unsigned env_size(const char *name)
{
	const char *env = getenv(name);
	unsigned long n = env ? strtoul(env, NULL, 10) : 0;

	return n < 100000 ? (unsigned)n : 0;
}

static unsigned term__columns(void)
{
	unsigned n = env_size("COLUMNS");
	struct winsize ws;

	if (n)
		return n;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws))
		return ws.ws_col;
	return 0;
}

static void pager__exec(const char *pager, int fd)
{
	dup2(fd, STDIN_FILENO);
	/* Quit when it fits one screen, keep colours, leave the screen as it is. */
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
	_exit(127);
}

static void term__start_pager(struct term *t, const char *pager)
{
	int fds[2];

	fflush(stdout);
	if (pipe2(fds, O_CLOEXEC))
		return;
	t->pager_pid = fork();
	if (!t->pager_pid)
		pager__exec(pager, fds[0]);
	close(fds[0]);
	if (t->pager_pid > 0) {
		t->saved_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		dup2(fds[1], STDOUT_FILENO);
	}
	close(fds[1]);
}

void term__size(unsigned *columns, unsigned *lines)
{
	struct winsize ws = { .ws_col = 0 };

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) || !ws.ws_col || !ws.ws_row)
		ws = (struct winsize){ .ws_col = 80, .ws_row = 24 };
	*columns = env_size("COLUMNS");
	*lines = env_size("LINES");
	*columns = *columns ? *columns : ws.ws_col;
	*lines = *lines ? *lines : ws.ws_row;
}

void term__begin(struct term *t)
{
	const char *pager = term__pager(), *no_color = getenv("NO_COLOR");

	*t = (struct term){ .saved_fd = -1 };
	if (isatty(STDOUT_FILENO) != 1)
		return;
	t->color = !no_color || !*no_color;
	t->columns = term__columns();
	if (pager)
		term__start_pager(t, pager);
}

void term__end(struct term *t)
{
	if (t->saved_fd < 0)
		return;
	fflush(stdout);
	dup2(t->saved_fd, STDOUT_FILENO); /* closes the pipe: the pager sees the end */
	close(t->saved_fd);
	t->saved_fd = -1;
	while (waitpid(t->pager_pid, NULL, 0) < 0 && errno == EINTR)
		;
}

bool term__flush(struct strbuf *sb)
{
	bool ok = !sb->len || fwrite(sb->buf, 1, sb->len, stdout) == sb->len;

	strbuf__reset(sb);
	return ok;
}
