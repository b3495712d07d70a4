/* unwind_file.c - see unwind_file.h. */
#include "record/unwind_file.h"

#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/ring.h"

#define HEAD_BYTES 4096

struct function {
	uint64_t start, end;
};

struct unwind_file {
	Elf *elf; /* holds what CFI refers to; nothing else of it is kept */
	Dwarf_CFI *cfi; /* NULL: it has no tables */
	struct function *api; /* none, unless it is a VM */
	size_t n_api;
};

/* ---- opening ---- */

/* Looks before it opens, because the opening of a device may do anything; and
 * again after, because it may have changed. */
static int open_regular(const char *path)
{
	struct stat st;
	int fd;

	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Never a device or a FIFO. */
static int open_file(pid_t pid, const char *path)
{
	char theirs[PATH_MAX + 64];
	int fd = -1;

	if (path[0] != '/')
		return -1;
	if (snprintf(theirs, sizeof(theirs), "/proc/%d/root%s", (int)pid, path) <
	    (int)sizeof(theirs))
		fd = open_regular(theirs);
	return fd >= 0 ? fd : open_regular(path);
}

static bool note_matches(Elf_Data *notes, const struct unwind_want *want)
{
	size_t at = 0, name, desc;
	const char *p = notes->d_buf;
	GElf_Nhdr n;

	while ((at = gelf_getnote(notes, at, &n, &name, &desc)) > 0)
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(p + name, "GNU", 4))
			return n.n_descsz == want->build_id_len &&
			       !memcmp(p + desc, want->build_id, n.n_descsz);
	return false;
}

static bool has_build_id(Elf *elf, const struct unwind_want *want)
{
	size_t n, i;
	GElf_Phdr ph;
	Elf_Data *notes;

	if (elf_getphdrnum(elf, &n) != 0)
		return false;
	for (i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_NOTE)
			continue;
		notes = elf_getdata_rawchunk(elf, (int64_t)ph.p_offset, ph.p_filesz,
					     ph.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		if (notes && note_matches(notes, want))
			return true;
	}
	return false;
}

/* A file shorter than a page was loaded with zeros behind it. */
static bool has_head(int fd, uint64_t sum)
{
	uint8_t head[HEAD_BYTES] = { 0 };

	return sum && pread(fd, head, sizeof(head), 0) > 0 &&
	       ring_head_sum(head, sizeof(head)) == sum;
}

/* ---- the interface of the VM ---- */

static bool is_api_name(const char *name)
{
	return !strncmp(name, "lua_", 4) || !strncmp(name, "luaL_", 5);
}

static bool add_function(struct unwind_file *f, size_t *cap, const GElf_Sym *sym)
{
	if (f->n_api == *cap) {
		size_t more = *cap ? *cap * 2 : 128;
		struct function *api = realloc(f->api, more * sizeof(*api));

		if (!api)
			return false;
		f->api = api;
		*cap = more;
	}
	f->api[f->n_api++] = (struct function){ sym->st_value, sym->st_value + sym->st_size };
	return true;
}

/* Adds the functions of one table of symbols; whether a VM is made in the file.
 * What only uses a VM may have functions of such names, too. */
static bool read_symbols(struct unwind_file *f, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh,
			 size_t *cap)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n = data && sh->sh_entsize ? data->d_size / sh->sh_entsize : 0, i;
	bool makes_vm = false;
	const char *name;
	GElf_Sym sym;

	for (i = 0; i < n && gelf_getsym(data, (int)i, &sym); i++) {
		if (GELF_ST_TYPE(sym.st_info) != STT_FUNC || sym.st_shndx == SHN_UNDEF)
			continue;
		name = elf_strptr(elf, sh->sh_link, sym.st_name);
		if (!name || !is_api_name(name))
			continue;
		makes_vm |= !strcmp(name, "lua_newstate");
		if (!add_function(f, cap, &sym))
			return false;
	}
	return makes_vm;
}

/* The tables may be large: they go with their own handle. */
static void find_api(struct unwind_file *f, int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	Elf_Scn *scn = NULL;
	bool makes_vm = false;
	size_t cap = 0;
	GElf_Shdr sh;

	while (elf && (scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) &&
		    (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM))
			makes_vm |= read_symbols(f, elf, scn, &sh, &cap);
	elf_end(elf);
	if (!makes_vm)
		f->n_api = 0;
}

/* ---- the file ---- */

/* All that is needed of FD: there may be many files, and few descriptors. */
static bool load(struct unwind_file *f, int fd, const struct unwind_want *want)
{
	f->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!f->elf ||
	    !(want->build_id_len ? has_build_id(f->elf, want) : has_head(fd, want->head_sum)))
		return false;
	f->cfi = dwarf_getcfi_elf(f->elf);
	elf_cntl(f->elf, ELF_C_FDDONE);
	find_api(f, fd);
	return true;
}

struct unwind_file *unwind_file__open(pid_t pid, const struct unwind_want *want)
{
	struct unwind_file *f = calloc(1, sizeof(*f));
	int fd = open_file(pid, want->path);

	elf_version(EV_CURRENT);
	if (f && (fd < 0 || !load(f, fd, want))) {
		unwind_file__delete(f);
		f = NULL;
	}
	if (fd >= 0)
		close(fd);
	return f;
}

void unwind_file__delete(struct unwind_file *f)
{
	if (!f)
		return;
	dwarf_cfi_end(f->cfi);
	elf_end(f->elf);
	free(f->api);
	free(f);
}

Dwarf_Frame *unwind_file__frame(struct unwind_file *f, uint64_t pc)
{
	Dwarf_Frame *frame;

	return f->cfi && dwarf_cfi_addrframe(f->cfi, pc, &frame) == 0 ? frame : NULL;
}

bool unwind_file__is_api(const struct unwind_file *f, uint64_t pc)
{
	size_t i;

	for (i = 0; i < f->n_api; i++)
		if (pc >= f->api[i].start && pc < f->api[i].end)
			return true;
	return false;
}
