/* closing.h - notices that a VM is being closed where the call of lua_close()
 * cannot be seen.  Called by who starts a recording from inside the VM.
 */
#ifndef LJPERF_BACKENDS_LUAJIT_CLOSING_H
#define LJPERF_BACKENDS_LUAJIT_CLOSING_H

#include "vendor/luajit/api.h"

/* Puts an object into L's registry whose FINALIZER tells of it.  It runs after
 * those of objects that are made later.  May throw for lack of memory. */
void agent_watch_close(const struct lj_api *api, lua_State *L, lua_CFunction finalizer);

/* A finalizer that tells the agent. */
int agent_closing(lua_State *L);

#endif
