/* source.c - a text by its lines; see source.h. */
#include "report/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOURCE_MAX = 64 << 20, NS = 1000000000 };

void source__exit(struct source *s)
{
	free(s->owned);
	free(s->lines);
	*s = (struct source){ .text = NULL };
}

static bool is_eol(char c)
{
	return c == '\n' || c == '\r';
}

/* Behind the end of a line at S: \r\n and \n\r are one end. */
static size_t behind_eol(const char *text, size_t len, size_t i)
{
	bool pair = i + 1 < len && is_eol(text[i + 1]) && text[i + 1] != text[i];

	return i + 1 + pair;
}

/* An end of line at the end of the text begins no line. */
int source__set(struct source *s, const char *text, size_t len)
{
	size_t n = 1, i;

	for (i = 0; i < len; i++)
		n += is_eol(text[i]);
	s->lines = malloc((n + 1) * sizeof(*s->lines));
	if (!s->lines)
		return -ENOMEM;
	s->text = text;
	for (i = 0; i < len;) {
		s->lines[s->n_lines++] = i;
		while (i < len && !is_eol(text[i]))
			i++;
		if (i < len)
			i = behind_eol(text, len, i);
	}
	s->lines[s->n_lines] = len;
	return 0;
}

static int fd__read(int fd, char *text, size_t *len)
{
	size_t n = 0;
	ssize_t got;

	while (n < *len) {
		got = read(fd, text + n, *len - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		n += (size_t)got;
	}
	*len = n;
	return 0;
}

static int source__read_fd(struct source *s, int fd)
{
	struct stat st;
	size_t len;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_size > SOURCE_MAX)
		return -EFBIG;
	len = (size_t)st.st_size;
	s->owned = malloc(len + 1);
	if (!s->owned)
		return -ENOMEM;
	err = fd__read(fd, s->owned, &len);
	err = err ? err : source__set(s, s->owned, len);
	if (st.st_mtim.tv_sec > 0)
		s->mtime_ns = (uint64_t)st.st_mtim.tv_sec * NS + (uint64_t)st.st_mtim.tv_nsec;
	return err;
}

int source__read(struct source *s, const char *path)
{
	/* Names come from recordings: a pipe must not hang us. */
	int fd, err;

	do {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	} while (fd < 0 && errno == EINTR); /* a disk of the network */
	if (fd < 0)
		return -errno;
	err = source__read_fd(s, fd);
	close(fd);
	if (err)
		source__exit(s);
	return err;
}

const char *source__line(const struct source *s, uint64_t n, size_t *len)
{
	size_t from, to;

	if (!s->text || !n || n > s->n_lines)
		return NULL;
	from = s->lines[n - 1];
	to = s->lines[n];
	while (to > from && is_eol(s->text[to - 1]))
		to--;
	*len = to - from;
	return s->text + from;
}
