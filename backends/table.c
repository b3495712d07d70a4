/* table.c - the backends, for the commands that list and choose them. */
#include "backends/backend.h"

#include <string.h>

const struct backend backends[] = {
	{ "luajit", "allocator of an unpatched LuaJIT 2.1, found by probing", EVENT_ALLOC, false },
	{ "memprof", "the profiler that Tarantool's LuaJIT has, misc.memprof", EVENT_ALLOC, true },
};

const size_t n_backends = sizeof(backends) / sizeof(backends[0]);

const struct backend *backend__find(const char *name)
{
	size_t i;

	for (i = 0; i < n_backends; i++)
		if (strcmp(backends[i].name, name) == 0)
			return &backends[i];
	return NULL;
}
