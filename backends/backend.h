/* backend.h - the event sources, as record and the targets see them.
 *
 * A backend lives in the target.  backends/table.c lists them for the
 * commands; the agent's entry points are what a host of the VM calls.
 */
#ifndef LJPERF_BACKENDS_BACKEND_H
#define LJPERF_BACKENDS_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { EVENT_ALLOC = 1 };

struct backend {
	const char *name, *desc;
	unsigned events; /* what it can record: EVENT_ALLOC */
};

extern const struct backend backends[];
extern const size_t n_backends;
const struct backend *backend__find(const char *name);

/* Options of the agent, as record passes them to the target. */
struct agent_options {
	int fd; /* socket to the collector */
	uint32_t ring_bytes; /* a power of two */
	bool oracle; /* compare the fast and the slow path on every event */
	bool drop; /* a full ring drops events instead of waiting */
	uint32_t stacks; /* most frames of a call stack; 0: none are recorded */
	bool across; /* stacks go on in the thread that resumed a coroutine */
	const char *vm_options; /* how the VM was started, for the header; may be NULL */
};

struct lua_State;
struct agent_vm;

/* Loads the LuaJIT of this process and probes its layout, once.  0, or -1
 * with a sentence in agent__why(): nothing has been changed then. */
int agent__init(const struct agent_options *opts);
const char *agent__why(void);

/* One line about the VM that agent__init() found, and what finding it cost. */
void agent__print_probe(FILE *out);

/* Starts recording L's allocations.  NULL with a sentence in agent__why();
 * the state runs on unharmed.  Freed when the state is closed. */
struct agent_vm *agent__start(struct lua_State *L);

/* Marks a point in the stream; KIND as SESSION_MARK_* of formats/session.h. */
void agent__mark(struct agent_vm *vm, unsigned kind, const char *name);

/* The state is about to be closed: marks it.  Recording goes on until the
 * VM gives up its stack, where the program's own allocator is put back. */
void agent__closing(struct agent_vm *vm);

/* Puts the program's allocator back and ends the stream. */
void agent__stop(struct agent_vm *vm);

#endif
