/* fuzz_symbolize.c - any bytes as the ELF file of a module, and as the symbol
 * cache of one: no crash, no hang, whatever the answer is.
 *
 * The first byte says what follows it: a cache, or an ELF file.  Of an ELF file
 * some addresses are asked that its own bytes give, and the first ones of its
 * segments and symbols.
 */
#include <endian.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/crc32.h"
#include "report/symbolize.h"
#include "report/symbolize_files.h"
#include "report/symcache.h"

enum { ADDRESSES_MAX = 24, WORDS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- ELF ---- */

static size_t add_segments(Elf *elf, uint64_t *addrs, size_t n)
{
	size_t n_phdrs, i;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &n_phdrs))
		return n;
	for (i = 0; i < n_phdrs && n < ADDRESSES_MAX; i++)
		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD)
			addrs[n++] = ph.p_vaddr;
	return n;
}

static size_t add_symbols(Elf *elf, uint64_t *addrs, size_t n)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Sym sym;
	Elf_Data *d;
	int i;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh) ||
		    (sh.sh_type != SHT_SYMTAB && sh.sh_type != SHT_DYNSYM))
			continue;
		d = elf_getdata(scn, NULL);
		for (i = 0; d && i < 64 && n < ADDRESSES_MAX && gelf_getsym(d, i, &sym); i++)
			if (GELF_ST_TYPE(sym.st_info) == STT_FUNC)
				addrs[n++] = sym.st_value;
	}
	return n;
}

static size_t find_addresses(int fd, const uint8_t *data, size_t size, uint64_t *addrs)
{
	size_t n = 0;
	Elf *elf;

	for (; n < WORDS && (n + 1) * 8 <= size; n++)
		memcpy(&addrs[n], data + size - (n + 1) * 8, 8);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf)
		return n;
	n = add_segments(elf, addrs, n);
	n = add_symbols(elf, addrs, n);
	elf_end(elf);
	return n;
}

static void ask(const char *path, const uint64_t *addrs, size_t n)
{
	const struct symbolizer_opts opts = { .no_cache = true };
	struct strpool strings = { .n = 0 };
	struct strbuf out = STRBUF_INIT;
	struct symbolizer *s = symbolizer__new(&opts, &strings);
	struct module m = { .bias = 0 };
	size_t i, j;

	m.path = strpool__intern(&strings, path, strlen(path));
	m.build_id = strpool__intern(&strings, "", 0);
	for (i = 0; i < n; i++) {
		struct symbol sym;

		if (symbolizer__resolve(s, &m, addrs[i]) < 0)
			abort();
		sym = symbolizer__get(s, &m, addrs[i]);
		for (j = 0; j < sym.n; j++)
			symbolizer__add_func(s, sym.frames[j].func, &out);
	}
	symbolizer__delete(s);
	strpool__exit(&strings);
	strbuf__exit(&out);
}

static void fuzz_elf(const uint8_t *data, size_t size)
{
	uint64_t addrs[ADDRESSES_MAX];
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	ask(path, addrs, find_addresses(fd, data, size, addrs));
	close(fd);
}

/* ---- the cache ---- */

static int take_entry(void *ctx, uint64_t addr, const struct symcache_frame *frames, size_t n)
{
	uint64_t *sum = ctx;
	size_t i, j;

	*sum += addr;
	for (i = 0; i < n; i++) {
		for (j = 0; j < frames[i].func_len; j++)
			*sum += (unsigned char)frames[i].func[j];
		for (j = 0; j < frames[i].file_len; j++)
			*sum += (unsigned char)frames[i].file[j];
	}
	return 0;
}

/* What is behind the CRC, with a right one before it. */
static void fuzz_cache(const uint8_t *data, size_t size)
{
	static const uint8_t magic[] = { 'L', 'J', 'S', 'C', 1 };
	struct symcache_head head = { .fingerprint = 1 };
	struct strbuf file = STRBUF_INIT;
	uint32_t crc = htole32(crc32__add(0, data, size));
	uint64_t sum = 0;

	strbuf__addmem(&file, magic, sizeof(magic));
	strbuf__addmem(&file, &crc, sizeof(crc));
	strbuf__addmem(&file, data, size);
	symcache__parse(file.buf, file.len, &head, take_entry, &sum);
	strbuf__exit(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	if (data[0] & 1)
		fuzz_cache(data + 1, size - 1);
	else
		fuzz_elf(data + 1, size - 1);
	return 0;
}
