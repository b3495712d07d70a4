/* check_report.c - what report, script and info say of streams made here. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ljperf.h"
#include "report/aggregate.h"
#include "tests/lib_stream.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Addresses of prototypes. */
enum { A = 0x1000, B = 0x2000 };

static struct stream s;

static void assert_has(const struct strbuf *text, const char *want)
{
	if (!strstr(strbuf__str(text), want))
		ck_abort_msg("no '%s' in:\n%s", want, strbuf__str(text));
}

static void assert_lacks(const struct strbuf *text, const char *word)
{
	if (strstr(strbuf__str(text), word))
		ck_abort_msg("'%s' in:\n%s", word, strbuf__str(text));
}

/* The table with exact numbers: a line "N,N,...,symbol" for each row. */
static void assert_rows(const char *path, const char *fields, const char *want)
{
	struct output o = run_command(cmd_report, "report", "-q", "-t", ",", "-F", fields, path, NULL);

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
	o = run_command(cmd_report, "report", "-q", "-t", ",", "-F", "allocated", "-s", "func", path, NULL);
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
	assert_has(&o.out, "# 2 frees or reallocations of unknown blocks");
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
		   "live at exit 3.0 KiB\n"
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
	struct output o = run_command(cmd_report, "report", "-q", "-t", ",", "-F", "overhead,symbol",
				      limits[_i].option, limits[_i].value, four_lines(), NULL);

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
	{ "--metric", "peak", "this version cannot report the metric 'peak'" },
	{ "--metric", "alocated", "unknown metric 'alocated', did you mean 'allocated'?" },
	{ "--metric", "leaked", "no full collection was recorded" },
	{ "--sort", "lin", "unknown sort key 'lin', did you mean 'line'?" },
	{ "--sort", "", "no sort key is given" },
	{ "-F", "+freeed", "unknown field 'freeed', did you mean 'freed'?" },
	{ "--format", "memprfo", "unknown format 'memprfo', did you mean 'memprof'?" },
	{ "-i", "/no/such/file", "cannot open '/no/such/file': No such file or directory" },
	{ "-i", "ljperf.ljm.zst", "(run 'ljperf record' first)" },
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
	ck_assert_int_eq(o.status, 0);
	assert_has(&o.err, "ljperf: warning: ");
	assert_has(&o.err, ": cut at offset ");
	/* One line. */
	ck_assert_ptr_eq(strchr(strbuf__str(&o.err), '\n') + 1, o.err.buf + o.err.len);
	assert_has(&o.out, "100 B       1  100 B  lua     a.lua:1\n");
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
	struct session_header h = { .argv = argv, .argc = 2, .vm_version = "LuaJIT 2.1.0-beta3",
				    .heap_start = 1000 };
	struct session_footer end = { .end_kind = SESSION_END_EXIT, .end_code = 3,
				      .duration_ns = 2410000000 };
	struct ljm_symbol sym = { .source = LJM_SRC_LUA, .addr = A, .name = "@a.lua", .name_len = 6,
				  .line = 1, .has_detail = true, .func_name = "parse",
				  .func_name_len = 5, .last_line = 20 };

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
	assert_has(&o.out, "# allocated 150 B in 2 allocations \xc2\xb7 peak 1.1 KiB at 1.92 s \xc2\xb7 "
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
	o = run_command(cmd_report, "report", "-q", "-t", ",", "-F", "live,leaked,symbol", "--metric",
			metrics[_i].metric, session_path, NULL);
	ck_assert_str_eq(strbuf__str(&o.out), metrics[_i].out);
	output__exit(&o);
}
END_TEST

/* What lua_close() frees counts when it is asked for. */
START_TEST(test_with_close)
{
	struct output o;

	session__make();
	o = run_command(cmd_report, "report", "--format", "memprof", "--leak-only", session_path, NULL);
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
	assert_has(&o.out, "         1  alloc    lua    a.lua:2 (parse)  0x10 100\n"
			   "         2      1.920000  alloc    lua    a.lua:3 (parse)  0x20 50\n"
			   "         2      2.000000  mark     script-end\n"
			   "         3      1.920000  free     vm     INTERNAL (gc)  0x20 50\n");
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
	o = run_command(cmd_script, "script", "--json", "-F", "detail,block", stream__file(&s), NULL);
	ck_assert_str_eq(strbuf__str(&o.out), "{\"chunk\":\"@a\\\"\\u001b\\udcff\",\"line\":2,"
					      "\"new_addr\":\"0x10\",\"new_size\":18446744073709551615}\n");
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
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
}

static void add_views(Suite *suite)
{
	TCase *tc = tcase_create("views");

	tcase_add_test(tc, test_escapes);
	tcase_add_test(tc, test_aliases);
	tcase_add_test(tc, test_layout);
	tcase_add_test(tc, test_nothing);
	tcase_add_loop_test(tc, test_limits, 0, COUNT(limits));
	tcase_add_loop_test(tc, test_sort, 0, COUNT(sorts));
	tcase_add_loop_test(tc, test_refused, 0, COUNT(refused));
	tcase_add_test(tc, test_script_json_names);
	suite_add_tcase(suite, tc);
}

static void add_sessions(Suite *suite)
{
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
	suite_add_tcase(suite, tc);
}

int main(void)
{
	Suite *suite = suite_create("report");
	SRunner *sr = srunner_create(suite);
	int failed;

	add_attribution(suite);
	add_views(suite);
	add_sessions(suite);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
