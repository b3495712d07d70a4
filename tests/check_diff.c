/* check_diff.c - what diff makes of the parts of a session that a plain stream
 * does not have: names of functions, VMs, marks, times, collections.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ljperf.h"
#include "tests/lib_stream.h"
#include "tests/lib_suite.h"

enum { A = 0x1000, B = 0x2000, C = 0x3000, D = 0x4000 };

/* ---- sessions ---- */

struct rec {
	struct session_writer *w;
	int fd;
	char path[64];
	uint64_t next; /* address of a block */
};

static struct rec rec__begin(uint64_t vm, const char *thread)
{
	const struct session_header h = { .vm_number = vm,
					  .thread_name = thread,
					  .vm_version = "LuaJIT" };
	struct rec r = { .next = 0x10 };

	r.fd = memory_file(r.path, sizeof(r.path));
	r.w = session_writer__new(r.fd, &h, NULL);
	ck_assert_ptr_nonnull(r.w);
	return r;
}

/* A prototype of app.lua; "" is no name. */
static void rec__func(struct rec *r, uint64_t addr, const char *name, uint64_t first, uint64_t last)
{
	const struct ljm_symbol sym = { .source = LJM_SRC_LUA,
					.addr = addr,
					.name = "@app.lua",
					.name_len = 8,
					.line = first,
					.has_detail = true,
					.func_name = name,
					.func_name_len = strlen(name),
					.last_line = last };

	ck_assert_int_eq(session_writer__symbol(r->w, &sym), 0);
}

static void rec__trace(struct rec *r, uint64_t num, uint64_t proto, uint64_t line)
{
	const struct ljm_symbol sym = {
		.source = LJM_SRC_TRACE, .trace_num = num, .proto_addr = proto, .line = line
	};

	ck_assert_int_eq(session_writer__symbol(r->w, &sym), 0);
}

static void rec__alloc(struct rec *r, struct ljm_loc loc, uint64_t size)
{
	const struct ljm_event ev = {
		.kind = LJM_ALLOC, .loc = loc, .new_addr = r->next, .new_size = size
	};

	r->next += 0x10;
	ck_assert_int_eq(session_writer__event(r->w, &ev), 0);
}

static void rec__mark(struct rec *r, enum session_mark_kind kind, const char *name)
{
	const struct session_mark m = { .kind = kind, .name = name, .name_len = strlen(name) };

	ck_assert_int_eq(session_writer__mark(r->w, &m), 0);
}

static void rec__end(struct rec *r, uint64_t duration_ns)
{
	const struct session_footer end = { .end_kind = SESSION_END_EXIT,
					    .duration_ns = duration_ns };

	ck_assert_int_eq(session_writer__finish(r->w, &end), 0);
	session_writer__delete(r->w);
}

/* The rows of a diff with exact numbers: "baseline;delta;percent;allocs;mark"
 * and the keys. */
static void assert_diff(const char *a, const char *b, const char *option, const char *want)
{
	struct output o =
		run_command(cmd_diff, "diff", "-q", "-t", ";", "-s", "func", a, b, option, NULL);

	ck_assert_str_eq(strbuf__str(&o.err), "");
	ck_assert_str_eq(strbuf__str(&o.out), want);
	ck_assert_int_eq(o.status, 0);
	output__exit(&o);
}

static void assert_lines(const char *a, const char *b, const char *want)
{
	struct output o = run_command(cmd_diff, "diff", "-q", "-t", ";", "-s", "symbol", "--match",
				      "fuzzy", a, b, NULL);

	ck_assert_str_eq(strbuf__str(&o.err), "");
	ck_assert_str_eq(strbuf__str(&o.out), want);
	output__exit(&o);
}

/* ---- functions ---- */

START_TEST(test_moved)
{
	struct rec a = rec__begin(1, NULL), b = rec__begin(1, NULL);

	rec__func(&a, A, "parse", 10, 20);
	rec__alloc(&a, loc_lua(A, 11), 100);
	rec__func(&b, B, "parse", 30, 50);
	rec__alloc(&b, loc_lua(B, 33), 64);
	rec__alloc(&b, loc_lua(B, 35), 64);
	rec__end(&a, 0);
	rec__end(&b, 0);
	assert_diff(a.path, b.path, NULL, "100;+28;+28.00%;+1;;lua;parse  app.lua\n");
}
END_TEST

/* Two of one name on each side: the first is the first, the second the second. */
START_TEST(test_same_name)
{
	struct rec a = rec__begin(1, NULL), b = rec__begin(1, NULL);

	rec__func(&a, A, "new", 10, 12);
	rec__func(&a, B, "new", 40, 42);
	rec__alloc(&a, loc_lua(A, 11), 100);
	rec__alloc(&a, loc_lua(B, 41), 1000);
	/* What was first begins now where the second did. */
	rec__func(&b, C, "new", 40, 42);
	rec__func(&b, D, "new", 70, 72);
	rec__alloc(&b, loc_lua(C, 41), 101);
	rec__alloc(&b, loc_lua(D, 71), 1002);
	rec__end(&a, 0);
	rec__end(&b, 0);
	assert_diff(a.path, b.path, NULL,
		    "1000;+2;+0.20%;0;fuzzy;lua;new  app.lua:40\n"
		    "100;+1;+1.00%;0;fuzzy;lua;new  app.lua:10\n");
}
END_TEST

/* Two here and one there: which one is gone cannot be told, so they are one row. */
START_TEST(test_same_name_uneven)
{
	struct rec a = rec__begin(1, NULL), b = rec__begin(1, NULL);

	rec__func(&a, A, "new", 10, 12);
	rec__func(&a, B, "new", 40, 42);
	rec__alloc(&a, loc_lua(A, 11), 100);
	rec__alloc(&a, loc_lua(B, 41), 1000);
	rec__func(&b, D, "new", 70, 72);
	rec__alloc(&b, loc_lua(D, 71), 1002);
	rec__end(&a, 0);
	rec__end(&b, 0);
	assert_diff(a.path, b.path, NULL, "1100;-98;-8.91%;-1;;lua;new  app.lua\n");
}
END_TEST

static void nameless(struct rec *r, uint64_t first, uint64_t lines, uint64_t size)
{
	rec__func(r, A, "", 0, 100);
	rec__func(r, B, "", first, first + 2);
	rec__func(r, C, "", first + 20, first + 20 + lines);
	rec__alloc(r, loc_lua(A, 1), 7);
	rec__alloc(r, loc_lua(B, first + 1), 100);
	rec__alloc(r, loc_lua(C, first + 21), size);
	rec__end(r, 0);
}

/* As many on both sides, with as many lines each: their order tells. */
START_TEST(test_nameless)
{
	struct rec a = rec__begin(1, NULL), b = rec__begin(1, NULL);

	nameless(&a, 10, 5, 1000);
	nameless(&b, 40, 5, 1001);
	assert_diff(a.path, b.path, NULL, "1000;+1;+0.10%;0;fuzzy;lua;app.lua:30\n");
}
END_TEST

/* The second one has more lines: only fuzzy matching takes it for the same. */
START_TEST(test_nameless_grown)
{
	struct rec a = rec__begin(1, NULL), b = rec__begin(1, NULL);

	nameless(&a, 10, 5, 1000);
	nameless(&b, 40, 6, 1001);
	assert_diff(a.path, b.path, NULL,
		    ";+1001;;+1;new;lua;app.lua:60\n"
		    "1000;-1000;-100.00%;-1;gone;lua;app.lua:30\n"
		    ";+100;;+1;new;lua;app.lua:40\n"
		    "100;-100;-100.00%;-1;gone;lua;app.lua:10\n");
	assert_diff(a.path, b.path, "--match=fuzzy", "1000;+1;+0.10%;0;fuzzy;lua;app.lua:30\n");
}
END_TEST

/* A function that only a trace tells of has no name; its lines have one in the
 * other recording. */
START_TEST(test_name_of_other_side)
{
	struct rec a = rec__begin(1, NULL), b = rec__begin(1, NULL);

	rec__func(&a, A, "parse", 10, 20);
	rec__alloc(&a, loc_lua(A, 11), 100);
	rec__func(&b, A, "", 10, 20);
	rec__alloc(&b, loc_lua(A, 11), 101);
	rec__end(&a, 0);
	rec__end(&b, 0);
	assert_diff(a.path, b.path, NULL, "100;+1;+1.00%;0;;lua;parse  app.lua\n");
}
END_TEST

/* Lines 10 to 20 are another function now; that of before has moved. */
START_TEST(test_name_is_elsewhere)
{
	struct rec a = rec__begin(1, NULL), b = rec__begin(1, NULL);

	rec__func(&a, A, "parse", 10, 20);
	rec__alloc(&a, loc_lua(A, 11), 100);
	rec__func(&b, A, "", 10, 20);
	rec__func(&b, B, "parse", 30, 40);
	rec__alloc(&b, loc_lua(A, 11), 5);
	rec__alloc(&b, loc_lua(B, 31), 101);
	rec__end(&a, 0);
	rec__end(&b, 0);
	assert_diff(a.path, b.path, NULL,
		    ";+5;;+1;new;lua;app.lua:10\n"
		    "100;+1;+1.00%;0;;lua;parse  app.lua\n");
}
END_TEST

/* ---- lines ---- */

/* Without a source, three lines here and three there are joined in order; the
 * function that is new has a line with the number of an old one. */
START_TEST(test_lines_in_order)
{
	struct rec a = rec__begin(1, NULL), b = rec__begin(1, NULL);
	uint64_t i;

	rec__func(&a, A, "parse", 10, 20);
	for (i = 0; i < 3; i++)
		rec__alloc(&a, loc_lua(A, 11 + 2 * i), 100 << i);
	rec__func(&b, A, "parse", 110, 130);
	rec__func(&b, B, "fresh", 9, 12);
	for (i = 0; i < 3; i++)
		rec__alloc(&b, loc_lua(A, 112 + 5 * i), (100 << i) + i);
	rec__alloc(&b, loc_lua(B, 11), 1);
	rec__end(&a, 0);
	rec__end(&b, 0);
	assert_lines(a.path, b.path,
		     "400;+2;+0.50%;0;fuzzy;parse  app.lua:15 -> app.lua:122\n"
		     "200;+1;+0.50%;0;fuzzy;parse  app.lua:13 -> app.lua:117\n"
		     ";+1;;+1;new;fresh  app.lua:11\n");
}
END_TEST

/* Two lines and three: those at the same distance from the first line. */
START_TEST(test_lines_by_distance)
{
	struct rec a = rec__begin(1, NULL), b = rec__begin(1, NULL);

	rec__func(&a, A, "parse", 10, 20);
	rec__alloc(&a, loc_lua(A, 11), 100);
	rec__alloc(&a, loc_lua(A, 15), 200);
	rec__func(&b, A, "parse", 20, 30);
	rec__alloc(&b, loc_lua(A, 21), 101);
	rec__alloc(&b, loc_lua(A, 23), 50);
	rec__alloc(&b, loc_lua(A, 25), 202);
	rec__end(&a, 0);
	rec__end(&b, 0);
	assert_lines(a.path, b.path,
		     ";+50;;+1;new;parse  app.lua:23\n"
		     "200;+2;+1.00%;0;fuzzy;parse  app.lua:15 -> app.lua:25\n"
		     "100;+1;+1.00%;0;fuzzy;parse  app.lua:11 -> app.lua:21\n");
}
END_TEST

/* A new line that two of three recordings have is one row. */
START_TEST(test_new_line_of_two)
{
	struct rec r[3];
	struct output o;
	int i;

	for (i = 0; i < 3; i++) {
		r[i] = rec__begin(1, NULL);
		rec__func(&r[i], A, "parse", 10, 20);
		rec__alloc(&r[i], loc_lua(A, 11), 100);
		if (i)
			rec__alloc(&r[i], loc_lua(A, 17), 5);
		rec__end(&r[i], 0);
	}
	o = run_command(cmd_diff, "diff", "-q", "-t", ";", "-s", "symbol", "--match", "fuzzy",
			r[0].path, r[1].path, r[2].path, NULL);
	ck_assert_str_eq(strbuf__str(&o.err), "");
	ck_assert_str_eq(strbuf__str(&o.out), ";+5;;+1;new;+5;;+1;new;parse  app.lua:17\n");
	output__exit(&o);
}
END_TEST

/* The number of a trace is an accident of the run. */
START_TEST(test_traces)
{
	struct rec a = rec__begin(1, NULL), b = rec__begin(1, NULL);

	rec__func(&a, A, "parse", 10, 20);
	rec__trace(&a, 1, A, 12);
	rec__trace(&a, 2, A, 15);
	rec__alloc(&a, loc_trace(1), 100);
	rec__alloc(&a, loc_trace(2), 10);
	rec__func(&b, B, "parse", 10, 20);
	rec__trace(&b, 1, B, 15);
	rec__trace(&b, 7, B, 12);
	rec__alloc(&b, loc_trace(7), 101);
	rec__alloc(&b, loc_trace(1), 10);
	rec__end(&a, 0);
	rec__end(&b, 0);
	assert_diff(a.path, b.path, NULL, "100;+1;+1.00%;0;;trace;TRACE started at app.lua:12\n");
}
END_TEST

/* What has no name has an address, which is none to join rows by. */
START_TEST(test_unknown)
{
	struct rec a = rec__begin(1, NULL), b = rec__begin(1, NULL);

	rec__alloc(&a, loc_lua(A, 3), 100);
	rec__alloc(&a, loc_c(C), 10);
	rec__alloc(&b, loc_lua(B, 3), 100);
	rec__alloc(&b, loc_c(D), 11);
	rec__end(&a, 0);
	rec__end(&b, 0);
	assert_diff(a.path, b.path, NULL, "10;+1;+10.00%;0;;c;CFUNC [unknown]\n");
}
END_TEST

/* ---- recordings ---- */

static struct rec one_block(uint64_t vm, const char *thread, uint64_t size, uint64_t marks,
			    uint64_t duration_ns)
{
	struct rec r = rec__begin(vm, thread);

	rec__func(&r, A, "parse", 10, 20);
	rec__alloc(&r, loc_lua(A, 11), size);
	while (marks--)
		rec__mark(&r, SESSION_MARK_USER, "request");
	rec__end(&r, duration_ns);
	return r;
}

static struct output diff_with(const char *first, const char *second, const char *a, const char *b)
{
	return run_command(cmd_diff, "diff", "-q", "-t", ";", first, second, a, b, NULL);
}

START_TEST(test_per_mark)
{
	/* 30 bytes in 3 requests, 110 bytes in 10. */
	struct rec a = one_block(1, NULL, 30, 3, 0), b = one_block(1, NULL, 110, 10, 0);
	struct output o = diff_with("--normalize", "mark", a.path, b.path);

	/* 1/3 and 1/10 blocks for each request: 0.1 - 0.333333. */
	ck_assert_str_eq(strbuf__str(&o.out), "10;+1;+10.00%;-0.233333;;lua;parse  app.lua:11\n");
	output__exit(&o);
}
END_TEST

START_TEST(test_per_second)
{
	/* 1000 bytes in 2 s and 1000 in 0.5 s: 500 and 2000 a second. */
	struct rec a = one_block(1, NULL, 1000, 0, 2000000000);
	struct rec b = one_block(1, NULL, 1000, 0, 500000000);
	struct output o = diff_with("--normalize", "second", a.path, b.path);

	ck_assert_str_eq(strbuf__str(&o.out), "500;+1500;+300.00%;+1.5;;lua;parse  app.lua:11\n");
	output__exit(&o);
}
END_TEST

START_TEST(test_vms)
{
	struct rec a1 = one_block(1, NULL, 100, 0, 0), a2 = one_block(2, "worker", 1000, 0, 0);
	struct rec b1 = one_block(2, "worker", 1001, 0, 0), b2 = one_block(1, NULL, 102, 0, 0);
	char a[160], b[160];
	struct output o;

	snprintf(a, sizeof(a), "%s+%s", a1.path, a2.path);
	snprintf(b, sizeof(b), "%s+%s", b1.path, b2.path);
	o = diff_with("--sort", "vm", a, b);
	ck_assert_str_eq(strbuf__str(&o.out),
			 "100;+2;+2.00%;0;;VM 1\n1000;+1;+0.10%;0;;VM 2 (worker)\n");
	output__exit(&o);
	assert_diff(a, b, NULL, "1100;+3;+0.27%;0;;lua;parse  app.lua\n");
}
END_TEST

/* Of two VMs at the same time the longer one is the time of the run. */
START_TEST(test_vms_per_second)
{
	struct rec a1 = one_block(1, NULL, 100, 0, 1000000000);
	struct rec a2 = one_block(2, NULL, 100, 0, 2000000000);
	struct rec b = one_block(1, NULL, 100, 0, 1000000000);
	struct output o;
	char a[160];

	snprintf(a, sizeof(a), "%s+%s", a1.path, a2.path);
	o = diff_with("--normalize", "second", a, b.path);
	ck_assert_str_eq(strbuf__str(&o.out), "");
	output__exit(&o);
}
END_TEST

START_TEST(test_leaked)
{
	struct rec a = one_block(1, NULL, 100, 0, 0), b = rec__begin(1, NULL);
	struct output o;

	rec__func(&b, A, "parse", 10, 20);
	rec__alloc(&b, loc_lua(A, 11), 64);
	rec__mark(&b, SESSION_MARK_SCRIPT_END, "");
	rec__mark(&b, SESSION_MARK_FULL_GC, "");
	rec__alloc(&b, loc_lua(A, 11), 1000);
	rec__end(&b, 0);
	o = diff_with("--metric", "leaked", a.path, b.path);
	ck_assert_int_eq(o.status, EXIT_LJPERF);
	assert_has(&o.err, "has no full collection");
	output__exit(&o);
	o = diff_with("--metric", "leaked", b.path, b.path);
	ck_assert_int_eq(o.status, 0);
	output__exit(&o);
	o = diff_with("--all", "--metric=leaked", b.path, b.path);
	ck_assert_str_eq(strbuf__str(&o.out), "64;0;0.00%;0;;lua;parse  app.lua:11\n");
	output__exit(&o);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("diff");
	TCase *funcs = tcase_create("functions"), *lines = tcase_create("lines"),
	      *recs = tcase_create("recordings");

	tcase_add_test(funcs, test_moved);
	tcase_add_test(funcs, test_same_name);
	tcase_add_test(funcs, test_same_name_uneven);
	tcase_add_test(funcs, test_nameless);
	tcase_add_test(funcs, test_nameless_grown);
	tcase_add_test(funcs, test_name_of_other_side);
	tcase_add_test(funcs, test_name_is_elsewhere);
	suite_add_tcase(s, funcs);
	tcase_add_test(lines, test_lines_in_order);
	tcase_add_test(lines, test_lines_by_distance);
	tcase_add_test(lines, test_new_line_of_two);
	tcase_add_test(lines, test_traces);
	tcase_add_test(lines, test_unknown);
	suite_add_tcase(s, lines);
	tcase_add_test(recs, test_per_mark);
	tcase_add_test(recs, test_per_second);
	tcase_add_test(recs, test_vms);
	tcase_add_test(recs, test_vms_per_second);
	tcase_add_test(recs, test_leaked);
	suite_add_tcase(s, recs);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
