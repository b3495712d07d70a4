/* library.h - the copies of LuaJIT in this process: each has its own
 * functions and, found once, its own layout.
 */
#ifndef LJPERF_BACKENDS_LUAJIT_LIBRARY_H
#define LJPERF_BACKENDS_LUAJIT_LIBRARY_H

#include "vendor/luajit/layout.h"
#include "vendor/luajit/names.h"

struct agent_lib {
	struct agent_lib *next;
	const void *map; /* of the dynamic loader; tells libraries apart */
	struct lj_api api;
	struct lj_layout lay;
	struct lj_builtins builtins;
	enum { LIB_UNKNOWN, LIB_USABLE, LIB_REFUSED } state;
	bool has_api; /* API is filled in */
	char path[4096];
	char build_id[64];
	char why[512]; /* of a refused one */
};

/* Above 0 while this thread looks into a library: what is called then is the
 * library's own, not what stands in for it. */
extern __thread int agent_inside;

/* The library that has CODE, any address in it; NULL without memory.  May
 * take the dynamic loader's lock, so not for the hook. */
struct agent_lib *agent_lib__of(const void *code);

/* Around a fork: no other thread may be at work here then. */
void agent_lib__lock(void);
void agent_lib__unlock(void);

/* Finds the layout, once.  False with a sentence in lib->why. */
bool agent_lib__probe(struct agent_lib *lib);

#endif
