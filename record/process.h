/* process.h - the processes that have recorded VMs, and how to know that they
 * have ended: most are no children of ours.  Called by collector.c.
 */
#ifndef LJPERF_RECORD_PROCESS_H
#define LJPERF_RECORD_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
	struct process *next;
	pid_t pid;
	int pidfd; /* readable when it has ended; -1: not known or ended */
	bool alive;
	bool records; /* has a VM of its own in the recording */
	uint64_t exe; /* which file it runs, to notice exec; of one that only has
		       * its parent's VMs */
};

struct processes {
	struct process *first;
};

/* The process, entered when it is new; NULL without memory. */
struct process *processes__find(struct processes *ps, pid_t pid);

/* Whether anything is to be expected of P: a VM that is recorded, or one that
 * it got at fork and still has. */
bool process__is_awaited(const struct process *p);
bool processes__any_awaited(const struct processes *ps);
unsigned processes__n_awaited(const struct processes *ps);

/* Notes that P has VMs of its parent. */
void process__forked(struct process *p);
void process__ended(struct process *p);

/* The arguments of a running process, from the kernel: one block to be freed,
 * with *ARGC of them; NULL when that cannot be known. */
const char **process__argv(pid_t pid, size_t *argc);
/* The same of text in which a NUL follows each; NULL without memory. */
const char **process__split(const char *text, size_t len, size_t *argc);
/* Its folder, to be freed; NULL when that cannot be known. */
char *process__cwd(pid_t pid);

void processes__exit(struct processes *ps);

#endif
