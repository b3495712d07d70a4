/* modules.c - tells the stream which file a C function lies in, and what Lua
 * code calls it, when it first comes up.
 *
 * Works from inside the hook: plain system calls on a small buffer.  dladdr()
 * would do, but takes the loader's lock, which the target may hold.
 */
#include "backends/luajit/native.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

/* ---- /proc/self/maps ---- */

static int next_byte(struct maps_reader *r)
{
	if (r->at == r->len) {
		ssize_t n = read(r->fd, r->buf, sizeof(r->buf));

		if (n <= 0)
			return -1;
		r->at = 0;
		r->len = (size_t)n;
	}
	return (unsigned char)r->buf[r->at++];
}

/* Reads a hexadecimal number and the byte after it. */
static uint64_t next_hex(struct maps_reader *r, int *stop)
{
	uint64_t v = 0;
	int c;

	for (;;) {
		c = next_byte(r);
		if (c >= '0' && c <= '9')
			v = v << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (uint64_t)(c - 'a' + 10);
		else
			break;
	}
	*stop = c;
	return v;
}

static int skip_field(struct maps_reader *r)
{
	int c;

	do {
		c = next_byte(r);
	} while (c >= 0 && c != ' ' && c != '\n');
	return c;
}

/* A file's mappings follow each other, but for zero-filled data: its head is
 * the last one before with offset 0. */
static void find_head(struct maps_reader *r)
{
	uint64_t hash = r->path_len;
	size_t i;

	for (i = 0; i < r->path_len; i++)
		hash = hash * 31 + (unsigned char)r->path[i];
	if (r->offset == 0 && r->path_len && r->readable) {
		r->head_start = r->start;
		r->head_path = hash;
	}
	r->head = r->head_start && hash == r->head_path ? r->head_start : 0;
}

/* One line: start-end perms offset dev inode path. */
static bool next_mapping(struct maps_reader *r)
{
	int c;

	r->start = next_hex(r, &c);
	if (c != '-')
		return false;
	r->end = next_hex(r, &c);
	r->readable = next_byte(r) == 'r';
	next_byte(r);
	r->executable = next_byte(r) == 'x';
	skip_field(r); /* shared or private */
	r->offset = next_hex(r, &c);
	skip_field(r); /* device */
	c = skip_field(r); /* inode */
	while (c == ' ')
		c = next_byte(r);
	for (r->path_len = 0; c >= 0 && c != '\n'; c = next_byte(r))
		if (r->path_len < sizeof(r->path))
			r->path[r->path_len++] = (char)c;
	find_head(r);
	return c == '\n';
}

static bool open_maps(struct maps_reader *r)
{
	r->fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	r->at = r->len = 0;
	r->head_start = r->head_path = 0;
	return r->fd >= 0;
}

/* Leaves the mapping of ADDR in R. */
static bool find_mapping(struct maps_reader *r, uint64_t addr)
{
	bool found = false;

	if (!open_maps(r))
		return false;
	while (!found && next_mapping(r))
		found = addr >= r->start && addr < r->end;
	close(r->fd);
	return found;
}

bool modules__mapping(struct agent_vm *vm, uint64_t addr, struct module_range *range)
{
	if (!find_mapping(&vm->maps, addr))
		return false;
	*range = (struct module_range){ vm->maps.start, vm->maps.end };
	return true;
}

/* ---- what the ELF file's head says ---- */

struct elf_facts {
	uint64_t bias;
	const uint8_t *build_id; /* in the head */
	size_t build_id_len;
};

static void find_note(const uint8_t *at, uint64_t len, struct elf_facts *facts)
{
	ElfW(Nhdr) n;

	while (len >= sizeof(n)) {
		uint64_t name, desc;

		memcpy(&n, at, sizeof(n));
		name = ((uint64_t)n.n_namesz + 3) & ~UINT64_C(3);
		desc = ((uint64_t)n.n_descsz + 3) & ~UINT64_C(3);
		if (name > len - sizeof(n) || desc > len - sizeof(n) - name)
			return;
		if (n.n_type == NT_GNU_BUILD_ID && name == 4 &&
		    memcmp(at + sizeof(n), "GNU", 4) == 0 && n.n_descsz <= MAX_BUILD_ID) {
			facts->build_id = at + sizeof(n) + name;
			facts->build_id_len = n.n_descsz;
			return;
		}
		at += sizeof(n) + name + desc;
		len -= sizeof(n) + name + desc;
	}
}

/* HEAD is the first page of a loaded file: its headers lie there, because the
 * dynamic loader needs them too.  Everything is checked against that page. */
static bool read_elf(const uint8_t *head, uint64_t head_at, struct elf_facts *facts)
{
	ElfW(Ehdr) eh;
	ElfW(Phdr) ph;
	unsigned i;
	bool biased = false;

	memcpy(&eh, head, sizeof(eh));
	if (memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_phentsize != sizeof(ph) || eh.e_phoff > 4096 ||
	    eh.e_phnum > (4096 - eh.e_phoff) / sizeof(ph))
		return false;
	for (i = 0; i < eh.e_phnum; i++) {
		memcpy(&ph, head + eh.e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_LOAD && !biased) {
			facts->bias = head_at - (ph.p_vaddr - ph.p_offset);
			biased = true;
		}
	}
	for (i = 0; biased && i < eh.e_phnum; i++) {
		memcpy(&ph, head + eh.e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_NOTE && ph.p_offset <= 4096 &&
		    ph.p_filesz <= 4096 - ph.p_offset && !facts->build_id)
			find_note(head + ph.p_offset, ph.p_filesz, facts);
	}
	return biased;
}

/* ---- the stream ---- */

/* The file's first page: while one of its functions runs it cannot go away, but
 * others may be unmapped at any time. */
static bool read_head(struct agent_vm *vm, bool runs)
{
	const void *head = (const void *)(uintptr_t)vm->maps.head;

	if (!head)
		return false;
	if (!runs)
		return lj_read(vm->module_head, head, sizeof(vm->module_head));
	memcpy(vm->module_head, head, sizeof(vm->module_head));
	return true;
}

/* The collector is to be told that files may have gone, before others come. */
static bool tell_unloads(struct agent_vm *vm)
{
	if (!vm->native || !vm->native->unloads_untold)
		return true;
	vm->native->unloads_untold = !producer__ctl(&vm->out, CTL_UNLOADS, NULL, 0);
	return !vm->native->unloads_untold;
}

/* The mapping in work. */
static bool put_module(struct agent_vm *vm, bool runs)
{
	const struct maps_reader *m = &vm->maps;
	struct elf_facts facts = { .bias = m->start - m->offset };
	bool has_head = read_head(vm, runs);
	uint64_t words[7];

	if (has_head)
		read_elf(vm->module_head, m->head, &facts);
	words[0] = m->start;
	words[1] = m->end;
	words[2] = m->offset;
	words[3] = facts.bias;
	words[4] = m->path_len;
	words[5] = facts.build_id_len;
	words[6] = has_head && !facts.build_id_len
			   ? ring_head_sum(vm->module_head, sizeof(vm->module_head))
			   : 0;
	return tell_unloads(vm) && producer__ctl(&vm->out, CTL_MODULE, words, 7) &&
	       producer__string(&vm->out, m->path, m->path_len) &&
	       producer__string(&vm->out, (const char *)facts.build_id, facts.build_id_len);
}

static bool is_told(const struct agent_vm *vm, uint64_t addr)
{
	unsigned i;

	for (i = 0; i < vm->n_modules && i < MAX_MODULES; i++)
		if (addr >= vm->modules[i].start && addr < vm->modules[i].end)
			return true;
	return false;
}

/* When the table is full the oldest is told once more if it comes up again. */
static void remember(struct agent_vm *vm, uint64_t start, uint64_t end)
{
	vm->modules[vm->n_modules++ % MAX_MODULES] = (struct module_range){ start, end };
}

/* Of a C function that runs. */
static bool tell_module(struct agent_vm *vm, uint64_t addr)
{
	if (is_told(vm, addr))
		return true;
	if (!find_mapping(&vm->maps, addr)) {
		remember(vm, addr, addr + 1); /* in no file: not looked for again */
		return true;
	}
	if (!put_module(vm, true))
		return false;
	remember(vm, vm->maps.start, vm->maps.end);
	if (vm->native)
		vm->native->modules_told = false; /* others came with it */
	return true;
}

bool modules__tell_all(struct agent_vm *vm)
{
	struct maps_reader *m = &vm->maps;
	bool ok = true;

	if (!open_maps(m))
		return true; /* frames in what is not known are left out */
	while (ok && next_mapping(m)) {
		if (!m->executable || !m->path_len || m->path[0] != '/' || is_told(vm, m->start))
			continue;
		ok = put_module(vm, false);
		if (ok)
			remember(vm, m->start, m->end);
	}
	close(m->fd);
	return ok;
}

static bool tell_name(struct agent_vm *vm, const uint8_t *addr, uint32_t ffid)
{
	char found[LJ_NAME_MAX];
	const char *name = lj_builtins__name(vm->builtins, ffid, addr);
	uint64_t words[2] = { (uint64_t)(uintptr_t)addr };

	if (!name && vm->registry && lj_name__find(&vm->lay, vm->registry, addr, found))
		name = found;
	if (!name)
		return true;
	words[1] = strlen(name);
	return producer__ctl(&vm->out, CTL_CFUNC, words, 2) &&
	       producer__string(&vm->out, name, words[1]);
}

/* After a dlclose() another file may lie at any address. */
void modules__forget(struct agent_vm *vm)
{
	vm->unloads_seen = atomic_load_explicit(&agent_unloads, memory_order_relaxed);
	vm->n_modules = 0;
	if (vm->native) {
		vm->native->modules_told = false;
		vm->native->unloads_untold = true;
	}
	vm->last_cfunc = NULL;
	if (vm->stacks)
		stacks__empty(vm->stacks);
	memset(vm->cfuncs, 0, sizeof(vm->cfuncs));
}

/* Where the number of the function told last at this address is remembered:
 * one of few slots, so that what is pushed out is told again.  Built-ins may
 * share an address (string.lower and string.upper do); the name told last is
 * the one that the stream believes. */
static uint64_t *cfunc_slot(struct agent_vm *vm, const uint8_t *addr)
{
	return &vm->cfuncs[(uint64_t)(uintptr_t)addr * UINT64_C(0x9E3779B97F4A7C15) >>
			   (64 - CFUNC_BITS)];
}

bool describe_cfunc(struct agent_vm *vm, const uint8_t *addr, uint32_t ffid)
{
	uint64_t key = (uint64_t)(uintptr_t)addr | (uint64_t)ffid << 48, *slot;
	int saved = errno;
	bool ok = true;

	modules__forget_unloaded(vm);
	if (addr == vm->last_cfunc && ffid == vm->last_ffid)
		return true;
	slot = cfunc_slot(vm, addr);
	if (*slot != key) {
		ok = tell_module(vm, (uint64_t)(uintptr_t)addr) && tell_name(vm, addr, ffid);
		*slot = ok ? key : 0;
	}
	vm->last_cfunc = ok ? addr : NULL;
	vm->last_ffid = ffid;
	errno = saved;
	return ok;
}
