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
	bool built_in; /* only in a VM that has it */
};

extern const struct backend backends[];
extern const size_t n_backends;
const struct backend *backend__find(const char *name);

struct lua_State;
struct agent_vm;

/* Joins the recording that SPEC names, the value of LJPERF_AGENT, once.  0, or
 * -1 when there is none, with a sentence in agent__why(). */
int agent__join(const char *spec);
bool agent__has_joined(void);
const char *agent__why(void);

/* Puts the environment in order after joining: the program is to see its own,
 * and children what they need to be recorded too, if they are to be. */
void agent__settle_environment(void);

/* Tells the collector why a VM is not recorded. */
void agent__refuse(const char *why);

/* One line about the VM that has CODE (any address in its library), and what
 * finding its layout cost; false: it cannot be recorded, see agent__why(). */
bool agent__print_probe(FILE *out, const void *code);

/* Starts recording L's allocations; CODE is as above.  NULL with a sentence in
 * agent__why(); the state runs on unharmed.  Freed when the state is closed. */
struct agent_vm *agent__start(struct lua_State *L, const void *code);

/* The recording of L, whose library has CODE; NULL: it is not recorded. */
struct agent_vm *agent__find(struct lua_State *L, const void *code);

/* Marks a point in the stream; KIND as SESSION_MARK_* of formats/session.h. */
void agent__mark(struct agent_vm *vm, unsigned kind, const char *name);

/* The program is about to close the state, on thread L: marks that, and runs
 * a full collection before if that was asked for.  Recording goes on until
 * the VM gives up its stack, where the program's own allocator is put back. */
void agent__close(struct agent_vm *vm, struct lua_State *L);

/* Puts the program's allocator back and ends the stream. */
void agent__stop(struct agent_vm *vm);

/* The allocator of the program under ours, for who asks the VM for it; TO may
 * be changed by who sets one. */
struct agent_allocator {
	void *(**alloc)(void *ud, void *ptr, size_t osize, size_t nsize);
	void **ud;
};
struct agent_allocator agent__allocator(struct agent_vm *vm);

#endif
