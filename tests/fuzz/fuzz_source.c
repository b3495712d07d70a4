/* fuzz_source.c - any bytes as the text of a source file: both readers of such
 * files find the same lines, and they are those that Lua counts.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/diff_source.h"
#include "report/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Where the line at AT ends, and where the next one begins: \n, \r, and both in
 * either order are one end (inclinenumber() in llex.c of Lua 5.1). */
static size_t line_end(const char *p, size_t size, size_t at, size_t *next)
{
	size_t end = at;

	while (end < size && p[end] != '\n' && p[end] != '\r')
		end++;
	*next = end;
	if (end < size)
		*next = end + 1;
	if (end + 1 < size && (p[end + 1] == '\n' || p[end + 1] == '\r') && p[end + 1] != p[end])
		*next = end + 2;
	return end;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\v' || c == '\f' || c == '\r';
}

static void check_line(const struct source *a, const struct diff_source *b, size_t n,
		       const char *want, size_t want_len)
{
	const char *line;
	size_t len;

	line = source__line(a, n, &len);
	if (!line || len != want_len || memcmp(line, want, len) != 0)
		abort();
	while (want_len && is_blank(want[0]))
		want++, want_len--;
	while (want_len && is_blank(want[want_len - 1]))
		want_len--;
	line = diff_source__line(b, n, &len);
	if (!line || len != want_len || memcmp(line, want, len) != 0)
		abort();
}

static void check_lines(const struct source *a, const struct diff_source *b, const char *p,
			size_t size)
{
	size_t at, next, n = 0, end, len;

	for (at = 0; at < size; at = next) {
		end = line_end(p, size, at, &next);
		check_line(a, b, ++n, p + at, end - at);
	}
	if (source__line(a, n + 1, &len) || source__line(a, 0, &len) ||
	    source__line(a, UINT64_MAX, &len) || diff_source__line(b, 0, &len) ||
	    diff_source__line(b, n + 2, &len) || diff_source__line(b, UINT64_MAX, &len))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct source a = { .text = NULL };
	struct diff_source b;
	int fd = memfd_create("source", MFD_CLOEXEC);
	char chunk[64];

	snprintf(chunk, sizeof(chunk), "@/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size || source__read(&a, chunk + 1))
		abort();
	diff_source__load(&b, chunk, NULL, UINT64_MAX);
	if (size)
		check_lines(&a, &b, (const char *)data, size);
	source__exit(&a);
	diff_source__exit(&b);
	close(fd);
	return 0;
}
