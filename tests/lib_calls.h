/* lib_calls.h - small sessions with call stacks, times and marks, made by hand.
 * Used by the suites of call trees and of metrics.
 */
#ifndef LJPERF_TESTS_LIB_CALLS_H
#define LJPERF_TESTS_LIB_CALLS_H

#include "tests/lib_stream.h"

struct calls {
	struct session_writer *w;
	char path[64];
	uint64_t n_nodes;
	uint64_t now_ns;
};

/* A heap of HEAP_START bytes; VM_NUMBER 0: unknown. */
void calls__begin(struct calls *c, uint64_t heap_start, uint64_t vm_number);

/* FUNC is the name of the function at ADDR, NULL: none. */
void calls__func(struct calls *c, uint64_t addr, const char *chunk, uint64_t line,
		 const char *func);
void calls__c(struct calls *c, uint64_t addr, const char *name);

/* A node of the tree; its number. */
uint64_t calls__node(struct calls *c, uint64_t parent, struct ljm_loc loc);

void calls__alloc(struct calls *c, struct ljm_loc loc, uint64_t addr, uint64_t size, uint64_t node);
void calls__realloc(struct calls *c, struct ljm_loc loc, uint64_t old_addr, uint64_t old_size,
		    uint64_t new_addr, uint64_t new_size, uint64_t node);
void calls__free(struct calls *c, uint64_t addr, uint64_t size); /* by the collector */
void calls__time(struct calls *c, uint64_t ns); /* of what follows */
void calls__mark(struct calls *c, enum session_mark_kind kind, const char *name);

/* Ends it after END_NS; the path, which lives as long as the process and C. */
const char *calls__end(struct calls *c, uint64_t end_ns);

#endif
