/* loads.c - notices that libraries come into the process and leave it: dlopen()
 * and dlclose() come by here, because the program that the agent is in (or the
 * agent, when it is preloaded) stands before libc in the search for symbols.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "backends/luajit/agent.h"
#include "backends/luajit/vm.h"

_Atomic uint32_t agent_loads, agent_unloads;

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

/* Only native call stacks go through code that no function of a VM led to. */
#ifdef __x86_64__

/* Called by the code below. */
__attribute__((visibility("hidden"))) void *agent_dlopen(void);

AGENT_EARLY void *agent_dlopen(void)
{
	static void *real;

	if (!real)
		real = dlsym(RTLD_NEXT, "dlopen");
	atomic_fetch_add(&agent_loads, 1);
	return real;
}

/* The real dlopen() is called as if by our caller, because where it looks for a
 * library depends on that. */
__asm__(".text\n"
	".globl dlopen\n"
	".type dlopen, @function\n"
	"dlopen:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	pushq %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq %rsi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call agent_dlopen\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rsi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	testq %rax, %rax\n"
	"	je 1f\n"
	"	jmp *%rax\n"
	"1:	ret\n"
	"	.cfi_endproc\n"
	".size dlopen, . - dlopen\n");

#endif
