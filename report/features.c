/* features.c - the header of a recording as text; see features.h. */
#include "report/features.h"

#include <string.h>
#include <time.h>

#include "report/escape.h"

static void add_text(const char *s, struct strbuf *out)
{
	if (s)
		escape__text(out, s, strlen(s), 0);
}

static bool is_plain(const char *arg)
{
	return *arg && arg[strspn(arg, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789_-./=:,@%+")] == '\0';
}

static void add_arg(const char *arg, struct strbuf *out)
{
	const char *quote;

	if (is_plain(arg)) {
		strbuf__addstr(out, arg);
		return;
	}
	strbuf__addch(out, '\'');
	for (; (quote = strchr(arg, '\'')); arg = quote + 1) {
		escape__text(out, arg, (size_t)(quote - arg), 0);
		strbuf__addstr(out, "'\\''");
	}
	add_text(arg, out);
	strbuf__addch(out, '\'');
}

void features__command(const struct session_header *h, struct strbuf *out)
{
	size_t i;

	for (i = 0; i < h->argc; i++) {
		if (i)
			strbuf__addch(out, ' ');
		add_arg(h->argv[i] ? h->argv[i] : "", out);
	}
}

static void add_wall(const struct session_header *h, struct strbuf *out)
{
	time_t t = (time_t)(h->start_wall_ns / 1000000000);
	char text[64];
	struct tm tm;

	/* Not local time: a file says the same everywhere. */
	if (h->start_wall_ns && gmtime_r(&t, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
		strbuf__addstr(out, text);
}

static void add_cwd(const struct session_header *h, struct strbuf *out)
{
	add_text(h->cwd, out);
}
static void add_host(const struct session_header *h, struct strbuf *out)
{
	add_text(h->hostname, out);
}
static void add_os(const struct session_header *h, struct strbuf *out)
{
	add_text(h->os_release, out);
}
static void add_arch(const struct session_header *h, struct strbuf *out)
{
	add_text(h->arch, out);
}

static void add_version(const struct session_header *h, struct strbuf *out)
{
	add_text(h->ljperf_version, out);
}

static void add_backend(const struct session_header *h, struct strbuf *out)
{
	add_text(h->backend, out);
	if (h->backend && h->backend_options && *h->backend_options) {
		strbuf__addstr(out, " (");
		add_text(h->backend_options, out);
		strbuf__addch(out, ')');
	}
}

static void add_vm(const struct session_header *h, struct strbuf *out)
{
	add_text(h->vm_version, out);
	if (h->vm_version)
		strbuf__addstr(out, h->vm_gc64 ? ", GC64" : ", not GC64");
}

static void add_vm_path(const struct session_header *h, struct strbuf *out)
{
	add_text(h->vm_path, out);
}
static void add_jit(const struct session_header *h, struct strbuf *out)
{
	add_text(h->vm_options, out);
}

static void add_build_id(const struct session_header *h, struct strbuf *out)
{
	add_text(h->vm_build_id, out);
}

static void add_process(const struct session_header *h, struct strbuf *out)
{
	if (!h->pid)
		return;
	strbuf__addu(out, h->pid);
	if (h->ppid)
		strbuf__addf(out, ", parent %llu", (unsigned long long)h->ppid);
	strbuf__addf(out, ", thread %llu", (unsigned long long)h->tid);
	if (h->thread_name && *h->thread_name) {
		strbuf__addstr(out, " (");
		add_text(h->thread_name, out);
		strbuf__addch(out, ')');
	}
}

static void add_vm_number(const struct session_header *h, struct strbuf *out)
{
	if (h->vm_number)
		strbuf__addu(out, h->vm_number);
}

static void add_recording(const struct session_header *h, struct strbuf *out)
{
	add_text(h->recording, out);
}

static void add_heap_start(const struct session_header *h, struct strbuf *out)
{
	number__bytes(out, h->heap_start);
}

/* What prints nothing is not known, and gets no line. */
static const struct {
	const char *name;
	void (*print)(const struct session_header *h, struct strbuf *out);
} features[] = {
	{ "captured on", add_wall },
	{ "hostname", add_host },
	{ "os release", add_os },
	{ "arch", add_arch },
	{ "ljperf version", add_version },
	{ "backend", add_backend },
	{ "cmdline", features__command },
	{ "working directory", add_cwd },
	{ "vm", add_vm },
	{ "vm file", add_vm_path },
	{ "vm build id", add_build_id },
	{ "vm jit options", add_jit },
	{ "process", add_process },
	{ "vm number", add_vm_number },
	{ "recording", add_recording },
	{ "heap at start", add_heap_start },
};

void features__print(const struct session_header *h, struct strbuf *out)
{
	size_t i, start, value;

	for (i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		start = out->len;
		strbuf__addstr(out, features[i].name);
		strbuf__addstr(out, " : ");
		value = out->len;
		features[i].print(h, out);
		if (out->len == value)
			out->len = start;
		else
			strbuf__addch(out, '\n');
	}
}

void features__end(const struct session_footer *f, struct strbuf *out)
{
	const char *name;

	switch (f->end_kind) {
	case SESSION_END_EXIT:
		strbuf__addf(out, "exit status %d", f->end_code);
		break;
	case SESSION_END_SIGNAL:
		name = sigdescr_np(f->end_code);
		strbuf__addf(out, "killed by signal %d (%s)", f->end_code, name ? name : "unknown");
		break;
	default:
		strbuf__addstr(out, "unknown");
	}
}
