/* wire.c - see wire.h. */
#include "record/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "record/ring.h"
#include "util/error.h"

/* Descriptors that the target inherits are high: programs and shells count on
 * low ones. */
static int lift(int fd)
{
	struct rlimit lim;
	int base = 900, high;

	if (getrlimit(RLIMIT_NOFILE, &lim) == 0 && lim.rlim_cur < 1024)
		base = lim.rlim_cur > 40 ? (int)lim.rlim_cur - 24 : 10;
	high = fcntl(fd, F_DUPFD_CLOEXEC, base);
	if (high < 0)
		return fd;
	close(fd);
	return high;
}

static int open_control(struct wire *w)
{
	int fd = memfd_create("ljperf-control", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *map = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, sizeof(*w->control)) == 0)
		map = mmap(NULL, sizeof(*w->control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return err__errno(errno, "cannot make shared memory");
	/* Our mapping stays writable; the target gets none that is. */
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE);
	w->control = map;
	w->control->magic = CONTROL_MAGIC;
	w->control->version = PROTOCOL_VERSION;
	atomic_store(&w->control->epoch, 1);
	w->control_fd = lift(fd);
	return 0;
}

/* The kernel then says who sends. */
static void want_credentials(int sock)
{
	int on = 1;

	setsockopt(sock, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
}

static int open_pair(struct wire *w)
{
	int socks[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) != 0)
		return err__errno(errno, "cannot make a socket");
	w->sock = socks[0];
	w->target_sock = lift(socks[1]);
	want_credentials(w->sock);
	return 0;
}

static void hex(char *out, const uint8_t *bytes, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static socklen_t abstract_addr(struct sockaddr_un *addr, const char *name)
{
	memset(addr, 0, sizeof(*addr));
	addr->sun_family = AF_UNIX;
	memcpy(addr->sun_path + 1, name, strlen(name));
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
}

/* Without it everything works but for processes that have closed what they
 * inherited, so it may be missing. */
static void open_listener(struct wire *w)
{
	struct sockaddr_un addr;
	uint8_t secret[24];
	char text[49];

	w->listener = -1;
	if (getrandom(secret, sizeof(secret), 0) != sizeof(secret))
		return;
	hex(text, secret, sizeof(secret));
	snprintf(w->name, sizeof(w->name), "ljperf-%d-%.16s", (int)getpid(), text);
	snprintf(w->token, sizeof(w->token), "%s", text + 16);
	w->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (w->listener < 0)
		return;
	if (bind(w->listener, (struct sockaddr *)&addr, abstract_addr(&addr, w->name)) != 0 ||
	    listen(w->listener, 128) != 0) {
		close(w->listener);
		w->listener = -1;
	}
}

int wire__open_at(struct wire *w, int sock)
{
	w->sock = sock;
	w->target_sock = w->listener = -1;
	want_credentials(sock);
	return open_control(w);
}

int wire__open(struct wire *w)
{
	int err = open_control(w);

	if (!err)
		err = open_pair(w);
	if (!err)
		open_listener(w);
	return err;
}

void wire__close(struct wire *w)
{
	if (w->control)
		munmap(w->control, sizeof(*w->control));
	w->control = NULL;
}

static unsigned long long inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? (unsigned long long)st.st_ino : 0;
}

void wire__spec(const struct wire *w, char *buf, size_t len)
{
	snprintf(buf, len, "%d,%llu,%d,%llu,%s,%s", w->target_sock, inode_of(w->target_sock),
		 w->control_fd, inode_of(w->control_fd), w->listener >= 0 ? w->name : "", w->token);
}

/* ---- messages ---- */

/* What came with a packet.  A sender can attach more than one descriptor;
 * none of them may stay open here. */
static void take_attached(struct msghdr *hdr, struct wire_msg *msg)
{
	struct cmsghdr *c;
	struct ucred cred;
	size_t i, n;
	int fd;

	for (c = CMSG_FIRSTHDR(hdr); c; c = CMSG_NXTHDR(hdr, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_CREDENTIALS && c->cmsg_len >= CMSG_LEN(sizeof(cred))) {
			memcpy(&cred, CMSG_DATA(c), sizeof(cred));
			msg->pid = cred.pid;
		}
		if (c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < n; i++) {
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (msg->fd < 0)
				msg->fd = fd;
			else
				close(fd);
		}
	}
}

/* A message of another length or version counts as none; kind 0 then. */
static void check(struct wire_msg *msg, size_t n)
{
	struct agent_hello *hello = &msg->u.hello;
	struct agent_note *note = &msg->u.note;

	msg->kind = 0;
	if (n < sizeof(*note) || note->version != PROTOCOL_VERSION)
		return;
	if ((note->kind == MSG_RING || note->kind == MSG_MEMPROF) && n == sizeof(*hello)) {
		hello->vm_version[sizeof(hello->vm_version) - 1] = 0;
		hello->vm_path[sizeof(hello->vm_path) - 1] = 0;
		hello->vm_build_id[sizeof(hello->vm_build_id) - 1] = 0;
		hello->vm_options[sizeof(hello->vm_options) - 1] = 0;
		hello->thread_name[sizeof(hello->thread_name) - 1] = 0;
		hello->cwd[sizeof(hello->cwd) - 1] = 0;
		if (hello->args_len > sizeof(hello->args))
			return;
	} else if (note->kind < MSG_RING && n == sizeof(*note)) {
		note->text[sizeof(note->text) - 1] = 0;
	} else {
		return;
	}
	msg->kind = note->kind;
}

int wire__receive(int sock, struct wire_msg *msg)
{
	struct iovec iov = { &msg->u, sizeof(msg->u) };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(8 * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct msghdr hdr = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control.bytes) };
	ssize_t n;

	msg->fd = -1;
	msg->pid = 0;
	do {
		n = recvmsg(sock, &hdr, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	if (n < 0) /* memory may come back, and the packet stays */
		return errno == EAGAIN || errno == ENOMEM || errno == ENOBUFS ? 0 : -1;
	if (n == 0)
		return -1;
	take_attached(&hdr, msg);
	check(msg, (size_t)n);
	if (msg->kind < MSG_RING && msg->fd >= 0) {
		close(msg->fd);
		msg->fd = -1;
	}
	return 1;
}

/* Everybody can see the name of the socket.  A program of ours can only have
 * become another user when we are root. */
static bool may_call(int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0 &&
	       (geteuid() == 0 || cred.uid == geteuid());
}

int wire__accept(const struct wire *w)
{
	int fd = accept4(w->listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return -1;
	if (!may_call(fd)) {
		close(fd);
		return -1;
	}
	want_credentials(fd);
	return fd;
}

bool wire__answer(const struct wire *w, int fd, int errnum)
{
	int32_t err = errnum;
	struct iovec iov = { &err, sizeof(err) };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr hdr = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (!err) {
		hdr.msg_control = &control;
		hdr.msg_controllen = sizeof(control.bytes);
		c = CMSG_FIRSTHDR(&hdr);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &w->control_fd, sizeof(int));
	}
	return sendmsg(fd, &hdr, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(err);
}

/* Compared whole, whatever its beginning: the time tells nothing. */
static bool same_secret(const char *a, const char *b)
{
	unsigned char differ = 0;
	size_t i;

	for (i = 0; i < AGENT_NAME_MAX; i++)
		differ |= (unsigned char)(a[i] ^ b[i]);
	return !differ;
}

bool wire__admit(const struct wire *w, int fd, const struct wire_msg *msg)
{
	char secret[AGENT_NAME_MAX] = { 0 };

	if (msg->kind != MSG_TOKEN || !w->token[0])
		return false;
	memcpy(secret, msg->u.note.text, strnlen(msg->u.note.text, sizeof(secret) - 1));
	return same_secret(secret, w->token) && wire__answer(w, fd, 0);
}
