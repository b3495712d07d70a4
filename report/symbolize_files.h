/* symbolize_files.h - finds the files that the code of a recording came from,
 * and their separate debug files.  Used by symbolize_elf.c and archive.
 *
 * Paths and files are not trusted: only regular ELF files are opened, and none
 * can make us wait.
 */
#ifndef LJPERF_REPORT_SYMBOLIZE_FILES_H
#define LJPERF_REPORT_SYMBOLIZE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BUILD_ID_MAX = 64, DEBUG_DIRS_MAX = 4 };

struct build_id {
	uint8_t bytes[BUILD_ID_MAX];
	size_t len; /* 0: none */
};

/* Where to look.  PREFIX is put before the paths of modules. */
struct symbol_files {
	const char *prefix; /* or NULL */
	char *prefix_debug; /* PREFIX/usr/lib/debug */
	const char *dirs[DEBUG_DIRS_MAX]; /* folders with a .build-id in them */
	size_t n_dirs;
};

/* An open file, in the order of a search the first that is right. */
struct symbol_file {
	int fd;
	char *path;
};

/* SYMFS and DEBUG_DIR may be NULL, and are kept.  0 or -ENOMEM. */
int symbol_files__init(struct symbol_files *f, const char *symfs, const char *debug_dir);
void symbol_files__exit(struct symbol_files *f);

/* Opens the file of a module: the one at PATH (LEN bytes, as the recording has
 * it), or one that a folder has under its build id; unless WANT is empty, the
 * build id must be WANT.  0, or negative with err__msg(): the reason. */
int symbol_files__find(const struct symbol_files *f, const char *path, size_t len,
		       const struct build_id *want, struct symbol_file *out);

/* Opens the separate debug file of the file at OF (PATH in the recording):
 * under the build id WANT, or under the name LINK when its CRC or WANT fits.
 * 0 or negative, without a message. */
int symbol_files__find_debug(const struct symbol_files *f, const char *of, const char *path,
			     const struct build_id *want, const char *link, uint32_t crc,
			     struct symbol_file *out);
void symbol_file__close(struct symbol_file *file);

/* A number that changes when another file would be found, as far as can be
 * told without opening one. */
uint64_t symbol_files__fingerprint(const struct symbol_files *f, const char *path, size_t len,
				   const struct build_id *id);

/* False when it does not fit: then it is no build id. */
bool build_id__set(struct build_id *id, const void *bytes, size_t len);
bool build_id__equal(const struct build_id *a, const struct build_id *b);
/* ".build-id/xx/yyyy" and SUFFIX; to be freed. NULL: no memory. */
char *build_id__path(const struct build_id *id, const char *suffix);
/* Of an ELF file; empty when there is none. */
void build_id__read(int fd, struct build_id *id);

#endif
