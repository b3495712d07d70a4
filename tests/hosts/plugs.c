/* plugs.c - a program whose library calls the Lua API while no Lua code runs:
 * loaded when the recording has begun, then unloaded, and then code that has no
 * file lies at the library's place.  For tests/cli/native_modules.py; the tables
 * it makes have room for 1001, 2001 and 3001 elements.
 *
 * Exit status 77: nothing could be mapped there.
 */
#include <dlfcn.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define APART __attribute__((noinline))
/* The call before it is no jump. */
#define END_OF_CALL __asm__ volatile("" ::: "memory")

/* Calls the function with the other two arguments. */
typedef void through_fn(void (*f)(void *, int), void *L, int n);

static APART void leaf(void *L, int n)
{
	lua_createtable(L, n, 0);
	lua_pop((lua_State *)L, 1);
	END_OF_CALL;
}

static APART void go(through_fn *through, lua_State *L, int n)
{
	through(leaf, L, n);
	END_OF_CALL;
}

static void direct(void (*f)(void *, int), void *L, int n)
{
	f(L, n);
	END_OF_CALL;
}

/* A through_fn with a frame of 264 bytes: push %rbx; sub $0x100, %rsp;
 * mov %rdi, %rax; mov %rsi, %rdi; mov %edx, %esi; call *%rax;
 * add $0x100, %rsp; pop %rbx; ret. */
static const unsigned char code[] = { 0x53, 0x48, 0x81, 0xec, 0x00, 0x01, 0x00, 0x00, 0x48,
				      0x89, 0xf8, 0x48, 0x89, 0xf7, 0x89, 0xd6, 0xff, 0xd0,
				      0x48, 0x81, 0xc4, 0x00, 0x01, 0x00, 0x00, 0x5b, 0xc3 };

static int put_code(void *at)
{
	void *page = (void *)((uintptr_t)at & ~(uintptr_t)4095);
	void *got = mmap(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (got == MAP_FAILED)
		return -1;
	memcpy(at, code, sizeof(code));
	return got == page ? 0 : -1;
}

int main(int argc, char **argv)
{
	lua_State *L = luaL_newstate();
	through_fn *through;
	void *lib, *sym;

	if (argc < 2 || !L)
		return 2;
	luaL_openlibs(L);
	go(direct, L, 1001);
	lib = dlopen(argv[1], RTLD_NOW);
	sym = lib ? dlsym(lib, "through") : NULL;
	if (!sym)
		return 2;
	memcpy(&through, &sym, sizeof(through));
	go(through, L, 2001);
	dlclose(lib);
	if (put_code(sym))
		return 77;
	go(through, L, 3001);
	lua_close(L);
	return 0;
}
