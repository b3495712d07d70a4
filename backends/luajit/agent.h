/* agent.h - what the parts of the agent share beside a VM. */
#ifndef LJPERF_BACKENDS_LUAJIT_AGENT_H
#define LJPERF_BACKENDS_LUAJIT_AGENT_H

#include "backends/luajit/channel.h"

/* The page of the recording that was joined, or NULL. */
const struct control *agent_control(void);

#endif
