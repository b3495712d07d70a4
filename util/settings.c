/* settings.c - see settings.h. */
#include "util/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/error.h"
#include "util/grow.h"
#include "util/owner.h"

/* inih would cut a longer line in two, without a word. */
enum { LINE_MOST = 190 };

/* Nobody writes a larger one by hand. */
enum { FILE_MOST = 1 << 20 };

static struct setting *settings;
static size_t n_settings, cap_settings;

size_t settings__count(void)
{
	return n_settings;
}

const struct setting *settings__at(size_t i)
{
	return &settings[i];
}

static void setting__exit(struct setting *s)
{
	free(s->section);
	free(s->name);
	free(s->value);
}

void settings__clear(void)
{
	while (n_settings)
		setting__exit(&settings[--n_settings]);
	free(settings);
	settings = NULL;
	cap_settings = 0;
}

static int fail_at(const char *file, unsigned line, int err, const char *why)
{
	char copy[512];

	snprintf(copy, sizeof(copy), "%s", why);
	return err__set(err, "%s:%u: %s", file, line, copy);
}

int setting__fail(const struct setting *s, int err)
{
	return fail_at(s->file, s->line, err, err__msg());
}

/* ---- one file ---- */

/* What is being read; inih counts its lines as this does, from 1 on. */
struct source {
	const char *p, *end, *file;
	unsigned line;
	int err; /* stays; with err__msg() */
};

static int source__fail(struct source *s, int err, const char *why)
{
	if (!s->err)
		s->err = fail_at(s->file, s->line, err, why);
	return 0;
}

static int take_setting(void *user, const char *section, const char *name, const char *value)
{
	struct source *s = user;
	struct setting new = { .file = s->file, .line = s->line };

	if (s->err)
		return 0;
	if (!*section)
		return source__fail(s, -EINVAL, "a setting before the first [command]");
	new.section = strdup(section);
	new.name = strdup(name);
	new.value = strdup(value);
	if (!new.section || !new.name || !new.value || GROW(settings, cap_settings, n_settings)) {
		setting__exit(&new);
		return source__fail(s, -ENOMEM, "no memory for settings");
	}
	settings[n_settings++] = new;
	return 1;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* inih ignores what follows a section's bracket. */
static bool is_followed(const char *p, const char *end)
{
	const char *close = *p == '[' ? memchr(p, ']', (size_t)(end - p)) : NULL;

	if (!close)
		return false;
	do
		close++;
	while (close < end && is_blank(*close));
	return close < end && *close != ';' && *close != '#';
}

/* One line, as fgets() does.  Blanks at its beginning would make it a part of the
 * setting before it. */
static char *next_line(char *to, int room, void *user)
{
	struct source *s = user;
	const char *p = s->p, *end = memchr(p, '\n', (size_t)(s->end - p));
	size_t len;

	if (p == s->end || s->err)
		return NULL;
	end = end ? end + 1 : s->end;
	s->p = end;
	s->line++;
	while (p < end && *p != '\n' && is_blank(*p))
		p++;
	len = (size_t)(end - p);
	if (len > LINE_MOST || len >= (size_t)room)
		source__fail(s, -EINVAL, "the line is too long");
	else if (memchr(p, 0, len))
		source__fail(s, -EINVAL, "the line has a byte 0");
	else if (len && is_followed(p, end))
		source__fail(s, -EINVAL, "only a comment may follow a [command]");
	if (s->err)
		return NULL;
	memcpy(to, p, len);
	to[len] = 0;
	return to;
}

int settings__read(const char *text, size_t len, const char *file)
{
	struct source s = { .p = text, .end = text + len, .file = file };
	int line = ini_parse_stream(next_line, &s, take_setting, &s);

	if (s.err || !line)
		return s.err;
	if (line < 0)
		return err__set(-ENOMEM, "no memory for settings");
	return fail_at(file, (unsigned)line, -EINVAL, "neither '[command]' nor 'option = value'");
}

/* ---- the files ---- */

static bool is_null(const struct stat *st)
{
	struct stat null;

	return S_ISCHR(st->st_mode) && stat("/dev/null", &null) == 0 && st->st_rdev == null.st_rdev;
}

/* Whether it is one to obey.  0, or negative with err__msg(). */
static int check_file(int fd, struct stat *st)
{
	int err = owner__check(fd, false);

	if (err == -EPERM)
		return err__set(err, "it belongs to another user");
	if (err || fstat(fd, st) != 0)
		return err__set(err ? err : -errno, "%s", strerror(err ? -err : errno));
	if (is_null(st))
		return 0;
	if (!S_ISREG(st->st_mode))
		return err__set(-EINVAL, "it is no regular file");
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return err__set(-EPERM, "others may write to it");
	return 0;
}

static int read_whole(int fd, const char *path)
{
	char *text = malloc(FILE_MOST + 1);
	size_t len = 0;
	ssize_t n = 1;
	int err;

	if (!text)
		return err__set(-ENOMEM, "no memory for settings");
	while (n > 0 && len <= FILE_MOST) {
		n = read(fd, text + len, FILE_MOST + 1 - len);
		len += n > 0 ? (size_t)n : 0;
	}
	if (n < 0)
		err = err__errno(errno, "cannot read settings from '%s'", path);
	else if (len > FILE_MOST)
		err = err__set(-EFBIG, "cannot read settings from '%s': it is too large for one",
			       path);
	else
		err = settings__read(text, len, path);
	free(text);
	return err;
}

/* NEEDED: the user has named it, so that one that cannot be had is an error. */
static int load_file(const char *path, bool needed)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;
	struct stat st;

	if (fd < 0 && !needed && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	err = fd < 0 ? err__set(-errno, "%s", strerror(errno)) : check_file(fd, &st);
	if (err) {
		char why[256];

		snprintf(why, sizeof(why), "%s", err__msg());
		err__set(err, "cannot read settings from '%s': %s", path, why);
		if (!needed)
			err__print("warning: %s", err__msg());
	} else {
		needed = true;
		err = read_whole(fd, path);
	}
	if (fd >= 0)
		close(fd);
	return needed ? err : 0;
}

int settings__load(void)
{
	static char *path; /* settings name it as long as the program runs */
	const char *only = secure_getenv("LJPERF_CONFIG"), *home = secure_getenv("HOME");
	int err;

	/* Which another root may not have. */
	if (only && !strcmp(only, "/dev/null"))
		return 0;
	if (only && *only)
		return load_file(only, true);
	err = load_file(LJPERF_SYSCONFDIR "/ljperfconfig", false);
	if (err || !home || *home != '/')
		return err;
	if (!path && asprintf(&path, "%s/.ljperfconfig", home) < 0) {
		path = NULL;
		return err__set(-ENOMEM, "no memory for settings");
	}
	return load_file(path, false);
}
