/* fuzz_report.c - any recording through the commands that read one: no crash,
 * and whatever names it has, no output that steers a terminal, breaks out of a
 * JSON string or a Markdown table, or unpacks outside its folder.
 *
 * The input: a byte for the row of the table below, a byte whose first bit says
 * what follows: a file as it is, or the contents of frames, see lib_frames.h.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/session.h"
#include "ljperf.h"
#include "report/archive.h"
#include "tests/fuzz/lib_checks.h"
#include "tests/fuzz/lib_frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { ARGS_MAX = 16, PATH_SIZE = 64 };

enum check { TEXT, CSV, JSON, JSON_LINES, MARKDOWN, STREAM, BINARY, ARCHIVE };

#define ALL_FIELDS \
	"overhead,allocated,allocs,reallocs,count,live,blocks,peak,peak-blocks,freed,frees," \
	"temporary,temporary-blocks,objects,final,copied,lifetime,events,symbol,func," \
	"chunk,module,source,trace,vmstate,vm,size"

/* "@" is the recording, "-@" an older one. */
static const struct row {
	enum check check;
	const char *argv[ARGS_MAX];
} rows[] = {
	{ TEXT, { "report", "@" } },
	{ TEXT, { "report", "-v", "--header", "-F", ALL_FIELDS, "@" } },
	{ TEXT, { "report", "-t", ";", "-s", "symbol,vm,size", "-F", ALL_FIELDS, "@" } },
	{ TEXT, { "report", "-g", "caller", "--children", "@" } },
	{ TEXT, { "report", "-g", "fractal,callee,function,0", "--metric", "peak", "@" } },
	{ TEXT, { "report", "-g", "folded,0", "--no-symbols", "@", "@" } },
	{ TEXT, { "report", "--format", "memprof", "--human-readable", "@" } },
	{ TEXT, { "report", "--timeline", "@" } },
	{ TEXT, { "report", "--metric", "leaked", "--fail-leaks", "--time", "10%-90%", "@" } },
	{ TEXT, { "report", "-S", "/a+b*/", "--source", "lua", "-p", ".", "-s", "parent", "@" } },
	{ TEXT, { "script", "@" } },
	{ JSON_LINES, { "script", "--json", "@" } },
	{ TEXT, { "info", "@" } },
	{ TEXT, { "info", "--buildids", "@" } },
	{ TEXT, { "annotate", "-v", "-i", "@" } },
	{ TEXT, { "annotate", "-l", "-t", ",", "-i", "@", "-i", "@" } },
	{ TEXT, { "annotate", "--context", "2", "--source-dir", "/", "-i", "@" } },
	{ TEXT, { "export", "--format", "folded", "@" } },
	{ JSON, { "export", "--format", "speedscope", "@" } },
	{ BINARY, { "export", "--format", "pprof", "@" } },
	{ TEXT, { "export", "--format", "callgrind", "@" } },
	{ JSON, { "export", "--format", "firefox", "@" } },
	{ CSV, { "export", "--format", "csv", "-F", ALL_FIELDS, "@" } },
	{ JSON, { "export", "--format", "json", "-F", ALL_FIELDS, "@" } },
	{ STREAM, { "export", "--format", "ljm", "@" } },
	{ BINARY, { "export", "--format", "pprof", "--diff", "-@", "@" } },
	{ TEXT, { "export", "--format", "folded", "--diff", "--by", "func", "-@", "@" } },
	{ TEXT, { "diff", "-v", "-p", "-F", "-@", "@" } },
	{ TEXT,
	  { "diff", "-a", "--match", "fuzzy", "-s", "symbol,vm", "-t", ",", "-@", "@", "@" } },
	{ TEXT, { "diff", "-g", "caller,0", "-c", "wdiff:1,2", "-@", "@" } },
	{ JSON, { "diff", "--json", "-g", "folded", "-@", "@" } },
	{ MARKDOWN, { "diff", "--markdown", "-a", "-g", "-s", "line,chunk", "-@", "@" } },
	{ MARKDOWN,
	  { "diff", "--markdown", "-g", "folded", "--fail-above", "1", "--each", "-@", "@" } },
	{ ARCHIVE, { "archive", "@" } },
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

static const struct {
	const char *name;
	int (*run)(int argc, const char **argv);
} commands[] = {
	{ "report", cmd_report },     { "script", cmd_script }, { "info", cmd_info },
	{ "annotate", cmd_annotate }, { "export", cmd_export }, { "diff", cmd_diff },
};

/* ---- files ---- */

struct file {
	int fd;
	char path[PATH_SIZE];
};

static void file__make(struct file *f, const uint8_t *data, size_t size, bool framed)
{
	struct frames frames = { 0 };

	if (framed) {
		frames__build(&frames, data, size);
		data = frames.p;
		size = frames.len;
	}
	f->fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (f->fd < 0 || (size && write(f->fd, data, size) != (ssize_t)size))
		abort();
	snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", f->fd);
	frames__exit(&frames);
}

/* ---- output ---- */

static bool is_stream(const char *p, size_t len)
{
	static const struct session_handlers none = { .event = NULL };
	struct session_reader *r = session_reader__new_mem(p, len, "out");
	bool ok = r && session_reader__run(r, &none, NULL) == 0 &&
		  session_reader__info(r)->state == SESSION_COMPLETE;

	session_reader__delete(r);
	return ok;
}

static bool is_right(enum check check, const char *p, size_t len)
{
	switch (check) {
	case TEXT:
		return is_safe_text(p, len);
	case CSV:
		return is_safe_text(p, len) && is_csv(p, len);
	case JSON:
		return is_safe_text(p, len) && is_json(p, len);
	case JSON_LINES:
		return is_safe_text(p, len) && is_json_lines(p, len);
	case MARKDOWN:
		return is_safe_text(p, len) && is_tame_markdown(p, len);
	case STREAM:
		return is_stream(p, len);
	case ARCHIVE:
		return is_tame_archive(p, len);
	case BINARY:
		break;
	}
	return true;
}

struct output {
	FILE *file;
	char *p;
	size_t len;
};

static void output__begin(struct output *o)
{
	o->file = open_memstream(&o->p, &o->len);
	if (!o->file)
		abort();
}

static void fail(const struct row *row, const struct output *out, const struct output *err)
{
	size_t i;

	for (i = 0; i < ARGS_MAX && row->argv[i]; i++)
		fprintf(stderr, "%s ", row->argv[i]);
	fprintf(stderr, "\nstdout:\n");
	fwrite(out->p, 1, out->len, stderr);
	fprintf(stderr, "\nstderr:\n");
	fwrite(err->p, 1, err->len, stderr);
	abort();
}

/* ---- commands ---- */

static int call(const struct row *row, const struct file *old, const struct file *new)
{
	const char *argv[ARGS_MAX + 1];
	int argc;
	size_t i;

	for (argc = 0; argc < ARGS_MAX && row->argv[argc]; argc++) {
		argv[argc] = row->argv[argc];
		if (!strcmp(argv[argc], "@"))
			argv[argc] = new->path;
		else if (!strcmp(argv[argc], "-@"))
			argv[argc] = old->path;
	}
	argv[argc] = NULL;
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, argv[0]))
			return commands[i].run(argc, argv);
	abort();
}

/* Through a file, as it is written to a descriptor. */
static int pack(const struct file *f, FILE *out)
{
	static const struct archive_opts opts = { .quiet = true };
	int fd = memfd_create("archive", MFD_CLOEXEC),
	    err = archive__write(fd, f->path, false, &opts);
	char buf[4096];
	ssize_t n;
	off_t at = 0;

	while (!err && (n = pread(fd, buf, sizeof(buf), at)) > 0) {
		fwrite(buf, 1, (size_t)n, out);
		at += n;
	}
	close(fd);
	return err ? EXIT_LJPERF : 0;
}

static void run(const struct row *row, const struct file *old, const struct file *new)
{
	FILE *real_out = stdout, *real_err = stderr;
	struct output out = { NULL, NULL, 0 }, err = { NULL, NULL, 0 };
	int status;

	output__begin(&out);
	output__begin(&err);
	stdout = out.file;
	stderr = err.file;
	status = row->check == ARCHIVE ? pack(new, out.file) : call(row, old, new);
	stdout = real_out;
	stderr = real_err;
	fclose(out.file);
	fclose(err.file);
	if (status < 0 || status > EXIT_LJPERF || !is_safe_text(err.p, err.len))
		fail(row, &out, &err);
	/* A refused recording has no output that could be wrong. */
	if (!(status == EXIT_LJPERF && !out.len) && !is_right(row->check, out.p, out.len))
		fail(row, &out, &err);
	free(out.p);
	free(err.p);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	/* Nothing of this machine: no pager, no colours, no cache, no servers. */
	setenv("LJPERF_PAGER", "cat", 1);
	setenv("NO_COLOR", "1", 1);
	unsetenv("HOME");
	unsetenv("XDG_CACHE_HOME");
	unsetenv("DEBUGINFOD_URLS");
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct file old, new;
	bool framed;

	if (size < 2)
		return 0;
	LLVMFuzzerInitialize(NULL, NULL); /* replayed, nobody else calls it */
	framed = data[1] & 1;
	file__make(&new, data + 2, size - 2, framed);
	file__make(&old, data + 2, (size - 2) / 2, framed);
	run(&rows[data[0] % N_ROWS], &old, &new);
	close(new.fd);
	close(old.fd);
	return 0;
}
