/* strpool.h - each distinct string once, known by a number.  Used by the
 * symbol table (chunk and function names) and by the rows of a view.
 */
#ifndef LJPERF_REPORT_STRPOOL_H
#define LJPERF_REPORT_STRPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "util/hashmap.h"

#define STR_NONE HASHMAP_NONE

struct strpool_block;

struct strpool {
	struct str {
		const char *s; /* NUL-terminated, may hold NULs */
		size_t len;
	} * strs;
	size_t n, cap;
	struct hashmap map;
	struct strpool_block *blocks;
};

/* All zero is an empty pool. */
void strpool__exit(struct strpool *p);

/* The number of the string, which is copied when new; STR_NONE: no memory. */
uint32_t strpool__intern(struct strpool *p, const char *s, size_t len);

static inline const struct str *strpool__get(const struct strpool *p, uint32_t id)
{
	return &p->strs[id];
}

#endif
