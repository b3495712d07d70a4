/* check_modules.c - which module an address lies in, and which name of a C
 * function counts, as modules come and go.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/names.h"
#include "report/symtab.h"
#include "tests/lib_stream.h"
#include "tests/lib_suite.h"

static struct symtab *st;

static void setup(void)
{
	st = symtab__new();
	ck_assert_ptr_nonnull(st);
	symtab__begin_session(st);
}

static void teardown(void)
{
	symtab__delete(st);
}

static void add_module(const char *path, uint64_t start, uint64_t end, uint64_t bias)
{
	struct session_module m = { .start = start,
				    .end = end,
				    .bias = bias,
				    .path = path,
				    .path_len = strlen(path),
				    .build_id = path,
				    .build_id_len = strlen(path) };

	ck_assert_int_eq(symtab__module(st, &m), 0);
}

static const char *path_at(uint64_t addr)
{
	uint32_t id = modules__find(&st->modules, addr);

	return id == MODULE_NONE ? "" : strpool__get(&st->strings, st->modules.at[id].path)->s;
}

/* ---- where modules lie ---- */

/* The same as writing the number of each module over a piece of memory. */
START_TEST(test_ranges)
{
	enum { SPACE = 64, MODULES = 40 };
	int model[SPACE] = { 0 };
	uint32_t seed = (uint32_t)_i + 1;
	int n, i;

	for (n = 1; n <= MODULES; n++) {
		uint64_t start, end;
		char path[8];

		seed = seed * 1103515245 + 12345;
		start = (seed >> 8) % SPACE;
		end = start + (seed >> 16) % (SPACE - start + 1);
		snprintf(path, sizeof(path), "%d", n % 7 + 1); /* some are told again */
		add_module(path, start, end, 0);
		for (i = (int)start; i < (int)end; i++)
			model[i] = n % 7 + 1;
		for (i = 0; i < SPACE; i++)
			ck_assert_int_eq(atoi(path_at((uint64_t)i)), model[i]);
	}
}
END_TEST

START_TEST(test_edges)
{
	add_module("all", 0, UINT64_MAX, 0);
	add_module("none", 10, 10, 0);
	add_module("turned", 20, 10, 0);
	add_module("page", 0x1000, 0x2000, 0);
	ck_assert_str_eq(path_at(0), "all");
	ck_assert_str_eq(path_at(10), "all");
	ck_assert_str_eq(path_at(0xfff), "all");
	ck_assert_str_eq(path_at(0x1000), "page");
	ck_assert_str_eq(path_at(0x1fff), "page");
	ck_assert_str_eq(path_at(0x2000), "all");
	ck_assert_str_eq(path_at(UINT64_MAX - 1), "all");
	ck_assert_str_eq(path_at(UINT64_MAX), "");
	symtab__begin_session(st);
	ck_assert_str_eq(path_at(0x1000), "");
}
END_TEST

/* What is told again takes no memory. */
START_TEST(test_told_again)
{
	int i;

	for (i = 0; i < 100000; i++)
		add_module(i % 2 ? "a" : "b", 0x1000, 0x2000, 0x1000);
	ck_assert_uint_eq(st->modules.n, 2);
}
END_TEST

/* Many modules, each over the half of the one before: not quadratic. */
START_TEST(test_many)
{
	uint64_t i, n = 100000;

	for (i = 0; i < n; i++)
		add_module("x", i * 16, i * 16 + 24, i);
	ck_assert_uint_eq(st->modules.n, n);
	ck_assert_str_eq(path_at(n * 8), "x");
}
END_TEST

/* ---- names of C functions, in a session file ---- */

static uint32_t site_at(uint64_t addr)
{
	struct ljm_loc loc = loc_c(addr);

	return symtab__site(st, &loc, 0);
}

static void assert_name(uint32_t site, const char *want)
{
	struct strbuf sb = STRBUF_INIT;

	names__site(st, site, NAME_TABLE, &sb);
	ck_assert_str_eq(strbuf__str(&sb), want);
	strbuf__exit(&sb);
}

static void name_c(uint64_t addr, const char *name)
{
	struct ljm_symbol sym = {
		.source = LJM_SRC_C, .addr = addr, .name = name, .name_len = strlen(name)
	};

	ck_assert_int_eq(symtab__symbol(st, &sym), 0);
}

/* Two libraries take turns at one base, and only functions of one have names.
 * 0x7010 - 0x7000 = 0x10. */
START_TEST(test_turns)
{
	uint32_t a, b;

	symtab__exact_c(st);
	add_module("/lib/a.so", 0x7000, 0x8000, 0x7000);
	name_c(0x7010, "a.new");
	a = site_at(0x7010);
	add_module("/lib/b.so", 0x7000, 0x8000, 0x7000);
	b = site_at(0x7010);
	ck_assert_uint_ne(a, b);
	assert_name(a, "a.new");
	assert_name(b, "b.so+0x10");
	add_module("/lib/a.so", 0x7000, 0x8000, 0x7000);
	ck_assert_uint_eq(site_at(0x7010), a);
	add_module("/lib/b.so", 0x7000, 0x8000, 0x7000);
	ck_assert_uint_eq(site_at(0x7010), b);
	name_c(0x7010, "b.new");
	assert_name(site_at(0x7010), "b.new");
	assert_name(a, "a.new");
}
END_TEST

/* The same file at another base: the offset counts from it. */
START_TEST(test_moved)
{
	symtab__exact_c(st);
	add_module("/lib/a.so", 0x7000, 0x8000, 0x6000);
	assert_name(site_at(0x7010), "a.so+0x1010");
	add_module("/lib/a.so", 0x7000, 0x8000, 0x5000);
	assert_name(site_at(0x7010), "a.so+0x2010");
}
END_TEST

/* A name is that of its address only; in the stream of another tool, whose
 * symbols are those of whole libraries, of what follows, too. */
START_TEST(test_exact)
{
	name_c(0x7010, "first");
	assert_name(site_at(0x7018), "first");
	symtab__begin_session(st);
	symtab__exact_c(st);
	name_c(0x7010, "second"); /* before anything is known to lie there */
	add_module("/lib/a.so", 0x7000, 0x8000, 0x7000);
	assert_name(site_at(0x7018), "a.so+0x18");
	assert_name(site_at(0x7010), "second");
	assert_name(site_at(0x9000), "CFUNC 0x9000");
}
END_TEST

/* Names of strangers: a folder is cut off, what steers a terminal is escaped. */
START_TEST(test_paths)
{
	symtab__exact_c(st);
	add_module("/a/b\n\033[31m.so", 0x7000, 0x8000, 0x7000);
	assert_name(site_at(0x7001), "b\\n\\x1b[31m.so+0x1");
	add_module("[vdso]", 0x9000, 0xa000, 0x9000);
	assert_name(site_at(0x9002), "[vdso]+0x2");
	add_module("", 0xb000, 0xc000, 0xb000);
	assert_name(site_at(0xb003), "[unknown]+0x3");
}
END_TEST

/* ---- what a name does not say ---- */

static void add_trace(uint64_t num, uint32_t root, uint32_t link, enum ljm_linktype type)
{
	struct ljm_symbol sym = { .source = LJM_SRC_TRACE,
				  .trace_num = num,
				  .proto_addr = 0x1000,
				  .line = 3,
				  .has_detail = true,
				  .trace_root = root,
				  .trace_link = link,
				  .trace_linktype = (uint8_t)type };

	ck_assert_int_eq(symtab__symbol(st, &sym), 0);
}

static void assert_detail(uint32_t site, const char *want)
{
	struct strbuf sb = STRBUF_INIT;

	names__detail(st, site, &sb);
	ck_assert_str_eq(strbuf__str(&sb), want);
	strbuf__exit(&sb);
}

static uint32_t trace_site(uint64_t num)
{
	struct ljm_loc loc = loc_trace(num);

	return symtab__site(st, &loc, 0);
}

START_TEST(test_details)
{
	add_trace(1, 0, 1, LJM_LINK_LOOP);
	add_trace(2, 1, 1, LJM_LINK_ROOT);
	add_trace(3, 0, 0, LJM_LINK_STITCH);
	assert_detail(trace_site(1), " (loop)");
	assert_detail(trace_site(2), " (side trace of 1, links to 1: root)");
	assert_detail(trace_site(3), " (stitch)");
	assert_detail(trace_site(4), ""); /* never described */
	symtab__exact_c(st);
	add_module("/lib/a.so", 0x7000, 0x8000, 0x6000);
	name_c(0x7010, "a.new");
	assert_detail(site_at(0x7010), " (a.so+0x1010)");
	assert_detail(site_at(0x7020), ""); /* that is its name */
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("modules");
	TCase *where = tcase_create("where"), *names = tcase_create("names");

	tcase_add_checked_fixture(where, setup, teardown);
	tcase_add_loop_test(where, test_ranges, 0, 100);
	tcase_add_test(where, test_edges);
	tcase_add_test(where, test_told_again);
	tcase_add_test(where, test_many);
	tcase_add_checked_fixture(names, setup, teardown);
	tcase_add_test(names, test_turns);
	tcase_add_test(names, test_moved);
	tcase_add_test(names, test_exact);
	tcase_add_test(names, test_paths);
	tcase_add_test(names, test_details);
	suite_add_tcase(suite, where);
	suite_add_tcase(suite, names);
	return run_suite(suite);
}
