/* modules.h - the files whose code the C functions of a stream are.  Part of
 * the symbol table, see symtab.h.
 *
 * A module is a file at a place; its number never changes its meaning.  Which
 * module an address lies in is asked when an event is read, because another
 * file may be loaded there later.
 */
#ifndef LJPERF_REPORT_MODULES_H
#define LJPERF_REPORT_MODULES_H

#include <stddef.h>
#include <stdint.h>

#include "formats/session.h"
#include "report/strpool.h"

#define MODULE_NONE HASHMAP_NONE

struct module {
	uint64_t start, end; /* addresses [start, end) */
	uint64_t offset; /* in the file, of START */
	uint64_t bias; /* address 0 of the file */
	uint32_t path, build_id; /* strings of the symbol table; the build id as bytes */
};

/* All zero is empty. */
struct modules {
	struct module *at;
	size_t n, cap;
	struct hashmap map;
	void *ranges; /* of the session being read: a tree of what lies where */
};

void modules__exit(struct modules *m);
void modules__begin_session(struct modules *m);

/* 0 or -ENOMEM. */
int modules__add(struct modules *m, struct strpool *strings, const struct session_module *mod);

/* The module at ADDR now, the latest of several; MODULE_NONE: unknown. */
uint32_t modules__find(const struct modules *m, uint64_t addr);

#endif
