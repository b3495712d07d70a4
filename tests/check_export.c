/* check_export.c - what export writes of recordings made here, with values from
 * the arithmetic beside them. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/session.h"
#include "ljperf.h"
#include "report/export_slices.h"
#include "tests/lib_stream.h"
#include "tests/lib_suite.h"

/* Addresses: prototypes, and a C function. */
enum { MAIN = 0x1000, LOAD = 0x2000, PARSE = 0x3000, FORMAT = 0x9000 };

static struct session_writer *writer;
static char session_path[64];
static struct stream s;

static void add_proto(uint64_t addr, const char *chunk, const char *func, uint64_t line)
{
	struct ljm_symbol sym = { .source = LJM_SRC_LUA,
				  .addr = addr,
				  .name = chunk,
				  .name_len = strlen(chunk),
				  .line = line,
				  .has_detail = true,
				  .func_name = func,
				  .func_name_len = strlen(func),
				  .last_line = line + 9 };

	ck_assert_int_eq(session_writer__symbol(writer, &sym), 0);
}

static void add_node(uint64_t id, uint64_t parent, struct ljm_loc loc)
{
	struct session_stack node = { id, parent, loc };

	ck_assert_int_eq(session_writer__stack(writer, &node), 0);
}

static void add_alloc(struct ljm_loc loc, uint64_t stack, uint64_t addr, uint64_t size)
{
	struct ljm_event ev = {
		.kind = LJM_ALLOC, .loc = loc, .new_addr = addr, .new_size = size, .stack = stack
	};

	ck_assert_int_eq(session_writer__event(writer, &ev), 0);
}

static void add_free(uint64_t addr, uint64_t size)
{
	struct ljm_event ev = { .kind = LJM_FREE,
				.loc = loc_vm(),
				.vmstate = LJM_VMSTATE_GC,
				.old_addr = addr,
				.old_size = size };

	ck_assert_int_eq(session_writer__event(writer, &ev), 0);
}

static void session__begin(void)
{
	static const char *const argv[] = { "app.lua" };
	struct session_header h = { .argv = argv, .argc = 1, .start_wall_ns = 1000000000 };
	struct session_writer_opts o = { .stacks = true };
	int fd = memory_file(session_path, sizeof(session_path));

	writer = session_writer__new(fd, &h, &o);
	ck_assert_ptr_nonnull(writer);
}

static void session__end(void)
{
	struct session_footer end = { .duration_ns = 5000000 };

	ck_assert_int_eq(session_writer__finish(writer, &end), 0);
	session_writer__delete(writer);
}

/* app.lua:10 calls load, whose line 22 calls parse, which calls itself in line
 * 33 and string.format in 34:
 *
 *	main:10                                 40 bytes
 *	main:10 load:22                        100, and 100 that are freed
 *	main:10 load:22 parse:33 parse:34      300
 *	main:10 load:22 parse:34 string.format 500
 *	the collector                            8
 *
 * Together 1048 in 6 blocks; alive in the end are 948 in 5. */
static void session__make(void)
{
	struct ljm_symbol format = {
		.source = LJM_SRC_C, .addr = FORMAT, .name = "string.format", .name_len = 13
	};

	session__begin();
	ck_assert_int_eq(session_writer__time(writer, 0), 0);
	add_proto(MAIN, "@app.lua", "", 0);
	add_proto(LOAD, "@app.lua", "load", 20);
	add_proto(PARSE, "@lib/parse.lua", "parse", 30);
	ck_assert_int_eq(session_writer__symbol(writer, &format), 0);
	add_node(1, 0, loc_lua(MAIN, 10));
	add_node(2, 1, loc_lua(LOAD, 22));
	add_node(3, 2, loc_lua(PARSE, 33));
	add_node(4, 3, loc_lua(PARSE, 34));
	add_node(5, 2, loc_lua(PARSE, 34));
	add_node(6, 5, loc_c(FORMAT));
	add_alloc(loc_lua(MAIN, 10), 1, 0x10, 40);
	add_alloc(loc_lua(LOAD, 22), 2, 0x20, 100);
	add_alloc(loc_lua(LOAD, 22), 2, 0x30, 100);
	add_alloc(loc_lua(PARSE, 34), 4, 0x40, 300);
	ck_assert_int_eq(session_writer__time(writer, 3000000), 0);
	add_free(0x30, 100);
	add_alloc(loc_c(FORMAT), 6, 0x50, 500);
	add_alloc(loc_vm(), 0, 0x60, 8);
	session__end();
}

/* The output of export, which must be quiet. */
static struct output export(const char *path, const char *format, const char *option,
			    const char *value)
{
	struct output o =
		run_command(cmd_export, "export", "--format", format, path, option, value, NULL);

	ck_assert_str_eq(strbuf__str(&o.err), "");
	ck_assert_int_eq(o.status, 0);
	return o;
}

static void assert_export(const char *path, const char *format, const char *option,
			  const char *value, const char *want)
{
	struct output o = export(path, format, option, value);

	ck_assert_str_eq(strbuf__str(&o.out), want);
	output__exit(&o);
}

static void assert_fails(const char *option, const char *value, const char *more,
			 const char *message)
{
	struct output o =
		run_command(cmd_export, "export", option, value, session_path, more, NULL);

	ck_assert_int_eq(o.status, EXIT_LJPERF);
	assert_has(&o.err, message);
	ck_assert_str_eq(strbuf__str(&o.out), "");
	output__exit(&o);
}

/* ---- folded ---- */

START_TEST(test_folded)
{
	session__make();
	assert_export(session_path, "folded", NULL, NULL,
		      "main_chunk@app.lua:10 40\n"
		      "main_chunk@app.lua:10;load@app.lua:22 200\n"
		      "main_chunk@app.lua:10;load@app.lua:22;parse@lib/parse.lua:33;"
		      "parse@lib/parse.lua:34 300\n"
		      "main_chunk@app.lua:10;load@app.lua:22;parse@lib/parse.lua:34;"
		      "string.format 500\n"
		      "INTERNAL 8\n");
}
END_TEST

START_TEST(test_folded_metrics)
{
	session__make();
	assert_export(session_path, "folded", "--metric=live", NULL,
		      "main_chunk@app.lua:10 40\n"
		      "main_chunk@app.lua:10;load@app.lua:22 100\n"
		      "main_chunk@app.lua:10;load@app.lua:22;parse@lib/parse.lua:33;"
		      "parse@lib/parse.lua:34 300\n"
		      "main_chunk@app.lua:10;load@app.lua:22;parse@lib/parse.lua:34;"
		      "string.format 500\n"
		      "INTERNAL 8\n");
	assert_export(session_path, "folded", "--metric=freed", NULL,
		      "main_chunk@app.lua:10;load@app.lua:22 100\n");
	/* The stack of parse:33 is another one. */
	assert_export(session_path, "folded", "--by=func", NULL,
		      "main_chunk@app.lua 40\n"
		      "main_chunk@app.lua;load@app.lua:20 200\n"
		      "main_chunk@app.lua;load@app.lua:20;parse@lib/parse.lua:30;"
		      "parse@lib/parse.lua:30 300\n"
		      "main_chunk@app.lua;load@app.lua:20;parse@lib/parse.lua:30;"
		      "string.format 500\n"
		      "INTERNAL 8\n");
	assert_export(session_path, "folded", "--metric=count", NULL,
		      "main_chunk@app.lua:10 1\n"
		      "main_chunk@app.lua:10;load@app.lua:22 2\n"
		      "main_chunk@app.lua:10;load@app.lua:22;parse@lib/parse.lua:33;"
		      "parse@lib/parse.lua:34 1\n"
		      "main_chunk@app.lua:10;load@app.lua:22;parse@lib/parse.lua:34;"
		      "string.format 1\n"
		      "INTERNAL 1\n");
}
END_TEST

/* One line each, whose last field is the amount, whatever names have in them. */
START_TEST(test_folded_names)
{
	const char *path;

	session__begin();
	add_proto(MAIN, "@my app;v 2", "do; it\n7", 1);
	add_node(1, 0, loc_lua(MAIN, 5));
	add_alloc(loc_lua(MAIN, 5), 1, 0x10, 12);
	session__end();
	assert_export(session_path, "folded", NULL, NULL, "do:_it\\n7@my_app:v_2:5 12\n");
	stream__lua(&s, MAIN, "return 1; x = 2 9", 0);
	stream__c(&s, FORMAT, "operator new(unsigned long); 3");
	stream__alloc(&s, loc_lua(MAIN, 1), 0x10, 20);
	stream__alloc(&s, loc_c(FORMAT), 0x20, 30);
	path = stream__file(&s);
	assert_export(path, "folded", NULL, NULL,
		      "main_chunk@return_1:_x_=_2_9:1 20\n"
		      "operator_new(unsigned_long):_3 30\n");
}
END_TEST

/* Two prototypes of the same name and line are one stack, in all formats. */
START_TEST(test_folded_equal_names)
{
	stream__lua(&s, MAIN, "@a.lua", 1);
	stream__lua(&s, LOAD, "@a.lua", 1);
	stream__alloc(&s, loc_lua(MAIN, 2), 0x10, 20);
	stream__alloc(&s, loc_lua(LOAD, 2), 0x20, 30);
	assert_export(stream__file(&s), "folded", NULL, NULL, "function_<a.lua:1>@a.lua:2 50\n");
}
END_TEST

/* Two allocations of 2^64 - 1 bytes: 36893488147419103230. */
START_TEST(test_huge)
{
	struct output o;
	const char *path;

	stream__lua(&s, MAIN, "@a.lua", 0);
	stream__alloc(&s, loc_lua(MAIN, 2), 0x10, UINT64_MAX);
	stream__alloc(&s, loc_lua(MAIN, 2), 0x20, UINT64_MAX);
	path = stream__file(&s);
	assert_export(path, "folded", NULL, NULL, "main_chunk@a.lua:2 36893488147419103230\n");
	o = export(path, "callgrind", "--metric=allocated", NULL);
	assert_has(&o.out, "\nsummary: 36893488147419103230 2\n");
	assert_has(&o.out, "\n2 36893488147419103230 2\n");
	output__exit(&o);
	o = run_command(cmd_export, "export", "--format", "pprof", path, NULL);
	ck_assert_int_eq(o.status, 0);
	ck_assert_str_eq(strbuf__str(&o.err),
			 "ljperf: warning: amounts above 2^63 - 1 are written as that\n");
	output__exit(&o);
}
END_TEST

/* ---- callgrind ---- */

/* What a call costs is what is below it, once for each stack: load calls parse
 * for 300 + 500 in 2 blocks; parse calls itself for 300. */
START_TEST(test_callgrind)
{
	session__make();
	assert_export(session_path, "callgrind", "--metric=allocated", NULL,
		      "# callgrind format\n"
		      "version: 1\n"
		      "creator: ljperf " LJPERF_VERSION "\n"
		      "cmd: app.lua\n"
		      "positions: line\n"
		      "events: allocated allocated_blocks\n"
		      "summary: 1048 6\n"
		      "\n"
		      "fl=(3) app.lua\n"
		      "fn=(1) main chunk\n"
		      "10 40 1\n"
		      "cfi=(3)\n"
		      "cfn=(2) load\n"
		      "calls=4 20\n"
		      "10 1000 4\n"
		      "\n"
		      "fl=(3)\n"
		      "fn=(2)\n"
		      "22 200 2\n"
		      "cfi=(6) lib/parse.lua\n"
		      "cfn=(3) parse\n"
		      "calls=2 30\n"
		      "22 800 2\n"
		      "\n"
		      "fl=(6)\n"
		      "fn=(3)\n"
		      "34 300 1\n"
		      "cfi=(6)\n"
		      "cfn=(3)\n"
		      "calls=1 30\n"
		      "33 300 1\n"
		      "cfi=(1) ?"
		      "?"
		      "?\n"
		      "cfn=(4) string.format\n"
		      "calls=1 0\n"
		      "34 500 1\n"
		      "\n"
		      "fl=(1)\n"
		      "fn=(4)\n"
		      "0 500 1\n"
		      "\n"
		      "fl=(1)\n"
		      "fn=(5) INTERNAL\n"
		      "0 8 1\n");
}
END_TEST

/* ---- speedscope ---- */

START_TEST(test_speedscope)
{
	session__make();
	assert_export(session_path, "speedscope", "--metric=live", NULL,
		      "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		      "\"exporter\":\"ljperf@" LJPERF_VERSION "\",\"name\":\"app.lua\","
		      "\"activeProfileIndex\":0,\"shared\":{\"frames\":["
		      "{\"name\":\"main chunk\",\"file\":\"app.lua\",\"line\":10},"
		      "{\"name\":\"load\",\"file\":\"app.lua\",\"line\":22},"
		      "{\"name\":\"parse\",\"file\":\"lib/parse.lua\",\"line\":34},"
		      "{\"name\":\"parse\",\"file\":\"lib/parse.lua\",\"line\":33},"
		      "{\"name\":\"string.format\"},{\"name\":\"INTERNAL\"}]},"
		      "\"profiles\":[{\"type\":\"sampled\",\"name\":\"live\",\"unit\":\"bytes\","
		      "\"startValue\":0,\"endValue\":948,"
		      "\"samples\":[[0],[0,1],[0,1,3,2],[0,1,2,4],[5]],"
		      "\"weights\":[40,100,300,500,8]},"
		      "{\"type\":\"sampled\",\"name\":\"live (blocks)\",\"unit\":\"none\","
		      "\"startValue\":0,\"endValue\":5,"
		      "\"samples\":[[0],[0,1],[0,1,3,2],[0,1,2,4],[5]],"
		      "\"weights\":[1,1,1,1,1]}]}\n");
}
END_TEST

/* ---- tables ---- */

START_TEST(test_csv)
{
	session__make();
	/* 500 of 1048 is 47.71 %. */
	assert_export(session_path, "csv", NULL, NULL,
		      "overhead,allocated,allocs,live,source,symbol,function\r\n"
		      "47.71,500,1,500,c,string.format,\r\n"
		      "28.63,300,1,300,lua,lib/parse.lua:34,parse\r\n"
		      "19.08,200,2,100,lua,app.lua:22,load\r\n"
		      "3.82,40,1,40,lua,app.lua:10,\r\n"
		      "0.76,8,1,8,vm,INTERNAL,\r\n");
	assert_export(session_path, "csv", "-F", "freed,chunk",
		      "freed,chunk\r\n"
		      "0,[c]\r\n"
		      "0,lib/parse.lua\r\n"
		      "100,app.lua\r\n"
		      "0,app.lua\r\n"
		      "0,[vm]\r\n");
	assert_export(session_path, "csv", "-schunk", "-Fallocated,allocs",
		      "allocated,allocs,chunk\r\n"
		      "500,1,[c]\r\n"
		      "300,1,lib/parse.lua\r\n"
		      "240,3,app.lua\r\n"
		      "8,1,[vm]\r\n");
}
END_TEST

START_TEST(test_csv_quotes)
{
	stream__lua(&s, MAIN, "@a, \"b\".lua", 0);
	stream__alloc(&s, loc_lua(MAIN, 2), 0x10, 20);
	assert_export(stream__file(&s), "csv", "-F", "allocated,symbol",
		      "allocated,symbol,function\r\n"
		      "20,\"a, \"\"b\"\".lua:2\",\r\n");
}
END_TEST

/* With callees: of app.lua:10 are 40 + 200 + 300 + 500 = 1040 of 1048 bytes, of
 * load 1000, of line 34 both 300 and 500. */
START_TEST(test_csv_children)
{
	session__make();
	assert_export(session_path, "csv", "-F", "children,allocated,symbol",
		      "children,allocated,symbol,function\r\n"
		      "99.24,40,app.lua:10,\r\n"
		      "95.42,200,app.lua:22,load\r\n"
		      "76.34,300,lib/parse.lua:34,parse\r\n"
		      "47.71,500,string.format,\r\n"
		      "28.63,0,lib/parse.lua:33,parse\r\n"
		      "0.76,8,INTERNAL,\r\n");
}
END_TEST

START_TEST(test_json)
{
	stream__lua(&s, MAIN, "@a\xff.lua", 0);
	stream__alloc(&s, loc_lua(MAIN, 2), 0x10, 20);
	stream__alloc(&s, loc_lua(MAIN, 3), 0x20, 60);
	struct output o = export(stream__file(&s), "json", "-F", "overhead,live,life,symbol");

	assert_has(&o.out, "\"events\":2,\"complete\":true}],\"totals\":{\"live\":80},\"rows\":[\n"
			   "{\"overhead\":75.00,\"live\":60,\"life\":null,"
			   "\"symbol\":\"a\\\\xff.lua:3\"},\n"
			   "{\"overhead\":25.00,\"live\":20,\"life\":null,"
			   "\"symbol\":\"a\\\\xff.lua:2\"}]}\n");
	output__exit(&o);
}
END_TEST

/* ---- the stream ---- */

/* Read again, it is the same recording; events of the closing are left out. */
START_TEST(test_ljm)
{
	char path[] = "/tmp/check_export.XXXXXX";
	int fd = mkstemp(path);
	struct output o;

	ck_assert_int_ge(fd, 0);
	close(fd);
	session__make();
	o = run_command(cmd_export, "export", "--format", "ljm", "-o", path, session_path, NULL);
	ck_assert_str_eq(strbuf__str(&o.err), "");
	ck_assert_int_eq(o.status, 0);
	output__exit(&o);
	assert_export(path, "csv", "-F", "allocated,live,symbol",
		      "allocated,live,symbol,function\r\n"
		      "500,500,string.format,\r\n"
		      "300,300,lib/parse.lua:34,\r\n"
		      "200,100,app.lua:22,\r\n"
		      "40,40,app.lua:10,\r\n"
		      "8,8,INTERNAL,\r\n");
	unlink(path);
}
END_TEST

/* ---- mistakes ---- */

START_TEST(test_errors)
{
	session__make();
	assert_fails("--format", "foldd", NULL, "unknown format 'foldd', did you mean 'folded'?");
	assert_fails("-q", NULL, NULL, "no format is given");
	assert_fails("--format", "folded", "--metric=live,peak", "holds one metric only");
	assert_fails("--format", "folded", "--metric=liv", "did you mean 'live'?");
	assert_fails("--format", "folded", "-Flive", "is no table and takes no --fields");
	assert_fails("--format", "csv", "--by=func", "has no frames and takes no --by");
	assert_fails("--format", "folded", "--by=file", "by 'line' or by 'func', not by 'file'");
	assert_fails("--format", "ljm", "--metric=live", "takes no --metric");
	assert_fails("--format", "ljm", "--time=1,2", "takes no part of them");
	assert_fails("--format", "folded", "--metric=leaked", "no full collection");
	assert_fails("--format", "firefox", "--metric=count", "holds bytes only, not 'count'");
}
END_TEST

/* No half a file is left behind. */
START_TEST(test_no_half_file)
{
	char path[] = "/tmp/check_export.XXXXXX";
	int fd = mkstemp(path);
	struct output o;

	ck_assert_int_ge(fd, 0);
	close(fd);
	session__make();
	o = run_command(cmd_export, "export", "--format", "firefox", "--metric=count", "-o", path,
			session_path, NULL);
	ck_assert_int_eq(o.status, EXIT_LJPERF);
	output__exit(&o);
	ck_assert_int_ne(access(path, F_OK), 0);
	o = run_command(cmd_export, "export", "--format", "folded", "-o", "/dev/full", session_path,
			NULL);
	ck_assert_int_eq(o.status, EXIT_LJPERF);
	assert_has(&o.err, "cannot write '/dev/full'");
	output__exit(&o);
	ck_assert_int_eq(access("/dev/full", F_OK), 0);
}
END_TEST

/* ---- sums over time ---- */

static u128 sum_of(const struct export_slices *sl, uint32_t cell, bool freed)
{
	u128 sum = 0;
	size_t i;

	for (i = 0; i < sl->n; i++)
		if (sl->at[i].cell == cell && sl->at[i].freed == freed)
			sum += sl->at[i].bytes;
	return sum;
}

/* A million and a half sums are too many: slices get longer, and nothing is
 * lost.  Cell 0 gets 1 each time: 3 * 2^18; cell 1 frees 2 each second time. */
START_TEST(test_slices_coarsen)
{
	struct export_slices sl = { .length = 10 };
	uint64_t n = (uint64_t)3 * EXPORT_SLICES_MAX, i;

	for (i = 0; i < n; i++) {
		ck_assert_int_eq(export_slices__add(&sl, i * 10, 0, false, 1), 0);
		if (i % 2)
			ck_assert_int_eq(export_slices__add(&sl, i * 10, 1, true, 2), 0);
	}
	export_slices__sort(&sl);
	ck_assert_uint_le(sl.n, EXPORT_SLICES_MAX + 1);
	ck_assert_uint_gt(sl.n, EXPORT_SLICES_MAX / 4);
	ck_assert(sum_of(&sl, 0, false) == n);
	ck_assert(sum_of(&sl, 1, true) == n);
	ck_assert(sum_of(&sl, 0, true) == 0);
	for (i = 1; i < sl.n; i++)
		ck_assert_uint_ge(sl.at[i].slice, sl.at[i - 1].slice);
	ck_assert_uint_eq(sl.at[sl.n - 1].slice, (n - 1) * 10 / sl.length);
	export_slices__exit(&sl);
}
END_TEST

static Suite *suite(void)
{
	Suite *su = suite_create("export");
	TCase *tc = tcase_create("formats");

	tcase_add_test(tc, test_folded);
	tcase_add_test(tc, test_folded_metrics);
	tcase_add_test(tc, test_folded_names);
	tcase_add_test(tc, test_folded_equal_names);
	tcase_add_test(tc, test_huge);
	tcase_add_test(tc, test_callgrind);
	tcase_add_test(tc, test_speedscope);
	tcase_add_test(tc, test_csv);
	tcase_add_test(tc, test_csv_quotes);
	tcase_add_test(tc, test_csv_children);
	tcase_add_test(tc, test_json);
	tcase_add_test(tc, test_ljm);
	tcase_add_test(tc, test_errors);
	tcase_add_test(tc, test_no_half_file);
	tcase_add_test(tc, test_slices_coarsen);
	suite_add_tcase(su, tc);
	return su;
}

int main(void)
{
	return run_suite(suite());
}
