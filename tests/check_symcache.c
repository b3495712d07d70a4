/* check_symcache.c - what is kept between reports of the names in modules: it is
 * used, and nothing that is wrong with it is believed.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/lib_suite.h"
#include "tests/lib_symbols.h"

static char cache[4096 + 200];

/* The one file of the cache. */
static void find_cache(void)
{
	FILE *p = popen("ls ljperf/symbols", "r");
	char name[200] = "";

	ck_assert_ptr_nonnull(fgets(name, sizeof(name), p));
	name[strcspn(name, "\n")] = '\0';
	pclose(p);
	snprintf(cache, sizeof(cache), "ljperf/symbols/%s", name);
}

static void fill_cache(const struct module *m, const struct function *f, size_t n)
{
	struct strbuf got = STRBUF_INIT;
	size_t i;

	symbols_opts.no_cache = false;
	symbols__begin();
	for (i = 0; i < n; i++)
		symbols__ask(m, f[i].addr, &got);
	symbolizer__save(symbols);
	symbols__end();
	strbuf__exit(&got);
}

/* How many of the functions have a name. */
static size_t count_named(const struct module *m, const struct function *f, size_t n)
{
	struct strbuf got = STRBUF_INIT;
	size_t i, named = 0;

	symbols__begin();
	for (i = 0; i < n; i++) {
		symbols__ask(m, f[i].addr, &got);
		named += got.len > 0;
	}
	symbols__end();
	strbuf__exit(&got);
	return named;
}

START_TEST(test_cache)
{
	struct function f[FUNCTIONS_MAX];
	struct module m;
	struct stat st;
	size_t n;

	run_shell(SO "-g -O2 $SRC -o x.so; cp x.so ref");
	n = list_functions("nm", "ref", f);
	m = module_of("x.so", "x.so");
	fill_cache(&m, f, n);
	find_cache();
	ck_assert_int_eq(stat(cache, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	run_shell("rm x.so");
	ck_assert_uint_eq(count_named(&m, f, n), n);
	symbols__begin();
	symbols_opts.no_cache = true;
	symbols__end();
	ck_assert_uint_eq(count_named(&m, f, n), 0);
	/* With the file there, the answers are the same as without the cache. */
	symbols_opts.no_cache = false;
	symbols__begin();
	run_shell("cp ref x.so");
	compare_lines(&m, "ref");
}
END_TEST

/* Each byte another one, and each length: it is not believed.  The name of the
 * file stands for all that could be wrong with the module. */
START_TEST(test_bad_cache)
{
	struct function f[FUNCTIONS_MAX];
	struct module m;
	size_t n, len, i;
	uint8_t *buf;

	run_shell(SO "-g -O2 $SRC -o x.so; cp x.so ref");
	n = list_functions("nm", "ref", f);
	m = module_of("x.so", "x.so");
	fill_cache(&m, f, n);
	find_cache();
	buf = symbols__read(cache, &len);
	run_shell("rm x.so");
	for (i = 0; i < len; i++) {
		buf[i] ^= 0x20;
		symbols__write(cache, buf, len);
		buf[i] ^= 0x20;
		ck_assert_uint_eq(count_named(&m, f, n), 0);
		symbols__write(cache, buf, i);
		ck_assert_uint_eq(count_named(&m, f, n), 0);
	}
	symbols__write(cache, buf, len);
	ck_assert_uint_eq(count_named(&m, f, n), n);
	ck_assert_int_eq(chmod(cache, 0622), 0); /* others may have written it */
	ck_assert_uint_eq(count_named(&m, f, n), 0);
	free(buf);
}
END_TEST

/* A debug file that comes later is better than what is remembered. */
START_TEST(test_stale_cache)
{
	struct function f[FUNCTIONS_MAX];
	struct module m;
	size_t n;

	run_shell(SO "-g -O2 $SRC -o ref; cp ref x.so; strip x.so");
	n = list_functions("nm", "ref", f);
	m = module_of("x.so", "x.so");
	symbols_opts.debug_dir = "debug";
	fill_cache(&m, f, n);
	ck_assert_uint_lt(count_named(&m, f, n), n);
	run_shell("id=$(readelf -n x.so | sed -n 's/.*Build ID: //p'); rest=${id#??}; "
		  "mkdir -p debug/.build-id/${id%$rest}; "
		  "objcopy --only-keep-debug ref debug/.build-id/${id%$rest}/$rest.debug");
	symbols__begin();
	compare_lines(&m, "ref");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("symcache");
	TCase *tc = tcase_create("cache");

	tcase_add_checked_fixture(tc, symbols__setup, symbols__teardown);
	tcase_add_test(tc, test_cache);
	tcase_add_test(tc, test_bad_cache);
	tcase_add_test(tc, test_stale_cache);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
