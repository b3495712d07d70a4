/* fuzz_suppress.c - any bytes as a file of suppressions: it is taken or refused
 * with the line that is wrong, and what is taken is applied to a recording.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/session.h"
#include "report/aggregate.h"
#include "report/suppress.h"
#include "tests/fuzz/lib_checks.h"
#include "util/error.h"

enum { DEPTH = 40, FUNC = 0x1000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_function(struct session_writer *w, uint64_t n)
{
	static const char *const names[] = { "a", "aaa", "make", "[C]", "", "x < y", "leak:", "*" };
	struct ljm_symbol sym = {
		.source = LJM_SRC_LUA,
		.addr = FUNC + n,
		.name = "@aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.lua",
		.line = n,
		.has_detail = true,
		.func_name = names[n % (sizeof(names) / sizeof(names[0]))],
	};

	sym.name_len = strlen(sym.name);
	sym.func_name_len = strlen(sym.func_name);
	session_writer__symbol(w, &sym);
}

/* A stack of DEPTH functions, and an allocation at each depth of it. */
static void put_calls(struct session_writer *w)
{
	uint64_t i;

	for (i = 1; i <= DEPTH; i++) {
		struct ljm_loc loc = { LJM_SRC_LUA, FUNC + i, i };
		struct session_stack node = { .id = i, .parent = i - 1, .loc = loc };
		struct ljm_event ev = {
			.kind = LJM_ALLOC, .loc = loc, .new_addr = i * 64, .new_size = i, .stack = i
		};

		put_function(w, i);
		session_writer__stack(w, &node);
		session_writer__event(w, &ev);
	}
}

static struct aggregate *make_aggregate(void)
{
	static const struct session_header header = { .backend = "luajit" };
	static const struct session_writer_opts opts = { .level = 1, .stacks = true };
	static const struct session_footer end = { .duration_ns = 1 };
	int fd = memfd_create("recording", MFD_CLOEXEC);
	struct session_writer *w = session_writer__new(fd, &header, &opts);
	struct aggregate *a = aggregate__new();
	char path[64];

	if (!w || !a)
		abort();
	put_calls(w);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	a->split = SPLIT_STACK;
	if (session_writer__finish(w, &end) || aggregate__read(a, path, false))
		abort();
	aggregate__finish(a);
	session_writer__delete(w);
	close(fd);
	return a;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct aggregate *a;
	struct suppress *s;
	char path[64];
	bool *skip;
	int fd = memfd_create("rules", MFD_CLOEXEC);

	if (!a)
		a = make_aggregate();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	skip = calloc(a->n_stats, sizeof(*skip));
	if (fd < 0 || !skip || write(fd, data, size) != (ssize_t)size)
		abort();
	s = suppress__load(path);
	if (s && suppress__apply(s, a, skip))
		abort();
	if (!s && (!*err__msg() || !is_safe_text(err__msg(), strlen(err__msg()))))
		abort();
	suppress__delete(s);
	free(skip);
	close(fd);
	return 0;
}
