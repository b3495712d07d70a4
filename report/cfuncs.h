/* cfuncs.h - the C functions of a stream and their names.  Part of the symbol
 * table, see symtab.h.
 */
#ifndef LJPERF_REPORT_CFUNCS_H
#define LJPERF_REPORT_CFUNCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/epochs.h"

/* A symbol, or an address that has none. */
struct cfunc {
	uint64_t addr;
	uint32_t name; /* a string of the symbol table, or HASHMAP_NONE */
	uint32_t module; /* it lies in, or HASHMAP_NONE */
	uint32_t session;
	bool code; /* no function, but an address inside of one: a call */
};

/* All zero is empty. */
struct cfuncs {
	struct cfunc *at;
	size_t n, cap;
	struct hashmap map; /* by all of it */

	/* Of the session being read. */
	uint32_t session;
	bool exact; /* a symbol names its own address only */
	struct epochs current; /* the symbol of an address */
	struct epochs n_names; /* how many names an address has had */
	/* Addresses of symbols, for the nearest: the first N_SORTED ascend, the
	 * few behind them wait to be merged. */
	uint64_t *addrs;
	size_t n_addrs, n_sorted, cap_addrs;
};

void cfuncs__exit(struct cfuncs *cf);
void cfuncs__begin_session(struct cfuncs *cf);

/* The function at ADDR, which lies in MODULE, is called NAME from now on.  0 or
 * -ENOMEM. */
int cfuncs__symbol(struct cfuncs *cf, uint64_t addr, uint32_t name, uint32_t module);

/* The call at ADDR in MODULE, a frame of a native stack.  HASHMAP_NONE: no
 * memory. */
uint32_t cfuncs__code(struct cfuncs *cf, uint64_t addr, uint32_t module);

/* The symbol that the function at ADDR, in MODULE, has now: its own, or, unless
 * they are exact, the nearest below it; one without a name when there is none.
 * A name that the address had in another module is not its own.  HASHMAP_NONE:
 * no memory. */
uint32_t cfuncs__find(struct cfuncs *cf, uint64_t addr, uint32_t module);

#endif
