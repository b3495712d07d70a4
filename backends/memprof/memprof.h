/* memprof.h - the backend for a VM that has a profiler of its own, Tarantool's
 * misc.memprof: switches it on and hands its stream to the collector.  Called by
 * the preloaded agent.
 */
#ifndef LJPERF_BACKENDS_MEMPROF_MEMPROF_H
#define LJPERF_BACKENDS_MEMPROF_MEMPROF_H

#include "backends/luajit/library.h"

/* Whether the recording that was joined wants this backend. */
bool memprof__is_wanted(void);

/* Starts L's profiler, once in a process.  Runs Lua code: L's libraries must be
 * open.  False when it was refused, which the collector was told. */
bool memprof__start(struct agent_lib *lib, lua_State *L);

/* L is about to be closed: what the profiler keeps is written. */
void memprof__close(lua_State *L);

#endif
