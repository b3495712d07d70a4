/* nodes.h - the nodes of call stacks in the file, when native frames are
 * recorded: the agent numbers its own, and between them come those that are
 * found out here.  Called by drain.c.
 */
#ifndef LJPERF_RECORD_NODES_H
#define LJPERF_RECORD_NODES_H

#include "record/native.h"

struct nodes;

/* Of a VM in process PID, for the file OUT.  NULL without memory. */
struct nodes *nodes__new(pid_t pid, struct session_writer *out);
void nodes__delete(struct nodes *ns); /* NULL is fine */

/* Each of these returns 0 or a negative errno with err__msg(). */

/* A node of the agent's: they come in the order of their numbers. */
int nodes__stack(struct nodes *ns, const struct session_stack *node);
/* Those up to LAST do not come up again, but in the stack in work. */
int nodes__forget(struct nodes *ns, uint64_t last);
/* As native__module() and native__unloads(). */
int nodes__module(struct nodes *ns, const struct session_module *m, uint64_t head_sum, bool *known);
void nodes__unloads(struct nodes *ns);
/* What was seen of the thread that makes BLOCK, at the agent's NODE; *ASK when
 * there may be modules that were not told. */
int nodes__native(struct nodes *ns, uint64_t node, uint64_t block,
		  const struct native_sample *sample, bool *ask);
/* Events were dropped: what was seen may have been of one of them. */
void nodes__lost(struct nodes *ns);

/* The node in the file of an event of BLOCK at the agent's NODE. */
uint64_t nodes__of_event(struct nodes *ns, uint64_t node, uint64_t block);

#endif
