/* cmd_archive.c - the command archive: packs a recording with the files that
 * its names come from, so that another machine can show them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ljperf.h"
#include "report/archive.h"
#include "report/recording.h"
#include "util/error.h"
#include "util/options.h"
#include "util/text.h"

static struct {
	const char *input, *output;
	struct archive_opts archive;
	bool force;
} opt;

static const struct option options[] = {
	OPT_STRING('i', "input", &opt.input, "FILE", "recording to pack"),
	OPT_STRING('o', "output", &opt.output, "FILE", "archive to write, '-' is standard output"),
	OPT_BOOL('f', "force", &opt.force, "read files of other users"),
	OPT_STRING(0, "symfs", &opt.archive.symfs, "DIR", "look for modules under DIR"),
	OPT_STRING(0, "debug-dir", &opt.archive.debug_dir, "DIR",
		   "look for debug files in DIR, too"),
	OPT_BOOL('q', "quiet", &opt.archive.quiet, "no warnings, and no line at the end"),
	OPT_END(),
};

static const char usage[] = "ljperf archive [OPTIONS] [FILE]";

/* "app.ljm.zst" becomes "app.ljm.tar.zst", "app" "app.tar.zst". */
static char *default_output(const char *input)
{
	static const char zst[] = ".zst";
	size_t len = strlen(input), suffix = strlen(zst);
	char *path;

	if (len > suffix && !strcmp(input + len - suffix, zst))
		len -= suffix;
	return asprintf(&path, "%.*s.tar.zst", (int)len, input) < 0 ? NULL : path;
}

/* A device or a FIFO is written to as it is; a link to anywhere is refused. */
static int archive__to_special(const char *input, const char *output)
{
	int fd = open(output, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY), err;

	if (fd < 0)
		return err__errno(errno, "cannot write '%s'", output);
	err = archive__write(fd, input, opt.force, &opt.archive);
	if (close(fd) && !err)
		err = err__errno(errno, "cannot write '%s'", output);
	return err;
}

/* A file is written beside its place and moved there when it is whole. */
static int archive__to_file(const char *input, const char *output)
{
	struct stat st;
	char *temp;
	int fd, err;

	if (!lstat(output, &st) && !S_ISREG(st.st_mode))
		return archive__to_special(input, output);
	if (asprintf(&temp, "%s.XXXXXX", output) < 0)
		return err__set(-ENOMEM, "no memory for a file name");
	fd = mkostemp(temp, O_CLOEXEC); /* mode 0600, as the recording has */
	if (fd < 0) {
		err = err__errno(errno, "cannot create '%s'", output);
		free(temp);
		return err;
	}
	err = archive__write(fd, input, opt.force, &opt.archive);
	if (close(fd) && !err)
		err = err__errno(errno, "cannot write '%s'", output);
	if (!err && rename(temp, output))
		err = err__errno(errno, "cannot rename '%s' to '%s'", temp, output);
	if (err)
		unlink(temp);
	free(temp);
	return err;
}

static void print_end(const char *output)
{
	struct stat st;
	char safe[1024];

	if (opt.archive.quiet || stat(output, &st) || !S_ISREG(st.st_mode))
		return;
	text__safe(safe, sizeof(safe), output);
	fprintf(stderr,
		"[ ljperf archive: Wrote %.3f MB %s; unpack it into a folder DIR, then: "
		"ljperf report --symfs DIR ]\n",
		(double)st.st_size / 1e6, safe);
}

static int archive__run(const char *input)
{
	char *output;
	int err;

	if (opt.output && !strcmp(opt.output, "-")) {
		err = archive__write(STDOUT_FILENO, input, opt.force, &opt.archive);
		return err == -EPIPE ? 0 : err; /* a reader that has seen enough */
	}
	output = opt.output ? strdup(opt.output) : default_output(input);
	if (!output)
		return err__set(-ENOMEM, "no memory for a file name");
	err = archive__to_file(input, output);
	if (!err)
		print_end(output);
	free(output);
	return err;
}

int cmd_archive(int argc, const char **argv)
{
	int n = options__parse(argc, argv, options, usage, 0, NULL), ret = n;
	const char *input;

	if (n == OPTIONS_HELP)
		return EXIT_SUCCESS;
	if (n > 1 || (n == 1 && opt.input))
		ret = err__set(-EINVAL, "archive packs one recording, not '%s' too", argv[n]);
	input = opt.input ? opt.input : n == 1 ? argv[1] : RECORDING_DEFAULT;
	if (ret >= 0 && !strcmp(input, "-"))
		ret = err__set(-EINVAL, "archive reads a file twice, so not standard input");
	if (ret >= 0)
		ret = archive__run(input);
	if (ret < 0)
		fprintf(stderr, "ljperf: %s\n", err__msg());
	return ret < 0 ? EXIT_LJPERF : EXIT_SUCCESS;
}
