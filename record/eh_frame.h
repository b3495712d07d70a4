/* eh_frame.h - the unwind tables of a file (its section .eh_frame) as rules: how
 * to get from a place in a function to the one that called it.  Called by
 * unwind_file.c.
 *
 * The bytes are those of a recorded program, which may have written them to harm
 * whoever reads them.  libdw would do as they say: a register's number makes it
 * allocate as many registers, 2 GB at most.  So they are read here, for just the
 * registers that a walk needs, through the cursor.
 *
 * Sources: the call frame information of DWARF 5 (6.4), the Linux Standard Base
 * (Core, 10.6) for what .eh_frame does in another way, and the numbers of
 * registers in the System V ABI for AMD64 (3.6.2).
 */
#ifndef LJPERF_RECORD_EH_FRAME_H
#define LJPERF_RECORD_EH_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EH_REG_BP = 6, EH_REG_SP = 7 };

/* Where the caller's frame pointer is. */
enum eh_bp {
	EH_BP_SAME, /* still in the register */
	EH_BP_IN_FRAME, /* stored at the frame's address plus bp_off */
	EH_BP_BY_BP, /* stored at the frame pointer plus bp_off */
	EH_BP_LOST,
};

struct eh_rule {
	bool usable; /* the caller can be found; else the walk ends here */
	bool outermost; /* there is no caller, by the table's word */
	bool cfa_deref; /* the frame's address is stored at that place */
	uint8_t cfa_reg; /* EH_REG_SP or EH_REG_BP */
	enum eh_bp bp;
	int64_t cfa_off; /* added to the register, gives the frame's address */
	int64_t ra_off; /* from the frame's address to the stored return address */
	int64_t bp_off;
};

struct eh_frame;

/* The tables in the LEN bytes at BYTES, of a section with the address ADDR in the
 * file's own numbers.  BYTES must stay as long as it lives.  What cannot be read
 * is left out.  NULL without memory. */
struct eh_frame *eh_frame__new(const uint8_t *bytes, size_t len, uint64_t addr);
void eh_frame__delete(struct eh_frame *t); /* NULL is fine */

/* The rule at PC; one that is not usable and not outermost when there is none. */
struct eh_rule eh_frame__rule(const struct eh_frame *t, uint64_t pc);

#endif
