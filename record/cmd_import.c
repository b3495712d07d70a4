/* cmd_import.c - "ljperf import": makes a session file of a recording that
 * misc.memprof has written, of any of its variants.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ljperf.h"
#include "record/import.h"
#include "record/output.h"
#include "util/error.h"
#include "util/options.h"
#include "util/owner.h"
#include "util/text.h"

static struct {
	const char *output;
	bool force, quiet;
	uint64_t level;
} imp;

static const char usage[] = "ljperf import [OPTIONS] FILE";

static const struct option options[] = {
	OPT_STRING('o', "output", &imp.output, "FILE", "write to FILE (" DEFAULT_OUTPUT ")"),
	OPT_U64('z', "compression-level", &imp.level, "N", "level of zstd, 1 to 19"),
	OPT_BOOL('f', "force", &imp.force, "read files of other users, accept damaged ones"),
	OPT_BOOL('q', "quiet", &imp.quiet, "no line at the end, no warning"),
	OPT_END(),
};

static int fail(const char *name)
{
	err__print("cannot import '%s': %s", name, err__msg());
	return EXIT_LJPERF;
}

static int open_input(const char *name)
{
	int fd, err;

	if (strcmp(name, "-") == 0)
		return STDIN_FILENO;
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return err__set(-errno, "%s", strerror(errno));
	err = owner__check(fd, imp.force);
	if (!err)
		return fd;
	close(fd);
	if (err == -EPERM)
		return err__set(err, "it belongs to another user (use -f to read it all the same)");
	return err__set(err, "%s", strerror(-err));
}

static bool same_file(int a, const char *path)
{
	struct stat sa, sb;

	return fstat(a, &sa) == 0 && stat(path, &sb) == 0 && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

/* What is written. */
struct target {
	const char *input;
	struct session_writer *w;
	char *path;
	int fd; /* -1: not opened yet */
};

/* Only now does an older file make room. */
static struct session_writer *open_target(void *ctx)
{
	struct target *t = ctx;
	const char *argv[] = { "ljperf", "import", t->input };
	struct session_header h = {
		.argv = argv,
		.argc = 3,
		.ljperf_version = LJPERF_VERSION,
		.backend = "memprof",
	};
	struct session_writer_opts opts = { .level = (int)imp.level };

	t->fd = output__open(imp.output, 0, 1, true, &t->path);
	if (t->fd >= 0)
		t->w = session_writer__new(t->fd, &h, &opts);
	return t->w;
}

/* A file that was begun and not finished goes. */
static int close_target(struct target *t, int err)
{
	bool is_file = t->fd >= 0 && t->fd != STDOUT_FILENO;

	session_writer__delete(t->w);
	if (is_file && close(t->fd) != 0 && err >= 0)
		err = err__errno(errno, "cannot write '%s'", t->path);
	if (err < 0 && is_file)
		output__remove(t->path);
	free(t->path);
	return err;
}

/* A cut recording makes a cut session: what it lacks is not made up.  1 for one. */
static int finish(struct session_writer *w, const struct session_info *info)
{
	struct session_footer end = { .end_kind = SESSION_END_UNKNOWN };
	int err;

	if (info->state == SESSION_COMPLETE)
		return session_writer__finish(w, &end);
	if (!imp.quiet)
		err__print("warning: %s; what comes before it is imported", info->damage);
	err = session_writer__flush(w);
	return err < 0 || imp.force ? err : 1;
}

static void print_end(const struct target *t)
{
	char safe[1024];

	text__safe(safe, sizeof(safe), imp.output);
	if (!imp.quiet)
		fprintf(stderr, "[ ljperf import: wrote %s (%" PRIu64 " events) ]\n", safe,
			session_writer__events(t->w));
}

static int copy(struct session_reader *r, const char *name)
{
	struct target t = { .input = name, .fd = -1 };
	int err = import__run_late(r, open_target, &t);

	if (!err)
		err = finish(t.w, session_reader__info(r));
	if (err >= 0)
		print_end(&t);
	return close_target(&t, err);
}

static int import(const char *name)
{
	struct session_reader *r = NULL;
	int in = open_input(name), err = in < 0 ? in : 0;

	if (!err && same_file(in, imp.output))
		err = err__set(-EINVAL, "it is the file to write to");
	if (!err)
		err = output__check(imp.output);
	if (!err && !(r = session_reader__new_fd(in, name)))
		err = -ENOMEM;
	if (!err)
		err = copy(r, name);
	session_reader__delete(r);
	return err < 0 ? fail(name) : err ? EXIT_FAILURE : EXIT_SUCCESS;
}

int cmd_import(int argc, const char **argv)
{
	int n;

	imp.output = DEFAULT_OUTPUT;
	n = options__parse(argc, argv, options, usage, 0, NULL);
	if (n == OPTIONS_HELP)
		return EXIT_SUCCESS;
	if (n >= 0 && n != 1)
		n = err__set(-EINVAL, "import takes one file, 'ljperf import -h' shows how");
	if (n > 0 && imp.level > 19)
		n = err__set(-EINVAL, "the compression level is 1 to 19, not %" PRIu64, imp.level);
	if (n < 0) {
		fprintf(stderr, "ljperf: %s\n", err__msg());
		return EXIT_LJPERF;
	}
	return import(argv[1]);
}
