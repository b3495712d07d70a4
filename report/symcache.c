/* symcache.c - answers kept between reports; see symcache.h.
 *
 *	file  := "LJSC" version crc fingerprint has_lines n entry*
 *	entry := addr n_frames frame*
 *	frame := func file line
 *
 * version is a byte, crc 4 bytes (of all behind it), fingerprint 8, both little
 * endian, has_lines a byte; the rest are ULEB128 and strings with their length
 * in front.  Names are as in the ELF file, so that they can be shown mangled.
 */
#include "report/symcache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/cursor.h"
#include "formats/uleb.h"
#include "report/crc32.h"

static const char magic[4] = { 'L', 'J', 'S', 'C' };

enum {
	VERSION = 2, /* rises with the format, and when better answers are found */
	CRC_AT = sizeof(magic) + 1,
	BODY_AT = CRC_AT + 4, /* what the CRC is of */
	ENTRIES_AT = BODY_AT + 8 + 1,
	FILE_MAX = 64 << 20,
};

/* ---- where it is ---- */

/* The folder, made when MAKE; to be freed. */
static char *cache_folder(bool make)
{
	const char *base = getenv("XDG_CACHE_HOME"), *under = "";
	char *dir;
	size_t i;

	if (!base || base[0] != '/') {
		base = getenv("HOME");
		under = "/.cache";
	}
	if (!base || base[0] != '/' || asprintf(&dir, "%s%s/ljperf/symbols/", base, under) < 0)
		return NULL;
	for (i = strlen(base); make && dir[i]; i++) {
		if (dir[i] != '/')
			continue;
		dir[i] = '\0';
		mkdir(dir, 0700);
		dir[i] = '/';
	}
	return dir;
}

static char *cache_path(const struct build_id *id, bool make)
{
	char hex[2 * BUILD_ID_MAX + 1], *dir = cache_folder(make), *path = NULL;
	size_t i;

	for (i = 0; i < id->len; i++)
		snprintf(hex + 2 * i, 3, "%02x", id->bytes[i]);
	if (dir && id->len && asprintf(&path, "%s%s", dir, hex) < 0)
		path = NULL;
	free(dir);
	return path;
}

/* ---- reading ---- */

/* Only a file of our own: what others can write says what they like. */
static bool is_ours(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_uid == geteuid() && !(st->st_mode & 022) &&
	       st->st_size >= ENTRIES_AT && st->st_size <= FILE_MAX;
}

static uint8_t *read_all(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
	uint8_t *buf = NULL;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && is_ours(&st)) {
		*len = (size_t)st.st_size;
		buf = malloc(*len);
		if (buf && read(fd, buf, *len) != (ssize_t)*len) {
			free(buf);
			buf = NULL;
		}
	}
	close(fd);
	return buf;
}

static int load_frames(struct cursor *c, struct symcache_frame *frames, uint64_t n)
{
	uint64_t i;

	if (n > SYMCACHE_FRAMES_MAX)
		return -EBADMSG;
	for (i = 0; i < n; i++) {
		frames[i].func = cursor__string(c, &frames[i].func_len);
		frames[i].file = cursor__string(c, &frames[i].file_len);
		frames[i].line = cursor__uleb(c);
	}
	return c->status == CURSOR_OK ? 0 : -EBADMSG;
}

static int load_entries(struct cursor *c, symcache_fn fn, void *ctx)
{
	struct symcache_frame frames[SYMCACHE_FRAMES_MAX];
	uint64_t n = cursor__uleb(c), i, addr, last = 0, n_frames;
	int err = c->status == CURSOR_OK ? 0 : -EBADMSG;

	for (i = 0; i < n && !err; i++, last = addr) {
		addr = cursor__uleb(c);
		n_frames = cursor__uleb(c);
		err = load_frames(c, frames, n_frames);
		if (!err && i && addr <= last)
			err = -EBADMSG;
		if (!err && fn)
			err = fn(ctx, addr, frames, n_frames);
	}
	return !err && cursor__left(c) ? -EBADMSG : err;
}

int symcache__parse(const void *buf, size_t len, const struct symcache_head *head, symcache_fn fn,
		    void *ctx)
{
	struct cursor c = cursor__of(buf, len), entries;
	const uint8_t *start = cursor__bytes(&c, sizeof(magic));
	uint64_t version = cursor__u8(&c), crc = cursor__le32(&c);
	uint64_t fingerprint = cursor__le64(&c), has_lines = cursor__u8(&c);

	if (c.status != CURSOR_OK || memcmp(start, magic, sizeof(magic)) || version != VERSION ||
	    crc != crc32__add(0, (const uint8_t *)buf + BODY_AT, len - BODY_AT) || has_lines > 1)
		return -EBADMSG;
	if (!has_lines && fingerprint != head->fingerprint)
		return -ESTALE;
	entries = c;
	/* All of it is right before any of it is believed. */
	if (load_entries(&entries, NULL, NULL))
		return -EBADMSG;
	return load_entries(&c, fn, ctx);
}

int symcache__load(const struct build_id *id, const struct symcache_head *head, symcache_fn fn,
		   void *ctx)
{
	char *path = cache_path(id, false);
	size_t len = 0;
	uint8_t *buf = path ? read_all(path, &len) : NULL;
	int err = buf ? symcache__parse(buf, len, head, fn, ctx) : -ENOENT;

	free(buf);
	free(path);
	return err;
}

/* ---- writing ---- */

static void add_uleb(struct strbuf *out, uint64_t v)
{
	uint8_t bytes[ULEB_MAX];

	strbuf__addmem(out, bytes, (size_t)(uleb__put(bytes, v) - bytes));
}

static void add_string(struct strbuf *out, const char *s, size_t len)
{
	add_uleb(out, len);
	strbuf__addmem(out, s, len);
}

void symcache__add(struct strbuf *out, uint64_t addr, size_t n_frames)
{
	add_uleb(out, addr);
	add_uleb(out, n_frames);
}

void symcache__add_frame(struct strbuf *out, const struct symcache_frame *f)
{
	add_string(out, f->func, f->func_len);
	add_string(out, f->file, f->file_len);
	add_uleb(out, f->line);
}

static bool write_all(int fd, const char *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

/* A whole file takes the place of the old one, or none does. */
static void replace(const char *path, const struct strbuf *file)
{
	char *temp;
	bool ok;
	int fd;

	if (asprintf(&temp, "%s.XXXXXX", path) < 0)
		return;
	fd = mkostemp(temp, O_CLOEXEC); /* mode 0600 */
	if (fd >= 0) {
		ok = write_all(fd, file->buf, file->len);
		ok = !close(fd) && ok;
		if (!ok || rename(temp, path))
			unlink(temp);
	}
	free(temp);
}

void symcache__write(struct strbuf *entries, const struct build_id *id,
		     const struct symcache_head *head, size_t n_entries)
{
	struct strbuf file = STRBUF_INIT;
	uint64_t fingerprint = htole64(head->fingerprint);
	char *path = cache_path(id, true);
	uint32_t crc = 0;

	strbuf__addmem(&file, magic, sizeof(magic));
	strbuf__addch(&file, VERSION);
	strbuf__addmem(&file, &crc, sizeof(crc)); /* set when the rest is there */
	strbuf__addmem(&file, &fingerprint, sizeof(fingerprint));
	strbuf__addch(&file, head->has_lines);
	add_uleb(&file, n_entries);
	strbuf__addmem(&file, strbuf__str(entries), entries->len);
	if (path && !file.failed && !entries->failed && file.len <= FILE_MAX) {
		crc = htole32(crc32__add(0, file.buf + BODY_AT, file.len - BODY_AT));
		memcpy(file.buf + CRC_AT, &crc, sizeof(crc));
		replace(path, &file);
	}
	strbuf__exit(&file);
	free(path);
}
