/* unwind_file.c - see unwind_file.h. */
#include "record/unwind_file.h"

#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/ring.h"
#include "util/elf_limits.h"
#include "util/regular.h"

#define HEAD_BYTES 4096

/* Larger parts are not read: a file with holes costs its writer nothing. */
#define SECTION_MAX (UINT64_C(64) << 20)
#define NOTES_MAX 65536

struct function {
	uint64_t start, end;
};

struct unwind_file {
	uint8_t *bytes; /* what the tables refer to */
	struct eh_frame *tables; /* NULL: it has none */
	struct function *api; /* none, unless it is a VM */
	size_t n_api;
};

/* ---- opening ---- */

/* Never a device or a FIFO. */
static int open_file(pid_t pid, const char *path)
{
	char theirs[PATH_MAX + 64];
	int fd = -1;

	if (path[0] != '/')
		return -1;
	if (snprintf(theirs, sizeof(theirs), "/proc/%d/root%s", (int)pid, path) <
	    (int)sizeof(theirs))
		fd = regular__open(theirs);
	return fd >= 0 ? fd : regular__open(path);
}

static bool is_loadable(int fd)
{
	Elf64_Ehdr eh;

	return elf_limits__file(fd) && pread(fd, &eh, sizeof(eh), 0) == (ssize_t)sizeof(eh) &&
	       eh.e_ident[EI_CLASS] == ELFCLASS64 && eh.e_ident[EI_DATA] == ELFDATA2LSB &&
	       eh.e_machine == EM_X86_64;
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
		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_NOTE ||
		    ph.p_filesz > NOTES_MAX)
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

static bool is_modest(Elf_Scn *scn)
{
	GElf_Shdr sh;

	return gelf_getshdr(scn, &sh) && sh.sh_size <= SECTION_MAX;
}

/* Adds the functions of one table of symbols; whether a VM is made in the file.
 * What only uses a VM may have functions of such names, too. */
static bool read_symbols(struct unwind_file *f, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh,
			 size_t *cap)
{
	Elf_Data *data = is_modest(elf_getscn(elf, sh->sh_link)) ? elf_getdata(scn, NULL) : NULL;
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

static void find_api(struct unwind_file *f, Elf *elf)
{
	Elf_Scn *scn = NULL;
	bool makes_vm = false;
	size_t cap = 0;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) && is_modest(scn) &&
		    (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM))
			makes_vm |= read_symbols(f, elf, scn, &sh, &cap);
	if (!makes_vm)
		f->n_api = 0;
}

/* ---- the tables ---- */

/* The section, read to its end. */
static bool read_section(struct unwind_file *f, int fd, const GElf_Shdr *sh)
{
	f->bytes = malloc(sh->sh_size);
	if (!f->bytes ||
	    pread(fd, f->bytes, sh->sh_size, (off_t)sh->sh_offset) != (ssize_t)sh->sh_size)
		return false;
	f->tables = eh_frame__new(f->bytes, sh->sh_size, sh->sh_addr);
	return f->tables;
}

static void find_tables(struct unwind_file *f, Elf *elf, int fd)
{
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr sh;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0 || !is_modest(elf_getscn(elf, names)))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS || !sh.sh_size ||
		    sh.sh_size > SECTION_MAX)
			continue;
		name = elf_strptr(elf, names, sh.sh_name);
		if (name && !strcmp(name, ".eh_frame")) {
			read_section(f, fd, &sh);
			return;
		}
	}
}

/* ---- the file ---- */

/* All that is needed of FD: there may be many files, and few descriptors. */
static bool load(struct unwind_file *f, int fd, const struct unwind_want *want)
{
	Elf *elf = is_loadable(fd) ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	bool ok = elf &&
		  (want->build_id_len ? has_build_id(elf, want) : has_head(fd, want->head_sum));

	if (ok) {
		find_tables(f, elf, fd);
		find_api(f, elf);
	}
	elf_end(elf);
	return ok;
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
	eh_frame__delete(f->tables);
	free(f->bytes);
	free(f->api);
	free(f);
}

struct eh_rule unwind_file__rule(const struct unwind_file *f, uint64_t pc)
{
	return f->tables ? eh_frame__rule(f->tables, pc) : (struct eh_rule){ 0 };
}

bool unwind_file__is_api(const struct unwind_file *f, uint64_t pc)
{
	size_t i;

	for (i = 0; i < f->n_api; i++)
		if (pc >= f->api[i].start && pc < f->api[i].end)
			return true;
	return false;
}
