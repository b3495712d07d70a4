/* ops.c - see ops.h. */
#include "backends/luajit/ops.h"

__attribute__((visibility("default"))) const struct agent_ops ljperf_agent = {
	.version = AGENT_OPS_VERSION,
	.has_joined = agent__has_joined,
	.find = agent__find,
	.mark = agent__mark,
};
