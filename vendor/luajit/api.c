/* api.c - fills the table of api.h; called once by the agent. */
#include "vendor/luajit/api.h"

#include <dlfcn.h>
#include <string.h>

const char *lj_api__load(struct lj_api *api, void *handle)
{
	void *sym;

	/* A function pointer is copied, not cast: ISO C has no such cast. */
#define LJ_API_LOAD(ret, name, params) \
	sym = dlsym(handle, #name); \
	if (!sym) \
		return #name; \
	memcpy(&api->name, &sym, sizeof(sym));
	LJ_API_FUNCTIONS(LJ_API_LOAD)
#undef LJ_API_LOAD
	return NULL;
}
