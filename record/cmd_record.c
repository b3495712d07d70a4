/* cmd_record.c - "ljperf record": runs a Lua script under the embedded VM, or
 * any program with the agent preloaded, and records what its VMs allocate.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/backend.h"
#include "ljperf.h"
#include "record/collect.h"
#include "record/collector.h"
#include "record/endline.h"
#include "record/launch.h"
#include "record/native.h"
#include "record/output.h"
#include "util/error.h"
#include "util/options.h"

#define MAX_VM_ARGS 64

static struct {
	const char *output, *event, *backend;
	bool quiet, verbose, oracle, drop, final_gc, inherit;
	bool stacks, native, across;
	const char *call_graph;
	uint64_t level, max_stack;
	uint32_t ring_bytes;
	struct steering steering;
	/* -j and -O as the runner takes them */
	char *vm_args[MAX_VM_ARGS];
	int n_vm_args;
} rec;

static const char usage[] = "ljperf record [OPTIONS] SCRIPT.lua [ARGUMENTS]\n"
			    "       ljperf record [OPTIONS] -- COMMAND [ARGUMENTS]";

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

static int delay_option(const struct option *opt, const char *arg, bool unset)
{
	uint64_t ns;
	int err = steering__parse_delay(arg, &ns);

	(void)opt;
	(void)unset;
	rec.steering.off = !err && ns == UINT64_MAX;
	rec.steering.delay_ns = err || rec.steering.off ? 0 : ns;
	return err;
}

static int duration_option(const struct option *opt, const char *arg, bool unset)
{
	(void)opt;
	(void)unset;
	return steering__parse_duration(arg, &rec.steering.duration_ns);
}

/* As perf: --no-inherit, which -i is short for. */
static int no_inherit_option(const struct option *opt, const char *arg, bool unset)
{
	(void)opt;
	(void)arg;
	(void)unset;
	rec.inherit = false;
	return 0;
}

static const struct option options[] = {
	OPT_STRING('o', "output", &rec.output, "FILE",
		   "write to FILE, '-' for standard output (" DEFAULT_OUTPUT ")"),
	OPT_STRING('e', "event", &rec.event, "EVENT", "what to record: alloc, the default"),
	OPT_STRING(0, "backend", &rec.backend, "NAME",
		   "who tells the events: luajit (default) or memprof"),
	OPT_BOOL('q', "quiet", &rec.quiet, "no line at the end"),
	OPT_BOOL('v', "verbose", &rec.verbose, "tell of each VM that is recorded"),
	OPT_U64('z', "compression-level", &rec.level, "N", "level of zstd, 1 to 19"),
	OPT_GROUP("What is recorded, and when"),
	OPT_BOOL(0, "inherit", &rec.inherit, "record child processes too (default)"),
	{ .type = OPT_CALLBACK,
	  .letter = 'i',
	  .callback = no_inherit_option,
	  .no_negate = true,
	  .help = "only the process that is started, as --no-inherit" },
	{ .type = OPT_CALLBACK,
	  .letter = 'D',
	  .name = "delay",
	  .arg = "TIME",
	  .callback = delay_option,
	  .help = "begin after TIME: 2s, 250ms or 250; -1: when told to",
	  .no_negate = true },
	{ .type = OPT_CALLBACK,
	  .name = "duration",
	  .arg = "TIME",
	  .callback = duration_option,
	  .help = "record for TIME: 10s, 500ms, 5m or 1h; then let the program go on",
	  .no_negate = true },
	OPT_STRING(0, "control", &rec.steering.control, "fifo:PATH[,ACK]",
		   "read commands there: enable, disable, snapshot, stop"),
	OPT_BOOL(0, "toggle-signal", &rec.steering.toggle_signal,
		 "SIGUSR2 to ljperf turns recording off and on"),
	OPT_GROUP("Call stacks"),
	OPT_BOOL('g', NULL, &rec.stacks,
		 "record who asked for each allocation, as --call-graph lua"),
	OPT_STRING(0, "call-graph", &rec.call_graph, "KIND",
		   "kind of call stacks: lua; lua,native: also below C functions; none"),
	OPT_U64(0, "max-stack", &rec.max_stack, "N",
		"frames of a call stack, from the innermost out (127)"),
	OPT_BOOL(0, "across-coroutines", &rec.across, "go on in the one that resumed a coroutine"),
	OPT_GROUP("The VM"),
	{ .type = OPT_CALLBACK,
	  .letter = 'j',
	  .name = "jit",
	  .arg = "CMD",
	  .callback = vm_option,
	  .help = "a command to the JIT compiler: on, off, or as luajit -j",
	  .no_negate = true },
	{ .type = OPT_CALLBACK,
	  .letter = 'O',
	  .arg = "OPT",
	  .callback = vm_option,
	  .help = "an optimisation level or flag, as luajit -O",
	  .no_negate = true },
	OPT_BOOL(0, "final-gc", &rec.final_gc,
		 "collect garbage after the script, to tell leaks (default)"),
	OPT_GROUP("Recording"),
	{ .type = OPT_CALLBACK,
	  .name = "ring-size",
	  .arg = "SIZE",
	  .callback = ring_option,
	  .help = "shared memory between program and recorder, with k or M (4M)",
	  .no_negate = true },
	OPT_BOOL(0, "drop", &rec.drop, "when the ring is full, drop and count events, do not wait"),
	OPT_BOOL(0, "oracle", &rec.oracle,
		 "check every place against the VM's public interface (slow)"),
	OPT_END(),
};

static int fail(void)
{
	fprintf(stderr, "ljperf: %s\n", err__msg());
	return EXIT_LJPERF;
}

/* ---- running ---- */

/* A closed pipe and a file that gets too large are errors of write().  The
 * mask from before is the target's. */
static void block_writing_signals(sigset_t *old)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigaddset(&set, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &set, old);
}

static int watch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (rec.steering.toggle_signal)
		sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Of a program that goes on when we were told to stop nothing went wrong. */
static int exit_status(const struct collector *c)
{
	if (c->end.end_kind == SESSION_END_UNKNOWN && c->steering.stop)
		return EXIT_SUCCESS;
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

static void fill_control(struct control *page, const char *preload)
{
	page->ring_bytes = rec.ring_bytes;
	page->stacks = rec.stacks ? (uint32_t)rec.max_stack : 0;
	page->native = rec.native;
	page->across = rec.across;
	page->oracle = rec.oracle;
	page->drop = rec.drop;
	page->inherit = rec.inherit;
	page->final_gc = rec.final_gc;
	page->memprof = strcmp(rec.backend, "memprof") == 0;
	snprintf(page->preload, sizeof(page->preload), "%s", preload);
}

/* Each VM and process takes some; the target has its own limit by now. */
static void raise_file_limit(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) == 0) {
		lim.rlim_cur = lim.rlim_max;
		setrlimit(RLIMIT_NOFILE, &lim);
	}
}

static int run(struct collector *c, struct launch *l)
{
	char spec[256];
	const char *agent = launch__agent();
	int err;

	block_writing_signals(&l->mask);
	err = wire__open(&c->wire);
	if (!err && !agent && (l->preload || rec.inherit))
		err = -ENOENT;
	if (err)
		return err;
	fill_control(c->wire.control, agent ? agent : "");
	if (l->preload)
		l->preload = agent;
	wire__spec(&c->wire, spec, sizeof(spec));
	l->spec = spec;
	l->fds[0] = c->wire.target_sock;
	l->fds[1] = c->wire.control_fd;
	c->steering = rec.steering;
	err = steering__open(&c->steering, c->wire.control);
	if (err)
		return err;
	c->sigfd = watch_signals();
	if (c->sigfd < 0)
		return err__errno(errno, "cannot watch signals");
	c->target = c->opts.target = launch__start(l);
	if (c->target < 0)
		return c->target;
	close(c->wire.target_sock);
	raise_file_limit();
	collector__run(c);
	err = endline__print(c, rec.quiet, rec.oracle);
	return err ? err : exit_status(c);
}

static int record(struct launch *l, int n, const char **args)
{
	struct collector c = { .opts = { .output = rec.output,
					 .output_fd = -1,
					 .level = (int)rec.level,
					 .argv = args,
					 .argc = (size_t)n },
			       .quiet = rec.quiet,
			       .verbose = rec.verbose };
	int status;

	if (output__check(rec.output))
		return fail();
	l->stdout_to_stderr = strcmp(rec.output, "-") == 0;
	recording_id__make(c.opts.recording);
	c.opts.backend_options = options_text();
	c.steering.fd = c.steering.ack_fd = -1;
	status = run(&c, l);
	collector__exit(&c);
	free((char *)(uintptr_t)c.opts.backend_options);
	return status < 0 ? fail() : status;
}

/* The embedded VM runs a script: its options stand before the script. */
static int record_script(int n, const char **args)
{
	const char **argv = calloc((size_t)(rec.n_vm_args + n) + 3, sizeof(*argv));
	struct launch l = { .program = launch__runner(), .argv = argv };
	int status;

	if (!l.program || !argv)
		return fail();
	argv[0] = l.program;
	memcpy(argv + 1, rec.vm_args, (size_t)rec.n_vm_args * sizeof(*argv));
	argv[1 + rec.n_vm_args] = "--"; /* the name may be like an option */
	memcpy(argv + 2 + rec.n_vm_args, args, (size_t)n * sizeof(*argv));
	status = record(&l, n, args);
	free(argv);
	return status;
}

static int record_command(int n, const char **args)
{
	struct launch l = { .program = args[0], .argv = args, .preload = "" };

	if (rec.n_vm_args) {
		err__set(-EINVAL, "-%s is an option of the VM that runs scripts, not of '%s'",
			 rec.vm_args[0] + 1, args[0]);
		return fail();
	}
	args[n] = NULL; /* what options__parse() moved was before this */
	return launch__check(args[0]) ? fail() : record(&l, n, args);
}

/* -g and --call-graph together say whether stacks are recorded. */
static int check_stacks(void)
{
	static const struct {
		const char *name;
		bool stacks, native;
	} kinds[] = { { "lua", true, false },
		      { "lua,native", true, true },
		      { "native,lua", true, true },
		      { "none", false, false } };
	const unsigned n = sizeof(kinds) / sizeof(kinds[0]);
	unsigned i = 0;

	while (rec.call_graph && i < n && strcmp(rec.call_graph, kinds[i].name) != 0)
		i++;
	if (i == n)
		return err__set(-EINVAL,
				"unknown kind of call stacks '%s', there are lua, lua,native and "
				"none",
				rec.call_graph);
	if (rec.call_graph) {
		rec.stacks = kinds[i].stacks;
		rec.native = kinds[i].native;
	}
	if (rec.native && !native__is_supported())
		return err__set(-ENOTSUP, "native frames are recorded on x86-64 only");
	if (rec.max_stack < 1 || rec.max_stack > 1024)
		return err__set(-EINVAL, "--max-stack takes 1 to 1024, not %" PRIu64,
				rec.max_stack);
	return 0;
}

static int check_steering(const struct steering *s)
{
	if (!s->off || s->control || s->toggle_signal)
		return 0;
	return err__set(-EINVAL,
			"-D -1 waits for --control or --toggle-signal, and there is neither");
}

/* A file to be read, and no program that could be executed. */
static bool is_script(const char *name)
{
	struct stat st;

	if (strcmp(name, "-") == 0)
		return true;
	return !launch__is_program(name) && stat(name, &st) == 0 && !S_ISDIR(st.st_mode);
}

/* misc.memprof does what it does: there is nothing to choose. */
static int check_backend(bool command)
{
	if (!backend__find(rec.backend))
		return err__set(-EINVAL, "unknown backend '%s', 'ljperf list' shows them",
				rec.backend);
	if (strcmp(rec.backend, "memprof") != 0)
		return 0;
	if (!command)
		return err__set(-EINVAL,
				"the VM for scripts has no misc.memprof: record a program that has "
				"it, behind '--'");
	if (rec.stacks || rec.oracle || rec.drop || rec.steering.off || rec.steering.delay_ns ||
	    rec.steering.duration_ns || rec.steering.control || rec.steering.toggle_signal)
		return err__set(
			-EINVAL,
			"misc.memprof can neither record call stacks nor be turned off and on");
	return 0;
}

int cmd_record(int argc, const char **argv)
{
	bool dashdash = false;
	int n;

	if (argc > 1 && strcmp(argv[1], "--collect") == 0)
		return collect__run(argc - 2, argv + 2);
	rec.output = DEFAULT_OUTPUT;
	rec.event = "alloc";
	rec.backend = "luajit";
	rec.final_gc = rec.inherit = true;
	rec.max_stack = 127;
	rec.ring_bytes = 4 << 20;
	n = options__parse(argc, argv, options, usage, OPTIONS_STOP_AT_NON_OPTION, &dashdash);
	if (n == OPTIONS_HELP)
		return EXIT_SUCCESS;
	if (n == 0)
		n = err__set(-EINVAL, "nothing to run, 'ljperf record -h' shows how");
	if (n > 0 && strcmp(rec.event, "alloc") != 0)
		n = err__set(-EINVAL, "unknown event '%s', 'ljperf list' shows them", rec.event);
	if (n > 0 && check_stacks() < 0)
		n = -EINVAL;
	if (n > 0 && check_steering(&rec.steering) < 0)
		n = -EINVAL;
	if (n > 0 && rec.level > 19)
		n = err__set(-EINVAL, "the compression level is 1 to 19, not %" PRIu64, rec.level);
	if (n > 0 && strcmp(rec.output, "-") == 0 && isatty(STDOUT_FILENO))
		n = err__set(-EINVAL, "a recording is not written to a terminal");
	if (n > 0 && !dashdash && launch__is_no_script(argv[1]))
		n = err__set(-EINVAL, "'%s' is a program and no script: put '--' before it",
			     argv[1]);
	if (n > 0 && check_backend(dashdash && !is_script(argv[1])) < 0)
		n = -EINVAL;
	if (n < 0)
		return fail();
	/* "--" also stands before a script whose name is like an option. */
	if (dashdash && !is_script(argv[1]))
		return record_command(n, argv + 1);
	return record_script(n, argv + 1);
}
