/* symbolize_files.c - finds the files of modules; see symbolize_files.h. */
#include "report/symbolize_files.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/crc32.h"
#include "util/elf_limits.h"
#include "util/error.h"
#include "util/regular.h"

#define SYSTEM_DEBUG_DIR "/usr/lib/debug"
#define DELETED " (deleted)" /* the kernel's word for a file that has no name any more */

enum { READ_BYTES = 1 << 16 };

/* ---- build ids ---- */

bool build_id__set(struct build_id *id, const void *bytes, size_t len)
{
	id->len = 0;
	if (len > BUILD_ID_MAX || !len)
		return !len;
	memcpy(id->bytes, bytes, len);
	id->len = len;
	return true;
}

bool build_id__equal(const struct build_id *a, const struct build_id *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

char *build_id__path(const struct build_id *id, const char *suffix)
{
	static const char dir[] = ".build-id/";
	size_t size = sizeof(dir) + 2 * id->len + 1 + strlen(suffix), at = sizeof(dir) - 1, i;
	char *path = malloc(size + 1);

	if (!path)
		return NULL;
	memcpy(path, dir, sizeof(dir));
	for (i = 0; i < id->len; i++)
		at += (size_t)snprintf(path + at, size - at, "%02x%s", id->bytes[i], i ? "" : "/");
	snprintf(path + at, size - at, "%s", suffix);
	return path;
}

void build_id__read(int fd, struct build_id *id)
{
	const void *bytes;
	ssize_t len;
	Elf *elf;

	id->len = 0;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf)
		return;
	len = dwelf_elf_gnu_build_id(elf, &bytes);
	if (len > 0)
		build_id__set(id, bytes, (size_t)len);
	elf_end(elf);
}

/* ---- opening ---- */

static bool is_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, SELFMAG, 0) == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG);
}

/* Whether the file reaches to the end of its sections, which are listed last. */
static bool is_whole(int fd, Elf *elf)
{
	struct stat st;
	GElf_Ehdr eh;

	return gelf_getehdr(elf, &eh) && !fstat(fd, &st) && (uint64_t)st.st_size >= eh.e_shoff &&
	       (uint64_t)st.st_size - eh.e_shoff >= (uint64_t)eh.e_shnum * eh.e_shentsize;
}

/* 0, or negative as open_elf(). */
static int check_elf(int fd)
{
	Elf *elf;
	int err;

	if (!is_elf(fd))
		return -ENOEXEC;
	elf_version(EV_CURRENT);
	if (!elf_limits__file(fd))
		return -EFBIG;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	err = !elf || !is_whole(fd, elf) ? -ENODATA : elf_limits__packed(elf) ? 0 : -EFBIG;
	elf_end(elf);
	return err;
}

/* An ELF file of the build id WANT (empty: any).  The descriptor or negative:
 * -EINVAL no regular file, -ENOEXEC no ELF, -ENODATA a part of one, -EFBIG one
 * that unpacks to too much, -ESTALE another build id. */
static int open_elf(const char *path, const struct build_id *want)
{
	struct build_id id;
	int fd = regular__open(path), err;

	if (fd < 0)
		return fd;
	err = check_elf(fd);
	if (err) {
		close(fd);
		return err;
	}
	if (!want->len)
		return fd;
	build_id__read(fd, &id);
	if (build_id__equal(&id, want))
		return fd;
	close(fd);
	return -ESTALE;
}

static const char *reason(int err)
{
	switch (err) {
	case -EINVAL:
		return "it is no regular file";
	case -ENOEXEC:
		return "it is no ELF file";
	case -ENODATA:
		return "it is truncated";
	case -EFBIG:
		return "what it says it holds would take too much memory";
	case -ESTALE:
		return "its build id is not the recorded one";
	default:
		return strerror(-err);
	}
}

/* Takes PATH, which may be NULL for a lack of memory. */
static int try_path(char *path, const struct build_id *want, struct symbol_file *out)
{
	int fd = path ? open_elf(path, want) : -ENOMEM;

	if (fd < 0) {
		free(path);
		return fd;
	}
	*out = (struct symbol_file){ fd, path };
	return 0;
}

void symbol_file__close(struct symbol_file *file)
{
	if (file->path)
		close(file->fd);
	free(file->path);
	*file = (struct symbol_file){ -1, NULL };
}

static char *join(const char *a, const char *b, const char *c)
{
	char *path;

	return asprintf(&path, "%s%s%s", a, b, c) < 0 ? NULL : path;
}

/* ---- the file of a module ---- */

int symbol_files__init(struct symbol_files *f, const char *symfs, const char *debug_dir)
{
	*f = (struct symbol_files){ .prefix = symfs };
	if (symfs) {
		f->prefix_debug = join(symfs, SYSTEM_DEBUG_DIR, "");
		if (!f->prefix_debug)
			return -ENOMEM;
		f->dirs[f->n_dirs++] = symfs;
		f->dirs[f->n_dirs++] = f->prefix_debug;
	}
	if (debug_dir)
		f->dirs[f->n_dirs++] = debug_dir;
	f->dirs[f->n_dirs++] = SYSTEM_DEBUG_DIR;
	return 0;
}

void symbol_files__exit(struct symbol_files *f)
{
	free(f->prefix_debug);
	*f = (struct symbol_files){ .prefix = NULL };
}

/* PATH as the kernel wrote it, newlines as "\012", made the name of a file. */
static void unescape(char *path)
{
	char *to = path;

	for (; *path; path++, to++) {
		if (!strncmp(path, "\\012", 4)) {
			*to = '\n';
			path += 3;
		} else {
			*to = *path;
		}
	}
	*to = '\0';
}

/* The path in the recording as names that the file may have: it is tried as it
 * is and as what the kernel may have made of another name. */
static int try_names(const struct symbol_files *f, const char *path, size_t len,
		     const struct build_id *want, struct symbol_file *out)
{
	const char *prefix = f->prefix ? f->prefix : "";
	size_t gone = strlen(DELETED);
	char *copy = strndup(path, len);
	int err;

	if (!copy)
		return -ENOMEM;
	err = try_path(join(prefix, copy, ""), want, out);
	if (err == -ENOENT && len > gone && !strcmp(copy + len - gone, DELETED)) {
		copy[len - gone] = '\0';
		err = try_path(join(prefix, copy, ""), want, out);
	}
	if (err == -ENOENT && strstr(copy, "\\012")) {
		unescape(copy);
		err = try_path(join(prefix, copy, ""), want, out);
	}
	free(copy);
	return err;
}

static int try_build_id(const struct symbol_files *f, const struct build_id *id, const char *suffix,
			struct symbol_file *out)
{
	char *name;
	size_t i;
	int err = -ENOENT;

	if (!id->len)
		return err;
	name = build_id__path(id, suffix);
	if (!name)
		return -ENOMEM;
	for (i = 0; err && i < f->n_dirs; i++)
		err = try_path(join(f->dirs[i], "/", name), id, out);
	free(name);
	return err;
}

/* ERR is why the file at the path is not the right one, which stands when none
 * is found here either. */
static int try_build_ids(const struct symbol_files *f, const struct build_id *want, int err,
			 struct symbol_file *out)
{
	int found = try_build_id(f, want, "", out);

	if (found && found != -ENOMEM)
		found = try_build_id(f, want, ".debug", out);
	return found && found != -ENOMEM ? err : found;
}

int symbol_files__find(const struct symbol_files *f, const char *path, size_t len,
		       const struct build_id *want, struct symbol_file *out)
{
	int err = -EINVAL;

	*out = (struct symbol_file){ -1, NULL };
	if (len && path[0] == '/' && !memchr(path, '\0', len))
		err = try_names(f, path, len, want, out);
	if (err && err != -ENOMEM)
		err = try_build_ids(f, want, err, out);
	return err ? err__set(err, "%s", reason(err)) : 0;
}

/* ---- its separate debug file ---- */

static bool same_crc(int fd, uint32_t crc)
{
	char buf[READ_BYTES];
	uint32_t got = 0;
	off_t at = 0;
	ssize_t n = -1;

	while ((n = pread(fd, buf, READ_BYTES, at)) > 0) {
		got = crc32__add(got, buf, (size_t)n);
		at += n;
	}
	return !n && got == crc;
}

static bool same_file(int fd, const char *path)
{
	struct stat a, b;

	return !fstat(fd, &a) && !stat(path, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* A file named by a link must be the right one: by its build id when there is
 * one, or else by its CRC. */
static int try_link(char *path, const char *of, const struct build_id *want, uint32_t crc,
		    struct symbol_file *out)
{
	int err = try_path(path, want, out);

	if (err)
		return err;
	if (!same_file(out->fd, of) && (want->len || same_crc(out->fd, crc)))
		return 0;
	symbol_file__close(out);
	return -ENOENT;
}

static int try_links(const struct symbol_files *f, const char *of, const char *path,
		     const struct build_id *want, const char *link, uint32_t crc,
		     struct symbol_file *out)
{
	const char *of_end = strrchr(of, '/'), *end = strrchr(path, '/');
	char *dir = strndup(of, of_end ? (size_t)(of_end + 1 - of) : 0);
	char *in_dir = strndup(path, end ? (size_t)(end + 1 - path) : 0), *name;
	int err = dir && in_dir ? -ENOENT : -ENOMEM;
	size_t i;

	if (err == -ENOENT) {
		err = try_link(join(dir, link, ""), of, want, crc, out);
		err = err ? try_link(join(dir, ".debug/", link), of, want, crc, out) : 0;
	}
	for (i = 0; err && err != -ENOMEM && in_dir[0] == '/' && i < f->n_dirs; i++) {
		name = join(f->dirs[i], in_dir, link);
		err = try_link(name, of, want, crc, out);
	}
	free(dir);
	free(in_dir);
	return err;
}

int symbol_files__find_debug(const struct symbol_files *f, const char *of, const char *path,
			     const struct build_id *want, const char *link, uint32_t crc,
			     struct symbol_file *out)
{
	int err = try_build_id(f, want, ".debug", out);

	if (err == -ENOMEM)
		return err;
	if (!err && !same_file(out->fd, of))
		return 0;
	if (!err)
		symbol_file__close(out);
	if (!link || !*link)
		return -ENOENT;
	/* The name in a link is one of a folder, unless a build id vouches for it. */
	if (strchr(link, '/') && !want->len)
		return -ENOENT;
	if (link[0] == '/')
		return try_link(join(f->prefix ? f->prefix : "", link, ""), of, want, crc, out);
	return try_links(f, of, path, want, link, crc, out);
}

/* ---- what would be found ---- */

static uint64_t hash__add(uint64_t h, const void *p, size_t n)
{
	const uint8_t *s = p;

	while (n--)
		h = (h ^ *s++) * 0x100000001b3u; /* FNV-1a: the same in each process */
	return h;
}

static uint64_t hash__file(uint64_t h, char *path)
{
	uint64_t facts[3] = { 0 };
	struct stat st;

	if (path && !stat(path, &st)) {
		facts[0] = (uint64_t)st.st_size;
		facts[1] = (uint64_t)st.st_mtim.tv_sec;
		facts[2] = (uint64_t)st.st_mtim.tv_nsec + 1;
	}
	if (path)
		h = hash__add(h, path, strlen(path) + 1);
	free(path);
	return hash__add(h, facts, sizeof(facts));
}

uint64_t symbol_files__fingerprint(const struct symbol_files *f, const char *path, size_t len,
				   const struct build_id *id)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	uint64_t h = 0xcbf29ce484222325u;
	char *copy = strndup(path, len), *name = build_id__path(id, ".debug");
	size_t i;

	if (copy)
		h = hash__file(h, join(f->prefix ? f->prefix : "", copy, ""));
	for (i = 0; name && i < f->n_dirs; i++)
		h = hash__file(h, join(f->dirs[i], "/", name));
	free(copy);
	free(name);
	return urls ? hash__add(h, urls, strlen(urls)) : h;
}
