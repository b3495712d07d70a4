/* agent.h - what the parts of the agent share beside a VM. */
#ifndef LJPERF_BACKENDS_LUAJIT_AGENT_H
#define LJPERF_BACKENDS_LUAJIT_AGENT_H

#include "backends/luajit/channel.h"

/* Functions that stand in for libc's may be called before a sanitizer is
 * ready, by the sanitizer. */
#define AGENT_EARLY __attribute__((no_sanitize("address"), no_sanitize("undefined")))

/* The page of the recording that was joined, or NULL. */
const struct control *agent_control(void);

#endif
