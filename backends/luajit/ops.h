/* ops.h - the agent of a process, for a Lua module that is loaded into it: the
 * symbol "ljperf_agent" of the preloaded library or of the embedded VM.
 */
#ifndef LJPERF_BACKENDS_LUAJIT_OPS_H
#define LJPERF_BACKENDS_LUAJIT_OPS_H

#include "backends/backend.h"

#define AGENT_OPS_VERSION 1
#define AGENT_OPS_NAME "ljperf_agent"

struct agent_ops {
	unsigned version;
	bool (*has_joined)(void);
	struct agent_vm *(*find)(struct lua_State *L, const void *code);
	void (*mark)(struct agent_vm *vm, unsigned kind, const char *name);
};

extern const struct agent_ops ljperf_agent;

#endif
