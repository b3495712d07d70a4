/* collector.c - see collector.h. */
#include "record/collector.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/error.h"

/* ---- rings ---- */

static int attached_fd(struct msghdr *msg)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);
	int fd;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
	    c->cmsg_len != CMSG_LEN(sizeof(int)))
		return -1;
	memcpy(&fd, CMSG_DATA(c), sizeof(int));
	return fd;
}

static void add_stream(struct collector *c, const struct ring_hello *hello, int memfd)
{
	struct stream *s = stream__new(&c->opts, hello, memfd, !c->streams);

	if (!s) {
		if (!c->err)
			snprintf(c->why, sizeof(c->why), "%s", err__msg());
		c->err = -EIO;
		return;
	}
	*c->last = s;
	c->last = &s->next;
}

/* Takes one message.  False when there is none now, or never again. */
static bool receive(struct collector *c)
{
	struct ring_hello hello;
	struct iovec iov = { &hello, sizeof(hello) };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = sizeof(control.bytes) };
	ssize_t n;
	int fd;

	do {
		n = recvmsg(c->sock, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	fd = attached_fd(&msg);
	if (fd < 0)
		return true;
	if (n == (ssize_t)sizeof(hello) && hello.version == RING_VERSION)
		add_stream(c, &hello, fd);
	else
		close(fd);
	return true;
}

/* ---- signals ---- */

static void reap(struct collector *c)
{
	int status;

	if (waitpid(c->target, &status, WNOHANG) != c->target)
		return;
	c->target_ended = true;
	if (WIFSIGNALED(status)) {
		c->end.end_kind = SESSION_END_SIGNAL;
		c->end.end_code = WTERMSIG(status);
	} else {
		c->end.end_kind = SESSION_END_EXIT;
		c->end.end_code = WEXITSTATUS(status);
	}
}

/* What a terminal sends reaches the target without us; what kill(1) sends to
 * us is passed on, once.  The second time we do not wait for the target. */
static void interrupted(struct collector *c, const struct signalfd_siginfo *si)
{
	if (c->interrupted)
		c->target_ended = true;
	else if (si->ssi_code != SI_KERNEL)
		kill(c->target, (int)si->ssi_signo);
	c->interrupted = true;
}

static void take_signal(struct collector *c)
{
	struct signalfd_siginfo si;

	if (read(c->sigfd, &si, sizeof(si)) != (ssize_t)sizeof(si))
		return;
	if (si.ssi_signo == SIGCHLD)
		reap(c);
	else
		interrupted(c, &si);
}

void collector__run(struct collector *c)
{
	struct pollfd fds[2] = { { .fd = c->sigfd, .events = POLLIN },
				 { .fd = c->sock, .events = POLLIN } };
	struct stream *s;

	c->last = &c->streams;
	while (!c->target_ended) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents && !receive(c))
			fds[1].fd = -1; /* the target has closed its end */
		if (fds[0].revents)
			take_signal(c);
	}
	while (receive(c))
		; /* rings of VMs that started and ended in a moment */
	for (s = c->streams; s; s = s->next)
		stream__join(s, &c->end);
}
