/* collect.c - see collect.h.  The program waits for the answer, which says
 * whether the file could be opened; when it has stopped, or has ended, the file
 * is closed, and then the socket.
 */
#include "record/collect.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "ljperf.h"
#include "record/collector.h"
#include "record/native.h"
#include "record/output.h"
#include "record/process.h"
#include "util/error.h"

#define PROGRAM_FD 3
#define RING_BYTES (4u << 20)

static bool has_suffix(const char *path, const char *suffix)
{
	size_t n = strlen(path), k = strlen(suffix);

	return n >= k && strcmp(path + n - k, suffix) == 0;
}

/* What is sent to all of a terminal is the program's to react to; a recorder
 * that is told to end does so. */
static int watch_signals(void)
{
	sigset_t set;

	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static int open_output(struct collector *c, bool memprof)
{
	char *path;

	if (memprof) {
		c->opts.raw = !has_suffix(c->opts.output, ".zst");
		return output__open_memprof(c->opts.output);
	}
	c->opts.output_fd = output__check(c->opts.output);
	if (c->opts.output_fd < 0)
		return c->opts.output_fd;
	c->opts.output_fd = output__open(c->opts.output, c->owner, 1, true, &path);
	free(path);
	return c->opts.output_fd;
}

static int tell_failures(const struct collector *c)
{
	const struct stream *s;
	int status = c->err ? EXIT_LJPERF : 0;

	if (c->err)
		fprintf(stderr, "ljperf: %s\n", c->why);
	for (s = c->streams; s; s = s->next) {
		if (s->err) {
			fprintf(stderr, "ljperf: recording is incomplete: %s\n", s->why);
			status = EXIT_LJPERF;
		}
		if (s->lost)
			fprintf(stderr, "ljperf: %" PRIu64 " events were lost: the ring was full\n",
				s->lost);
	}
	return status;
}

static int run(struct collector *c, bool memprof, const char *frames)
{
	int err, sock = fcntl(PROGRAM_FD, F_DUPFD_CLOEXEC, 10);

	if (sock < 0 || wire__open_at(&c->wire, sock) ||
	    steering__open(&c->steering, c->wire.control))
		return EXIT_LJPERF;
	c->wire.control->ring_bytes = RING_BYTES;
	c->wire.control->stacks = memprof ? 0 : (uint32_t)atoi(frames);
	c->wire.control->native = strstr(frames, ",native") && native__is_supported();
	c->sigfd = watch_signals();
	c->opts.output_fd = open_output(c, memprof);
	err = c->opts.output_fd < 0 ? -c->opts.output_fd : 0;
	wire__answer(&c->wire, sock, err);
	if (err)
		return EXIT_LJPERF; /* the program tells */
	collector__run(c);
	return tell_failures(c);
}

int collect__run(int argc, const char **argv)
{
	struct collector c = { .quiet = true };
	int status;

	if (argc != 4) {
		fputs("ljperf: --collect is for the Lua module\n", stderr);
		return EXIT_LJPERF;
	}
	c.owner = (pid_t)atoi(argv[0]);
	c.opts.output = argv[1];
	c.opts.argv = process__argv(c.owner, &c.opts.argc);
	c.opts.target = c.owner;
	recording_id__make(c.opts.recording);
	status = run(&c, strcmp(argv[2], "memprof") == 0, argv[3]);
	collector__exit(&c);
	free((void *)(uintptr_t)c.opts.argv);
	return status; /* and the program sees that the socket is closed */
}
