/* cmd_record.c - "ljperf record": runs a Lua program under the embedded VM
 * and records what it allocates.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/backend.h"
#include "ljperf.h"
#include "record/collector.h"
#include "record/launch.h"
#include "record/output.h"
#include "util/error.h"
#include "util/options.h"

#define MAX_VM_ARGS 64

static struct {
	const char *output, *event;
	bool quiet, verbose, oracle, drop, final_gc;
	bool stacks, across;
	const char *call_graph;
	uint64_t level, max_stack;
	uint32_t ring_bytes;
	/* -j and -O as the runner takes them, behind our own */
	char *vm_args[MAX_VM_ARGS + 8];
	int n_vm_args;
} rec;

static const char usage[] = "ljperf record [OPTIONS] SCRIPT.lua [ARGUMENTS]";

static int add_arg(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static int add_arg(const char *fmt, ...)
{
	va_list ap;
	int n;

	if (rec.n_vm_args >= MAX_VM_ARGS)
		return err__set(-E2BIG, "too many options for the VM");
	va_start(ap, fmt);
	n = vasprintf(&rec.vm_args[rec.n_vm_args], fmt, ap);
	va_end(ap);
	if (n < 0)
		return err__set(-ENOMEM, "no memory for options");
	rec.n_vm_args++;
	return 0;
}

static int vm_option(const struct option *opt, const char *arg, bool unset)
{
	(void)unset;
	return add_arg("-%c%s", opt->letter, arg ? arg : "");
}

static int ring_option(const struct option *opt, const char *arg, bool unset)
{
	uint32_t bytes = RING_MIN_BYTES;
	char *end;
	unsigned long long n = strtoull(arg, &end, 10);

	(void)opt;
	(void)unset;
	if (*end == 'k' || *end == 'K')
		n = n > RING_MAX_BYTES ? n : n << 10, end++;
	else if (*end == 'm' || *end == 'M')
		n = n > RING_MAX_BYTES ? n : n << 20, end++;
	if (end == arg || *end || arg[0] == '-' || n < RING_MIN_BYTES || n > RING_MAX_BYTES)
		return err__set(-EINVAL, "the ring takes 64K to 1024M, not '%s'", arg);
	while (bytes < n)
		bytes *= 2;
	rec.ring_bytes = bytes;
	return 0;
}

static const struct option options[] = {
	OPT_STRING('o', "output", &rec.output, "FILE", "write to FILE, '-' for standard output (" DEFAULT_OUTPUT ")"),
	OPT_STRING('e', "event", &rec.event, "EVENT", "what to record: alloc, the default"),
	OPT_BOOL('q', "quiet", &rec.quiet, "no line at the end"),
	OPT_BOOL('v', "verbose", &rec.verbose, "say more"),
	OPT_U64('z', "compression-level", &rec.level, "N", "level of zstd, 1 to 19"),
	OPT_GROUP("Call stacks"),
	OPT_BOOL('g', NULL, &rec.stacks, "record who asked for each allocation, as --call-graph lua"),
	OPT_STRING(0, "call-graph", &rec.call_graph, "KIND", "kind of call stacks: lua, or none"),
	OPT_U64(0, "max-stack", &rec.max_stack, "N", "frames of a call stack, from the innermost out (127)"),
	OPT_BOOL(0, "across-coroutines", &rec.across, "go on in the one that resumed a coroutine"),
	OPT_GROUP("The VM"),
	{ .type = OPT_CALLBACK, .letter = 'j', .name = "jit", .arg = "CMD", .callback = vm_option,
	  .help = "a command to the JIT compiler: on, off, or as luajit -j", .no_negate = true },
	{ .type = OPT_CALLBACK, .letter = 'O', .arg = "OPT", .callback = vm_option,
	  .help = "an optimisation level or flag, as luajit -O", .no_negate = true },
	OPT_BOOL(0, "final-gc", &rec.final_gc, "collect garbage after the script, to tell leaks (default)"),
	OPT_GROUP("Recording"),
	{ .type = OPT_CALLBACK, .name = "ring-size", .arg = "SIZE", .callback = ring_option,
	  .help = "shared memory between program and recorder, with k or M (4M)", .no_negate = true },
	OPT_BOOL(0, "drop", &rec.drop, "when the ring is full, drop and count events, do not wait"),
	OPT_BOOL(0, "oracle", &rec.oracle, "check every place against the VM's public interface (slow)"),
	OPT_END(),
};

static int fail(void)
{
	fprintf(stderr, "ljperf: %s\n", err__msg());
	return EXIT_LJPERF;
}

/* ---- the end line ---- */

static void print_size(char *buf, size_t len, uint64_t bytes)
{
	if (bytes < 1000000)
		snprintf(buf, len, "%.3f kB", (double)bytes / 1e3);
	else
		snprintf(buf, len, "%.3f MB", (double)bytes / 1e6);
}

static void print_stream(const struct stream *s)
{
	char size[32];

	print_size(size, sizeof(size), s->bytes);
	fprintf(stderr, "[ ljperf record: Captured and wrote %s %s (%" PRIu64 " events", size,
		strcmp(s->path, "-") == 0 ? "to standard output" : s->path, s->events);
	if (s->events)
		fprintf(stderr, ", %.2f bytes/event", (double)s->bytes / (double)s->events);
	fputs(") ]\n", stderr);
}

static int print_end(const struct collector *c)
{
	const struct stream *s;
	int status = 0;

	for (s = c->streams; s; s = s->next) {
		if (!rec.quiet)
			print_stream(s);
		if (s->err) {
			fprintf(stderr, "ljperf: recording is incomplete: %s\n", s->why);
			status = EXIT_LJPERF;
		}
		if (s->lost)
			fprintf(stderr, "ljperf: %" PRIu64 " events were lost: the ring was full\n", s->lost);
		if (rec.oracle)
			fprintf(stderr, "ljperf: oracle: %" PRIu64 " disagreements in %" PRIu64 " events\n",
				s->oracle_wrong, s->oracle_compared);
	}
	if (c->err) {
		fprintf(stderr, "ljperf: %s\n", c->why);
		status = EXIT_LJPERF;
	} else if (!c->streams) {
		fputs("ljperf: no VM was recorded\n", stderr);
		status = EXIT_LJPERF;
	}
	return status;
}

/* ---- running ---- */

static int watch_signals(sigset_t *old)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGPIPE); /* a closed pipe is an error of write() */
	sigprocmask(SIG_BLOCK, &set, old);
	sigdelset(&set, SIGPIPE);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static int exit_status(const struct collector *c)
{
	if (c->end.end_kind == SESSION_END_SIGNAL)
		return 128 + c->end.end_code;
	return c->end.end_kind == SESSION_END_EXIT ? c->end.end_code : 128 + SIGINT;
}

static char *options_text(void)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int i;

	if (!f)
		return NULL;
	for (i = 0; i < rec.n_vm_args; i++)
		fprintf(f, "%s%s", i ? " " : "", rec.vm_args[i]);
	fclose(f);
	return text;
}

static int add_own_args(const char **args, int n)
{
	static char ring[32], stacks[48];

	snprintf(ring, sizeof(ring), "--ring=%u", rec.ring_bytes);
	args[n++] = ring;
	if (rec.stacks) {
		snprintf(stacks, sizeof(stacks), "--stacks=%" PRIu64, rec.max_stack);
		args[n++] = stacks;
	}
	if (rec.across)
		args[n++] = "--across-coroutines";
	if (rec.oracle)
		args[n++] = "--oracle";
	if (rec.drop)
		args[n++] = "--drop";
	if (!rec.final_gc)
		args[n++] = "--no-final-gc";
	return n;
}

static int run(struct collector *c, struct launch *l)
{
	int socks[2], status;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) != 0)
		return err__errno(errno, "cannot make a socket");
	c->sock = socks[0];
	c->sigfd = watch_signals(&l->mask);
	if (c->sigfd < 0)
		return err__errno(errno, "cannot watch signals");
	c->target = launch__start(l, socks[1]);
	if (c->target < 0)
		return c->target;
	close(socks[1]);
	collector__run(c);
	status = print_end(c);
	return status ? status : exit_status(c);
}

static int record(int n, const char **args)
{
	struct collector c = { .opts = { .output = rec.output, .level = (int)rec.level } };
	const char *agent_args[MAX_VM_ARGS + 8];
	struct launch l = { .args = args, .n_args = n, .agent_args = agent_args };
	struct stream *s;
	int status;

	l.runner = launch__runner();
	if (!l.runner || output__check(rec.output))
		return fail();
	l.n_agent_args = add_own_args(agent_args, 0);
	memcpy(agent_args + l.n_agent_args, rec.vm_args, (size_t)rec.n_vm_args * sizeof(*agent_args));
	l.n_agent_args += rec.n_vm_args;
	l.stdout_to_stderr = strcmp(rec.output, "-") == 0;
	c.opts.argv = args;
	c.opts.argc = (size_t)n;
	c.opts.backend_options = options_text();
	status = run(&c, &l);
	while ((s = c.streams)) {
		c.streams = s->next;
		stream__delete(s);
	}
	free((char *)(uintptr_t)c.opts.backend_options);
	return status < 0 ? fail() : status;
}

/* -g and --call-graph together say whether stacks are recorded. */
static int check_stacks(void)
{
	if (rec.call_graph && strcmp(rec.call_graph, "lua") == 0)
		rec.stacks = true;
	else if (rec.call_graph && strcmp(rec.call_graph, "none") == 0)
		rec.stacks = false;
	else if (rec.call_graph)
		return err__set(-EINVAL, "unknown kind of call stacks '%s', there are lua and none",
				rec.call_graph);
	if (rec.max_stack < 1 || rec.max_stack > 1024)
		return err__set(-EINVAL, "--max-stack takes 1 to 1024, not %" PRIu64, rec.max_stack);
	return 0;
}

int cmd_record(int argc, const char **argv)
{
	bool dashdash = false;
	int n;

	rec.output = DEFAULT_OUTPUT;
	rec.event = "alloc";
	rec.final_gc = true;
	rec.max_stack = 127;
	rec.ring_bytes = 4 << 20;
	n = options__parse(argc, argv, options, usage, OPTIONS_STOP_AT_NON_OPTION, &dashdash);
	if (n == OPTIONS_HELP)
		return EXIT_SUCCESS;
	if (n == 0)
		n = err__set(-EINVAL, "no script to run, 'ljperf record -h' shows how");
	if (n > 0 && strcmp(rec.event, "alloc") != 0)
		n = err__set(-EINVAL, "unknown event '%s', 'ljperf list' shows them", rec.event);
	if (n > 0 && check_stacks() < 0)
		n = -EINVAL;
	if (n > 0 && rec.level > 19)
		n = err__set(-EINVAL, "the compression level is 1 to 19, not %" PRIu64, rec.level);
	if (n > 0 && strcmp(rec.output, "-") == 0 && isatty(STDOUT_FILENO))
		n = err__set(-EINVAL, "a recording is not written to a terminal");
	if (n < 0)
		return fail();
	return record(n, argv + 1);
}
