/* recording.c - opening recordings; see recording.h. */
#include "report/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/error.h"
#include "util/owner.h"

/* Where the progress line stands; one recording is read at a time. */
static struct {
	bool terminal, shown;
	uint64_t start_ns, last_ns;
} progress;

static void progress__begin(void)
{
	progress.terminal = isatty(STDERR_FILENO) == 1;
	progress.shown = false;
	progress.start_ns = progress.last_ns = clock__ns(CLOCK_MONOTONIC_COARSE);
}

void recording__progress(uint64_t n_events)
{
	uint64_t now;

	if (!progress.terminal)
		return;
	now = clock__ns(CLOCK_MONOTONIC_COARSE);
	if (now - progress.start_ns < 1000000000 || now - progress.last_ns < 200000000)
		return;
	progress.last_ns = now;
	progress.shown = true;
	fprintf(stderr, "\rljperf: %.1f M events read ", (double)n_events / 1e6);
}

static void progress__end(void)
{
	if (progress.shown)
		fprintf(stderr, "\r%*s\r", 40, "");
}

static int open_error(const char *path)
{
	int errnum = errno;

	if (errnum == ENOENT && !strcmp(path, RECORDING_DEFAULT))
		return err__set(-errnum,
				"cannot open '%s': %s (run 'ljperf record' first, or name a file "
				"with -i)",
				path, strerror(errnum));
	return err__errno(errnum, "cannot open '%s'", path);
}

static int check_file(int fd, const char *path, bool force)
{
	int err = owner__check(fd, force);

	if (err == -EPERM)
		return err__set(
			err, "'%s' belongs to another user (use -f to read it all the same)", path);
	return err ? err__errno(-err, "cannot read '%s'", path) : 0;
}

static int recording__open(const char *path, bool force)
{
	int fd, err;

	if (!strcmp(path, "-"))
		return STDIN_FILENO;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return open_error(path);
	err = check_file(fd, path, force);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

int recording__read(const char *path, bool force, const struct session_handlers *h, void *ctx,
		    struct session_info *info)
{
	int fd = recording__open(path, force), err = -ENOMEM;
	struct session_reader *r;

	if (fd < 0)
		return fd;
	progress__begin();
	r = session_reader__new_fd(fd, strcmp(path, "-") ? path : "standard input");
	if (r) {
		err = session_reader__run(r, h, ctx);
		*info = *session_reader__info(r);
	}
	session_reader__delete(r);
	progress__end();
	if (fd != STDIN_FILENO)
		close(fd);
	return err;
}

bool recording__damaged(const char *name, const struct session_info *info, bool quiet)
{
	if (info->state == SESSION_COMPLETE)
		return false;
	if (!quiet)
		err__print("warning: '%s': %s; what %s is shown", name, info->damage,
			   info->state == SESSION_CORRUPT ? "could be read" : "comes before it");
	return true;
}
