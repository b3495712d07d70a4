/* fields_table.h - the tables behind fields.h.  Used by fields.c and by the table
 * view.
 */
#ifndef LJPERF_REPORT_FIELDS_TABLE_H
#define LJPERF_REPORT_FIELDS_TABLE_H

#include "report/fields.h"

enum field_id {
	F_CHILDREN,
	F_OVERHEAD,
	F_ALLOCATED,
	F_ALLOCS,
	F_REALLOCS,
	F_COUNT,
	F_LIVE,
	F_BLOCKS,
	F_PEAK,
	F_PEAK_BLOCKS,
	F_LEAKED,
	F_LEAKED_BLOCKS,
	F_FREED,
	F_FREES,
	F_TEMPORARY,
	F_TEMPORARY_BLOCKS,
	F_OBJECTS,
	F_FINAL,
	F_COPIED,
	F_LIFE,
	F_LIFE99,
	F_LIFE_TIME,
	F_LIFE99_TIME,
	F_EVENTS,
	F_SOURCE,
	F_SYMBOL,
	F_FUNC,
	F_CHUNK,
	F_MODULE,
	F_TRACE,
	F_VMSTATE,
	F_VM,
	F_SIZE,
	F_PARENT,
	F_MAX,
};

extern const struct field fields[F_MAX];

enum { N_METRICS = 8, N_SORTS = 11 };

extern const struct metric metrics[N_METRICS];

struct sort_key {
	const char *name;
	const struct field *keys[2];
};

extern const struct sort_key sorts[N_SORTS];

#endif
