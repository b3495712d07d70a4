/* pipe.c - see pipe.h.
 *
 * The program's children have the other end open too, because misc.memprof lets
 * them inherit it, so the pipe may never end.  A second thread passes on what
 * comes and ends the pipe behind it, which does.
 */
#include "record/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "record/import.h"
#include "util/error.h"

#define LOOK_MS 100 /* how often to look whether the process has ended */

struct pump {
	struct stream *s;
	int to;
};

static bool write_all(int fd, const char *p, size_t n)
{
	ssize_t put;

	for (; n; p += put, n -= (size_t)put) {
		put = write(fd, p, n);
		if (put < 0 && errno != EINTR)
			return false;
		if (put < 0)
			put = 0;
	}
	return true;
}

/* What has been written comes before the news of the end. */
static void *pump_main(void *arg)
{
	struct pump *p = arg;
	struct pollfd pfd = { .fd = p->s->pipe, .events = POLLIN };
	char buf[65536];
	bool ended;
	ssize_t n = 1;

	while (n != 0) {
		ended = atomic_load(&p->s->target_ended);
		if (poll(&pfd, 1, LOOK_MS) == 0) {
			if (ended)
				break;
			continue;
		}
		n = read(p->s->pipe, buf, sizeof(buf));
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			break;
		if (n > 0 && !write_all(p->to, buf, (size_t)n))
			break; /* the reader has had enough */
		p->s->empty &= n <= 0;
	}
	close(p->to);
	return NULL;
}

static int copy(struct stream *s, int fd)
{
	struct session_reader *r = session_reader__new_fd(fd, "the stream of misc.memprof");
	const struct session_info *info;
	int err;

	if (!r)
		return -ENOMEM;
	err = import__run(s->writer, r);
	info = session_reader__info(r);
	if (!err && info->state != SESSION_COMPLETE)
		err = err__set(-ENODATA, "misc.memprof did not end its stream: %s", info->damage);
	session_reader__delete(r);
	return err;
}

int pipe__copy(struct stream *s)
{
	struct pump pump = { .s = s };
	pthread_t thread;
	int fds[2], err;

	s->empty = true;
	if (pipe2(fds, O_CLOEXEC) != 0)
		return err__errno(errno, "cannot make a pipe");
	pump.to = fds[1];
	err = pthread_create(&thread, NULL, pump_main, &pump);
	if (err) {
		close(fds[0]);
		close(fds[1]);
		return err__errno(err, "cannot start a thread");
	}
	err = copy(s, fds[0]);
	close(fds[0]); /* a pump that still writes then ends */
	pthread_join(thread, NULL);
	return err;
}
