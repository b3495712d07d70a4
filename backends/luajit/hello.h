/* hello.h - what a VM's process tells the collector about both, before the
 * first event.
 */
#ifndef LJPERF_BACKENDS_LUAJIT_HELLO_H
#define LJPERF_BACKENDS_LUAJIT_HELLO_H

#include "backends/luajit/library.h"
#include "record/protocol.h"

/* Fills HELLO for VM L of the library LIB; its version and options are left
 * empty.  Works inside the hook: plain system calls. */
void hello__fill(struct agent_hello *hello, enum agent_msg kind, const struct agent_lib *lib,
		 lua_State *L);

/* Bytes in use by the VM. */
static inline uint64_t vm_heap_size(const struct lj_api *api, lua_State *L)
{
	return (uint64_t)api->lua_gc(L, LUA_GCCOUNT, 0) * 1024 +
	       (uint64_t)api->lua_gc(L, LUA_GCCOUNTB, 0);
}

#endif
