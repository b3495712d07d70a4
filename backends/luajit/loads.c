/* unload.c - notices that a library has left the process: dlclose() comes by
 * here, because the program that the agent is in (or the agent, when it is
 * preloaded) stands before libc in the search for symbols.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "backends/luajit/vm.h"

_Atomic uint32_t agent_unloads;

__attribute__((visibility("default"))) int dlclose(void *handle)
{
	int (*real)(void *);
	void *sym = dlsym(RTLD_NEXT, "dlclose");
	int err;

	memcpy(&real, &sym, sizeof(sym)); /* ISO C has no such cast */
	err = sym ? real(handle) : -1;
	atomic_fetch_add(&agent_unloads, 1);
	return err;
}
