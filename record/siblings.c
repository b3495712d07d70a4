/* siblings.c - see siblings.h. */
#include "record/siblings.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/session.h"
#include "util/grow.h"

#define OLD ".old"

void recording_id__make(char id[RECORDING_ID_SIZE])
{
	unsigned char bytes[(RECORDING_ID_SIZE - 1) / 2];
	size_t i;

	id[0] = 0;
	if (getrandom(bytes, sizeof(bytes), GRND_NONBLOCK) != (ssize_t)sizeof(bytes))
		return;
	for (i = 0; i < sizeof(bytes); i++)
		snprintf(id + 2 * i, 3, "%02x", bytes[i]);
}

/* ---- names ---- */

/* ".ljm.zst" is one, and what follows the last dot of the file's name when that
 * begins with a letter: "rec.data", and neither "rec.1" nor ".rec". */
size_t siblings__stem(const char *path)
{
	static const char usual[] = ".ljm.zst";
	size_t len = strlen(path), n = sizeof(usual) - 1;
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	if (strlen(name) > n && strcmp(path + len - n, usual) == 0)
		return len - n;
	return dot && dot > name && isalpha((unsigned char)dot[1]) ? (size_t)(dot - path) : len;
}

char *siblings__name(const char *output, pid_t pid, unsigned number)
{
	size_t stem = siblings__stem(output);
	const char *end = output + stem;
	char *path = NULL;
	int n;

	if (number > 1)
		n = asprintf(&path, "%.*s.%d.%u%s", (int)stem, output, (int)pid, number, end);
	else
		n = asprintf(&path, "%.*s.%d%s", (int)stem, output, (int)pid, end);
	return n < 0 ? NULL : path;
}

/* ---- who a file belongs to ---- */

struct owner {
	char id[RECORDING_ID_SIZE];
	uint64_t pid, number;
};

/* The header is all that is wanted. */
static int take_header(void *ctx, const struct session_header *h)
{
	struct owner *o = ctx;

	if (h->recording && strlen(h->recording) < sizeof(o->id))
		snprintf(o->id, sizeof(o->id), "%s", h->recording);
	o->pid = h->pid;
	o->number = h->vm_number;
	return -ECANCELED;
}

/* What comes before a header: then there is none, however long the file is. */
static int no_symbol(void *ctx, const struct ljm_symbol *sym)
{
	(void)ctx, (void)sym;
	return -ECANCELED;
}

static int no_event(void *ctx, const struct ljm_event *ev)
{
	(void)ctx, (void)ev;
	return -ECANCELED;
}

/* False when the file says nothing of a recording, or is not ours. */
static bool read_owner(int dir, const char *name, struct owner *o)
{
	static const struct session_handlers handlers = { .header = take_header,
							  .symbol = no_symbol,
							  .event = no_event };
	struct session_reader *r = NULL;
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	*o = (struct owner){ .id = "" };
	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid())
		r = session_reader__new_fd(fd, name);
	if (r)
		session_reader__run(r, &handlers, o);
	session_reader__delete(r);
	close(fd);
	return o->id[0];
}

/* ---- files in the folder of a recording ---- */

struct folder {
	int fd;
	const char *name; /* of the recording's first file, in the folder */
	char **names;
	size_t n, room;
};

static bool ends_with(const char *s, const char *end)
{
	size_t len = strlen(s), n = strlen(end);

	return len > n && strcmp(s + len - n, end) == 0;
}

/* Whether it could be a sibling: digits stand where the others have none. */
static bool is_candidate(const struct folder *f, const char *name)
{
	size_t stem = siblings__stem(f->name);

	return strncmp(name, f->name, stem) == 0 && name[stem] == '.' &&
	       isdigit((unsigned char)name[stem + 1]);
}

/* Without memory for it a file stays as it is. */
static void add_name(struct folder *f, const char *name)
{
	if (GROW(f->names, f->room, f->n))
		return;
	f->names[f->n] = strdup(name);
	f->n += f->names[f->n] != NULL;
}

/* The names first: what is renamed while a folder is read may come up twice. */
static void read_names(struct folder *f)
{
	int fd = dup(f->fd);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (is_candidate(f, entry->d_name))
			add_name(f, entry->d_name);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

/* A copy that the user made under another name says something else. */
static bool is_called(const struct folder *f, const char *name, const struct owner *o,
		      const char *end)
{
	char *wanted = siblings__name(f->name, (pid_t)o->pid, (unsigned)o->number);
	size_t len = wanted ? strlen(wanted) : 0;
	bool same = wanted && strncmp(name, wanted, len) == 0 && strcmp(name + len, end) == 0;

	free(wanted);
	return same;
}

static bool is_sibling(const struct folder *f, const char *name, const char *id, const char *end)
{
	struct owner o;

	return *id && read_owner(f->fd, name, &o) && strcmp(o.id, id) == 0 &&
	       is_called(f, name, &o, end);
}

static void make_old(const struct folder *f, const char *name)
{
	char *old;

	if (asprintf(&old, "%s" OLD, name) < 0)
		return;
	renameat(f->fd, name, f->fd, old);
	free(old);
}

/* What cannot be renamed stays: the recording goes on without. */
static void rotate(struct folder *f)
{
	struct owner now, old;
	char *name;
	size_t i;

	if (asprintf(&name, "%s" OLD, f->name) < 0)
		return;
	read_owner(f->fd, f->name, &now);
	read_owner(f->fd, name, &old);
	free(name);
	if (now.id[0] || old.id[0])
		read_names(f);
	for (i = 0; i < f->n; i++)
		if (ends_with(f->names[i], OLD) && is_sibling(f, f->names[i], old.id, OLD))
			unlinkat(f->fd, f->names[i], 0);
	for (i = 0; i < f->n; i++)
		if (is_sibling(f, f->names[i], now.id, ""))
			make_old(f, f->names[i]);
}

void siblings__rotate(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash - path + 1)) : strdup(".");
	struct folder f = { .name = slash ? slash + 1 : path };

	f.fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (f.fd >= 0) {
		rotate(&f);
		close(f.fd);
	}
	while (f.n)
		free(f.names[--f.n]);
	free(f.names);
	free(folder);
}
