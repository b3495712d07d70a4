/* modules.c - tells the stream which file a C function lies in, when the
 * first function of that mapping comes up.
 *
 * Works from inside the hook: plain system calls on a small buffer.  dladdr()
 * would do, but takes the loader's lock, which the target may hold.
 */
#include "backends/luajit/vm.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct mapping {
	uint64_t start, end, offset;
	uint64_t base; /* lowest address of the same file before it */
	char path[4096];
	size_t path_len;
};

struct line_reader {
	int fd;
	char buf[2048];
	size_t at, len;
};

static int next_byte(struct line_reader *r)
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
static uint64_t next_hex(struct line_reader *r, int *stop)
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

static int skip_field(struct line_reader *r)
{
	int c;

	do {
		c = next_byte(r);
	} while (c >= 0 && c != ' ' && c != '\n');
	return c;
}

/* One line of /proc/self/maps: start-end perms offset dev inode path. */
static bool next_mapping(struct line_reader *r, struct mapping *m)
{
	int c;

	m->start = next_hex(r, &c);
	if (c != '-')
		return false;
	m->end = next_hex(r, &c);
	skip_field(r); /* permissions */
	m->offset = next_hex(r, &c);
	skip_field(r); /* device */
	c = skip_field(r); /* inode */
	while (c == ' ')
		c = next_byte(r);
	for (m->path_len = 0; c >= 0 && c != '\n'; c = next_byte(r))
		if (m->path_len < sizeof(m->path))
			m->path[m->path_len++] = (char)c;
	return c == '\n';
}

/* The mapping that holds ADDR; its base is where the same file's first
 * mapping before it starts. */
static bool find_mapping(uint64_t addr, struct mapping *m)
{
	struct line_reader r = { .fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC) };
	uint64_t base = 0, path_hash = 0;
	bool found = false;

	if (r.fd < 0)
		return false;
	while (!found && next_mapping(&r, m)) {
		uint64_t hash = m->path_len;
		size_t i;

		for (i = 0; i < m->path_len; i++)
			hash = hash * 31 + (unsigned char)m->path[i];
		if (m->path_len == 0)
			continue; /* zero-filled data between two of a file's mappings */
		if (hash != path_hash || m->offset == 0) {
			path_hash = hash;
			base = m->start - m->offset;
		}
		found = addr >= m->start && addr < m->end;
	}
	m->base = base;
	close(r.fd);
	return found;
}

static bool told(const struct agent_vm *vm, uint64_t addr)
{
	unsigned i;

	for (i = 0; i < vm->n_modules && i < MAX_MODULES; i++)
		if (addr >= vm->modules[i].start && addr < vm->modules[i].end)
			return true;
	return false;
}

/* When the table is full the oldest is told once more if it comes up again. */
static void remember(struct agent_vm *vm, const struct mapping *m)
{
	struct module_range *range = &vm->modules[vm->n_modules++ % MAX_MODULES];

	range->start = m->start;
	range->end = m->end;
}

static bool put_module(struct agent_vm *vm, const struct mapping *m)
{
	uint64_t words[6] = { m->start, m->end, m->offset, m->base, m->path_len, 0 };

	return producer__ctl(&vm->out, CTL_MODULE, words, 6) &&
	       producer__string(&vm->out, m->path, m->path_len);
}

bool describe_cfunc(struct agent_vm *vm, const uint8_t *addr)
{
	uint64_t at = (uint64_t)(uintptr_t)addr;
	struct mapping m;
	int saved = errno;
	bool ok = true;

	if (!told(vm, at)) {
		if (!find_mapping(at, &m)) {
			m.start = at;
			m.end = at + 1;
		} else {
			ok = put_module(vm, &m);
		}
		if (ok)
			remember(vm, &m);
	}
	vm->last_cfunc = addr;
	errno = saved;
	return ok;
}
