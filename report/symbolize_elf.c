/* symbolize_elf.c - names and lines of one ELF file; see symbolize_elf.h.
 *
 * The file is reported to libdwfl where it was linked, so that addresses need
 * no translation, and whatever the recorded machine did with it matters not.
 * Separate debug files are looked for here and not by libdwfl, whose way of
 * opening can wait for ever on a FIFO; only debuginfod is asked through it.
 */
#include "report/symbolize_elf.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/error.h"

/* Functions inside of each other, and what is around them; few have more than
 * ten. */
enum { SCOPES_MAX = 256 };

struct elf_symbols {
	Dwfl *dwfl;
	Dwfl_Module *mod;
	const struct symbol_files *files;
	char *path; /* in the recording, for debug links */
	char *opened; /* the file that is open */
	struct symbol_file supplement; /* has parts of the debug information */
	Dwarf *parts; /* of it */
	bool looked, has_dwarf;
};

/* ---- opening ---- */

static bool wants_debuginfod(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && *urls;
}

static void module_build_id(Dwfl_Module *mod, struct build_id *id)
{
	const unsigned char *bits;
	GElf_Addr at;
	int len = dwfl_module_build_id(mod, &bits, &at);

	id->len = 0;
	if (len > 0)
		build_id__set(id, bits, (size_t)len);
}

/* What a server has given for a build id: FD when it has that, else -1. */
static int take_right(int fd, const struct build_id *want)
{
	struct build_id id;

	if (fd < 0)
		return -1;
	build_id__read(fd, &id);
	if (build_id__equal(&id, want))
		return fd;
	close(fd);
	return -1;
}

/* Also called for the supplementary file, but with the build id of the module, so
 * that it is not found: see find_supplement(). */
static int find_debuginfo(Dwfl_Module *mod, void **ctx, const char *name, Dwarf_Addr base,
			  const char *file_name, const char *link, GElf_Word crc, char **found)
{
	const struct elf_symbols *es = *ctx;
	struct symbol_file file;
	struct build_id id;

	if (!es)
		return -1;
	module_build_id(mod, &id);
	if (!symbol_files__find_debug(es->files, file_name ? file_name : es->opened, es->path, &id,
				      link, crc, &file)) {
		*found = file.path;
		return file.fd;
	}
	/* Without names it looks for the build id only, and asks the servers. */
	if (id.len && wants_debuginfod())
		return take_right(dwfl_standard_find_debuginfo(mod, ctx, name, base, NULL, NULL, 0,
							       found),
				  &id);
	return -1;
}

static int find_elf(Dwfl_Module *mod, void **ctx, const char *name, Dwarf_Addr base, char **path,
		    Elf **elf)
{
	(void)mod, (void)ctx, (void)name, (void)base, (void)path, (void)elf;
	return -1; /* it is given when it is reported */
}

static char *no_path = NULL;
static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &no_path,
};

/* Asks the servers for a file that this machine does not have. */
static int find_remote(const struct build_id *id, struct symbol_file *out)
{
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *mod = NULL;
	char *path = NULL;
	Elf *elf = NULL;
	void *ctx = NULL;
	int fd = -1;

	if (dwfl) {
		dwfl_report_begin(dwfl);
		mod = dwfl_report_module(dwfl, "", 0x1000, 0x2000);
		dwfl_report_end(dwfl, NULL, NULL);
	}
	if (mod && !dwfl_module_report_build_id(mod, id->bytes, id->len, 0))
		fd = dwfl_build_id_find_elf(mod, &ctx, "", 0x1000, &path, &elf);
	elf_end(elf);
	fd = fd < 0 ? -1 : take_right(dup(fd), id);
	dwfl_end(dwfl);
	if (!path)
		path = strdup("");
	*out = (struct symbol_file){ fd, path };
	return fd < 0 || !path ? -ENOENT : 0;
}

static int elf_symbols__find_file(struct elf_symbols *es, size_t len, const struct build_id *want,
				  struct symbol_file *file)
{
	int err = symbol_files__find(es->files, es->path, len, want, file);

	if (err && want->len && wants_debuginfod() && !find_remote(want, file))
		err = 0;
	return err;
}

static int elf_symbols__open(struct elf_symbols *es, size_t len, const struct build_id *want)
{
	struct symbol_file file;
	void **ctx;
	int err = elf_symbols__find_file(es, len, want, &file);

	if (err)
		return err;
	es->opened = file.path;
	es->dwfl = dwfl_begin(&callbacks);
	if (es->dwfl) {
		dwfl_report_begin(es->dwfl);
		es->mod = dwfl_report_elf(es->dwfl, "module", file.path, file.fd, 0, true);
		dwfl_report_end(es->dwfl, NULL, NULL);
	}
	if (!es->mod) {
		close(file.fd);
		return err__set(-ENOEXEC, "it is damaged: %s", dwfl_errmsg(-1));
	}
	dwfl_module_info(es->mod, &ctx, NULL, NULL, NULL, NULL, NULL, NULL);
	*ctx = es;
	return 0;
}

struct elf_symbols *elf_symbols__new(const struct symbol_files *f, const char *path, size_t len,
				     const struct build_id *want)
{
	struct elf_symbols *es = calloc(1, sizeof(*es));

	if (es)
		es->path = strndup(path, len);
	if (!es || !es->path) {
		err__set(-ENOMEM, "out of memory for symbols");
	} else {
		es->files = f;
		if (!elf_symbols__open(es, len, want))
			return es;
	}
	elf_symbols__delete(es);
	return NULL;
}

void elf_symbols__delete(struct elf_symbols *es)
{
	if (!es)
		return;
	dwfl_end(es->dwfl);
	dwarf_end(es->parts);
	symbol_file__close(&es->supplement);
	free(es->path);
	free(es->opened);
	free(es);
}

/* What DWARF shares with other files, by the link to it.  Else libdw would open
 * what stands at the name that the module gives, whatever that is. */
static bool find_supplement(struct elf_symbols *es, Dwarf *dwarf)
{
	struct build_id id;
	const char *name;
	const void *bytes;
	ssize_t n = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &bytes);

	if (n <= 0)
		return true; /* none */
	/* Without an id any file of that name would do. */
	if (!build_id__set(&id, bytes, (size_t)n))
		return false;
	if (symbol_files__find_debug(es->files, es->opened, es->path, &id, name, 0,
				     &es->supplement))
		return false;
	es->parts = dwarf_begin(es->supplement.fd, DWARF_C_READ);
	if (es->parts)
		dwarf_setalt(dwarf, es->parts);
	return es->parts;
}

static bool has_dwarf(struct elf_symbols *es)
{
	Dwarf_Addr bias;
	Dwarf *dwarf;

	if (!es->looked) {
		dwarf = dwfl_module_getdwarf(es->mod, &bias);
		es->has_dwarf = dwarf && find_supplement(es, dwarf);
		es->looked = true;
	}
	return es->has_dwarf;
}

bool elf_symbols__has_lines(struct elf_symbols *es)
{
	return has_dwarf(es);
}

/* ---- addresses ---- */

/* The smallest symbol that holds ADDR.  One without a size, as assembly may
 * have, holds its first address only: beyond it may be anybody's code. */
static const char *symbol_at(struct elf_symbols *es, uint64_t addr)
{
	GElf_Off off;
	GElf_Sym sym;
	const char *name = dwfl_module_addrinfo(es->mod, addr, &off, &sym, NULL, NULL, NULL);

	if (!name || !*name || sym.st_shndx == SHN_UNDEF)
		return NULL;
	return off < sym.st_size || !off ? name : NULL;
}

static Dwarf_Attribute *attr_of(Dwarf_Die *die, unsigned name, Dwarf_Attribute *attr)
{
	return dwarf_attr_integrate(die, name, attr);
}

static const char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = dwarf_formstring(attr_of(die, DW_AT_MIPS_linkage_name, &attr));

	if (!name)
		name = dwarf_formstring(attr_of(die, DW_AT_linkage_name, &attr));
	return name ? name : dwarf_diename(die);
}

static bool is_function(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_entry_point;
}

/* The unit that has code at ADDR.  Not every compiler writes the index by
 * address, then the units are asked one by one. */
static Dwarf_Die *unit_at(struct elf_symbols *es, uint64_t addr, Dwarf_Addr *bias)
{
	Dwarf_Die *cu = dwfl_module_addrdie(es->mod, addr, bias);

	if (cu)
		return cu;
	while ((cu = dwfl_module_nextcu(es->mod, cu, bias)))
		if (dwarf_haspc(cu, addr - *bias) == 1)
			return cu;
	return NULL;
}

/* Whether functions may be inside of what has no code of its own. */
static bool is_container(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return true;
	default:
		return false;
	}
}

/* The functions that ADDR is in, of which the last is the innermost. */
struct scopes {
	uint64_t addr;
	Dwarf_Die at[SCOPES_MAX];
	int n;
};

/* Looks below DIE, by itself: dwarf_getscopes() does not find functions that are
 * inlined from another unit.  Whether there is code of ADDR. */
static bool find_scopes(Dwarf_Die *die, struct scopes *s, unsigned depth)
{
	bool has_code;
	Dwarf_Die child;
	int err;

	if (depth > SCOPES_MAX)
		return false;
	for (err = dwarf_child(die, &child); err == 0; err = dwarf_siblingof(&child, &child)) {
		has_code = dwarf_haspc(&child, s->addr) == 1;
		if (!has_code && !is_container(&child))
			continue;
		if (has_code && is_function(&child) && s->n < SCOPES_MAX)
			s->at[s->n++] = child;
		if (find_scopes(&child, s, depth + 1) || has_code)
			return true;
	}
	return false;
}

/* Where the inlined function DIE of the unit CU was called. */
static void call_site(Dwarf_Die *die, Dwarf_Die *cu, Dwarf_Files *files, struct elf_frame *to)
{
	Dwarf_Attribute attr;
	Dwarf_Word v;

	to->file = to->dir = NULL;
	to->line = 0;
	if (files && !dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attr), &v))
		to->file = dwarf_filesrc(files, v, NULL, NULL);
	if (to->file && to->file[0] != '/')
		to->dir = dwarf_formstring(dwarf_attr(cu, DW_AT_comp_dir, &attr));
	if (!dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attr), &v) && v <= INT32_MAX)
		to->line = (int)v;
}

struct frames {
	elf_frame_fn fn;
	void *ctx;
	struct elf_frame next; /* its place is known, its function not yet */
	const char *symbol; /* of the function that has the code, or NULL */
};

/* Tells of the functions of SCOPES.  *DONE: the one that has the code, too. */
static int frames__put(struct frames *f, Dwarf_Die *cu, struct scopes *scopes, bool *done)
{
	Dwarf_Files *files = NULL;
	Dwarf_Die *die;
	int i, err = 0;

	*done = false;
	if (dwarf_getsrcfiles(cu, &files, NULL))
		files = NULL;
	for (i = scopes->n; i-- > 0 && !err && !*done;) {
		die = &scopes->at[i];
		*done = dwarf_tag(die) != DW_TAG_inlined_subroutine;
		f->next.func = die_name(die);
		if (!f->next.func)
			f->next.func = *done && f->symbol ? f->symbol : "?";
		err = f->fn(f->ctx, &f->next);
		if (!*done)
			call_site(die, cu, files, &f->next);
	}
	return err;
}

/* The line of ADDR, as in the debug information, in the unit CU. */
static void line_at(Dwarf_Die *cu, uint64_t addr, struct elf_frame *to)
{
	Dwarf_Line *line = dwarf_getsrc_die(cu, addr);
	Dwarf_Attribute attr;

	if (!line)
		return;
	to->file = dwarf_linesrc(line, NULL, NULL);
	dwarf_lineno(line, &to->line);
	if (to->file && to->file[0] != '/')
		to->dir = dwarf_formstring(dwarf_attr(cu, DW_AT_comp_dir, &attr));
}

int elf_symbols__find(struct elf_symbols *es, uint64_t addr, elf_frame_fn fn, void *ctx)
{
	struct frames f = { .fn = fn, .ctx = ctx, .symbol = symbol_at(es, addr) };
	struct scopes scopes;
	Dwarf_Die *cu;
	Dwarf_Addr bias = 0;
	bool done = false;
	int err = 0;

	cu = has_dwarf(es) ? unit_at(es, addr, &bias) : NULL;
	if (cu) {
		line_at(cu, addr - bias, &f.next);
		scopes.addr = addr - bias;
		scopes.n = 0;
		find_scopes(cu, &scopes, 0);
		err = frames__put(&f, cu, &scopes, &done);
	}
	if (err || done || !f.symbol)
		return err;
	f.next.func = f.symbol;
	return fn(ctx, &f.next);
}
