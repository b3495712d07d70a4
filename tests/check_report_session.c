/* check_report_session.c - several recordings, damaged ones, and what report,
 * script and info make of the marks, times and details of a session file.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "ljperf.h"
#include "tests/lib_stream.h"
#include "tests/lib_suite.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Addresses of prototypes. */
enum { A = 0x1000, B = 0x2000 };

static struct stream s;

/* ---- several files, damage ---- */

/* The same rows of two recordings are added; their addresses are not mixed. */
START_TEST(test_merge)
{
	struct stream two = { .path = "" };
	struct output o;
	const char *first, *second;

	stream__lua(&s, A, "@a.lua", 1);
	stream__alloc(&s, loc_lua(A, 1), 0x10, 100);
	first = stream__file(&s);
	stream__lua(&two, B, "@a.lua", 1);
	stream__alloc(&two, loc_lua(B, 1), 0x10, 11);
	stream__free(&two, loc_vm(), 0x10, 11);
	stream__alloc(&two, loc_lua(A, 1), 0x20, 5); /* A means nothing here */
	second = stream__file(&two);
	o = run_command(cmd_report, "report", "-q", "-t", ",", "-F", "allocated,allocs,live,symbol",
			first, second, NULL);
	ck_assert_str_eq(strbuf__str(&o.out), "111,2,100,a.lua:1\n5,1,5,0x1000:1\n");
	output__exit(&o);
}
END_TEST

START_TEST(test_cut)
{
	struct output o;

	stream__lua(&s, A, "@a.lua", 1);
	stream__alloc(&s, loc_lua(A, 1), 0x10, 100);
	o = run_command(cmd_report, "report", stream__cut(&s), NULL);
	ck_assert_int_eq(o.status, EXIT_LJPERF);
	assert_has(&o.err, "ljperf: warning: ");
	assert_has(&o.err, ": truncated at offset ");
	/* One line. */
	ck_assert_ptr_eq(strchr(strbuf__str(&o.err), '\n') + 1, o.err.buf + o.err.len);
	assert_has(&o.out, "100 B       1  100 B  lua     a.lua:1\n");
	output__exit(&o);
	o = run_command(cmd_report, "report", "-f", s.path, NULL);
	ck_assert_int_eq(o.status, 0);
	assert_has(&o.err, ": truncated at offset ");
	output__exit(&o);
}
END_TEST

/* 0x7f is no event: what stands before it is reported, the status tells. */
START_TEST(test_corrupt)
{
	struct output o;
	const char *path;

	stream__lua(&s, A, "@a.lua", 1);
	stream__alloc(&s, loc_lua(A, 1), 0x10, 100);
	strbuf__addch(&s.bytes, 0x7f);
	path = stream__file(&s);
	o = run_command(cmd_report, "report", path, NULL);
	ck_assert_int_eq(o.status, EXIT_LJPERF);
	assert_has(&o.err, ": corrupt at offset ");
	assert_has(&o.out, "a.lua:1\n");
	output__exit(&o);
	o = run_command(cmd_report, "report", "-f", path, NULL);
	ck_assert_int_eq(o.status, 0);
	output__exit(&o);
	o = run_command(cmd_script, "script", path, NULL);
	ck_assert_int_eq(o.status, EXIT_LJPERF);
	output__exit(&o);
	o = run_command(cmd_info, "info", path, NULL);
	ck_assert_int_eq(o.status, EXIT_LJPERF);
	assert_has(&o.out, "complete : no, corrupt at offset ");
	output__exit(&o);
}
END_TEST

/* ---- marks and times of a session file ---- */

static struct session_writer *writer;
static char session_path[64];

static void session__begin(const struct session_header *h)
{
	int fd = memory_file(session_path, sizeof(session_path));

	writer = session_writer__new(fd, h, NULL);
	ck_assert_ptr_nonnull(writer);
}

static void session__mark(enum session_mark_kind kind, uint64_t time_ns)
{
	struct session_mark m = { .kind = kind, .name = "", .time_ns = time_ns };

	ck_assert_int_eq(session_writer__mark(writer, &m), 0);
}

static void session__event(enum ljm_kind kind, struct ljm_loc loc, uint64_t addr, uint64_t size)
{
	struct ljm_event ev = { .kind = kind, .loc = loc, .vmstate = LJM_VMSTATE_GC };

	if (kind == LJM_ALLOC) {
		ev.new_addr = addr;
		ev.new_size = size;
	} else {
		ev.old_addr = addr;
		ev.old_size = size;
	}
	ck_assert_int_eq(session_writer__event(writer, &ev), 0);
}

/* 1000 bytes in the heap before; 100 and 50 bytes, of which 50 are collected
 * after the script, and all the rest when the VM closes. */
static void session__make(void)
{
	static const char *const argv[] = { "app.lua", "it's" };
	struct session_header h = {
		.argv = argv, .argc = 2, .vm_version = "LuaJIT 2.1.0-beta3", .heap_start = 1000
	};
	struct session_footer end = { .end_kind = SESSION_END_EXIT,
				      .end_code = 3,
				      .duration_ns = 2410000000 };
	struct ljm_symbol sym = { .source = LJM_SRC_LUA,
				  .addr = A,
				  .name = "@a.lua",
				  .name_len = 6,
				  .line = 1,
				  .has_detail = true,
				  .func_name = "parse",
				  .func_name_len = 5,
				  .last_line = 20 };

	session__begin(&h);
	ck_assert_int_eq(session_writer__symbol(writer, &sym), 0);
	session__event(LJM_ALLOC, loc_lua(A, 2), 0x10, 100);
	ck_assert_int_eq(session_writer__time(writer, 1920000000), 0);
	session__event(LJM_ALLOC, loc_lua(A, 3), 0x20, 50);
	session__mark(SESSION_MARK_SCRIPT_END, 2000000000);
	session__event(LJM_FREE, loc_vm(), 0x20, 50);
	session__mark(SESSION_MARK_FULL_GC, 2100000000);
	session__mark(SESSION_MARK_CLOSE, 2200000000);
	session__event(LJM_FREE, loc_vm(), 0x10, 100);
	session__event(LJM_FREE, loc_vm(), 0x30, 1000);
	ck_assert_int_eq(session_writer__finish(writer, &end), 0);
	session_writer__delete(writer);
}

START_TEST(test_marks)
{
	struct output o;

	session__make();
	o = run_command(cmd_report, "report", session_path, NULL);
	ck_assert_str_eq(strbuf__str(&o.err), "");
	assert_has(&o.out, ": app.lua 'it'\\''s', LuaJIT 2.1.0-beta3, 2.41 s, 5 events\n");
	/* The peak is 1000 + 100 + 50 = 1150 bytes, 1.1 KiB. */
	assert_has(&o.out,
		   "# allocated 150 B in 2 allocations \xc2\xb7 peak 1.1 KiB at 1.92 s \xc2\xb7 "
		   "live at exit 150 B, after full GC 100 B\n#\n");
	assert_has(&o.out, "    66.67%      100 B       1  100 B  lua     parse  a.lua:2\n");
	assert_has(&o.out, "    33.33%       50 B       1   50 B  lua     parse  a.lua:3\n");
	output__exit(&o);
}
END_TEST

static const struct {
	const char *metric, *out;
} metrics[] = {
	{ "live", "100,100,parse  a.lua:2\n50,0,parse  a.lua:3\n" },
	{ "leaked", "100,100,parse  a.lua:2\n" },
	{ "freed", "50,0,parse  a.lua:3\n" },
	{ "count", "100,100,parse  a.lua:2\n50,0,parse  a.lua:3\n" },
};

START_TEST(test_metrics)
{
	struct output o;

	session__make();
	o = run_command(cmd_report, "report", "-q", "-t", ",", "-F", "live,leaked,symbol",
			"--metric", metrics[_i].metric, session_path, NULL);
	ck_assert_str_eq(strbuf__str(&o.out), metrics[_i].out);
	output__exit(&o);
}
END_TEST

/* What lua_close() frees counts when it is asked for. */
START_TEST(test_with_close)
{
	struct output o;

	session__make();
	o = run_command(cmd_report, "report", "--format", "memprof", "--leak-only", session_path,
			NULL);
	ck_assert_str_eq(strbuf__str(&o.out),
			 "HEAP SUMMARY:\n@a.lua:2 holds 100B: 1 allocs, 0 frees\n\n");
	output__exit(&o);
	o = run_command(cmd_report, "report", "--format", "memprof", "--leak-only", "--with-close",
			session_path, NULL);
	ck_assert_str_eq(strbuf__str(&o.out), "HEAP SUMMARY:\n\n");
	output__exit(&o);
}
END_TEST

/* Two sessions: what each held at its own mark is added up. */
START_TEST(test_marks_of_two)
{
	char first[64];
	struct output o;

	session__make();
	snprintf(first, sizeof(first), "%s", session_path);
	session__make();
	o = run_command(cmd_report, "report", "-q", "-t", ",", "-F", "allocated,live,leaked,symbol",
			first, session_path, NULL);
	ck_assert_str_eq(strbuf__str(&o.out),
			 "200,200,200,parse  a.lua:2\n100,100,0,parse  a.lua:3\n");
	output__exit(&o);
}
END_TEST

START_TEST(test_info)
{
	struct output o;

	session__make();
	o = run_command(cmd_info, "info", session_path, NULL);
	ck_assert_int_eq(o.status, 0);
	assert_has(&o.out, "complete : yes\n");
	assert_has(&o.out, "cmdline : app.lua 'it'\\''s'\n");
	assert_has(&o.out, "events : 5 (2 alloc, 3 free, 0 realloc)\n");
	assert_has(&o.out, "marks : 3\n");
	assert_has(&o.out, "new bytes : 150 B (150)\n");
	assert_has(&o.out, "old bytes : 1.1 KiB (1150)\n"); /* 50 + 100 + 1000 */
	assert_has(&o.out, "duration : 2.41 s\n");
	assert_has(&o.out, "footer totals : agree with the events\n");
	assert_has(&o.out, "peak heap : 1.1 KiB (1150)\n");
	assert_has(&o.out, "end of target : exit status 3\n");
	output__exit(&o);
}
END_TEST

/* ---- script ---- */

START_TEST(test_script_json)
{
	struct output o;

	session__make();
	o = run_command(cmd_script, "script", "--json", session_path, NULL);
	ck_assert_str_eq(
		strbuf__str(&o.out),
		"{\"n\":1,\"event\":\"alloc\",\"source\":\"lua\",\"symbol\":\"@a.lua:2\","
		"\"chunk\":\"@a.lua\",\"line\":2,\"func\":\"parse\","
		"\"new_addr\":\"0x10\",\"new_size\":100}\n"
		"{\"n\":2,\"time_ns\":1920000000,\"event\":\"alloc\",\"source\":\"lua\","
		"\"symbol\":\"@a.lua:3\",\"chunk\":\"@a.lua\",\"line\":3,\"func\":\"parse\","
		"\"new_addr\":\"0x20\",\"new_size\":50}\n"
		"{\"n\":2,\"time_ns\":2000000000,\"event\":\"mark\",\"kind\":\"script-end\"}\n"
		"{\"n\":3,\"time_ns\":1920000000,\"event\":\"free\",\"source\":\"vm\","
		"\"symbol\":\"INTERNAL\",\"vmstate\":\"gc\",\"old_addr\":\"0x20\",\"old_size\":50}\n"
		"{\"n\":3,\"time_ns\":2100000000,\"event\":\"mark\",\"kind\":\"full-gc\"}\n"
		"{\"n\":3,\"time_ns\":2200000000,\"event\":\"mark\",\"kind\":\"close\"}\n"
		"{\"n\":4,\"time_ns\":1920000000,\"event\":\"free\",\"source\":\"vm\","
		"\"symbol\":\"INTERNAL\",\"vmstate\":\"gc\",\"old_addr\":\"0x10\",\"old_size\":100}\n"
		"{\"n\":5,\"time_ns\":1920000000,\"event\":\"free\",\"source\":\"vm\","
		"\"symbol\":\"INTERNAL\",\"vmstate\":\"gc\",\"old_addr\":\"0x30\",\"old_size\":1000}\n");
	output__exit(&o);
}
END_TEST

START_TEST(test_script_text)
{
	struct output o;

	session__make();
	o = run_command(cmd_script, "script", session_path, NULL);
	assert_has(&o.out,
		   "         1  alloc    lua    a.lua:2 (parse)  0x10 100\n"
		   "         2      1.920000  alloc    lua    a.lua:3 (parse)  0x20 50\n"
		   "         2      2.000000  mark     script-end\n"
		   "         3      1.920000  free     vm     INTERNAL (collector)  0x20 50\n");
	output__exit(&o);
	o = run_command(cmd_script, "script", "-F", "event,block", session_path, NULL);
	assert_has(&o.out, "  alloc    0x10 100\n  alloc    0x20 50\n");
	output__exit(&o);
	o = run_command(cmd_script, "script", "-F", "event,blok", session_path, NULL);
	ck_assert_int_eq(o.status, EXIT_LJPERF);
	assert_has(&o.err, "unknown field 'blok', did you mean 'block'?");
	output__exit(&o);
}
END_TEST

/* Names are kept whole in JSON: a quote, a control character, a bad byte. */
START_TEST(test_script_json_names)
{
	struct output o;

	stream__lua_mem(&s, A, "@a\"\033\xff", 5, 1);
	stream__alloc(&s, loc_lua(A, 2), 0x10, UINT64_MAX);
	o = run_command(cmd_script, "script", "--json", "-F", "detail,block", stream__file(&s),
			NULL);
	ck_assert_str_eq(strbuf__str(&o.out),
			 "{\"chunk\":\"@a\\\"\\u001b\\udcff\",\"line\":2,"
			 "\"new_addr\":\"0x10\",\"new_size\":18446744073709551615}\n");
	output__exit(&o);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report_session");
	TCase *tc = tcase_create("sessions");

	tcase_add_test(tc, test_merge);
	tcase_add_test(tc, test_cut);
	tcase_add_test(tc, test_corrupt);
	tcase_add_test(tc, test_marks);
	tcase_add_loop_test(tc, test_metrics, 0, COUNT(metrics));
	tcase_add_test(tc, test_with_close);
	tcase_add_test(tc, test_marks_of_two);
	tcase_add_test(tc, test_info);
	tcase_add_test(tc, test_script_json);
	tcase_add_test(tc, test_script_text);
	tcase_add_test(tc, test_script_json_names);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
