/* collector.c - see collector.h. */
#include "record/collector.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/error.h"

#define SAME_SIGNAL_NS 300000000u

/* After the target has ended, how long to wait for a process that it has
 * started to show up with a VM. */
#define LINGER_NS 200000000u

/* ---- messages ---- */

/* VMs of a process are counted over all that ever had its id. */
static unsigned number_of(const struct collector *c, pid_t pid)
{
	const struct stream *s;
	unsigned n = 1;

	for (s = c->streams; s; s = s->next)
		n += s->pid == pid;
	return n;
}

/* Of several reasons the first is told. */
static void note_failure(struct collector *c, int err, const char *why)
{
	if (!c->err)
		snprintf(c->why, sizeof(c->why), "%s", why);
	c->err = err;
}

static void tell_vm(const struct stream *s, const struct agent_hello *hello)
{
	char found[64] = "";

	if (hello->probe_ns)
		snprintf(found, sizeof(found), ", layout found in %.1f ms",
			 (double)hello->probe_ns / 1e6);
	err__print("VM %u of process %d (%s) goes to '%s': %s, %s%s", s->number, (int)s->pid,
		   hello->thread_name, s->path, hello->vm_version, hello->vm_path, found);
}

static void add_stream(struct collector *c, struct process *p, const struct wire_msg *msg)
{
	struct stream_vm vm = {
		.hello = &msg->u.hello,
		.pid = msg->pid,
		.number = number_of(c, msg->pid),
		.first = !c->streams,
	};
	struct stream *s = stream__new(&c->opts, &vm, msg->fd);

	if (!s) {
		note_failure(c, -EIO, err__msg());
		return;
	}
	p->records = true;
	if (c->verbose)
		tell_vm(s, &msg->u.hello);
	*c->last = s;
	c->last = &s->next;
}

static void take_ring(struct collector *c, const struct wire_msg *msg)
{
	struct process *p = processes__find(&c->processes, msg->pid);

	if (msg->fd < 0) { /* the kernel has found no number for it */
		note_failure(c, -EMFILE, "cannot take the ring of a VM: Too many open files");
	} else if (!p) {
		stream__refuse(msg->fd);
		note_failure(c, -ENOMEM, "no memory for another VM");
	} else {
		add_stream(c, p, msg);
	}
}

static void take_message(struct collector *c, const struct wire_msg *msg)
{
	struct process *p;

	switch (msg->kind) {
	case MSG_RING:
	case MSG_MEMPROF:
		take_ring(c, msg);
		break;
	case MSG_FORKED:
		p = processes__find(&c->processes, msg->pid);
		if (p)
			process__forked(p);
		break;
	case MSG_LOADED:
		c->n_loaded++;
		break;
	case MSG_REFUSED:
		if (!c->refused[0])
			snprintf(c->refused, sizeof(c->refused), "%s", msg->u.note.text);
		break;
	case MSG_TOKEN:
		break;
	}
}

/* Takes all there is at the target's socket.  False when every process has
 * closed its end. */
static bool take_messages(struct collector *c)
{
	struct wire_msg msg;
	int n;

	if (c->wire.sock < 0)
		return false;
	while ((n = wire__receive(c->wire.sock, &msg)) > 0)
		take_message(c, &msg);
	if (n < 0) {
		close(c->wire.sock);
		c->wire.sock = -1;
	}
	return n == 0;
}

/* ---- connections of those who have closed what they inherited ---- */

/* The last one takes its place. */
static void drop_connection(struct collector *c, unsigned i)
{
	close(c->conns[i]);
	c->n_conns--;
	c->conns[i] = c->conns[c->n_conns];
	c->admitted[i] = c->admitted[c->n_conns];
}

/* Those who call and say nothing must not keep others out. */
static void make_room_for_connection(struct collector *c)
{
	unsigned i;

	for (i = 0; i < c->n_conns && c->n_conns == MAX_CONNECTIONS; i++)
		if (!c->admitted[i])
			drop_connection(c, i);
}

static void take_connection(struct collector *c)
{
	int fd = wire__accept(&c->wire);

	if (fd < 0)
		return;
	make_room_for_connection(c);
	if (c->n_conns == MAX_CONNECTIONS) {
		close(fd);
		return;
	}
	c->conns[c->n_conns] = fd;
	c->admitted[c->n_conns++] = false;
}

static void read_connection(struct collector *c, unsigned i)
{
	struct wire_msg msg;
	int n = wire__receive(c->conns[i], &msg);
	bool ok = n > 0;

	if (n == 0)
		return;
	if (ok && !c->admitted[i]) {
		ok = c->admitted[i] = wire__admit(&c->wire, c->conns[i], &msg);
		if (msg.fd >= 0)
			close(msg.fd);
	} else if (ok) {
		take_message(c, &msg);
	}
	if (!ok)
		drop_connection(c, i);
}

/* ---- ends ---- */

static void end_streams(struct collector *c, pid_t pid, const struct session_footer *end)
{
	struct stream *s;

	for (s = c->streams; s; s = s->next)
		if (s->pid == pid)
			stream__end(s, end);
}

static void reap(struct collector *c)
{
	int status;
	pid_t pid;

	if (!c->target || c->target_ended)
		return;
	do {
		pid = waitpid(c->target, &status, WNOHANG);
	} while (pid < 0 && errno == EINTR);
	if (pid != c->target)
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

/* One of the processes that are no children of ours: how it ended is not
 * known.  The target's end is known from reap(). */
static void process_ended(struct collector *c, struct process *p)
{
	static const struct session_footer unknown = { .end_kind = SESSION_END_UNKNOWN };

	take_messages(c); /* what it sent before it ended */
	process__ended(p);
	if (p->pid == c->target)
		reap(c);
	else
		end_streams(c, p->pid, &unknown);
	if (p->pid == c->owner)
		c->stopped = true;
}

/* ---- signals ---- */

/* What a terminal sends reaches the target without us; what kill(1) sends to
 * us is passed on, once.  The second time we do not wait for the target. */
static void interrupted(struct collector *c, const struct signalfd_siginfo *si)
{
	uint64_t now = clock__ns(CLOCK_MONOTONIC);

	/* What is sent to us and to our group, as timeout(1) does, is one. */
	if (c->interrupted_ns && now - c->interrupted_ns < SAME_SIGNAL_NS)
		return;
	if (c->interrupted_ns || c->target_ended || !c->target)
		c->stopped = true;
	else if (si->ssi_code != SI_KERNEL)
		kill(c->target, (int)si->ssi_signo);
	c->interrupted_ns = now;
}

static void take_signal(struct collector *c)
{
	struct signalfd_siginfo si;

	if (read(c->sigfd, &si, sizeof(si)) != (ssize_t)sizeof(si))
		return;
	if (si.ssi_signo == SIGCHLD)
		reap(c);
	else if (si.ssi_signo == SIGUSR2)
		steering__toggle(&c->steering);
	else
		interrupted(c, &si);
}

static void take_commands(struct collector *c)
{
	struct stream *s;

	steering__read(&c->steering);
	if (c->steering.snapshot)
		for (s = c->streams; s; s = s->next)
			stream__flush(s);
	c->steering.snapshot = false;
	c->stopped |= c->steering.stop;
	steering__ack(&c->steering);
}

/* ---- the loop ---- */

enum { AT_SIGNALS, AT_SOCKET, AT_LISTENER, AT_CONTROL, AT_CONNECTIONS };

static void watch(struct collector *c, int fd)
{
	if (c->n_fds < c->fds_room)
		c->fds[c->n_fds++] = (struct pollfd){ .fd = fd, .events = POLLIN };
}

static bool is_watched(const struct process *p)
{
	return p->alive && p->pidfd >= 0;
}

/* Without memory the last ones are not watched for now. */
static void make_room(struct collector *c)
{
	size_t n = AT_CONNECTIONS + c->n_conns;
	struct pollfd *fds;
	struct process *p;

	for (p = c->processes.first; p; p = p->next)
		n += is_watched(p);
	if (n <= c->fds_room)
		return;
	fds = realloc(c->fds == c->fds_few ? NULL : c->fds, n * 2 * sizeof(*fds));
	if (!fds)
		return;
	c->fds = fds;
	c->fds_room = n * 2;
}

/* No more than are open: poll() refuses more than the limit of open files. */
static void watch_all(struct collector *c)
{
	struct process *p;
	unsigned i;

	make_room(c);
	c->n_fds = 0;
	watch(c, c->sigfd);
	watch(c, c->wire.sock);
	watch(c, c->wire.listener);
	watch(c, c->steering.fd);
	for (i = 0; i < c->n_conns; i++)
		watch(c, c->conns[i]);
	for (p = c->processes.first; p; p = p->next)
		if (is_watched(p))
			watch(c, p->pidfd);
}

/* Something may have come anywhere: all who read can be asked. */
static void wait_blindly(struct collector *c)
{
	size_t i;

	usleep(20000);
	for (i = 0; i < c->n_fds; i++)
		c->fds[i].revents = i < AT_CONNECTIONS + c->n_conns ? POLLIN : 0;
}

static void wait_for_events(struct collector *c, int ms)
{
	size_t i;

	if (poll(c->fds, c->n_fds, ms) >= 0)
		return;
	for (i = 0; i < c->n_fds; i++)
		c->fds[i].revents = 0;
	if (errno != EINTR)
		wait_blindly(c);
}

static void take_events(struct collector *c)
{
	struct process *p, *next;
	size_t at = AT_CONNECTIONS + c->n_conns;
	unsigned i;

	for (p = c->processes.first; p && at < c->n_fds; p = next) {
		next = p->next;
		if (is_watched(p) && c->fds[at++].revents)
			process_ended(c, p);
	}
	for (i = c->n_conns; i-- > 0;)
		if (AT_CONNECTIONS + i < c->n_fds && c->fds[AT_CONNECTIONS + i].revents)
			read_connection(c, i);
	if (c->fds[AT_LISTENER].revents)
		take_connection(c);
	if (c->fds[AT_SOCKET].revents)
		take_messages(c);
	if (c->fds[AT_CONTROL].revents)
		take_commands(c);
	if (c->fds[AT_SIGNALS].revents)
		take_signal(c);
}

/* The target has ended.  A daemon's processes go on, and so does the recording
 * of them; what never had to do with a VM is not waited for. */
static bool is_over(struct collector *c)
{
	unsigned n;

	if (c->stopped || (c->owner && c->wire.sock < 0))
		return true;
	if (!c->target_ended)
		return false;
	end_streams(c, c->target, &c->end);
	if (!c->linger_until)
		c->linger_until = clock__ns(CLOCK_MONOTONIC) + LINGER_NS;
	n = processes__n_awaited(&c->processes);
	if (n && !c->told_waiting && !c->quiet && clock__ns(CLOCK_MONOTONIC) >= c->linger_until) {
		fprintf(stderr,
			"ljperf: the program has ended; %u of its processes %s recorded still, "
			"interrupt to stop\n",
			n, n == 1 ? "is" : "are");
		c->told_waiting = true;
	}
	return !n && (!take_messages(c) || clock__ns(CLOCK_MONOTONIC) >= c->linger_until);
}

static int poll_ms(struct collector *c)
{
	int ms = steering__tick(&c->steering);

	if (c->target_ended && (ms < 0 || ms > 50))
		ms = 50;
	return ms;
}

/* VMs whose own profiler did not start. */
static void drop_empty(struct collector *c)
{
	struct stream **at = &c->streams, *s;

	while ((s = *at)) {
		if (!s->empty) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		stream__delete(s);
	}
}

void collector__run(struct collector *c)
{
	struct stream *s;

	c->last = &c->streams;
	if (c->owner)
		processes__find(&c->processes, c->owner);
	c->fds = c->fds_few;
	c->fds_room = sizeof(c->fds_few) / sizeof(c->fds_few[0]);
	while (!is_over(c)) {
		watch_all(c);
		wait_for_events(c, poll_ms(c));
		take_events(c);
	}
	steering__set(&c->steering, false); /* who still runs goes on unrecorded */
	take_messages(c); /* VMs that started and ended in a moment */
	for (s = c->streams; s; s = s->next)
		stream__end(s, &c->end);
	for (s = c->streams; s; s = s->next)
		stream__join(s);
	drop_empty(c);
}

void collector__exit(struct collector *c)
{
	struct stream *s;

	while ((s = c->streams)) {
		c->streams = s->next;
		stream__delete(s);
	}
	processes__exit(&c->processes);
	steering__close(&c->steering);
	wire__close(&c->wire);
	if (c->fds != c->fds_few)
		free(c->fds);
}
