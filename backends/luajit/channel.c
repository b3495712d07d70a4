/* channel.c - see channel.h. */
#include "backends/luajit/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define STALL_MS 2000 /* a collector that takes nothing for so long is taken for stopped */
#define HIGH_FD 700 /* programs and shells count on low ones */

static ino_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

static int map_control(struct channel *ch, int fd)
{
	const struct control *page = mmap(NULL, sizeof(*page), PROT_READ, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return -errno;
	if (page->magic != CONTROL_MAGIC || page->version != PROTOCOL_VERSION) {
		munmap((void *)(uintptr_t)page, sizeof(*page));
		return -EPROTO;
	}
	ch->control = page;
	return 0;
}

/* ---- connecting by name ---- */

static int connect_to(const char *name)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	size_t len = strlen(name);
	int fd, high;

	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	memcpy(addr.sun_path + 1, name, len);
	if (connect(fd, (struct sockaddr *)&addr,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)) != 0) {
		int err = errno;

		close(fd);
		return -err;
	}
	high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
	if (high < 0)
		return fd;
	close(fd);
	return high;
}

/* The collector has taken nothing for STALL_MS: no VM waits for it any more,
 * until it takes one. */
static _Atomic bool stalled;

static bool wait_to_send(int sock)
{
	struct pollfd pfd = { .fd = sock, .events = POLLOUT };
	int n = poll(&pfd, 1, atomic_load(&stalled) ? 0 : STALL_MS);

	if (n == 0)
		atomic_store(&stalled, true);
	return n > 0 || (n < 0 && errno == EINTR);
}

static int send_on(int sock, const void *msg, size_t len, int fd)
{
	struct iovec iov = { (void *)(uintptr_t)msg, len };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr hdr = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;
	ssize_t n;

	if (fd >= 0) {
		hdr.msg_control = &control;
		hdr.msg_controllen = sizeof(control.bytes);
		c = CMSG_FIRSTHDR(&hdr);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	/* A ring is worth a wait; a note is not. */
	do {
		n = sendmsg(sock, &hdr, MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (n < 0 && (errno == EINTR || (errno == EAGAIN && fd >= 0 && wait_to_send(sock))));
	if (n != (ssize_t)len)
		return -errno;
	atomic_store(&stalled, false);
	return 0;
}

static int send_note(int sock, enum agent_msg kind, const char *text)
{
	struct agent_note note = { .version = PROTOCOL_VERSION, .kind = kind };

	snprintf(note.text, sizeof(note.text), "%s", text);
	return send_on(sock, &note, sizeof(note), -1);
}

/* The collector's answer: an error number, or 0 with the control page's
 * descriptor attached.  The descriptor, or -errno. */
static int receive_control(int sock)
{
	int32_t err = EPROTO;
	struct iovec iov = { &err, sizeof(err) };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr hdr = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control.bytes) };
	struct pollfd pfd = { .fd = sock, .events = POLLIN };
	struct cmsghdr *c;
	int fd = -1;

	if (poll(&pfd, 1, STALL_MS) <= 0)
		return -ETIMEDOUT;
	if (recvmsg(sock, &hdr, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) != sizeof(err))
		return -EPROTO; /* it has ended */
	c = CMSG_FIRSTHDR(&hdr);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(c), sizeof(int));
	return fd >= 0 ? fd : -(err ? err : EPROTO);
}

/* A connection of our own, instead of what we inherited. */
static int reconnect(struct channel *ch)
{
	int sock, fd, err;

	if (!ch->name[0])
		return -ENOTCONN;
	sock = connect_to(ch->name);
	if (sock < 0)
		return sock;
	err = send_note(sock, MSG_TOKEN, ch->token);
	fd = err ? err : receive_control(sock);
	if (fd < 0) {
		close(sock);
		return fd;
	}
	if (!ch->control)
		err = map_control(ch, fd);
	close(fd);
	atomic_store(&ch->inode, inode_of(sock));
	atomic_store(&ch->fd, sock);
	return err;
}

/* ---- joining ---- */

static bool take_field(const char **at, char *out, size_t len)
{
	size_t n = strcspn(*at, ",");

	if (n >= len)
		return false;
	memcpy(out, *at, n);
	out[n] = 0;
	*at += n + ((*at)[n] == ',');
	return true;
}

/* A descriptor and its inode; -1 when that is no longer what is open there. */
static bool take_fd(const char **at, int *fd)
{
	unsigned long long ino;
	char *end;

	*fd = (int)strtol(*at, &end, 10);
	if (*end++ != ',')
		return false;
	ino = strtoull(end, &end, 10);
	if (*end != ',')
		return false;
	*at = end + 1;
	if (ino == 0 || (unsigned long long)inode_of(*fd) != ino)
		*fd = -1;
	return true;
}

int channel__open(struct channel *ch, const char *spec)
{
	int fd;

	memset(ch, 0, sizeof(*ch));
	atomic_store(&ch->fd, -1);
	ch->control_fd = -1;
	if (!take_fd(&spec, &fd) || !take_fd(&spec, &ch->control_fd) ||
	    !take_field(&spec, ch->name, sizeof(ch->name)) ||
	    !take_field(&spec, ch->token, sizeof(ch->token)))
		return -EINVAL;
	if (fd < 0 || ch->control_fd < 0)
		return reconnect(ch);
	atomic_store(&ch->inode, inode_of(fd));
	atomic_store(&ch->fd, fd);
	return map_control(ch, ch->control_fd);
}

int channel__adopt(struct channel *ch, int sock)
{
	int fd, err;

	memset(ch, 0, sizeof(*ch));
	ch->control_fd = -1;
	atomic_store(&ch->fd, sock);
	atomic_store(&ch->inode, inode_of(sock));
	fd = receive_control(sock);
	if (fd < 0)
		return fd;
	err = map_control(ch, fd);
	close(fd);
	return err;
}

/* The number may be another file's by now. */
void channel__hang_up(struct channel *ch)
{
	int fd = atomic_exchange(&ch->fd, -1);

	if (fd >= 0 && inode_of(fd) == atomic_load(&ch->inode))
		close(fd);
}

void channel__close(struct channel *ch)
{
	channel__hang_up(ch);
	if (ch->control)
		munmap((void *)(uintptr_t)ch->control, sizeof(*ch->control));
	ch->control = NULL;
}

int channel__send(struct channel *ch, const void *msg, size_t len, int fd)
{
	int sock = atomic_load(&ch->fd), err;

	if (sock < 0 || inode_of(sock) != atomic_load(&ch->inode)) {
		err = reconnect(ch);
		if (err)
			return err;
		sock = atomic_load(&ch->fd);
	}
	return send_on(sock, msg, len, fd);
}

int channel__note(struct channel *ch, enum agent_msg kind, const char *text)
{
	struct agent_note note = { .version = PROTOCOL_VERSION, .kind = kind };

	snprintf(note.text, sizeof(note.text), "%s", text);
	return channel__send(ch, &note, sizeof(note), -1);
}

void channel__set_inherit(struct channel *ch, bool inherit)
{
	if (ch->control_fd < 0)
		return; /* a connection of our own is closed on exec */
	fcntl(atomic_load(&ch->fd), F_SETFD, inherit ? 0 : FD_CLOEXEC);
	fcntl(ch->control_fd, F_SETFD, inherit ? 0 : FD_CLOEXEC);
}
