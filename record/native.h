/* native.h - finds out from a piece of a thread's stack who called whom, by the
 * rules of the modules' own unwind tables (eh_frame.h).  For
 * the events of C functions, when native call stacks are recorded; called by
 * drain.c.
 *
 * A frame without rules ends the walk: nothing is guessed.  The rules of each
 * place are looked up once, so that a walk costs a few table lookups.
 */
#ifndef LJPERF_RECORD_NATIVE_H
#define LJPERF_RECORD_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "formats/session.h"

#define NATIVE_FRAMES 128 /* most of one walk; those further out are left out */

struct native;

/* Whether the stacks of this machine's programs can be walked. */
static inline bool native__is_supported(void)
{
#ifdef __x86_64__
	return true;
#else
	return false;
#endif
}

/* PID is the process whose modules are told.  NULL without memory. */
struct native *native__new(pid_t pid);
void native__delete(struct native *n); /* NULL is fine */

/* A module of the process; it takes the place of what it overlaps.  HEAD_SUM as
 * in ring.h.  *KNOWN when it was told before.  0 or -ENOMEM with err__msg(). */
int native__module(struct native *n, const struct session_module *m, uint64_t head_sum,
		   bool *known);
/* Of the modules only those told from here on are still there. */
void native__unloads(struct native *n);

/* What the agent has seen of a thread. */
struct native_sample {
	uint64_t pc, sp, bp;
	uint64_t bound; /* where the frame of the C function begins; 0: unknown */
	const char *stack; /* bytes from SP on */
	size_t len;
};

/* Code addresses inside of calls, the innermost first: from the function of the
 * VM's interface that was called, up to the C function, or as far as is known. */
struct native_frames {
	uint64_t at[NATIVE_FRAMES];
	size_t n;
	bool whole; /* none are missing at the outer end */
	bool ask; /* it ended in code that lies in no module: there may be more */
};

/* 0 or -ENOMEM with err__msg(). */
int native__walk(struct native *n, const struct native_sample *sample, struct native_frames *f);

#endif
