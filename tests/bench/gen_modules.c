/* gen_modules.c - writes a session file of many events of C functions, for
 * bench_symbols.sh, which compiles it.
 *
 *	gen_modules EVENTS MODULE... <OFFSETS >FILE
 *
 * Standard input has the offsets of the functions in each module.  Each module
 * lies at its own place, without a name for its functions in Lua.  The first
 * ones are called most, as in real programs.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/session.h"
#include "report/symbolize_files.h"
#include "util/error.h"

enum { OFFSETS_MAX = 64, LIVE = 1 << 16 };

static uint64_t offsets[OFFSETS_MAX];
static size_t n_offsets;
static uint64_t seed = 1;

static uint64_t next_random(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed >> 33;
}

static void check(int err)
{
	if (!err)
		return;
	fprintf(stderr, "gen_modules: %s\n", err__msg());
	exit(EXIT_FAILURE);
}

static uint64_t base_of(size_t module)
{
	return UINT64_C(0x7f0000000000) + module * 0x1000000;
}

static void put_module(struct session_writer *w, const char *path, size_t number)
{
	struct session_module m = { .start = base_of(number),
				    .end = base_of(number) + 0x1000000,
				    .bias = base_of(number),
				    .path = path,
				    .path_len = strlen(path) };
	struct build_id id;
	FILE *f = fopen(path, "r");

	if (!f) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	build_id__read(fileno(f), &id);
	fclose(f);
	m.build_id = (const char *)id.bytes;
	m.build_id_len = id.len;
	check(session_writer__module(w, &m));
}

/* Of N things the smaller numbers more often. */
static size_t pick(size_t n)
{
	uint64_t a = next_random() % n, b = next_random() % n, c = next_random() % n;

	a = a < b ? a : b;
	return (size_t)(a < c ? a : c);
}

static void put_events(struct session_writer *w, uint64_t n, size_t n_modules)
{
	static uint64_t sizes[LIVE]; /* 0: not alive */
	uint64_t i;

	for (i = 0; i < n; i++) {
		uint64_t slot = next_random() % LIVE, addr = 0x100000 + slot * 256;
		struct ljm_event ev = { .kind = sizes[slot] ? LJM_FREE : LJM_ALLOC,
					.loc = { .source = LJM_SRC_C } };

		ev.loc.addr = base_of(pick(n_modules)) + offsets[pick(n_offsets)];
		if (sizes[slot]) {
			ev.old_addr = addr;
			ev.old_size = sizes[slot];
			sizes[slot] = 0;
		} else {
			ev.new_addr = addr;
			ev.new_size = sizes[slot] = 16 + next_random() % 200;
		}
		check(session_writer__event(w, &ev));
	}
}

int main(int argc, char **argv)
{
	struct session_header h = { .vm_version = "LuaJIT 2.1.0-beta3" };
	struct session_footer end = { .end_kind = SESSION_END_EXIT };
	struct session_writer *w;
	unsigned long long offset;
	int i;

	if (argc < 3)
		return EXIT_FAILURE;
	while (n_offsets < OFFSETS_MAX && scanf("%llx", &offset) == 1)
		offsets[n_offsets++] = offset;
	w = session_writer__new(STDOUT_FILENO, &h, NULL);
	if (!w || !n_offsets)
		return EXIT_FAILURE;
	for (i = 2; i < argc; i++)
		put_module(w, argv[i], (size_t)i - 2);
	put_events(w, strtoull(argv[1], NULL, 10), (size_t)argc - 2);
	check(session_writer__finish(w, &end));
	session_writer__delete(w);
	return EXIT_SUCCESS;
}
