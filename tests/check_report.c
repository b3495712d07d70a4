/* check_report.c - what report says of streams made here. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ljperf.h"
#include "report/aggregate.h"
#include "tests/lib_stream.h"
#include "tests/lib_suite.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Addresses of prototypes. */
enum { A = 0x1000, B = 0x2000 };

static struct stream s;

/* The table with exact numbers: a line "N,N,...,symbol" for each row. */
static void assert_rows(const char *path, const char *fields, const char *want)
{
	struct output o =
		run_command(cmd_report, "report", "-q", "-t", ",", "-F", fields, path, NULL);

	ck_assert_str_eq(strbuf__str(&o.err), "");
	ck_assert_int_eq(o.status, 0);
	ck_assert_str_eq(strbuf__str(&o.out), want);
	output__exit(&o);
}

static void assert_memprof(const char *path, const char *want)
{
	struct output o = run_command(cmd_report, "report", "--format", "memprof", path, NULL);

	ck_assert_str_eq(strbuf__str(&o.err), "");
	ck_assert_str_eq(strbuf__str(&o.out), want);
	output__exit(&o);
}

/* ---- attribution ---- */

START_TEST(test_epochs)
{
	const char *path;

	stream__lua(&s, A, "@old.lua", 1);
	stream__alloc(&s, loc_lua(A, 5), 0x10, 64);
	stream__lua(&s, A, "@new.lua", 1);
	stream__alloc(&s, loc_lua(A, 5), 0x20, 640);
	path = stream__file(&s);
	assert_rows(path, "allocated,allocs,symbol", "640,1,new.lua:5\n64,1,old.lua:5\n");
	assert_memprof(path, "ALLOCATIONS\n"
			     "@new.lua:5: 1 events\t+640B\t-0B\n"
			     "@old.lua:5: 1 events\t+64B\t-0B\n\n"
			     "REALLOCATIONS\n\nDEALLOCATIONS\n\n"
			     "HEAP SUMMARY:\n"
			     "@new.lua:5 holds 640B: 1 allocs, 0 frees\n"
			     "@old.lua:5 holds 64B: 1 allocs, 0 frees\n\n");
}
END_TEST

START_TEST(test_trace_numbers)
{
	stream__lua(&s, A, "@a.lua", 1);
	stream__trace(&s, 1, A, 3);
	stream__alloc(&s, loc_trace(1), 0x10, 100);
	stream__trace(&s, 1, A, 9);
	stream__alloc(&s, loc_trace(1), 0x20, 30);
	assert_rows(stream__file(&s), "allocated,symbol",
		    "100,TRACE [1] started at a.lua:3\n30,TRACE [1] started at a.lua:9\n");
}
END_TEST

/* 10000 chunks at 50 addresses, each with a table of its own size: every one
 * is a row with exactly its own. */
START_TEST(test_many_chunks)
{
	struct strbuf want = STRBUF_INIT;
	char name[16];
	int i;

	for (i = 1; i <= 10000; i++) {
		snprintf(name, sizeof(name), "=c%d", i);
		stream__lua(&s, A + (uint64_t)(i % 50) * 64, name, 0);
		stream__alloc(&s, loc_lua(A + (uint64_t)(i % 50) * 64, 1), 0x100000, (uint64_t)i);
		stream__free(&s, loc_vm(), 0x100000, (uint64_t)i);
	}
	for (i = 10000; i; i--)
		strbuf__addf(&want, "%d,1,0,c%d:1\n", i, i);
	assert_rows(stream__file(&s), "allocated,allocs,live,symbol", strbuf__str(&want));
	strbuf__exit(&want);
}
END_TEST

/* One line with two prototypes is one row, but two functions. */
START_TEST(test_one_row_for_a_line)
{
	struct output o;
	const char *path;

	stream__lua(&s, A, "@a.lua", 7);
	stream__lua(&s, B, "@a.lua", 8);
	stream__alloc(&s, loc_lua(A, 9), 0x10, 10);
	stream__alloc(&s, loc_lua(B, 9), 0x20, 20);
	path = stream__file(&s);
	assert_rows(path, "allocated,symbol", "30,a.lua:9\n");
	o = run_command(cmd_report, "report", "-q", "-t", ",", "-F", "allocated", "-s", "func",
			path, NULL);
	ck_assert_str_eq(strbuf__str(&o.out), "20,lua,a.lua:8\n10,lua,a.lua:7\n");
	output__exit(&o);
}
END_TEST

/* A block of line 1 is resized by line 2, which owns it from then on; one of
 * line 2 is freed by the VM. */
START_TEST(test_realloc_ownership)
{
	const char *path;

	stream__lua(&s, A, "@a.lua", 1);
	stream__alloc(&s, loc_lua(A, 1), 0x10, 100);
	stream__realloc(&s, loc_lua(A, 2), 0x10, 100, 0x20, 300);
	stream__alloc(&s, loc_lua(A, 2), 0x30, 8);
	stream__free(&s, loc_vm(), 0x30, 8);
	path = stream__file(&s);
	/* Line 2: 300 + 8 allocated, 8 freed; line 1: its 100 went to line 2. */
	assert_rows(path, "allocated,allocs,reallocs,live,freed,frees,symbol",
		    "308,1,1,300,8,1,a.lua:2\n100,1,0,0,100,1,a.lua:1\n");
	assert_memprof(path, "ALLOCATIONS\n"
			     "@a.lua:1: 1 events\t+100B\t-0B\n"
			     "@a.lua:2: 1 events\t+8B\t-0B\n\n"
			     "REALLOCATIONS\n"
			     "@a.lua:2: 1 events\t+300B\t-100B\n"
			     "\tOverrides:\n\t\t@a.lua:1\n\n\n"
			     "DEALLOCATIONS\n"
			     "INTERNAL: 1 events\t+0B\t-8B\n"
			     "\tOverrides:\n\t\t@a.lua:2\n\n\n"
			     "HEAP SUMMARY:\n"
			     "@a.lua:2 holds 300B: 2 allocs, 1 frees\n\n");
}
END_TEST

/* Blocks older than the recording: a free changes nobody's numbers, a realloc
 * makes the block known. */
START_TEST(test_unknown_blocks)
{
	struct output o;
	const char *path;

	stream__lua(&s, A, "@a.lua", 1);
	stream__free(&s, loc_vm(), 0x10, 1000);
	stream__realloc(&s, loc_lua(A, 1), 0x20, 50, 0x30, 70);
	path = stream__file(&s);
	assert_rows(path, "allocated,live,blocks,symbol", "70,70,1,a.lua:1\n");
	o = run_command(cmd_report, "report", path, NULL);
	assert_has(&o.out,
		   "# 2 blocks freed or resized that were allocated before recording began\n");
	output__exit(&o);
	assert_memprof(path, "ALLOCATIONS\n\nREALLOCATIONS\n"
			     "@a.lua:1: 1 events\t+70B\t-50B\n\n"
			     "DEALLOCATIONS\nINTERNAL: 1 events\t+0B\t-1000B\n\n"
			     "HEAP SUMMARY:\n@a.lua:1 holds 70B: 1 allocs, 0 frees\n\n");
}
END_TEST

/* An allocation that failed is no block, and one that failed to grow stays. */
START_TEST(test_failed)
{
	struct output o;
	const char *path;

	stream__lua(&s, A, "@a.lua", 1);
	stream__alloc(&s, loc_lua(A, 1), 0, 1ull << 40);
	stream__alloc(&s, loc_lua(A, 2), 0x10, 16);
	stream__realloc(&s, loc_lua(A, 3), 0x10, 16, 0, 1ull << 50);
	path = stream__file(&s);
	assert_rows(path, "allocated,live,symbol", "16,16,a.lua:2\n");
	o = run_command(cmd_report, "report", path, NULL);
	assert_has(&o.out, "# 2 failed allocations\n");
	output__exit(&o);
}
END_TEST

/* The address is handed out again without a free: the new block counts. */
START_TEST(test_replaced)
{
	struct output o;
	const char *path;

	stream__lua(&s, A, "@a.lua", 1);
	stream__alloc(&s, loc_lua(A, 1), 0x10, 16);
	stream__alloc(&s, loc_lua(A, 2), 0x10, 20);
	path = stream__file(&s);
	assert_rows(path, "allocated,live,blocks,symbol", "20,20,1,a.lua:2\n16,0,0,a.lua:1\n");
	o = run_command(cmd_report, "report", path, NULL);
	assert_has(&o.out, "# 1 allocations at an address that was alive\n");
	assert_has(&o.out, "peak 20 B at event 2");
	output__exit(&o);
}
END_TEST

/* Sums beyond 64 bits: 2 * (2^64 - 1) = 36893488147419103230. */
START_TEST(test_large_sizes)
{
	const char *path;

	stream__lua(&s, A, "@a.lua", 1);
	stream__alloc(&s, loc_lua(A, 1), 0x10, UINT64_MAX);
	stream__alloc(&s, loc_lua(A, 1), 0x20, UINT64_MAX);
	stream__alloc(&s, loc_lua(A, 2), 0x30, 1ull << 63);
	stream__alloc(&s, loc_lua(A, 2), 0x40, 1ull << 63);
	stream__free(&s, loc_vm(), 0x40, 1ull << 63);
	path = stream__file(&s);
	assert_rows(path, "allocated,live,symbol",
		    "36893488147419103230,36893488147419103230,a.lua:1\n"
		    "18446744073709551616,9223372036854775808,a.lua:2\n");
	assert_memprof(path, "ALLOCATIONS\n"
			     "@a.lua:1: 2 events\t+36893488147419103230B\t-0B\n"
			     "@a.lua:2: 2 events\t+18446744073709551616B\t-0B\n\n"
			     "REALLOCATIONS\n\n"
			     "DEALLOCATIONS\nINTERNAL: 1 events\t+0B\t-9223372036854775808B\n"
			     "\tOverrides:\n\t\t@a.lua:2\n\n\n"
			     "HEAP SUMMARY:\n"
			     "@a.lua:1 holds 36893488147419103230B: 2 allocs, 0 frees\n"
			     "@a.lua:2 holds 9223372036854775808B: 2 allocs, 1 frees\n\n");
}
END_TEST

START_TEST(test_zero_sizes)
{
	const char *path;

	stream__lua(&s, A, "@a.lua", 1);
	stream__alloc(&s, loc_lua(A, 1), 0x10, 0);
	path = stream__file(&s);
	assert_rows(path, "overhead,allocated,blocks,symbol", "0.00%,0,1,a.lua:1\n");
	assert_memprof(path, "ALLOCATIONS\n@a.lua:1: 1 events\t+0B\t-0B\n\nREALLOCATIONS\n\n"
			     "DEALLOCATIONS\n\nHEAP SUMMARY:\n"
			     "@a.lua:1 holds 0B: 1 allocs, 0 frees\n\n");
}
END_TEST

/* Names of other bytes: one line each, and nothing that a terminal obeys. */
START_TEST(test_escapes)
{
	struct output o;

	stream__lua_mem(&s, A, "@\033[2J\r\xff\0.lua", 12, 1);
	stream__alloc(&s, loc_lua(A, 1), 0x10, 8);
	stream__c(&s, 0x4000, "f\033]0;");
	stream__alloc(&s, loc_c(0x4000), 0x20, 4);
	o = run_command(cmd_report, "report", stream__file(&s), NULL);
	assert_has(&o.out, "  \\x1b[2J\\r\\xff\\x00.lua:1\n");
	assert_has(&o.out, "  f\\x1b]0;\n");
	assert_lacks(&o.out, "\033");
	output__exit(&o);
}
END_TEST

/* Two digits behind the point, none where it is whole: 1536 is 1.5 * 1024, 2^20 +
 * 2^19 / 64 is 1.0078125 * 2^20, and there is no unit above GiB. */
START_TEST(test_human_readable)
{
	static const uint64_t sizes[] = { 1023, 1024, 1536, 1056768, UINT64_C(3) << 40 };
	struct output o;

	stream__lua(&s, A, "@a.lua", 1);
	for (size_t i = 0; i < COUNT(sizes); i++)
		stream__alloc(&s, loc_lua(A, i + 1), 0x10 + i, sizes[i]);
	o = run_command(cmd_report, "report", "--format", "memprof", "--human-readable",
			stream__file(&s), NULL);
	assert_has(&o.out, "@a.lua:1: 1 events\t+1023B\t-0B\n");
	assert_has(&o.out, "@a.lua:2: 1 events\t+1KiB\t-0B\n");
	assert_has(&o.out, "@a.lua:3: 1 events\t+1.50KiB\t-0B\n");
	assert_has(&o.out, "@a.lua:4: 1 events\t+1.01MiB\t-0B\n");
	assert_has(&o.out, "@a.lua:5 holds 3072GiB: 1 allocs, 0 frees\n");
	output__exit(&o);
}
END_TEST

START_TEST(test_aliases)
{
	static const char text[] = "local a\n\nreturn {\n}";
	struct output o;

	stream__lua(&s, A, text, 0);
	stream__alloc(&s, loc_lua(A, 3), 0x10, 8);
	o = run_command(cmd_report, "report", stream__file(&s), NULL);
	assert_has(&o.out, "  function_alias_1 \"local a return { }\":3\n");
	assert_has(&o.out, "\nALIASES:\nfunction_alias_1:\n"
			   "1\t| local a\n2\t| \n3\t| return {\n4\t| }\n");
	output__exit(&o);
}
END_TEST

/* ---- the table ---- */

/* Column by column, with the widths of headings and longest cells. */
START_TEST(test_layout)
{
	struct output o;

	stream__lua(&s, A, "@a.lua", 1);
	stream__alloc(&s, loc_lua(A, 12), 0x10, 3072);
	stream__alloc(&s, loc_vm(), 0x20, 1024);
	stream__free(&s, loc_vm(), 0x20, 1024);
	o = run_command(cmd_report, "report", stream__file(&s), NULL);
	assert_has(&o.out,
		   ": 3 events\n"
		   "# allocated 4.0 KiB in 2 allocations \xc2\xb7 peak 4.0 KiB at event 2 \xc2\xb7 "
		   "live at the end 3.0 KiB\n"
		   "#\n"
		   "# Overhead  Allocated  Allocs     Live  Source  Symbol\n"
		   "# ........  .........  ......  .......  ......  ........\n"
		   "#\n"
		   "    75.00%    3.0 KiB       1  3.0 KiB  lua     a.lua:12\n"
		   "    25.00%    1.0 KiB       1      0 B  vm      INTERNAL\n");
	ck_assert_str_eq(strbuf__str(&o.err), "");
	output__exit(&o);
}
END_TEST

START_TEST(test_nothing)
{
	struct output o;

	stream__free(&s, loc_vm(), 0x20, 1024);
	o = run_command(cmd_report, "report", stream__file(&s), NULL);
	assert_has(&o.out, "\n# there are no allocations in this recording\n");
	ck_assert_int_eq(o.status, 0);
	output__exit(&o);
}
END_TEST

/* 4 lines of 400, 300, 200 and 100 bytes; 40, 30, 20 and 10 %. */
static const char *four_lines(void)
{
	uint64_t i;

	stream__lua(&s, A, "@a.lua", 1);
	for (i = 1; i <= 4; i++)
		stream__alloc(&s, loc_lua(A, i), 0x100 * i, 100 * i);
	return stream__file(&s);
}

static const struct {
	const char *option, *value, *out;
} limits[] = {
	{ "--limit", "2", "40.00%,a.lua:4\n30.00%,a.lua:3\n" },
	{ "--percent-limit", "20", "40.00%,a.lua:4\n30.00%,a.lua:3\n20.00%,a.lua:2\n" },
	{ "--percent-limit", "50", "" },
};

START_TEST(test_limits)
{
	struct output o = run_command(cmd_report, "report", "-q", "-t", ",", "-F",
				      "overhead,symbol", limits[_i].option, limits[_i].value,
				      four_lines(), NULL);

	ck_assert_str_eq(strbuf__str(&o.out), limits[_i].out);
	output__exit(&o);
}
END_TEST

static const struct {
	const char *sort, *out;
} sorts[] = {
	{ "line", "50,lua,b.lua:2\n25,trace,TRACE [1] started at b.lua:1\n15,c,f\n"
		  "7,lua,a.lua:3\n3,vm,INTERNAL\n" },
	{ "symbol", "50,b.lua:2\n25,TRACE [1] started at b.lua:1\n15,f\n7,a.lua:3\n3,INTERNAL\n" },
	{ "func", "50,lua,b.lua:1\n25,trace,TRACE [1] started at b.lua:1\n15,c,f\n"
		  "7,lua,a.lua:1\n3,vm,INTERNAL\n" },
	{ "chunk", "75,b.lua\n15,[c]\n7,a.lua\n3,[vm]\n" },
	{ "source", "57,lua\n25,trace\n15,c\n3,vm\n" },
	{ "trace", "75,[no trace]\n25,TRACE [1] started at b.lua:1\n" },
	{ "vmstate", "57,[lua]\n25,[trace]\n15,[c]\n3,unknown\n" },
	{ "source,chunk", "50,lua,b.lua\n25,trace,b.lua\n15,c,[c]\n7,lua,a.lua\n3,vm,[vm]\n" },
};

START_TEST(test_sort)
{
	struct output o;

	stream__lua(&s, A, "@a.lua", 1);
	stream__lua(&s, B, "@b.lua", 1);
	stream__c(&s, 0x4000, "f");
	stream__trace(&s, 1, B, 1);
	stream__alloc(&s, loc_lua(A, 3), 0x10, 7);
	stream__alloc(&s, loc_lua(B, 2), 0x20, 50);
	stream__alloc(&s, loc_c(0x4000), 0x30, 15);
	stream__alloc(&s, loc_trace(1), 0x40, 25);
	stream__alloc(&s, loc_vm(), 0x50, 3);
	o = run_command(cmd_report, "report", "-q", "-t", ",", "-F", "allocated", "--sort",
			sorts[_i].sort, stream__file(&s), NULL);
	ck_assert_str_eq(strbuf__str(&o.err), "");
	ck_assert_str_eq(strbuf__str(&o.out), sorts[_i].out);
	output__exit(&o);
}
END_TEST

static const struct {
	const char *option, *value, *error;
} refused[] = {
	{ "--sort", "parent", "the key 'parent' needs --parent" },
	{ "--time", "20%-10%", "there is nothing between the times of '20%-10%'" },
	{ "--time", "soon", "cannot understand the time 'soon'" },
	{ "--from", "x", "has no mark 'x'" },
	{ "--symbol", "/(/", "cannot use the regular expression '('" },
	{ "--parent", "main", "no call stacks were recorded" },
	{ "--call-graph=callr", NULL, "unknown kind of tree 'callr', did you mean 'caller'?" },
	{ "--suppress", "/no/such/file", "cannot open '/no/such/file': No such file or directory" },
	{ "--percentage", "half", "unknown percentage 'half'" },
	{ "--metric", "alocated", "unknown metric 'alocated', did you mean 'allocated'?" },
	{ "--metric", "leaked", "no full collection was recorded" },
	{ "--sort", "lin", "unknown sort key 'lin', did you mean 'line'?" },
	{ "--sort", "", "no sort key is given" },
	{ "-F", "+freeed", "unknown field 'freeed', did you mean 'freed'?" },
	{ "--format", "memprfo", "unknown format 'memprfo', did you mean 'memprof'?" },
	{ "-i", "/no/such/file", "cannot open '/no/such/file': No such file or directory" },
	{ "-i", "ljperf.ljm.zst", "(run 'ljperf record' first, or name a file with -i)" },
	{ "-i", "/", "cannot read '/': Is a directory" },
};

START_TEST(test_refused)
{
	const char *path = four_lines();
	struct output o;

	ck_assert_int_eq(chdir("/proc/self"), 0); /* where no file can be */
	o = run_command(cmd_report, "report", refused[_i].option, refused[_i].value, path, NULL);
	ck_assert_int_eq(o.status, EXIT_LJPERF);
	assert_has(&o.err, refused[_i].error);
	ck_assert_str_eq(strbuf__str(&o.out), "");
	output__exit(&o);
}
END_TEST

/* ---- memory ---- */

/* A million epochs of ten names at 1000 addresses, with a block each that is
 * freed at once: what is kept is ten sites, 1000 addresses and no block. */
START_TEST(test_memory)
{
	struct aggregate *a = aggregate__new();
	char name[16];
	uint64_t addr;
	int i;

	ck_assert_ptr_nonnull(a);
	for (i = 0; i < 1000000; i++) {
		addr = A + (uint64_t)(i % 1000) * 64;
		snprintf(name, sizeof(name), "=c%d", i % 10);
		stream__lua(&s, addr, name, 0);
		stream__alloc(&s, loc_lua(addr, 1), 0x100000, 8);
		stream__free(&s, loc_vm(), 0x100000, 8);
	}
	ck_assert_int_eq(aggregate__read(a, stream__file(&s), false), 0);
	ck_assert_uint_eq(a->symtab->n_sites, 11); /* and INTERNAL */
	ck_assert_uint_eq(a->symtab->n_protos, 10);
	ck_assert_uint_eq(a->symtab->cur_proto.n, 1000);
	ck_assert_uint_eq(a->n_stats, 11);
	aggregate__finish(a);
	ck_assert_uint_eq(a->totals.n_alloc, 1000000);
	ck_assert_uint_eq(a->totals.live_blocks, 0);
	ck_assert_uint_eq((uint64_t)a->totals.peak, 8);
	aggregate__delete(a);
}
END_TEST

static void add_attribution(Suite *suite)
{
	TCase *tc = tcase_create("attribution");

	tcase_add_test(tc, test_epochs);
	tcase_add_test(tc, test_trace_numbers);
	tcase_add_test(tc, test_many_chunks);
	tcase_add_test(tc, test_one_row_for_a_line);
	tcase_add_test(tc, test_realloc_ownership);
	tcase_add_test(tc, test_unknown_blocks);
	tcase_add_test(tc, test_failed);
	tcase_add_test(tc, test_replaced);
	tcase_add_test(tc, test_large_sizes);
	tcase_add_test(tc, test_zero_sizes);
	tcase_add_test(tc, test_memory);
	suite_add_tcase(suite, tc);
}

static void add_views(Suite *suite)
{
	TCase *tc = tcase_create("views");

	tcase_add_test(tc, test_escapes);
	tcase_add_test(tc, test_human_readable);
	tcase_add_test(tc, test_aliases);
	tcase_add_test(tc, test_layout);
	tcase_add_test(tc, test_nothing);
	tcase_add_loop_test(tc, test_limits, 0, COUNT(limits));
	tcase_add_loop_test(tc, test_sort, 0, COUNT(sorts));
	tcase_add_loop_test(tc, test_refused, 0, COUNT(refused));
	suite_add_tcase(suite, tc);
}

int main(void)
{
	Suite *suite = suite_create("report");

	add_attribution(suite);
	add_views(suite);
	return run_suite(suite);
}
