/* check_report_merge.c - reports and exports of several recordings whose files
 * have the same name and other functions.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "ljperf.h"
#include "tests/lib_stream.h"
#include "tests/lib_suite.h"

enum { A = 0x1000 };

/* A recording of app.lua in which line 11 is of a function on lines 10 to 20
 * that is called NAME; "" is no name. */
static const char *recording(const char *name, uint64_t size, char *path)
{
	const struct session_header h = { .vm_number = 1, .vm_version = "LuaJIT" };
	const struct ljm_symbol sym = { .source = LJM_SRC_LUA,
					.addr = A,
					.name = "@app.lua",
					.name_len = 8,
					.line = 10,
					.has_detail = true,
					.func_name = name,
					.func_name_len = strlen(name),
					.last_line = 20 };
	const struct ljm_event ev = {
		.kind = LJM_ALLOC, .loc = loc_lua(A, 11), .new_addr = 0x10, .new_size = size
	};
	const struct session_footer end = { .end_kind = SESSION_END_EXIT };
	int fd = memory_file(path, 64);
	struct session_writer *w = session_writer__new(fd, &h, NULL);

	ck_assert_ptr_nonnull(w);
	ck_assert_int_eq(session_writer__symbol(w, &sym), 0);
	ck_assert_int_eq(session_writer__event(w, &ev), 0);
	ck_assert_int_eq(session_writer__finish(w, &end), 0);
	session_writer__delete(w);
	return path;
}

static char first[64], second[64], third[64];

static void assert_rows(const char *sort, const char *want)
{
	struct output o = run_command(cmd_report, "report", "-q", "-t", ",", "-F", "allocated",
				      "-s", sort, first, second, third, NULL);

	ck_assert_str_eq(strbuf__str(&o.err), "");
	ck_assert_str_eq(strbuf__str(&o.out), want);
	output__exit(&o);
}

static void assert_folded(const char *want)
{
	struct output o = run_command(cmd_export, "export", "--format", "folded", "--by", "func",
				      first, second, third, NULL);

	ck_assert_str_eq(strbuf__str(&o.err), "");
	ck_assert_str_eq(strbuf__str(&o.out), want);
	output__exit(&o);
}

/* A function has no name because the recorder saw no call of it: what another
 * version of the file has on these lines may be another one. */
START_TEST(test_no_name)
{
	char want[512];

	recording("parse", 100, first);
	recording("", 7, second);
	recording("parse", 1, third);
	snprintf(want, sizeof(want),
		 "100,VM 1 of %s,parse  app.lua:11\n"
		 "7,VM 1 of %s,app.lua:11\n"
		 "1,VM 1 of %s,parse  app.lua:11\n",
		 first, second, third);
	assert_rows("vm,symbol", want);
	assert_folded("parse@app.lua:10 101\n"
		      "function_<app.lua:10>@app.lua:10 7\n");
}
END_TEST

/* A place is a row; of what function is said after the largest. */
START_TEST(test_no_name_by_place)
{
	recording("", 100, first);
	recording("parse", 7, second);
	recording("", 1, third);
	assert_rows("symbol", "108,parse  app.lua:11\n");
	assert_rows("func", "108,lua,parse  app.lua:10\n");
}
END_TEST

/* Two functions are two rows by function, and not called alike anywhere. */
START_TEST(test_other_name)
{
	recording("parse", 100, first);
	recording("fresh", 7, second);
	recording("parse", 1, third);
	assert_rows("func", "101,lua,parse  app.lua:10\n7,lua,fresh  app.lua:10\n");
	assert_rows("symbol", "108,parse  app.lua:11\n");
	assert_folded("parse@app.lua:10 101\nfresh@app.lua:10 7\n");
}
END_TEST

/* What is not known to be of either is a row of its own. */
START_TEST(test_unknown_of_two)
{
	recording("parse", 100, first);
	recording("fresh", 70, second);
	recording("", 1, third);
	assert_rows("func", "100,lua,parse  app.lua:10\n"
			    "70,lua,fresh  app.lua:10\n"
			    "1,lua,app.lua:10\n");
}
END_TEST

START_TEST(test_csv)
{
	struct output o;

	recording("parse", 100, first);
	recording("fresh", 7, second);
	o = run_command(cmd_export, "export", "--format", "csv", "-s", "func", "-F", "allocated",
			first, second, NULL);
	assert_has(&o.out, "\n100,");
	assert_has(&o.out, "\n7,");
	output__exit(&o);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("report of several");
	TCase *c = tcase_create("names");

	tcase_add_test(c, test_no_name);
	tcase_add_test(c, test_no_name_by_place);
	tcase_add_test(c, test_other_name);
	tcase_add_test(c, test_unknown_of_two);
	tcase_add_test(c, test_csv);
	suite_add_tcase(s, c);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
