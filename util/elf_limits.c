/* elf_limits.c - see elf_limits.h. */
#include "util/elf_limits.h"

#include <gelf.h>
#include <lzma.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNPACKED_MOST (UINT64_C(64) << 20)
enum { RATIO_MOST = 32 };

/* xz -9 wants 65 MiB to unpack. */
#define LZMA_MEMORY (UINT64_C(80) << 20)

static bool is_sane(uint64_t packed, uint64_t unpacked)
{
	return unpacked <= UNPACKED_MOST || unpacked / RATIO_MOST <= packed;
}

static bool has_counts(int fd)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr e32;
		Elf64_Ehdr e64;
	} h;
	ssize_t n = pread(fd, &h, sizeof(h), 0);

	if (n < (ssize_t)sizeof(h.e32) || memcmp(h.ident, ELFMAG, SELFMAG) != 0)
		return true; /* libelf takes nothing of it */
	/* Zero and all ones are the same in any order of bytes. */
	if (h.ident[EI_CLASS] != ELFCLASS64)
		return (h.e32.e_shnum || !h.e32.e_shoff) && h.e32.e_phnum != PN_XNUM;
	return n < (ssize_t)sizeof(h.e64) ||
	       ((h.e64.e_shnum || !h.e64.e_shoff) && h.e64.e_phnum != PN_XNUM);
}

bool elf_limits__file(int fd)
{
	struct stat st;

	return has_counts(fd) && fstat(fd, &st) == 0 &&
	       is_sane((uint64_t)st.st_blocks * 512, (uint64_t)st.st_size);
}

/* Unpacks up to the limit, for what an xz file says of its size comes after the
 * data and need not be true. */
static bool is_sane_xz(const uint8_t *packed, size_t len)
{
	static uint8_t piece[65536];
	lzma_stream s = LZMA_STREAM_INIT;
	lzma_ret ret = lzma_stream_decoder(&s, LZMA_MEMORY, 0);

	s.next_in = packed;
	s.avail_in = len;
	while (ret == LZMA_OK && is_sane(len, s.total_out)) {
		s.next_out = piece;
		s.avail_out = sizeof(piece);
		ret = lzma_code(&s, LZMA_FINISH);
	}
	lzma_end(&s);
	return ret != LZMA_OK && ret != LZMA_MEMLIMIT_ERROR && ret != LZMA_MEM_ERROR;
}

/* Anything but xz is not written into such a section; libdwfl unpacks it all the
 * same. */
static bool is_sane_debugdata(Elf_Scn *scn)
{
	static const uint8_t magic[] = { 0xfd, '7', 'z', 'X', 'Z', 0 };
	Elf_Data *data = elf_rawdata(scn, NULL);

	return !data || !data->d_buf ||
	       (data->d_size > sizeof(magic) && !memcmp(data->d_buf, magic, sizeof(magic)) &&
		is_sane_xz(data->d_buf, data->d_size));
}

/* ".zdebug_info" and such, the older way: "ZLIB" and the size, its highest byte
 * first. */
static uint64_t zdebug_size(Elf_Scn *scn)
{
	Elf_Data *data = elf_rawdata(scn, NULL);
	const uint8_t *p = data ? data->d_buf : NULL;
	uint64_t size = 0;
	unsigned i;

	if (!p || data->d_size < 12)
		return 0;
	for (i = 4; i < 12; i++)
		size = size << 8 | p[i];
	return size;
}

/* What the compressed section says that it unpacks to; 0 for another one. */
static uint64_t unpacked_size(Elf_Scn *scn, const GElf_Shdr *sh, const char *name)
{
	GElf_Chdr ch;

	if (sh->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(scn, &ch) ? ch.ch_size : 0;
	return name && !strncmp(name, ".zdebug", 7) && sh->sh_type != SHT_NOBITS ? zdebug_size(scn)
										 : 0;
}

bool elf_limits__packed(Elf *elf)
{
	uint64_t packed = 0, unpacked = 0, size;
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr sh;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return true; /* it has no sections */
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh))
			continue;
		name = elf_strptr(elf, names, sh.sh_name);
		size = unpacked_size(scn, &sh, name);
		if (size) {
			packed += sh.sh_size;
			unpacked = unpacked + size < size ? UINT64_MAX : unpacked + size;
		}
		if (!is_sane(packed, unpacked) ||
		    (name && !strcmp(name, ".gnu_debugdata") && !is_sane_debugdata(scn)))
			return false;
	}
	return true;
}
