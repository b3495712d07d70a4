/* term.c - terminal, pager and colours; see term.h. */
#include "report/term.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Nobody who has not asked for less misses it. */
static const char default_pager[] = "command -v less >/dev/null && exec less";

static const char *term__pager(void)
{
	const char *pager = getenv("LJPERF_PAGER");

	if (!pager)
		pager = getenv("PAGER");
	if (!pager)
		pager = default_pager;
	return *pager && strcmp(pager, "cat") ? pager : NULL;
}

static bool term__has_colors(void)
{
	const char *no_color = getenv("NO_COLOR"), *kind = getenv("TERM");

	return (!no_color || !*no_color) && kind && *kind && strcmp(kind, "dumb");
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

/* ---- the pager ---- */

/* What a terminal sends at ^C is the pager's to react to: we wait for it, or the
 * shell would read from the terminal at the same time.  So we do when it does
 * not want to see the rest. */
static const int ignored[TERM_SIGNALS] = { SIGINT, SIGQUIT, SIGPIPE };

static void signals__ignore(struct term *t)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	size_t i;

	for (i = 0; i < TERM_SIGNALS; i++)
		sigaction(ignored[i], &ignore, &t->old[i]);
}

static void signals__restore(const struct term *t)
{
	size_t i;

	for (i = 0; i < TERM_SIGNALS; i++)
		sigaction(ignored[i], &t->old[i], NULL);
}

static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void pager__exec(const struct term *t, const char *pager, int fd)
{
	signals__restore(t);
	dup2(fd, STDIN_FILENO);
	/* Quit when it fits one screen, keep colours, leave the screen as it is. */
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
	_exit(127);
}

/* Whether the user has what he wanted: it ended well, or was interrupted, by
 * which a shell ends with 128 and the number of the signal. */
static bool pager__is_done(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status) == 0 || WEXITSTATUS(status) > 128;
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGINT;
}

static bool write_all(const char *buf, ssize_t n)
{
	ssize_t done = 0, put;

	while (done < n) {
		put = write(STDOUT_FILENO, buf + done, (size_t)(n - done));
		if (put < 0 && errno != EINTR)
			return false;
		done += put > 0 ? put : 0;
	}
	return true;
}

/* Runs between us and the pager.  What a pager that fails has not read comes
 * out without one. */
static void pager__run(const struct term *t, const char *pager, int fd)
{
	pid_t pid = fork();
	char buf[4096];
	ssize_t n;

	if (pid == 0)
		pager__exec(t, pager, fd);
	if (pid > 0 && pager__is_done(wait_for(pid)))
		_exit(0);
	while ((n = read(fd, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0 && !write_all(buf, n))
			break;
	_exit(0);
}

static void term__start_pager(struct term *t, const char *pager)
{
	int fds[2];

	fflush(stdout);
	if (pipe2(fds, O_CLOEXEC))
		return;
	signals__ignore(t);
	t->pager_pid = fork();
	if (!t->pager_pid) {
		close(fds[1]);
		pager__run(t, pager, fds[0]);
	}
	close(fds[0]);
	if (t->pager_pid > 0) {
		t->saved_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		dup2(fds[1], STDOUT_FILENO);
	} else {
		signals__restore(t);
	}
	close(fds[1]);
}

/* ---- the terminal ---- */

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
	const char *pager = term__pager();

	*t = (struct term){ .saved_fd = -1 };
	if (isatty(STDOUT_FILENO) != 1)
		return;
	t->color = term__has_colors();
	t->columns = term__columns();
	if (pager)
		term__start_pager(t, pager);
}

void term__end(struct term *t)
{
	if (t->saved_fd < 0)
		return;
	if (fflush(stdout) || ferror(stdout)) { /* the pager has ended, which is no error */
		__fpurge(stdout);
		clearerr(stdout);
	}
	dup2(t->saved_fd, STDOUT_FILENO); /* closes the pipe: the pager sees the end */
	close(t->saved_fd);
	t->saved_fd = -1;
	wait_for(t->pager_pid);
	signals__restore(t);
}

bool term__flush(struct strbuf *sb)
{
	bool ok = !sb->len || fwrite(sb->buf, 1, sb->len, stdout) == sb->len;

	strbuf__reset(sb);
	return ok;
}
