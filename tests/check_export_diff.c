/* check_export_diff.c - what frames are called in an export of two recordings: what
 * is an accident of a run must not make two of one.
 */
#include <check.h>
#include <stdlib.h>

#include "ljperf.h"
#include "tests/lib_calls.h"
#include "tests/lib_suite.h"

/* Addresses of functions, which differ between recordings by OTHER. */
enum { A = 0x1000, B = 0x2000, OTHER = 0x100000 };

static struct calls recs[2];
static uint64_t next_block;

static struct calls *begin(int side)
{
	calls__begin(&recs[side], 0, 1);
	next_block = 0x10;
	return &recs[side];
}

static void func(struct calls *c, uint64_t addr, const char *name, uint64_t first, uint64_t last)
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

	ck_assert_int_eq(session_writer__symbol(c->w, &sym), 0);
}

static void alloc(struct calls *c, struct ljm_loc loc, uint64_t size)
{
	calls__alloc(c, loc, next_block, size, calls__node(c, 0, loc));
	next_block += 0x10;
}

static void assert_folded(const char *by, const char *want)
{
	struct output o;

	calls__end(&recs[0], 0);
	calls__end(&recs[1], 0);
	o = run_command(cmd_export, "export", "--diff", "--format", "folded", "--by", by,
			recs[0].path, recs[1].path, NULL);
	ck_assert_str_eq(strbuf__str(&o.err), "");
	ck_assert_int_eq(o.status, 0);
	ck_assert_str_eq(strbuf__str(&o.out), want);
	output__exit(&o);
}

/* The recorder saw who is called only once: the lines are those of parse(). */
START_TEST(test_shared_name)
{
	struct calls *c = begin(0);

	func(c, A, "", 10, 20);
	alloc(c, loc_lua(A, 11), 100);
	c = begin(1);
	func(c, A + OTHER, "parse", 10, 20);
	alloc(c, loc_lua(A + OTHER, 11), 101);
	assert_folded("line", "parse@app.lua:11 100 101\n");
}
END_TEST

/* What is on the lines of parse() is another function: parse() is elsewhere. */
START_TEST(test_name_is_elsewhere)
{
	struct calls *c = begin(0);

	func(c, A, "parse", 10, 20);
	alloc(c, loc_lua(A, 11), 100);
	c = begin(1);
	func(c, A, "", 10, 20);
	func(c, B, "parse", 30, 40);
	alloc(c, loc_lua(A, 11), 5);
	alloc(c, loc_lua(B, 31), 101);
	assert_folded("func", "parse@app.lua 100 101\n"
			      "function_<app.lua:10>@app.lua:10 0 5\n");
}
END_TEST

/* By function, lines may move. */
START_TEST(test_moved)
{
	struct calls *c = begin(0);

	func(c, A, "parse", 10, 20);
	alloc(c, loc_lua(A, 11), 100);
	alloc(c, loc_lua(A, 12), 1);
	c = begin(1);
	func(c, A, "parse", 30, 45);
	alloc(c, loc_lua(A, 35), 102);
	assert_folded("func", "parse@app.lua 101 102\n");
}
END_TEST

/* Two of one name are told apart by their lines, and so they cannot move. */
START_TEST(test_two_of_one_name)
{
	struct calls *c = begin(0);

	func(c, A, "new", 10, 20);
	func(c, B, "new", 30, 40);
	alloc(c, loc_lua(A, 11), 100);
	alloc(c, loc_lua(B, 31), 10);
	c = begin(1);
	func(c, A, "new", 10, 20);
	alloc(c, loc_lua(A, 12), 50);
	assert_folded("func", "new@app.lua:10 100 50\n"
			      "new@app.lua:30 10 0\n");
}
END_TEST

/* How a main chunk was called is no name of it. */
START_TEST(test_main_chunk)
{
	struct calls *c = begin(0);

	func(c, A, "f", 0, 50);
	alloc(c, loc_lua(A, 3), 1);
	c = begin(1);
	func(c, A, "", 0, 51);
	alloc(c, loc_lua(A, 3), 2);
	assert_folded("line", "main_chunk@app.lua:3 1 2\n");
}
END_TEST

static void accidents(int side, uint64_t at, uint64_t trace, uint64_t bytes)
{
	struct calls *c = begin(side);
	const struct ljm_symbol sym = {
		.source = LJM_SRC_TRACE, .trace_num = trace, .proto_addr = A + at, .line = 3
	};

	func(c, A + at, "leaf", 2, 9);
	ck_assert_int_eq(session_writer__symbol(c->w, &sym), 0);
	alloc(c, loc_trace(trace), bytes);
	alloc(c, loc_trace(trace + 1), bytes + 1); /* never described */
	alloc(c, loc_c(0x70000 + at), bytes + 2);
	alloc(c, loc_lua(B + at, 7), bytes + 3);
}

/* Numbers of traces and addresses of what has no name. */
START_TEST(test_accidents)
{
	accidents(0, 0, 1, 10);
	accidents(1, OTHER, 7, 20);
	assert_folded("line", "TRACE@app.lua:3 10 20\n"
			      "TRACE 11 21\n"
			      "CFUNC_[unknown] 12 22\n"
			      "[unknown] 13 23\n");
}
END_TEST

/* A single export keeps them. */
START_TEST(test_one)
{
	struct output o;

	accidents(0, 0, 1, 10);
	calls__end(&recs[0], 0);
	o = run_command(cmd_export, "export", "--format", "folded", recs[0].path, NULL);
	assert_has(&o.out, "TRACE_[1]@app.lua:3 10\n");
	assert_has(&o.out, "TRACE_[2] 11\n");
	assert_has(&o.out, "0x70000");
	output__exit(&o);
}
END_TEST

/* Above 64 bits. */
START_TEST(test_huge)
{
	struct calls *c = begin(0);

	func(c, A, "parse", 10, 20);
	alloc(c, loc_lua(A, 11), UINT64_MAX);
	alloc(c, loc_lua(A, 11), UINT64_MAX);
	c = begin(1);
	func(c, A, "parse", 10, 20);
	alloc(c, loc_lua(A, 11), 0);
	/* 2 * (2^64 - 1) */
	assert_folded("line", "parse@app.lua:11 36893488147419103230 0\n");
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("export of two");
	TCase *c = tcase_create("frames");

	tcase_add_test(c, test_shared_name);
	tcase_add_test(c, test_name_is_elsewhere);
	tcase_add_test(c, test_moved);
	tcase_add_test(c, test_two_of_one_name);
	tcase_add_test(c, test_main_chunk);
	tcase_add_test(c, test_accidents);
	tcase_add_test(c, test_one);
	tcase_add_test(c, test_huge);
	suite_add_tcase(s, c);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
