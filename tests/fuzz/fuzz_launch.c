/* fuzz_launch.c - what record reads besides rings: the file of the program, lines
 * of the control FIFO, arguments of a process.
 *
 * The first byte says what follows it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/launch.h"
#include "record/process.h"
#include "record/steering.h"
#include "tests/fuzz/lib_checks.h"
#include "util/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_program(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size || fchmod(fd, 0755))
		abort();
	if (launch__check(path) < 0 && !is_safe_text(err__msg(), strlen(err__msg())))
		abort();
	close(fd);
}

/* How often WORD is a whole line. */
static unsigned count_lines(const uint8_t *data, size_t size, const char *word)
{
	size_t n = strlen(word), from = 0, i;
	unsigned count = 0;

	for (i = 0; i < size; i++) {
		if (data[i] != '\n')
			continue;
		count += i - from == n && memcmp(data + from, word, n) == 0;
		from = i + 1;
	}
	return count;
}

static void fuzz_commands(const uint8_t *data, size_t size)
{
	struct control page = { .epoch = 1 };
	struct steering s = { .off = false };
	int fds[2], i;
	char spec[32];

	if (size > 4096 || pipe(fds))
		return;
	snprintf(spec, sizeof(spec), "fd:%d", fds[0]);
	s.control = spec;
	if (steering__open(&s, &page) || write(fds[1], data, size) != (ssize_t)size)
		abort();
	close(fds[1]);
	for (i = 0; i < 20 && s.fd >= 0; i++)
		steering__read(&s);
	/* To the end of the pipe, which is then closed. */
	if (s.fd >= 0 || atomic_load(&page.epoch) == 0 || steering__tick(&s) < -1 ||
	    s.stop != (count_lines(data, size, "stop") > 0) ||
	    s.snapshot != (count_lines(data, size, "snapshot") > 0) ||
	    s.acks != count_lines(data, size, "stop") + count_lines(data, size, "snapshot") +
			      count_lines(data, size, "enable") +
			      count_lines(data, size, "disable") + count_lines(data, size, "ping"))
		abort();
	steering__close(&s);
}

/* The arguments joined again are the front of the text. */
static void fuzz_arguments(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	size_t argc = 0, i, at = 0;
	const char **argv = process__split(text, size, &argc);

	if (!argv || argv[argc])
		abort();
	for (i = 0; i < argc; i++) {
		size_t n = strlen(argv[i]) + 1;

		if (n > size - at || memcmp(argv[i], text + at, n) != 0)
			abort();
		at += n;
	}
	free(argv);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const kinds[])(const uint8_t *, size_t) = { fuzz_program, fuzz_commands,
								  fuzz_arguments };

	if (size)
		kinds[data[0] % 3](data + 1, size - 1);
	return 0;
}
