/* lib_symbols.h - modules that are built for a test, and what ljperf and other
 * tools know of their functions.  Used by check_symbolize.c and check_symcache.c.
 */
#ifndef LJPERF_TESTS_LIB_SYMBOLS_H
#define LJPERF_TESTS_LIB_SYMBOLS_H

#include "report/symbolize.h"
#include "report/symbolize_files.h"

/* Flags to build tests/hosts/cmod.c as a library, and as a program. */
#define SO "$CC -shared -fPIC -Wl,--build-id "
#define EXE "$CC -nostdlib -Wl,-e,cmod_make -Wl,--unresolved-symbols=ignore-all -Wl,--build-id "

/* Of the test that runs; the options count from the next begin on. */
extern struct symbolizer *symbols;
extern struct symbolizer_opts symbols_opts;

/* Fixtures: each test has a folder of its own, where the cache is, too. */
void symbols__setup(void);
void symbols__teardown(void);

void symbols__begin(void);
void symbols__end(void);

/* A module at PATH, made absolute, with the build id of ID_OF, NULL: with none. */
struct module module_of(const char *path, const char *id_of);

/* "FUNCTION at FILE:LINE" for each frame at ADDR, a line each. */
void symbols__ask(const struct module *m, uint64_t addr, struct strbuf *out);

bool have_tool(const char *tool);
/* Runs CMD, which may name $CC and $SRC, the source of cmod.c. */
void run_shell(const char *cmd);

struct function {
	uint64_t addr, size;
	char name[200];
};

enum { FUNCTIONS_MAX = 64 };

/* The functions of a file that have a size, as nm lists them. */
size_t list_functions(const char *nm, const char *file, struct function *f);

/* Every address of every function of FILE: frames as addr2line -i has them for
 * REF, which has the debug information. */
void compare_lines(const struct module *m, const char *ref);

uint8_t *symbols__read(const char *path, size_t *len);
void symbols__write(const char *path, const uint8_t *buf, size_t len);

#endif
