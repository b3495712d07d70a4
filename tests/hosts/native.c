/* native.c - a program that embeds LuaJIT, to try native call stacks on: its C
 * functions allocate from depths that it notes itself with backtrace(3), which
 * tests/cli/native_stacks.py compares with the recording.
 *
 * Each allocation is a table with room for as many elements as its number, so
 * that its size tells which it is:
 *
 *	stack NUMBER FUNCTION ADDRESS ADDRESS ...
 *
 * The addresses are where calls return to, from the caller of the function that
 * allocates outwards to the C function FUNCTION ("-": nothing was running), and
 * are those of their file.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <lauxlib.h>
#include <link.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define APART __attribute__((noinline, noclone))
#define FRAMES 400
/* The call before it is no jump. */
#define END_OF_CALL __asm__ volatile("" ::: "memory")

static int number = 1000;
static FILE *notes;

static unsigned long in_file(void *at)
{
	struct link_map *map;
	Dl_info info;

	return dladdr1(at, &info, (void **)&map, RTLD_DL_LINKMAP) ? (uintptr_t)at - map->l_addr : 0;
}

/* The frames from the caller of leaf() on, OUTER of them in all. */
static APART void note(const char *function, int outer)
{
	void *at[FRAMES];
	int n = backtrace(at, FRAMES), i;

	fprintf(notes, "stack %d %s", number, function);
	for (i = 2; i < n && i < 2 + outer; i++)
		fprintf(notes, " %#lx", in_file(at[i]));
	fputc('\n', notes);
}

static APART void leaf(lua_State *L, const char *function, int outer)
{
	note(function, outer);
	lua_createtable(L, number++, 0);
	lua_pop(L, 1);
	END_OF_CALL;
}

static APART void deeper(lua_State *L, const char *function, int depth, int outer)
{
	if (depth > 0)
		deeper(L, function, depth - 1, outer);
	else
		leaf(L, function, outer);
	END_OF_CALL;
}

static int plain(lua_State *L)
{
	leaf(L, "plain", 1);
	return 0;
}

static int deep(lua_State *L)
{
	int depth = (int)lua_tointeger(L, 1);

	deeper(L, "deep", depth, depth + 2);
	return 0;
}

/* The frame is found through the frame register. */
static int sized(lua_State *L)
{
	size_t n = (size_t)lua_tointeger(L, 1);
	volatile char *room = __builtin_alloca(n);

	room[0] = room[n - 1] = 1;
	leaf(L, "sized", 1);
	return room[0] - 1;
}

/* The frame's address is stored in the frame. */
static int aligned(lua_State *L)
{
	size_t n = (size_t)lua_tointeger(L, 1);
	_Alignas(64) volatile char block[64];
	volatile char *room = __builtin_alloca(n);

	block[0] = room[0] = room[n - 1] = 1;
	leaf(L, "aligned", 1);
	return block[0] - room[0];
}

/* More stack than is recorded. */
static int huge(lua_State *L)
{
	volatile char room[200000];

	room[0] = room[sizeof(room) - 1] = 1;
	leaf(L, "huge", 1);
	return room[0] - 1;
}

/* Calls Lua, which calls C. */
static int through(lua_State *L)
{
	lua_pushvalue(L, 1);
	lua_pushinteger(L, 3);
	lua_call(L, 1, 0);
	leaf(L, "through", 1);
	return 0;
}

static int in_protected_call(lua_State *L)
{
	leaf(L, "in_protected_call", 1);
	return luaL_error(L, "on purpose");
}

/* Between the C function and what allocates are frames of the VM, which has made
 * one of its own to load a chunk. */
struct source {
	const char *text;
	int frames; /* from the C function outwards */
};

static APART int count_frames(void)
{
	void *at[FRAMES];

	return backtrace(at, FRAMES) - 1;
}

static const char *read_source(lua_State *L, void *ud, size_t *size)
{
	struct source *source = ud;
	const char *text = source->text;

	leaf(L, "loads", count_frames() - source->frames + 1);
	source->text = NULL;
	*size = text ? strlen(text) : 0;
	return text;
}

static APART int load(lua_State *L, struct source *source)
{
	int status = lua_load(L, read_source, source, "=read");

	END_OF_CALL;
	return status;
}

static int loads(lua_State *L)
{
	struct source source = { "local t = {} return t", count_frames() };

	if (load(L, &source) || lua_pcall(L, 0, 0, 0))
		return lua_error(L);
	END_OF_CALL;
	return 0;
}

/* The same in a function that no Lua code has called. */
static int loads_protected(lua_State *L)
{
	if (lua_cpcall(L, loads, NULL))
		return lua_error(L);
	END_OF_CALL;
	return 0;
}

/* Another stack than the one the VM has called on. */
static ucontext_t back, fiber;
static lua_State *fiber_state;

static void fiber_main(void)
{
	leaf(fiber_state, "elsewhere", 1);
	END_OF_CALL;
}

static int elsewhere(lua_State *L)
{
	static char stack[65536];

	fiber_state = L;
	getcontext(&fiber);
	fiber.uc_stack.ss_sp = stack;
	fiber.uc_stack.ss_size = sizeof(stack);
	fiber.uc_link = &back;
	makecontext(&fiber, fiber_main, 0);
	swapcontext(&back, &fiber);
	return 0;
}

static APART void set_up(lua_State *L)
{
	leaf(L, "-", 2); /* itself and main() */
	END_OF_CALL;
}

static void *thread_main(void *arg)
{
	lua_State *L = arg;

	deeper(L, "-", 2, 4);
	return NULL;
}

static const luaL_Reg functions[] = { { "plain", plain },
				      { "deep", deep },
				      { "sized", sized },
				      { "aligned", aligned },
				      { "huge", huge },
				      { "through", through },
				      { "in_protected_call", in_protected_call },
				      { "loads", loads },
				      { "loads_protected", loads_protected },
				      { "elsewhere", elsewhere },
				      { NULL, NULL } };

int main(int argc, char **argv)
{
	lua_State *L = luaL_newstate();
	pthread_t thread;

	if (argc < 3 || !L || !(notes = fopen(argv[1], "w")))
		return 2;
	luaL_openlibs(L);
	luaL_register(L, "host", functions);
	lua_pop(L, 1);
	set_up(L);
	if (luaL_dofile(L, argv[2])) {
		fprintf(stderr, "%s\n", lua_tostring(L, -1));
		return 1;
	}
	if (pthread_create(&thread, NULL, thread_main, L) || pthread_join(thread, NULL))
		return 2;
	set_up(L);
	lua_close(L);
	return fclose(notes) != 0;
}
