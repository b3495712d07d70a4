/* agent.h - what the parts of the agent share beside a VM. */
#ifndef LJPERF_BACKENDS_LUAJIT_AGENT_H
#define LJPERF_BACKENDS_LUAJIT_AGENT_H

#include "backends/luajit/channel.h"

/* Functions that stand in for libc's may be called before a sanitizer is
 * ready, by the sanitizer. */
#define AGENT_EARLY __attribute__((no_sanitize("address"), no_sanitize("undefined")))

struct agent_vm;
struct lua_State;

/* As agent__start(), into a recording of L's own, which OWN leads to and which
 * is the VM's from here on, unless NULL is returned. */
struct agent_vm *agent_start_alone(struct lua_State *L, const void *code,
				   const struct channel *own);

struct agent_hello;
/* Sends HELLO with descriptor FD to the collector of the recording that was
 * joined.  0 or -errno. */
int agent_send_hello(const struct agent_hello *hello, int fd);

/* The socket of VM's collector. */
int agent_vm_socket(const struct agent_vm *vm);

/* The page of the recording that was joined, or NULL. */
const struct control *agent_control(void);

#endif
