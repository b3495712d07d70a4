/* input.c - see input.h. */
#include "formats/input.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_CAPACITY = 256 << 10, SKIP_CHUNK = 64 << 10 };

/* What there is before the first byte: a pointer that may be moved by 0. */
static const uint8_t nothing[1];

void input__init_fd(struct input *in, int fd)
{
	*in = (struct input){ .fd = fd, .p = nothing };
}

void input__init_mem(struct input *in, const void *buf, size_t len)
{
	*in = (struct input){ .fd = -1, .p = buf ? buf : nothing, .avail = len, .eof = true };
}

void input__exit(struct input *in)
{
	free(in->buf);
	in->buf = NULL;
}

/* read() that waits on descriptors which somebody made non-blocking. */
static ssize_t read_some(int fd, void *dst, size_t n)
{
	for (;;) {
		ssize_t got = read(fd, dst, n);

		if (got >= 0)
			return got;
		if (errno == EAGAIN || errno == EWOULDBLOCK)
			poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, -1);
		else if (errno != EINTR)
			return -errno;
	}
}

static int64_t read_file(struct input *in, void *dst, size_t n)
{
	ssize_t got = in->error ? in->error : read_some(in->fd, dst, n);

	if (got < 0)
		in->error = (int)got;
	if (got <= 0)
		in->eof = true;
	return got;
}

/* Makes room behind the bytes that are there: by moving them to the front, or
 * by doubling a buffer that is full. */
static bool make_room(struct input *in)
{
	size_t cap = in->cap ? in->cap * 2 : FIRST_CAPACITY;
	uint8_t *buf;

	if (in->buf && in->p != in->buf) {
		memmove(in->buf, in->p, in->avail);
		in->p = in->buf;
	}
	if (in->avail < in->cap)
		return true;
	buf = realloc(in->buf, cap);
	if (!buf) {
		in->error = -ENOMEM;
		in->eof = true;
		return false;
	}
	in->p = in->buf = buf;
	in->cap = cap;
	return true;
}

size_t input__need(struct input *in, size_t n)
{
	while (in->avail < n && !in->eof) {
		uint8_t *tail = (uint8_t *)in->p + in->avail;
		int64_t got;

		if (!in->buf || tail == in->buf + in->cap) {
			if (!make_room(in))
				break;
			tail = in->buf + in->avail;
		}
		got = read_file(in, tail, (size_t)(in->buf + in->cap - tail));
		if (got > 0)
			in->avail += (size_t)got;
	}
	return in->avail;
}

void input__advance(struct input *in, size_t n)
{
	in->p += n;
	in->avail -= n;
	in->offset += n;
	if (in->avail == 0 && in->buf)
		in->p = in->buf;
}

bool input__skip(struct input *in, uint64_t n)
{
	while (n) {
		size_t step = input__need(in, n < SKIP_CHUNK ? (size_t)n : SKIP_CHUNK);

		if (step == 0)
			return false;
		if (step > n)
			step = (size_t)n;
		input__advance(in, step);
		n -= step;
	}
	return true;
}

int64_t input__read(struct input *in, void *dst, size_t n)
{
	int64_t got;

	if (in->avail) {
		if (n > in->avail)
			n = in->avail;
		memcpy(dst, in->p, n);
		input__advance(in, n);
		return (int64_t)n;
	}
	if (in->eof)
		return in->error;
	got = read_file(in, dst, n);
	if (got > 0)
		in->offset += (uint64_t)got;
	return got;
}

uint64_t input__remaining(const struct input *in)
{
	struct stat st;
	off_t at;

	if (in->fd < 0)
		return in->avail;
	at = lseek(in->fd, 0, SEEK_CUR);
	if (fstat(in->fd, &st) < 0 || !S_ISREG(st.st_mode) || at < 0)
		return UINT64_MAX;
	return in->avail + (st.st_size > at ? (uint64_t)(st.st_size - at) : 0);
}
