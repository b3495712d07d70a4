/* diff_source.c - lines of source files; see diff_source.h. */
#include "report/diff_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/strbuf.h"

enum { SOURCE_MAX = 16 << 20, NS = 1000000000 };

/* A file that was written after the recording began may be another text. */
static size_t file__size(int fd, uint64_t start_ns)
{
	struct stat st;
	uint64_t s, ns;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0 || st.st_size > SOURCE_MAX)
		return 0;
	s = (uint64_t)st.st_mtim.tv_sec;
	ns = (uint64_t)st.st_mtim.tv_nsec;
	if (st.st_mtim.tv_sec < 0)
		return (size_t)st.st_size;
	if (s > start_ns / NS || (s == start_ns / NS && ns > start_ns % NS))
		return 0;
	return (size_t)st.st_size;
}

static char *file__read(const char *path, uint64_t start_ns, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	size_t n = 0;
	char *text;
	ssize_t got;

	if (fd < 0)
		return NULL;
	*size = file__size(fd, start_ns);
	text = *size ? malloc(*size) : NULL;
	while (text && n < *size) {
		got = read(fd, text + n, *size - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	close(fd);
	*size = n;
	return text;
}

/* Where lines begin; Lua takes \n, \r, \r\n and \n\r for one end each. */
static int source__index(struct diff_source *s, size_t size)
{
	size_t n = 0, i;

	for (i = 0; i < size; i++)
		n += s->text[i] == '\n' || s->text[i] == '\r';
	s->lines = malloc((n + 2) * sizeof(*s->lines));
	if (!s->lines)
		return -ENOMEM;
	s->lines[s->n_lines++] = 0;
	for (i = 0; i < size; i++) {
		char c = s->text[i];

		if (c != '\n' && c != '\r')
			continue;
		if (i + 1 < size && c + s->text[i + 1] == '\n' + '\r')
			i++;
		s->lines[s->n_lines++] = i + 1;
	}
	s->lines[s->n_lines] = size;
	return 0;
}

void diff_source__load(struct diff_source *s, const char *chunk, const char *cwd, uint64_t start_ns)
{
	struct strbuf path = STRBUF_INIT;
	size_t size = 0;

	memset(s, 0, sizeof(*s));
	if (chunk[0] != '@' || !chunk[1] || (chunk[1] != '/' && (!cwd || !*cwd)))
		return;
	if (chunk[1] != '/') {
		strbuf__addstr(&path, cwd);
		strbuf__addch(&path, '/');
	}
	strbuf__addstr(&path, chunk + 1);
	if (!path.failed)
		s->text = file__read(path.buf, start_ns, &size);
	strbuf__exit(&path);
	if (s->text && source__index(s, size))
		diff_source__exit(s);
}

void diff_source__exit(struct diff_source *s)
{
	free(s->text);
	free(s->lines);
	memset(s, 0, sizeof(*s));
}

static int is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

const char *diff_source__line(const struct diff_source *s, uint64_t n, size_t *len)
{
	size_t from, to;

	if (!s->text || !n || n > s->n_lines)
		return NULL;
	from = s->lines[n - 1];
	to = s->lines[n];
	while (from < to && is_blank(s->text[from]))
		from++;
	while (from < to && is_blank(s->text[to - 1]))
		to--;
	*len = to - from;
	return s->text + from;
}
