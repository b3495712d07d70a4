/* by_handle.c - functions of LuaJIT that a program looks up itself, with
 * dlsym() in a library that it has opened: symbols that stand before others do
 * not help there, so dlsym() comes by here.
 *
 * Every library gets a set of functions of its own, because the one that a
 * function was looked up in cannot be told when it is called.
 */
#include "backends/preload/preload.h"

#ifdef __x86_64__

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

#include "backends/luajit/agent.h"
#include "backends/luajit/library.h"

#define SETS 8 /* copies of LuaJIT; more are passed through unseen */

static struct {
	const void *map; /* of the library, NULL: free */
	void *real[N_PRELOAD_FUNCTIONS];
} sets[SETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define SET(n) \
	static lua_State *luaL_newstate_##n(void) \
	{ \
		return preload_luaL_newstate(sets[n].real[AT_LUAL_NEWSTATE]); \
	} \
	static lua_State *newstate_##n(lua_Alloc f, void *ud) \
	{ \
		return preload_lua_newstate(sets[n].real[AT_NEWSTATE], f, ud); \
	} \
	static void close_##n(lua_State *L) \
	{ \
		preload_lua_close(sets[n].real[AT_CLOSE], L); \
	} \
	static lua_Alloc getallocf_##n(lua_State *L, void **ud) \
	{ \
		return preload_lua_getallocf(sets[n].real[AT_GETALLOCF], L, ud); \
	} \
	static void setallocf_##n(lua_State *L, lua_Alloc f, void *ud) \
	{ \
		preload_lua_setallocf(sets[n].real[AT_SETALLOCF], L, f, ud); \
	} \
	static void openlibs_##n(lua_State *L) \
	{ \
		preload_luaL_openlibs(sets[n].real[AT_OPENLIBS], L); \
	}
SET(0);
SET(1);
SET(2);
SET(3);
SET(4);
SET(5);
SET(6);
SET(7);

#define ROW(n) \
	{ \
		(void *)luaL_newstate_##n, (void *)newstate_##n, (void *)close_##n, \
			(void *)getallocf_##n, (void *)setallocf_##n, (void *)openlibs_##n \
	}
__extension__ static void *const stand_ins[SETS][N_PRELOAD_FUNCTIONS] = { ROW(0), ROW(1), ROW(2),
									  ROW(3), ROW(4), ROW(5),
									  ROW(6), ROW(7) };

AGENT_EARLY static int number_of(const char *name)
{
	static const char *const names[N_PRELOAD_FUNCTIONS] = {
		[AT_LUAL_NEWSTATE] = "luaL_newstate",
		[AT_NEWSTATE] = "lua_newstate",
		[AT_CLOSE] = "lua_close",
		[AT_GETALLOCF] = "lua_getallocf",
		[AT_SETALLOCF] = "lua_setallocf",
		[AT_OPENLIBS] = "luaL_openlibs",
	};
	int i;

	if (strncmp(name, "lua", 3) != 0)
		return -1;
	for (i = 0; i < N_PRELOAD_FUNCTIONS; i++)
		if (strcmp(name, names[i]) == 0)
			return i;
	return -1;
}

static void *stand_in(void *real, int nth)
{
	struct link_map *map, *own;
	Dl_info info;
	void *f = NULL;
	int i;

	if (!dladdr1(real, &info, (void **)&map, RTLD_DL_LINKMAP) ||
	    !dladdr1(&lock, &info, (void **)&own, RTLD_DL_LINKMAP) || map == own)
		return NULL;
	pthread_mutex_lock(&lock);
	for (i = 0; i < SETS && sets[i].map && sets[i].map != map; i++)
		;
	if (i < SETS) {
		sets[i].map = map;
		sets[i].real[nth] = real;
		f = stand_ins[i][nth];
	}
	pthread_mutex_unlock(&lock);
	return f;
}

typedef void *dlsym_fn(void *handle, const char *name);

/* Read by the code below. */
__attribute__((visibility("hidden"))) dlsym_fn *preload_real_dlsym;
__attribute__((visibility("hidden"))) void *preload_dlsym(void *handle, const char *name);

/* What is to be answered instead, or NULL: then the real dlsym() answers,
 * called as if by our caller, because what RTLD_NEXT means depends on that. */
AGENT_EARLY void *preload_dlsym(void *handle, const char *name)
{
	void *sym;
	int nth;

	if (!preload_real_dlsym) {
		sym = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
		if (!sym)
			sym = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
		memcpy(&preload_real_dlsym, &sym, sizeof(sym));
	}
	if (agent_inside || handle == RTLD_DEFAULT || handle == RTLD_NEXT || !name)
		return NULL;
	nth = number_of(name);
	if (nth < 0)
		return NULL;
	sym = preload_real_dlsym(handle, name);
	return sym ? stand_in(sym, nth) : NULL;
}

__asm__(".text\n"
	".globl dlsym\n"
	".type dlsym, @function\n"
	"dlsym:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	pushq %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq %rsi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call preload_dlsym\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rsi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	testq %rax, %rax\n"
	"	jne 1f\n"
	"	movq preload_real_dlsym(%rip), %r11\n"
	"	jmp *%r11\n"
	"1:	ret\n"
	"	.cfi_endproc\n"
	".size dlsym, . - dlsym\n");

#endif
