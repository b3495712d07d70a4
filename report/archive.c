/* archive.c - packs a recording with its modules; see archive.h.  libarchive
 * knows tar and compresses it.
 */
#include "report/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/modules.h"
#include "report/recording.h"
#include "report/symbolize_files.h"
#include "util/error.h"
#include "util/grow.h"

enum { COPY_BYTES = 1 << 17 };

struct packing {
	struct archive *tar;
	struct symbol_files files;
	struct strpool strings;
	struct modules modules;
	bool *used; /* by id of a module: some code of it was met */
	size_t n_used, cap_used;
	uint64_t last; /* the address that was looked up last, 0: none */
	struct strpool packed; /* names in the archive */
	bool quiet;
	char buf[COPY_BYTES];
};

static int packing__no_memory(void)
{
	return err__set(-ENOMEM, "out of memory for the archive");
}

/* ---- what the recording names ---- */

static int packing__module(void *ctx, const struct session_module *m)
{
	struct packing *p = ctx;

	if (modules__add(&p->modules, &p->strings, m) || GROW(p->used, p->cap_used, p->modules.n))
		return err__set(-ENOMEM, "out of memory for modules");
	if (p->modules.n > p->n_used) {
		memset(p->used + p->n_used, 0, p->modules.n - p->n_used);
		p->n_used = p->modules.n;
	}
	p->last = 0;
	return 0;
}

/* Native call stacks name all files that were mapped, and go through few. */
static void packing__use(struct packing *p, const struct ljm_loc *loc)
{
	uint32_t id;

	if ((loc->source != LJM_SRC_C && loc->source != LJM_SRC_NATIVE) || loc->addr == p->last)
		return;
	p->last = loc->addr;
	id = modules__find(&p->modules, loc->addr);
	if (id != MODULE_NONE)
		p->used[id] = true;
}

static int packing__event(void *ctx, const struct ljm_event *ev)
{
	packing__use(ctx, &ev->loc);
	return 0;
}

static int packing__stack(void *ctx, const struct session_stack *node)
{
	packing__use(ctx, &node->loc);
	return 0;
}

/* ---- writing ---- */

static int packing__error(struct packing *p)
{
	const char *why = archive_error_string(p->tar);
	int code = archive_errno(p->tar);

	if (code > 0) /* the text would be "Write error" */
		return err__errno(code, "cannot write the archive");
	return err__set(-EIO, "cannot write the archive: %s", why ? why : "unknown error");
}

/* 1, or 0 when NAME is in the archive already. */
static int packing__claim(struct packing *p, const char *name)
{
	size_t before = p->packed.n;
	uint32_t id = strpool__intern(&p->packed, name, strlen(name));

	return id == STR_NONE ? packing__no_memory() : id == before;
}

/* As many bytes as the entry says: a file that shrinks meanwhile ends in zeros,
 * as tar does it. */
static int packing__copy(struct packing *p, int fd, uint64_t size)
{
	off_t at = 0;
	ssize_t n;

	while (size) {
		n = pread(fd, p->buf, size < COPY_BYTES ? (size_t)size : COPY_BYTES, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err__errno(errno, "cannot read a module");
		if (!n)
			break;
		if (archive_write_data(p->tar, p->buf, (size_t)n) != n)
			return packing__error(p);
		at += n;
		size -= (uint64_t)n;
	}
	return 0;
}

static int packing__put(struct packing *p, const char *name, int fd, const char *link)
{
	struct archive_entry *e = archive_entry_new();
	struct stat st;
	int err = 0;

	if (!e)
		return packing__no_memory();
	if (fstat(fd, &st)) {
		err = err__errno(errno, "cannot read '%s'", name);
	} else {
		archive_entry_set_pathname(e, name);
		archive_entry_set_filetype(e, AE_IFREG);
		archive_entry_set_perm(e, 0644);
		archive_entry_set_mtime(e, st.st_mtim.tv_sec, 0);
		archive_entry_set_size(e, link ? 0 : st.st_size);
		if (link)
			archive_entry_set_hardlink(e, link);
		if (archive_write_header(p->tar, e) != ARCHIVE_OK)
			err = packing__error(p);
		else if (!link)
			err = packing__copy(p, fd, (uint64_t)st.st_size);
	}
	archive_entry_free(e);
	return err;
}

static int packing__put_once(struct packing *p, const char *name, int fd, const char *link)
{
	int claimed = packing__claim(p, name);

	return claimed > 0 ? packing__put(p, name, fd, link) : claimed;
}

/* ---- modules ---- */

/* A path of the recording that is safe to unpack, below the folder: absolute,
 * without "." and ".." and controls; NULL for others.  In PATH itself. */
static const char *safe_path(const char *path)
{
	const char *s = path, *part;

	if (path[0] != '/')
		return NULL;
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return NULL;
	for (s = path; *s;) {
		part = ++s;
		s += strcspn(s, "/");
		if (s == part || !strncmp(part, ".", (size_t)(s - part)) ||
		    !strncmp(part, "..", (size_t)(s - part)))
			return NULL;
	}
	return path + 1;
}

static void packing__warn(const struct packing *p, const char *path)
{
	if (!p->quiet)
		err__print("warning: '%s' is left out: %s", path, err__msg());
}

/* The separate debug file of FILE, if there is one. */
static int find_debug(const struct packing *p, const struct symbol_file *file, const char *path,
		      const struct build_id *id, struct symbol_file *out)
{
	const char *link = NULL;
	GElf_Word crc = 0;
	Elf *elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
	int err;

	if (elf)
		link = dwelf_elf_gnu_debuglink(elf, &crc);
	err = symbol_files__find_debug(&p->files, file->path, path, id, link, crc, out);
	elf_end(elf);
	return err;
}

static int packing__put_debug(struct packing *p, const struct symbol_file *file, const char *path,
			      const struct build_id *id)
{
	struct symbol_file debug;
	char *name;
	int err = id->len ? find_debug(p, file, path, id, &debug) : -ENOENT;

	if (err)
		return err == -ENOMEM ? packing__no_memory() : 0;
	name = build_id__path(id, ".debug");
	err = name ? packing__put_once(p, name, debug.fd, NULL)
		   : err__set(-ENOMEM, "no memory for a file name");
	free(name);
	symbol_file__close(&debug);
	return err;
}

static int packing__put_file(struct packing *p, const struct symbol_file *file, const char *path,
			     const struct build_id *id)
{
	const char *safe = safe_path(path);
	char *name = id->len ? build_id__path(id, "") : NULL;
	int err = 0;

	if (id->len && !name)
		return err__set(-ENOMEM, "no memory for a file name");
	if (name)
		err = packing__put_once(p, name, file->fd, NULL);
	if (!err && safe)
		err = packing__put_once(p, safe, file->fd, name);
	free(name);
	return err ? err : packing__put_debug(p, file, path, id);
}

static int packing__put_module(struct packing *p, const struct module *m)
{
	const struct str *path = strpool__get(&p->strings, m->path);
	const struct str *bytes = strpool__get(&p->strings, m->build_id);
	struct symbol_file file;
	struct build_id id;
	int err;

	/* [vdso], or memory of no file. */
	if (!path->len || path->s[0] != '/')
		return 0;
	build_id__set(&id, bytes->s, bytes->len);
	err = symbol_files__find(&p->files, path->s, path->len, &id, &file);
	if (err == -ENOMEM)
		return packing__no_memory();
	if (err) {
		packing__warn(p, path->s);
		return 0;
	}
	err = packing__put_file(p, &file, path->s, &id);
	symbol_file__close(&file);
	return err;
}

/* ---- the archive ---- */

static int packing__open(struct packing *p, int fd)
{
	p->tar = archive_write_new();
	if (!p->tar)
		return packing__no_memory();
	if (archive_write_add_filter_zstd(p->tar) < ARCHIVE_WARN ||
	    archive_write_set_format_pax_restricted(p->tar) < ARCHIVE_WARN ||
	    archive_write_set_bytes_in_last_block(p->tar, 1) < ARCHIVE_WARN ||
	    archive_write_open_fd(p->tar, fd) < ARCHIVE_WARN)
		return packing__error(p);
	return 0;
}

static int packing__put_recording(struct packing *p, const char *input)
{
	const char *slash = strrchr(input, '/');
	int fd = open(input, O_RDONLY | O_CLOEXEC | O_NOCTTY), err;

	if (fd < 0)
		return err__errno(errno, "cannot open '%s'", input);
	err = packing__put_once(p, slash ? slash + 1 : input, fd, NULL);
	close(fd);
	return err;
}

static int packing__run(struct packing *p, int fd, const char *input)
{
	int err = packing__open(p, fd);
	size_t i;

	err = err ? err : packing__put_recording(p, input);
	for (i = 0; !err && i < p->modules.n; i++)
		if (p->used[i])
			err = packing__put_module(p, &p->modules.at[i]);
	if (!err && archive_write_close(p->tar) != ARCHIVE_OK)
		err = packing__error(p);
	archive_write_free(p->tar);
	return err;
}

static void packing__delete(struct packing *p)
{
	symbol_files__exit(&p->files);
	modules__exit(&p->modules);
	free(p->used);
	strpool__exit(&p->strings);
	strpool__exit(&p->packed);
	free(p);
}

int archive__write(int fd, const char *input, bool force, const struct archive_opts *o)
{
	static const struct session_handlers handlers = { .module = packing__module,
							  .event = packing__event,
							  .stack = packing__stack };
	struct packing *p = calloc(1, sizeof(*p));
	struct session_info info;
	int err;

	if (!p || symbol_files__init(&p->files, o->symfs, o->debug_dir)) {
		free(p);
		return packing__no_memory();
	}
	p->quiet = o->quiet;
	elf_version(EV_CURRENT);
	err = recording__read(input, force, &handlers, p, &info);
	if (!err)
		err = packing__run(p, fd, input);
	packing__delete(p);
	return err;
}
