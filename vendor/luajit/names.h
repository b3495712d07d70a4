/* names.h - what Lua code calls a C function: "string.format", "cjson.decode",
 * "file:read".  Built-in functions are known by the numbers that the VM gives
 * them; others are looked for in the tables of loaded modules and globals.
 */
#ifndef LJPERF_VENDOR_LUAJIT_NAMES_H
#define LJPERF_VENDOR_LUAJIT_NAMES_H

#include "vendor/luajit/layout.h"

#define LJ_NAME_MAX 128

struct lj_builtin {
	const void *f; /* address of the function, of those without a number */
	char name[40];
};

/* The built-in functions of a library; filled by the probe. */
struct lj_builtins {
	char by_ffid[256][40]; /* "": none of that number */
	struct lj_builtin others[32]; /* iterators and the like */
	unsigned n_others;
};

/* Fills B from scratch state L with all libraries open.  Runs Lua code. */
void lj_builtins__collect(struct lj_builtins *b, const struct lj_layout *lay,
			  const struct lj_api *api, lua_State *L);

/* Number of a built-in function, 0: none of that name. */
uint32_t lj_builtins__ffid(const struct lj_builtins *b, const char *name);

/* Name of a built-in function, or NULL. */
const char *lj_builtins__name(const struct lj_builtins *b, uint32_t ffid, const void *f);

/* Writes the name of C function F into NAME, found in the tables that hang
 * off the registry: package.loaded, globals, metatables.  Only reads memory, so it may
 * be called from an allocator; looks at a bounded number of table slots. */
bool lj_name__find(const struct lj_layout *lay, const void *registry, const void *f,
		   char name[LJ_NAME_MAX]);

#endif
