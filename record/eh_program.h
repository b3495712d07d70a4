/* eh_program.h - runs the instructions of an unwind table up to a place in a
 * function.  Called by eh_frame.c, which finds them; see eh_frame.h for the
 * sources.
 */
#ifndef LJPERF_RECORD_EH_PROGRAM_H
#define LJPERF_RECORD_EH_PROGRAM_H

#include <stdint.h>

#include "formats/cursor.h"
#include "record/eh_frame.h"

struct eh_program {
	uint64_t code_align; /* what advances are multiplied by */
	int64_t data_align; /* and offsets */
	uint64_t ra_reg; /* the column of the return address */
	struct cursor common, own; /* instructions: of many functions, of this one */
};

/* The rule at PC of the function that begins at START; one that is neither usable
 * nor outermost when the instructions cannot be followed. */
struct eh_rule eh_program__run(const struct eh_program *p, uint64_t start, uint64_t pc);

#endif
