/* endline.c - see endline.h. */
#include "record/endline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ljperf.h"
#include "record/siblings.h"
#include "util/error.h"
#include "util/text.h"

#define MOST_LINES 10 /* the files of more VMs are summed up */

static void print_size(uint64_t bytes)
{
	if (bytes < 1000000)
		fprintf(stderr, "%.3f kB", (double)bytes / 1e3);
	else
		fprintf(stderr, "%.3f MB", (double)bytes / 1e6);
}

static void print_written(uint64_t bytes, uint64_t events, const char *where)
{
	char safe[1024];

	text__safe(safe, sizeof(safe), where);
	fputs("[ ljperf record: Captured and wrote ", stderr);
	print_size(bytes);
	fprintf(stderr, " %s (%" PRIu64 " events", safe, events);
	if (events)
		fprintf(stderr, ", %.2f bytes/event", (double)bytes / (double)events);
	fputs(") ]\n", stderr);
}

/* report reads the first file, unless it is told to read all. */
static void print_hint(const char *output, unsigned n)
{
	size_t stem = siblings__stem(output);
	char *files, shown[512];

	if (asprintf(&files, "%.*s*%s", (int)stem, output, output + stem) < 0)
		return;
	text__safe(shown, sizeof(shown), files);
	fprintf(stderr, "[ ljperf record: One file for each of %u VMs: 'ljperf report %s' ]\n", n,
		shown);
	free(files);
}

static void print_files(const struct collector *c)
{
	const struct stream *s = c->streams;
	uint64_t bytes = 0, events = 0;
	unsigned n = 0;
	char where[64];

	for (; s; s = s->next, n++) {
		if (n < MOST_LINES) {
			print_written(s->bytes, s->events,
				      strcmp(s->path, "-") == 0 ? "to standard output" : s->path);
			continue;
		}
		bytes += s->bytes;
		events += s->events;
	}
	if (n > MOST_LINES) {
		snprintf(where, sizeof(where), "in %u more files", n - MOST_LINES);
		print_written(bytes, events, where);
	}
	if (n > 1 && strcmp(c->opts.output, "-") != 0)
		print_hint(c->opts.output, n);
}

static void print_stream(const struct stream *s, bool oracle)
{
	if (s->err)
		err__print("recording is incomplete: %s", s->why);
	if (s->lost)
		fprintf(stderr, "ljperf: %" PRIu64 " events were lost: the ring was full\n",
			s->lost);
	if (oracle)
		fprintf(stderr, "ljperf: oracle: %" PRIu64 " disagreements in %" PRIu64 " events\n",
			s->oracle_wrong, s->oracle_compared);
}

/* No VM was seen: the most likely reason is told. */
static void print_nothing(const struct collector *c)
{
	const char *what = c->opts.argc ? c->opts.argv[0] : "the program";

	if (!c->n_loaded)
		err__print("nothing was recorded: the agent did not get into '%s' (is it linked "
			   "statically, or does it start others without their environment?)",
			   what);
	else if (!c->steering.was_on && c->steering.delay_ns)
		err__print(
			"nothing was recorded: '%s' ended before the delay of %g s (-D) was over",
			what, (double)c->steering.delay_ns / 1e9);
	else if (!c->steering.was_on)
		err__print("nothing was recorded: nobody turned recording on");
	else
		err__print("nothing was recorded: '%s' made no LuaJIT VM while recording was on, "
			   "or carries LuaJIT inside where it cannot be seen",
			   what);
}

/* VMs that were seen and could not be recorded. */
static void print_failures(const struct collector *c)
{
	const char *what = c->streams ? "a VM was not recorded" : "nothing was recorded";

	if (c->refused[0])
		err__print("%s: %s", what, c->refused);
	if (c->err)
		err__print("%s: %s", what, c->why);
}

int endline__print(const struct collector *c, bool quiet, bool oracle)
{
	const struct stream *s;

	if (!quiet)
		print_files(c);
	for (s = c->streams; s; s = s->next)
		print_stream(s, oracle);
	print_failures(c);
	if (c->streams || c->err)
		return 0;
	if (!c->refused[0])
		print_nothing(c);
	/* An empty success is none; a failure is the program's own. */
	if (c->refused[0] && c->end.end_kind == SESSION_END_EXIT && c->end.end_code != 0)
		return 0;
	return EXIT_LJPERF;
}
