/* fuzz_wire.c - any packets on the socket of the collector, with descriptors of
 * any kind attached: what is taken for a ring is drained, and a file that is
 * called whole is whole.  No descriptor stays open.
 *
 * The input: { flags, 2 bytes of length, packet }*, what is attached to it in
 * FLAGS; the rest of a ring is filled with what follows in the input.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "record/stream.h"
#include "record/wire.h"

enum {
	WITH_RING = 1,
	WITH_PIPE = 2, /* a file with a stream */
	WITH_TWO = 4,
	AS_NOTE = 8, /* the packet gets the length of a note, */
	AS_HELLO = 16, /* or of a hello */
	ODD_SIZE = 32, /* of the ring */
	GOOD_HEAD = 64, /* the ring's first words are right */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	while (dir && readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* ---- the sender ---- */

static int make_ring(unsigned flags, const uint8_t *data, size_t size)
{
	off_t len = RING_HEADER_BYTES + (off_t)RING_MIN_BYTES + (flags & ODD_SIZE ? 8 : 0);
	struct ring head = { .magic = RING_MAGIC, .version = RING_VERSION, .head = size / 8 };
	int fd = memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, len))
		abort();
	if (size > RING_MIN_BYTES)
		size = RING_MIN_BYTES;
	if (flags & GOOD_HEAD) {
		if (pwrite(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
		    pwrite(fd, data, size, RING_HEADER_BYTES) != (ssize_t)size)
			abort();
	} else if (pwrite(fd, data, size, 0) != (ssize_t)size) {
		abort();
	}
	return fd;
}

static int make_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}

static void send_packet(int sock, const void *p, size_t len, const int *fds, size_t n_fds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { (void *)(uintptr_t)p, len };
	struct msghdr hdr = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (n_fds) {
		hdr.msg_control = &control;
		hdr.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		memcpy(CMSG_DATA(&control.align), fds, n_fds * sizeof(int));
	}
	if (sendmsg(sock, &hdr, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)len)
		abort();
}

static void send_one(int sock, unsigned flags, const uint8_t *p, size_t len, const uint8_t *rest,
		     size_t n_rest)
{
	union {
		struct agent_note note;
		struct agent_hello hello;
	} packet = { .note = { .version = PROTOCOL_VERSION } };
	size_t n_fds = 0, n = len ? len : 1;
	int fds[2];

	if (flags & (AS_NOTE | AS_HELLO)) {
		n = flags & AS_HELLO ? sizeof(packet.hello) : sizeof(packet.note);
		packet.note.kind = flags & AS_HELLO ? MSG_RING + (flags >> 7) : 0;
		/* Version and kind are what most packets would fail by. */
		memcpy((char *)&packet + 8, p, len < n - 8 ? len : n - 8);
		if (flags & AS_NOTE && len)
			packet.note.kind = p[0] & 7;
	} else {
		memcpy(&packet, p, len < sizeof(packet) ? len : sizeof(packet));
		n = n < sizeof(packet) ? n : sizeof(packet);
	}
	if (flags & WITH_RING)
		fds[n_fds++] = make_ring(flags, rest, n_rest);
	else if (flags & WITH_PIPE)
		fds[n_fds++] = make_file(rest, n_rest);
	if (flags & WITH_TWO && n_fds)
		fds[n_fds++] = make_file(rest, n_rest);
	send_packet(sock, &packet, n, fds, n_fds);
	while (n_fds)
		close(fds[--n_fds]);
}

/* ---- the collector ---- */

static int no_event(void *ctx, const struct ljm_event *ev)
{
	(void)ctx, (void)ev;
	return 0;
}

static void check_file(int fd, const struct stream *s)
{
	static const struct session_handlers handlers = { .event = no_event };
	off_t len = lseek(fd, 0, SEEK_END);
	void *p = mmap(NULL, (size_t)len, PROT_READ, MAP_SHARED, fd, 0);
	struct session_reader *r;

	if (p == MAP_FAILED)
		abort();
	r = session_reader__new_mem(p, (size_t)len, "fuzz");
	if (!r || session_reader__run(r, &handlers, NULL) != 0 ||
	    session_reader__info(r)->n_events != s->events ||
	    (session_reader__info(r)->state == SESSION_COMPLETE) != (s->err == 0))
		abort();
	session_reader__delete(r);
	munmap(p, (size_t)len);
}

static void take_ring(const struct wire_msg *msg)
{
	static const struct session_footer end = { .end_kind = SESSION_END_EXIT };
	struct stream_vm vm = { &msg->u.hello, msg->pid, 1, true };
	int fd = memfd_create("output", MFD_CLOEXEC), copy = dup(fd);
	char path[64];
	struct stream_opts opts = { .output = path, .output_fd = copy, .level = 1 };
	struct stream *s;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	s = stream__new(&opts, &vm, msg->fd);
	if (s) {
		stream__end(s, &end);
		stream__join(s);
		if (!s->empty)
			check_file(fd, s);
		stream__delete(s);
	} else if (fcntl(copy, F_GETFD) >= 0) {
		close(copy); /* it had not come to that */
	}
	close(fd);
}

static void receive_one(int sock)
{
	struct wire_msg msg;
	int n = wire__receive(sock, &msg);

	if (n <= 0)
		abort();
	if (msg.kind != 0 && msg.kind != MSG_RING && msg.kind != MSG_MEMPROF && msg.fd >= 0)
		abort();
	if (msg.kind == MSG_RING || msg.kind == MSG_MEMPROF) {
		if (msg.pid != getpid())
			abort();
		if (msg.fd >= 0)
			take_ring(&msg);
	} else if (msg.kind != 0 && memchr(msg.u.note.text, 0, sizeof(msg.u.note.text)) == NULL) {
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wire w = { 0 };
	int socks[2], i;
	size_t before;

	if (size < 3)
		return 0;
	signal(SIGPIPE, SIG_IGN); /* as the collector does */
	before = count_open();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) ||
	    wire__open_at(&w, socks[0]))
		abort();
	for (i = 0; i < 4 && size >= 3; i++) {
		size_t n = data[1] | (size_t)(data[2] & 15) << 8;

		n = n < size - 3 ? n : size - 3;
		send_one(socks[1], data[0], data + 3, n, data + 3 + n, size - 3 - n);
		receive_one(socks[0]);
		data += 3 + n;
		size -= 3 + n;
	}
	close(socks[0]);
	close(socks[1]);
	close(w.control_fd);
	wire__close(&w);
	if (count_open() != before)
		abort();
	return 0;
}
