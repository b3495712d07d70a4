/* fuzz_native.c - fuzz target of native call stacks in the collector: registers
 * and pieces of stack that a program makes up, nodes in any order, modules that
 * come and go.  What comes out is a tree: each node has its own number, the one
 * after the last, and hangs on an earlier one.
 *
 * The input: { what to do (1 byte), argument (4 bytes), length (1 byte), that
 * many bytes }*.  Code addresses are those of this program and its libraries, so
 * that there are rules to walk by; the words of a piece of stack are either data
 * or, when their first byte is odd, code addresses, too.
 */
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/session.h"
#include "record/nodes.h"

#define STACK_BASE UINT64_C(0x7ffc00000000)

enum { MODULES_MAX = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct session_module modules[MODULES_MAX];
static char paths[MODULES_MAX][4096];
static size_t n_modules;

struct step {
	uint8_t what;
	uint32_t arg;
	const uint8_t *bytes;
	size_t len;
};

static void find_build_id(const struct dl_phdr_info *info, struct session_module *m)
{
	unsigned i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		const char *at = (const char *)(info->dlpi_addr + ph->p_vaddr);
		const char *end = at + ph->p_memsz;
		ElfW(Nhdr) note;

		for (; ph->p_type == PT_NOTE && at + sizeof(note) < end;
		     at +=
		     sizeof(note) + ((note.n_namesz + 3) & ~3u) + ((note.n_descsz + 3) & ~3u)) {
			memcpy(&note, at, sizeof(note));
			if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4)
				continue;
			m->build_id = at + sizeof(note) + 4;
			m->build_id_len = note.n_descsz;
		}
	}
}

/* Each file's code; the program has no name here. */
static int add_module(struct dl_phdr_info *info, size_t size, void *data)
{
	struct session_module *m = &modules[n_modules];
	unsigned i;

	(void)size, (void)data;
	for (i = 0; i < info->dlpi_phnum && n_modules < MODULES_MAX; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		if (info->dlpi_name[0] == '/')
			strncpy(paths[n_modules], info->dlpi_name, sizeof(paths[0]) - 1);
		else if (readlink("/proc/self/exe", paths[n_modules], sizeof(paths[0]) - 1) < 0)
			return 0;
		*m = (struct session_module){ .start = info->dlpi_addr + ph->p_vaddr,
					      .offset = ph->p_offset,
					      .bias = info->dlpi_addr,
					      .path = paths[n_modules],
					      .path_len = strlen(paths[n_modules]) };
		m->end = m->start + ph->p_memsz;
		find_build_id(info, m);
		n_modules++;
		return 0;
	}
	return 0;
}

static uint64_t code_address(uint32_t arg)
{
	const struct session_module *m = &modules[arg % n_modules];

	return m->start + arg / n_modules % (m->end - m->start);
}

static void fill_stack(const struct step *s, char *to)
{
	size_t i;
	uint64_t w;
	uint32_t code;

	for (i = 0; i + 8 <= s->len; i += 8) {
		memcpy(&w, s->bytes + i, 8);
		memcpy(&code, s->bytes + i + 1, 4);
		if (s->bytes[i] & 1)
			w = code_address(code);
		else if (s->bytes[i] & 2)
			w = STACK_BASE + code % 256;
		memcpy(to + i, &w, 8);
	}
}

static int do_native(struct nodes *ns, const struct step *s, uint64_t last)
{
	char stack[256];
	struct native_sample sample = { .pc = code_address(s->arg),
					.sp = STACK_BASE,
					.bp = STACK_BASE + s->arg % 256,
					.bound = s->arg & 1 ? STACK_BASE + s->arg / 2 % 512 : 0,
					.stack = stack,
					.len = s->len & ~(size_t)7 };
	uint64_t node = last ? s->arg % (last + 1) : 0;
	bool ask;
	int err;

	fill_stack(s, stack);
	err = nodes__native(ns, node, s->arg, &sample, &ask);
	return err ? err : (int)(nodes__of_event(ns, node, s->arg) == UINT64_MAX);
}

static int do_module(struct nodes *ns, const struct step *s)
{
	struct session_module m = modules[s->arg % n_modules];
	bool known;

	if (s->len > 2) { /* a file of the program's choice, somewhere */
		m.path = (const char *)s->bytes;
		m.path_len = s->len;
		m.start += (uint64_t)s->bytes[0] << 8;
		m.end += (uint64_t)s->bytes[1] << 8;
	}
	return m.end > m.start ? nodes__module(ns, &m, s->len & 1 ? s->arg : 0, &known) : 0;
}

static int do_step(struct nodes *ns, const struct step *s, uint64_t *last)
{
	struct session_stack node = { .loc = { .source = LJM_SRC_LUA, .addr = s->arg, .num = 1 } };

	switch (s->what % 7) {
	case 0:
		node.id = ++*last;
		node.parent = s->arg % node.id;
		return nodes__stack(ns, &node);
	case 1:
		return nodes__forget(ns, s->arg & 1 ? *last : s->arg);
	case 2:
		return do_module(ns, s);
	case 3:
		nodes__lost(ns);
		return 0;
	case 4:
		nodes__unloads(ns);
		return 0;
	default:
		return do_native(ns, s, *last);
	}
}

static int run(struct nodes *ns, const uint8_t *data, size_t size)
{
	uint64_t last = 0;
	struct step s;
	size_t i;
	bool known;
	int err = 0;

	for (i = 0; i < n_modules && !err; i++)
		err = nodes__module(ns, &modules[i], 0, &known);
	while (!err && size >= 6) {
		s.what = data[0];
		memcpy(&s.arg, data + 1, 4);
		s.len = data[5] < size - 6 ? data[5] : size - 6;
		s.bytes = data + 6;
		data += 6 + s.len;
		size -= 6 + s.len;
		err = do_step(ns, &s, &last);
	}
	return err;
}

static int on_stack(void *ctx, const struct session_stack *node)
{
	uint64_t *last = ctx;

	if (node->id != *last + 1 || node->parent > *last)
		abort();
	*last = node->id;
	return 0;
}

static void check_file(int fd)
{
	static const struct session_handlers handlers = { .stack = on_stack };
	off_t len = lseek(fd, 0, SEEK_END);
	void *p = mmap(NULL, (size_t)len, PROT_READ, MAP_SHARED, fd, 0);
	struct session_reader *r;
	uint64_t last = 0;

	if (p == MAP_FAILED)
		abort();
	r = session_reader__new_mem(p, (size_t)len, "fuzz");
	if (!r || session_reader__run(r, &handlers, &last) != 0)
		abort();
	session_reader__delete(r);
	munmap(p, (size_t)len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct session_writer_opts opts = { .stacks = true, .level = 1 };
	struct session_header header = { .backend = "luajit" };
	struct session_footer end = { .end_kind = SESSION_END_UNKNOWN };
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct session_writer *w = session_writer__new(fd, &header, &opts);
	struct nodes *ns = w ? nodes__new(getpid(), w) : NULL;

	if (!n_modules)
		dl_iterate_phdr(add_module, NULL);
	if (!ns || !n_modules)
		abort();
	run(ns, data, size);
	nodes__delete(ns);
	if (session_writer__finish(w, &end) == 0)
		check_file(fd);
	session_writer__delete(w);
	close(fd);
	return 0;
}
