/* export_firefox.h - what the two files of the format share: export_firefox.c
 * and export_firefox_tables.c, which has the tables of stacks.
 */
#ifndef LJPERF_REPORT_EXPORT_FIREFOX_H
#define LJPERF_REPORT_EXPORT_FIREFOX_H

#include "report/export.h"
#include "report/json.h"

struct firefox_mark {
	uint64_t at;
	uint32_t name;
};

struct heap_point {
	uint64_t at;
	u128 heap;
};

struct firefox {
	struct export *e;
	struct json j;
	bool by_time; /* else times are numbers of events */
	uint64_t end; /* of the latest session */
	uint64_t offset; /* of the session whose heap is printed */

	/* The tree of stacks: (prefix, place). */
	struct firefox_stack {
		uint32_t prefix, loc; /* prefix: HASHMAP_NONE, the root */
	} * stacks;
	size_t n_stacks, cap_stacks;
	struct hashmap stack_map;
	uint32_t *stack_of; /* by cell */

	struct firefox_mark *marks;
	size_t n_marks;
};

/* Makes the stacks and marks.  0, or negative with err__msg(). */
int firefox__begin(struct firefox *f);
void firefox__end(struct firefox *f);

/* Appends "shared": the tables, and the strings. */
int firefox__put_shared(struct firefox *f);

/* How much later than the first a session began. */
uint64_t firefox__offset(const struct aggregate *a, size_t session);

/* A column that has the same N times; NULL is null. */
void firefox__put_constants(struct firefox *f, const char *key, size_t n, const char *value);

#endif
