/* cmod.c - a C module for Lua whose functions allocate; built in several ways
 * by tests/cli/names_*.sh, which compare what ljperf says of it with addr2line.
 *
 *	local cmod = require "cmod"
 *	cmod.make()	the function is exported
 *	cmod.hidden()	it is static
 *	cmod.inlined()	its first instructions are of another function
 *	cmod.plus()	its symbol is one of C++
 *	cmod.rust()	its symbol is one of Rust
 *	local f = cmod.closure()	returns a function that no table holds
 *
 * It is compiled without headers of Lua where there are none: what it needs of
 * the API is declared here.
 */
#include <stddef.h>

typedef struct lua_State lua_State;
typedef int (*lua_CFunction)(lua_State *L);
typedef struct {
	const char *name;
	lua_CFunction func;
} luaL_Reg;

void lua_createtable(lua_State *L, int narr, int nrec);
void lua_pushlstring(lua_State *L, const char *s, size_t len);
void lua_pushcclosure(lua_State *L, lua_CFunction f, int n);
void lua_setfield(lua_State *L, int idx, const char *k);

#ifndef NAME
#define NAME cmod
#endif
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define TEXT2(a) #a
#define TEXT(a) TEXT2(a)
#define EXPORT __attribute__((visibility("default")))
#ifndef PUBLIC /* hidden: a stripped module has no symbol but that of luaopen */
#define PUBLIC EXPORT
#endif

PUBLIC int JOIN(NAME, _make)(lua_State *L);
PUBLIC int plus(lua_State *L) __asm__("_ZN5words5Table4fillEPKci");
PUBLIC int rust(lua_State *L) __asm__("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE");
EXPORT int JOIN(luaopen_, NAME)(lua_State *L);

int JOIN(NAME, _make)(lua_State *L)
{
	lua_createtable(L, 100, 0);
	return 1;
}

static int hidden(lua_State *L)
{
	lua_createtable(L, 200, 0);
	return 1;
}

static inline __attribute__((always_inline)) int fill(lua_State *L, int n)
{
	lua_createtable(L, n, 0);
	return 1;
}

static int inlined(lua_State *L)
{
	return fill(L, 300);
}

int plus(lua_State *L)
{
	lua_createtable(L, 400, 0);
	return 1;
}

int rust(lua_State *L)
{
	lua_createtable(L, 500, 0);
	return 1;
}

static int nameless(lua_State *L)
{
	lua_createtable(L, 600, 0);
	return 1;
}

static int closure(lua_State *L)
{
	lua_pushcclosure(L, nameless, 0);
	return 1;
}

/* The functions are called through this table, so that nothing is inlined into
 * anything that a test does not mean. */
static const luaL_Reg functions[] = {
	{ "make", JOIN(NAME, _make) },
	{ "hidden", hidden },
	{ "inlined", inlined },
	{ "plus", plus },
	{ "rust", rust },
	{ "closure", closure },
};

int JOIN(luaopen_, NAME)(lua_State *L)
{
	unsigned i;

	lua_createtable(L, 0, 8);
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		lua_pushcclosure(L, functions[i].func, 0);
		lua_setfield(L, -2, functions[i].name);
	}
	return 1;
}
