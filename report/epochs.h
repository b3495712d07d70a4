/* epochs.h - what an address or a number of a stream means at present: a map
 * from such keys to a number of the symbol table.  Used by symtab.c and
 * cfuncs.c.
 */
#ifndef LJPERF_REPORT_EPOCHS_H
#define LJPERF_REPORT_EPOCHS_H

#include <stddef.h>
#include <stdint.h>

#include "util/hashmap.h"

struct epoch {
	uint64_t key;
	uint32_t ref;
};

/* All zero is empty. */
struct epochs {
	struct epoch *at;
	size_t n, cap;
	struct hashmap map;
};

void epochs__exit(struct epochs *e);
void epochs__clear(struct epochs *e);

/* What KEY means now; HASHMAP_NONE: nothing yet. */
uint32_t epochs__get(const struct epochs *e, uint64_t key);

/* KEY means REF from now on.  0 or -ENOMEM. */
int epochs__set(struct epochs *e, uint64_t key, uint32_t ref);

#endif
