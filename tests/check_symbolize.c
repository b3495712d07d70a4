/* check_symbolize.c - names and lines of C functions, compared with what
 * binutils say of the same file; and files that are not what they should be.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/demangle.h"
#include "tests/lib_suite.h"
#include "tests/lib_symbols.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The functions that nm lists for REF have these names, and no line. */
static size_t compare_names(const struct module *m, const char *nm, const char *ref)
{
	struct function f[FUNCTIONS_MAX];
	size_t n = list_functions(nm, ref, f), i;
	struct strbuf want = STRBUF_INIT, got = STRBUF_INIT;

	for (i = 0; i < n; i++) {
		strbuf__reset(&want);
		if (!demangle__append(f[i].name, &want))
			strbuf__addstr(&want, f[i].name);
		strbuf__addstr(&want, " at ??:0\n");
		symbols__ask(m, f[i].addr, &got);
		ck_assert_str_eq(strbuf__str(&got), strbuf__str(&want));
		symbols__ask(m, f[i].addr + f[i].size - 1, &got); /* its last byte */
		ck_assert_str_eq(strbuf__str(&got), strbuf__str(&want));
	}
	strbuf__exit(&want);
	strbuf__exit(&got);
	return n;
}

/* ---- ways to build ---- */

static const struct {
	const char *name, *build, *needs;
} with_lines[] = {
	{ "optimised", SO "-g -O2 $SRC -o x.so; cp x.so ref", NULL },
	{ "not optimised", SO "-g -O0 $SRC -o x.so; cp x.so ref", NULL },
	{ "DWARF 4", SO "-gdwarf-4 -O2 $SRC -o x.so; cp x.so ref", NULL },
	{ "compressed", SO "-g -gz -O2 $SRC -o x.so; cp x.so ref", NULL },
	{ "no index by address", "clang -shared -fPIC -g -O2 $SRC -o x.so; cp x.so ref", "clang" },
	{ "PIE", EXE "-pie -fPIE -g -O2 $SRC -o x.so; cp x.so ref", NULL },
	{ "not PIE", EXE "-no-pie -g -O2 $SRC -o x.so; cp x.so ref", NULL },
	{ "first segment not at 0",
	  SO "-g -O2 -Wl,-Ttext-segment=0x200000 $SRC -o x.so; cp x.so ref", NULL },
	{ "segments apart",
	  SO "-g -O2 -Wl,-z,separate-code -Wl,-z,max-page-size=0x200000 $SRC -o x.so; "
	     "cp x.so ref",
	  NULL },
	{ "segments together", SO "-g -O2 -Wl,-z,noseparate-code $SRC -o x.so; cp x.so ref", NULL },
	{ "debug file by build id, --debug-dir",
	  SO
	  "-g -O2 $SRC -o x.so; cp x.so ref; id=$(readelf -n x.so | sed -n 's/.*Build ID: //p'); "
	  "rest=${id#??}; mkdir -p debug/.build-id/${id%$rest}; "
	  "objcopy --only-keep-debug x.so debug/.build-id/${id%$rest}/$rest.debug; strip x.so",
	  NULL },
	{ "debug link in the folder",
	  SO "-g -O2 $SRC -o x.so; cp x.so ref; objcopy --only-keep-debug x.so x.debug; "
	     "strip x.so; objcopy --add-gnu-debuglink=x.debug x.so",
	  NULL },
	{ "debug link in .debug, no build id: by CRC",
	  "$CC -shared -fPIC -Wl,--build-id=none -g -O2 $SRC -o x.so; cp x.so ref; "
	  "objcopy --only-keep-debug x.so x.debug; strip x.so; "
	  "objcopy --add-gnu-debuglink=x.debug x.so; mkdir .debug; mv x.debug .debug/",
	  NULL },
	{ "debug link in a tree of debug files",
	  SO "-g -O2 $SRC -o x.so; cp x.so ref; objcopy --only-keep-debug x.so x.debug; "
	     "strip x.so; objcopy --add-gnu-debuglink=x.debug x.so; "
	     "mkdir -p debug$PWD; mv x.debug debug$PWD/",
	  NULL },
	/* dwz of 2022 knows not all sections that clang writes as DWARF 5. */
	{ "supplementary debug file",
	  SO "-gdwarf-4 -O2 $SRC -o x.so; cp x.so ref; "
	     "cp x.so y.so; dwz -m common x.so y.so",
	  "dwz" },
};

START_TEST(test_with_lines)
{
	struct module m;

	if (with_lines[_i].needs && !have_tool(with_lines[_i].needs)) {
		printf("skip %s %s is not installed\n", with_lines[_i].name, with_lines[_i].needs);
		return;
	}
	run_shell(with_lines[_i].build);
	symbols_opts.debug_dir = "debug";
	m = module_of("x.so", "x.so");
	symbols__begin();
	compare_lines(&m, "ref");
}
END_TEST

static const struct {
	const char *name, *build, *nm, *needs;
	size_t least; /* functions */
} without_lines[] = {
	{ "symbol table", SO "-O2 $SRC -o x.so; cp x.so ref", "nm", NULL, 8 },
	{ "dynamic symbols", SO "-O2 $SRC -o x.so; strip x.so; cp x.so ref", "nm -D", NULL, 4 },
	{ "mini debug information",
	  SO "-O2 -ffunction-sections $SRC -o x.so; cp x.so ref; objcopy -S --keep-symbol=hidden "
	     "--keep-symbol=closure --keep-symbol=nameless x.so mini; xz -z mini; strip x.so; "
	     "objcopy --add-section .gnu_debugdata=mini.xz x.so; xz -d mini.xz; mv mini ref",
	  "nm", "xz", 3 },
};

START_TEST(test_without_lines)
{
	struct module m;

	if (without_lines[_i].needs && !have_tool(without_lines[_i].needs)) {
		printf("skip %s %s is not installed\n", without_lines[_i].name,
		       without_lines[_i].needs);
		return;
	}
	run_shell(without_lines[_i].build);
	m = module_of("x.so", "x.so");
	symbols__begin();
	ck_assert_uint_ge(compare_names(&m, without_lines[_i].nm, "ref"), without_lines[_i].least);
}
END_TEST

/* The static functions of a stripped library have no name: not that of the
 * exported one before them. */
START_TEST(test_no_name)
{
	struct function f[FUNCTIONS_MAX];
	struct strbuf got = STRBUF_INIT;
	struct module m;
	size_t i, n, tried = 0;

	run_shell(SO "-O2 $SRC -o ref; cp ref x.so; strip x.so");
	n = list_functions("nm", "ref", f);
	m = module_of("x.so", "x.so");
	symbols__begin();
	for (i = 0; i < n; i++) {
		if (strcmp(f[i].name, "hidden") && strcmp(f[i].name, "nameless"))
			continue;
		symbols__ask(&m, f[i].addr, &got);
		ck_assert_str_eq(strbuf__str(&got), "");
		tried++;
	}
	ck_assert_uint_eq(tried, 2);
	strbuf__exit(&got);
}
END_TEST

START_TEST(test_mangled)
{
	struct strbuf got = STRBUF_INIT;
	struct function f[FUNCTIONS_MAX];
	struct module m;
	size_t i, n;

	run_shell(SO "-O2 $SRC -o x.so");
	n = list_functions("nm -D", "x.so", f);
	symbols_opts.mangled = true;
	m = module_of("x.so", "x.so");
	symbols__begin();
	for (i = 0; i < n; i++) {
		symbols__ask(&m, f[i].addr, &got);
		ck_assert_int_eq(strncmp(strbuf__str(&got), f[i].name, strlen(f[i].name)), 0);
	}
	strbuf__exit(&got);
}
END_TEST

/* ---- files that are not what they should be ---- */

static const struct {
	const char *name, *make;
} no_files[] = {
	{ "not there", ":" },
	{ "a folder", "mkdir x.so" },
	{ "a FIFO", "mkfifo x.so" },
	{ "a device", "ln -s /dev/zero x.so" },
	{ "a socket's end", "ln -s /proc/self/fd/0 x.so" },
	{ "a link to itself", "ln -s x.so x.so" },
	{ "empty", ": >x.so" },
	{ "text", "echo hello >x.so" },
	{ "a head only", "head -c 64 ref >x.so" },
	{ "four bytes", "printf '\\177ELF' >x.so" },
	{ "another file", SO "-O1 $SRC -o x.so" },
	{ "no build id", "$CC -shared -fPIC -Wl,--build-id=none $SRC -o x.so" },
	{ "an object file", "$CC -c -fPIC $SRC -o x.so" },
};

START_TEST(test_no_file)
{
	struct function f[FUNCTIONS_MAX];
	struct strbuf got = STRBUF_INIT;
	struct module m;

	run_shell(SO "-g -O2 $SRC -o ref");
	run_shell(no_files[_i].make);
	m = module_of("x.so", "ref");
	ck_assert_uint_gt(list_functions("nm", "ref", f), 0);
	symbols__begin();
	symbols__ask(&m, f[0].addr, &got);
	ck_assert_str_eq(strbuf__str(&got), "");
	strbuf__exit(&got);
}
END_TEST

/* A debug file that is a FIFO, and a link to one. */
START_TEST(test_debug_fifo)
{
	struct strbuf got = STRBUF_INIT;
	struct module m;

	run_shell(
		SO
		"-g -O2 $SRC -o x.so; objcopy --only-keep-debug x.so x.debug; strip x.so; "
		"objcopy --add-gnu-debuglink=x.debug x.so; rm x.debug; mkfifo x.debug; "
		"id=$(readelf -n x.so | sed -n 's/.*Build ID: //p'); rest=${id#??}; "
		"mkdir -p debug/.build-id/${id%$rest}; mkfifo debug/.build-id/${id%$rest}/$rest.debug");
	symbols_opts.debug_dir = "debug";
	m = module_of("x.so", "x.so");
	symbols__begin();
	ck_assert_uint_ge(compare_names(&m, "nm -D", "x.so"), 4);
	strbuf__exit(&got);
}
END_TEST

/* Asks of a damaged file; any answer is good that comes. */
static void ask_damaged(const struct function *f, size_t n)
{
	struct module m = module_of("x.so", NULL);
	struct strbuf got = STRBUF_INIT;
	size_t i;

	symbols__begin();
	for (i = 0; i < n; i++)
		symbols__ask(&m, f[i].addr, &got);
	symbols__ask(&m, UINT64_MAX, &got);
	symbols__end();
	strbuf__exit(&got);
}

START_TEST(test_truncated)
{
	struct function f[FUNCTIONS_MAX];
	size_t n, len, cut;
	uint8_t *buf;

	run_shell(SO "-g -O2 $SRC -o ref");
	n = list_functions("nm", "ref", f);
	buf = symbols__read("ref", &len);
	for (cut = 0; cut < len; cut += 101) {
		symbols__write("x.so", buf, cut);
		ask_damaged(f, n);
	}
	free(buf);
}
END_TEST

/* One byte in two hundred is another one. */
START_TEST(test_corrupt)
{
	struct function f[FUNCTIONS_MAX];
	size_t n, len, i;
	uint32_t seed = (uint32_t)_i * 7919 + 1;
	uint8_t *buf;
	int round;

	run_shell(SO "-g -O2 $SRC -o ref");
	n = list_functions("nm", "ref", f);
	for (round = 0; round < 20; round++) {
		buf = symbols__read("ref", &len);
		for (i = 64; i < len; i++) {
			seed = seed * 1103515245 + 12345;
			if (seed >> 16 < 65536 / 200)
				buf[i] = (uint8_t)(seed >> 8);
		}
		symbols__write("x.so", buf, len);
		ask_damaged(f, n);
		free(buf);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("symbolize");
	TCase *tc = tcase_create("files");

	setbuf(stdout, NULL); /* "skip" of a test that runs in a child */
	tcase_add_checked_fixture(tc, symbols__setup, symbols__teardown);
	tcase_add_loop_test(tc, test_with_lines, 0, COUNT(with_lines));
	tcase_add_loop_test(tc, test_without_lines, 0, COUNT(without_lines));
	tcase_add_test(tc, test_no_name);
	tcase_add_test(tc, test_mangled);
	tcase_add_loop_test(tc, test_no_file, 0, COUNT(no_files));
	tcase_add_test(tc, test_debug_fifo);
	tcase_add_test(tc, test_truncated);
	tcase_add_loop_test(tc, test_corrupt, 0, 5);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
