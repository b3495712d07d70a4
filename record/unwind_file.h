/* unwind_file.h - the file of a module of a recorded process, opened to unwind
 * by: the rules of its own unwind tables (eh_frame.h) and which of its functions
 * are the VM's interface.  Called by native.c.
 *
 * The process may write over the file while it is open, so it is never mapped:
 * what cannot be read any more is an error and no SIGBUS.
 */
#ifndef LJPERF_RECORD_UNWIND_FILE_H
#define LJPERF_RECORD_UNWIND_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/eh_frame.h"

/* What the process has loaded. */
struct unwind_want {
	const char *path;
	const uint8_t *build_id;
	size_t build_id_len;
	uint64_t head_sum; /* ring_head_sum() of its first page; 0: unknown */
};

struct unwind_file;

/* The file as process PID sees it, while that runs; NULL when there is none, or
 * another by now. */
struct unwind_file *unwind_file__open(pid_t pid, const struct unwind_want *want);
void unwind_file__delete(struct unwind_file *f); /* NULL is fine */

/* Addresses are those of the file.  The rule at PC as of eh_frame__rule(). */
struct eh_rule unwind_file__rule(const struct unwind_file *f, uint64_t pc);
bool unwind_file__is_api(const struct unwind_file *f, uint64_t pc);

#endif
