/* cfuncs.h - the C functions of a stream and their names.  Part of the symbol
 * table, see symtab.h.
 */
#ifndef LJPERF_REPORT_CFUNCS_H
#define LJPERF_REPORT_CFUNCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/epochs.h"

/* One epoch of an address. */
struct cfunc {
	uint64_t addr;
	uint32_t name; /* a string of the symbol table, or HASHMAP_NONE */
	uint32_t n_names;
	uint32_t session;
	bool used; /* an event has named it: another name is another epoch */
};

/* A name that an address has had in this session. */
struct cname {
	uint64_t addr;
	uint32_t name, cfunc;
};

/* All zero is empty. */
struct cfuncs {
	struct cfunc *at;
	size_t n, cap;
	uint32_t session;
	struct epochs current; /* by address */
	struct cname *names;
	size_t n_names, cap_names;
	struct hashmap name_map;

	uint32_t *by_addr; /* the named ones, sorted; made by cfuncs__sort() */
	size_t n_by_addr;
};

void cfuncs__exit(struct cfuncs *cf);
void cfuncs__begin_session(struct cfuncs *cf);

/* The function at ADDR has NAME.  0 or -ENOMEM. */
int cfuncs__symbol(struct cfuncs *cf, uint64_t addr, uint32_t name);

/* The function at ADDR now, made when new; HASHMAP_NONE: no memory. */
uint32_t cfuncs__use(struct cfuncs *cf, uint64_t addr);

/* Call when all is read and before cfuncs__named().  0 or -ENOMEM. */
int cfuncs__sort(struct cfuncs *cf);

/* The function whose name is the right one for function ID: itself, or the
 * nearest named one below its address; NULL when none is near. */
const struct cfunc *cfuncs__named(const struct cfuncs *cf, uint32_t id);

#endif
