/* nomem.c - lets one allocation of ljperf fail: preloaded into the commands that
 * read, by tests/cli/trust_memory.py.
 *
 *   NOMEM_LIST  a file to which the place of each allocation is added, 8 bytes
 *   NOMEM_FAIL  a place; the first allocation there fails
 *   NOMEM_WHERE a file to which the addresses of this one are written, as text
 *
 * A place is a number made of the addresses in ljperf that the allocation will
 * return to, DEPTH of them.  Allocations that a library makes for itself have
 * none; those that libc makes for ljperf (strdup(), asprintf(), fopen()) have.
 */
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH = 6, FRAMES = 24 };

static struct {
	bool ready, failed;
	int list, where; /* or -1 */
	uint64_t fail; /* or 0 */
} nomem = { .list = -1, .where = -1 };

/* From the program's headers: a range of addresses. */
struct range {
	uintptr_t start, end;
};
static struct range program, libc, own;

static struct range range_of(const struct dl_phdr_info *info)
{
	struct range r = { UINTPTR_MAX, 0 };

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + ph->p_vaddr, end = start + ph->p_memsz;

		if (ph->p_type != PT_LOAD)
			continue;
		r.start = start < r.start ? start : r.start;
		r.end = end > r.end ? end : r.end;
	}
	return r;
}

static int find_ranges(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	(void)ctx;
	if (!info->dlpi_name[0])
		program = range_of(info);
	else if (strstr(info->dlpi_name, "/libc.so"))
		libc = range_of(info);
	else if (strstr(info->dlpi_name, "/nomem.so"))
		own = range_of(info);
	return 0;
}

static bool within(const struct range *r, const void *at)
{
	return (uintptr_t)at >= r->start && (uintptr_t)at < r->end;
}

__attribute__((constructor)) static void start(void)
{
	const char *list = getenv("NOMEM_LIST"), *fail = getenv("NOMEM_FAIL");
	const char *where = getenv("NOMEM_WHERE");
	void *warm[2];

	dl_iterate_phdr(find_ranges, NULL);
	backtrace(warm, 2); /* loads what it needs, with memory of its own */
	if (list)
		nomem.list = open(list, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (where)
		nomem.where = open(where, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fail)
		nomem.fail = strtoull(fail, NULL, 16);
	nomem.ready = true;
}

/* The frames in ljperf itself that an allocation returns to, none when it is a
 * library that asks; at most DEPTH of them, as offsets. */
static int callers(uintptr_t at[DEPTH])
{
	void *frames[FRAMES];
	int n = backtrace(frames, FRAMES), found = 0, i = 0;

	while (i < n && within(&own, frames[i]))
		i++;
	while (i < n && within(&libc, frames[i]))
		i++;
	for (; i < n && found < DEPTH && within(&program, frames[i]); i++)
		at[found++] = (uintptr_t)frames[i] - program.start;
	return found;
}

static void tell(const uintptr_t *at, int n)
{
	for (int i = 0; i < n && nomem.where >= 0; i++)
		dprintf(nomem.where, "0x%lx\n", (unsigned long)at[i] - 1);
}

/* What runs after main() is not ours, such as the end of --coverage. */
static void stop(void)
{
	nomem.ready = false;
}

static bool fails(void)
{
	static __thread bool inside;
	static bool stops;
	uint64_t h = 14695981039346656037u; /* FNV */
	uintptr_t at[DEPTH];
	bool failed = false;
	int n;

	if (!nomem.ready || inside)
		return false;
	inside = true;
	if (!stops)
		stops = atexit(stop) == 0;
	n = callers(at);
	for (int i = 0; i < n; i++)
		h = (h ^ at[i]) * 1099511628211u;
	if (n && nomem.list >= 0 && write(nomem.list, &h, sizeof(h)) != sizeof(h))
		_exit(99);
	if (n && h == nomem.fail && !nomem.failed) {
		nomem.failed = failed = true;
		tell(at, n);
	}
	inside = false;
	if (failed)
		errno = ENOMEM;
	return failed;
}

/* dlsym() itself may ask for memory: from libc's own functions then. */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
	return fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return fails() ? NULL : __libc_realloc(p, n);
}
