/* check_stacks.c - call stacks: the tree of nodes, the trees that report prints,
 * and what script shows of them.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "ljperf.h"
#include "report/aggregate.h"
#include "report/frames.h"
#include "report/match.h"
#include "tests/lib_calls.h"
#include "tests/lib_suite.h"

/* Addresses of prototypes and of a C function. */
enum { MAIN = 0x1000, LOAD = 0x2000, LEAF = 0x3000, REP = 0x9000 };

static struct calls c;

/* The main chunk, app.lua, calls leaf() at line 40, and load() at line 42, which
 * calls leaf() at lines 12 and 13.  leaf() makes tables at line 3: 700 bytes
 * through line 12, 100 through 13, 100 from the main chunk.  load() makes 100
 * bytes itself by string.rep() at line 14.  1000 bytes in all. */
static const char *small_program(void)
{
	uint64_t top, load12, load13, load14, by40;

	calls__begin(&c, 0, 1);
	calls__func(&c, MAIN, "@app.lua", 0, NULL);
	calls__func(&c, LOAD, "@app.lua", 10, "load");
	calls__func(&c, LEAF, "@app.lua", 2, "leaf");
	calls__c(&c, REP, "string.rep");
	top = calls__node(&c, 0, loc_lua(MAIN, 42));
	load12 = calls__node(&c, top, loc_lua(LOAD, 12));
	load13 = calls__node(&c, top, loc_lua(LOAD, 13));
	load14 = calls__node(&c, top, loc_lua(LOAD, 14));
	by40 = calls__node(&c, 0, loc_lua(MAIN, 40));
	load12 = calls__node(&c, load12, loc_lua(LEAF, 3));
	load13 = calls__node(&c, load13, loc_lua(LEAF, 3));
	by40 = calls__node(&c, by40, loc_lua(LEAF, 3));
	load14 = calls__node(&c, load14, loc_c(REP));
	calls__alloc(&c, loc_lua(LEAF, 3), 0x10, 400, load12);
	calls__alloc(&c, loc_lua(LEAF, 3), 0x20, 300, load12);
	calls__alloc(&c, loc_lua(LEAF, 3), 0x30, 100, load13);
	calls__alloc(&c, loc_lua(LEAF, 3), 0x40, 100, by40);
	calls__alloc(&c, loc_lua(LOAD, 14), 0x50, 100, load14);
	return calls__end(&c, 1000);
}

static void assert_prints(const char *path, const char *kind, const char *more, const char *want)
{
	struct output o = run_command(cmd_report, "report", "-q", "-g", kind, "-F",
				      "overhead,symbol", path, more, NULL);

	ck_assert_str_eq(strbuf__str(&o.err), "");
	ck_assert_int_eq(o.status, 0);
	ck_assert_str_eq(strbuf__str(&o.out), want);
	output__exit(&o);
}

/* ---- the trees as text ---- */

START_TEST(test_callee)
{
	assert_prints(small_program(), "callee", NULL,
		      "    90.00%  leaf  app.lua:3\n"
		      "            |\n"
		      "            ---leaf app.lua:3\n"
		      "               |          \n"
		      "               |--70.00%--load app.lua:12\n"
		      "               |          main chunk app.lua:42\n"
		      "               |          \n"
		      "               |--10.00%--load app.lua:13\n"
		      "               |          main chunk app.lua:42\n"
		      "               |          \n"
		      "                --10.00%--main chunk app.lua:40\n"
		      "\n"
		      "    10.00%  load  app.lua:14\n"
		      "            |\n"
		      "            ---string.rep\n"
		      "               load app.lua:14\n"
		      "               main chunk app.lua:42\n"
		      "\n");
}
END_TEST

START_TEST(test_caller)
{
	assert_prints(small_program(), "caller", NULL,
		      "    90.00%  leaf  app.lua:3\n"
		      "            |          \n"
		      "            |--80.00%--main chunk app.lua:42\n"
		      "            |          |          \n"
		      "            |          |--70.00%--load app.lua:12\n"
		      "            |          |          leaf app.lua:3\n"
		      "            |          |          \n"
		      "            |           --10.00%--load app.lua:13\n"
		      "            |                     leaf app.lua:3\n"
		      "            |          \n"
		      "             --10.00%--main chunk app.lua:40\n"
		      "                       leaf app.lua:3\n"
		      "\n"
		      "    10.00%  load  app.lua:14\n"
		      "            |\n"
		      "            ---main chunk app.lua:42\n"
		      "               load app.lua:14\n"
		      "               string.rep\n"
		      "\n");
}
END_TEST

/* Of the 900 bytes of leaf(): 800 / 900 = 88.89 %, 700 / 800 = 87.5 %. */
START_TEST(test_fractal)
{
	assert_prints(small_program(), "caller,fractal,function", "--limit=1",
		      "    90.00%  leaf  app.lua:3\n"
		      "            |\n"
		      "            ---main chunk app.lua\n"
		      "               |          \n"
		      "               |--88.89%--load app.lua:10\n"
		      "               |          leaf app.lua:2\n"
		      "               |          \n"
		      "                --11.11%--leaf app.lua:2\n"
		      "\n");
	assert_prints(small_program(), "caller,fractal,12", "--limit=1",
		      "    90.00%  leaf  app.lua:3\n"
		      "            |          \n"
		      "            |--88.89%--main chunk app.lua:42\n"
		      "            |          |          \n"
		      "            |          |--87.50%--load app.lua:12\n"
		      "            |          |          leaf app.lua:3\n"
		      "            |          |          \n"
		      "            |           --12.50%--load app.lua:13\n"
		      "            |                     leaf app.lua:3\n"
		      "            |          \n"
		      "             --11.11%--[...]\n"
		      "\n");
}
END_TEST

/* What is below the limit is put together: 10 + 10 of 100 %. */
START_TEST(test_rest)
{
	assert_prints(small_program(), "callee,10.5", "--limit=1",
		      "    90.00%  leaf  app.lua:3\n"
		      "            |\n"
		      "            ---leaf app.lua:3\n"
		      "               |          \n"
		      "               |--70.00%--load app.lua:12\n"
		      "               |          main chunk app.lua:42\n"
		      "               |          \n"
		      "                --20.00%--[...]\n"
		      "\n");
}
END_TEST

START_TEST(test_max_stack)
{
	assert_prints(small_program(), "caller", "--max-stack=2",
		      "    90.00%  leaf  app.lua:3\n"
		      "            |          \n"
		      "            |--70.00%--load app.lua:12\n"
		      "            |          leaf app.lua:3\n"
		      "            |          \n"
		      "            |--10.00%--load app.lua:13\n"
		      "            |          leaf app.lua:3\n"
		      "            |          \n"
		      "             --10.00%--main chunk app.lua:40\n"
		      "                       leaf app.lua:3\n"
		      "\n"
		      "    10.00%  load  app.lua:14\n"
		      "            |\n"
		      "            ---load app.lua:14\n"
		      "               string.rep\n"
		      "\n");
}
END_TEST

/* Equal rows are in the order of their places, without functions.  The main
 * chunk has all, load() what it and leaf() below it did: 900 of 1000,
 * by lines 700, 100 and 100; string.rep is a row of its own. */
START_TEST(test_children)
{
	struct output o = run_command(cmd_report, "report", "-q", "-t", ",", "--children", "-s",
				      "symbol", "-F", "overhead,allocated,symbol", small_program(),
				      NULL);

	ck_assert_str_eq(strbuf__str(&o.out), "90.00%,90.00%,900,leaf  app.lua:3\n"
					      "90.00%,0.00%,0,app.lua:42\n"
					      "70.00%,0.00%,0,load  app.lua:12\n"
					      "10.00%,10.00%,100,load  app.lua:14\n"
					      "10.00%,0.00%,0,load  app.lua:13\n"
					      "10.00%,0.00%,0,app.lua:40\n"
					      "10.00%,0.00%,0,string.rep\n");
	output__exit(&o);
	o = run_command(cmd_report, "report", "-q", "-t", ",", "--children", "-s", "func", "-F",
			"overhead", small_program(), NULL);
	ck_assert_str_eq(strbuf__str(&o.out), "100.00%,0.00%,lua,main chunk  app.lua\n"
					      "90.00%,90.00%,lua,leaf  app.lua:2\n"
					      "90.00%,10.00%,lua,load  app.lua:10\n"
					      "10.00%,0.00%,c,string.rep\n");
	output__exit(&o);
}
END_TEST

/* A row of load() begins with itself: inwards for callers as roots, outwards for
 * the other order. */
START_TEST(test_children_trees)
{
	struct output o = run_command(cmd_report, "report", "-q", "--children", "-g", "-s", "func",
				      "-F", "children,func", "--limit=3", small_program(), NULL);

	assert_has(&o.out, "    90.00%  load  app.lua:10\n"
			   "            |          \n"
			   "            |--70.00%--load app.lua:12\n"
			   "            |          leaf app.lua:3\n"
			   "            |          \n"
			   "            |--10.00%--load app.lua:13\n"
			   "            |          leaf app.lua:3\n"
			   "            |          \n"
			   "             --10.00%--load app.lua:14\n"
			   "                       string.rep\n");
	output__exit(&o);
}
END_TEST

/* A function that calls itself three deep has its bytes once. */
START_TEST(test_recursion)
{
	uint64_t node = 0;
	struct output o;
	int i;

	calls__begin(&c, 0, 1);
	calls__func(&c, LEAF, "@r.lua", 1, "rec");
	for (i = 0; i < 3; i++) {
		node = calls__node(&c, node, loc_lua(LEAF, 2));
		calls__alloc(&c, loc_lua(LEAF, 2), 0x10 + (uint64_t)i, 100, node);
	}
	o = run_command(cmd_report, "report", "-q", "--children", "-g", "-s", "symbol", "-F",
			"overhead,symbol", calls__end(&c, 1), NULL);
	ck_assert_str_eq(strbuf__str(&o.out), "   100.00%  100.00%  rec  r.lua:2\n"
					      "            |\n"
					      "            ---rec r.lua:2\n"
					      "               |          \n"
					      "                --66.67%--rec r.lua:2\n"
					      "                          |          \n"
					      "                           --33.33%--rec r.lua:2\n"
					      "\n");
	output__exit(&o);
}
END_TEST

START_TEST(test_folded)
{
	struct output o = run_command(cmd_report, "report", "-q", "-t", ",", "-g", "folded,caller",
				      "-F", "allocated,symbol", small_program(), NULL);

	ck_assert_str_eq(strbuf__str(&o.out),
			 "900,leaf  app.lua:3\n"
			 "700 main chunk app.lua:42;load app.lua:12;leaf app.lua:3\n"
			 "100 main chunk app.lua:42;load app.lua:13;leaf app.lua:3\n"
			 "100 main chunk app.lua:40;leaf app.lua:3\n"
			 "100,load  app.lua:14\n"
			 "100 main chunk app.lua:42;load app.lua:14;string.rep\n");
	output__exit(&o);
}
END_TEST

START_TEST(test_parent)
{
	struct output o = run_command(cmd_report, "report", "-q", "-t", ",", "-p", "^load ", "-s",
				      "parent", "-F", "allocated", small_program(), NULL);

	ck_assert_str_eq(strbuf__str(&o.out), "900,load\n100,[other]\n");
	output__exit(&o);
	o = run_command(cmd_report, "report", "-q", "-t", ",", "-p", "app.lua:40$", "-x", "-F",
			"allocated,symbol", small_program(), NULL);
	ck_assert_str_eq(strbuf__str(&o.out), "100,leaf  app.lua:3\n");
	output__exit(&o);
}
END_TEST

START_TEST(test_none_recorded)
{
	struct output o;

	calls__begin(&c, 0, 1);
	calls__func(&c, MAIN, "@a.lua", 0, NULL);
	calls__alloc(&c, loc_lua(MAIN, 1), 0x10, 1, 0);
	o = run_command(cmd_report, "report", "-g", calls__end(&c, 1), NULL);
	ck_assert_int_eq(o.status, EXIT_LJPERF);
	assert_has(&o.err, "no call stacks were recorded (ljperf record -g does it)");
	output__exit(&o);
}
END_TEST

/* ---- what a stream can do to the tree ---- */

static struct aggregate *read_all(const char *path)
{
	struct aggregate *a = aggregate__new();

	ck_assert_ptr_nonnull(a);
	a->split = SPLIT_STACK;
	ck_assert_int_eq(aggregate__read(a, path, false), 0);
	aggregate__finish(a);
	return a;
}

/* What is at an address is what it was when the node was told; the same name at
 * another address is the same node. */
START_TEST(test_epochs)
{
	struct aggregate *a;
	struct output o;
	const char *path;
	uint64_t one, two, three;

	calls__begin(&c, 0, 1);
	calls__func(&c, LEAF, "@old.lua", 1, "f");
	one = calls__node(&c, 0, loc_lua(LEAF, 5));
	calls__alloc(&c, loc_lua(LEAF, 5), 0x10, 1, one);
	calls__func(&c, LEAF, "@new.lua", 1, "f");
	two = calls__node(&c, 0, loc_lua(LEAF, 5));
	calls__alloc(&c, loc_lua(LEAF, 5), 0x20, 20, two);
	calls__func(&c, LOAD, "@old.lua", 1, "f");
	three = calls__node(&c, 0, loc_lua(LOAD, 5));
	calls__alloc(&c, loc_lua(LOAD, 5), 0x30, 300, three);
	path = calls__end(&c, 1);
	a = read_all(path);
	ck_assert_uint_eq(a->stacks.n, 3); /* the root, old.lua:5, new.lua:5 */
	aggregate__delete(a);
	o = run_command(cmd_report, "report", "-q", "-t", ",", "-g", "folded", "-F",
			"allocated,symbol", path, NULL);
	ck_assert_str_eq(strbuf__str(&o.out), "301,f  old.lua:5\n301 f old.lua:5\n"
					      "20,f  new.lua:5\n20 f new.lua:5\n");
	output__exit(&o);
}
END_TEST

/* A caller whose line is not known, frames beyond the limit, an event without
 * a stack, one of the VM in the name of a function, and names with what
 * separates frames. */
START_TEST(test_odd_frames)
{
	struct ljm_loc cut = { .source = LJM_SRC_INTERNAL, .num = SESSION_STACK_CUT };
	uint64_t node;
	struct output o;

	calls__begin(&c, 0, 1);
	calls__func(&c, MAIN, "=a;b", 0, NULL);
	calls__func(&c, LEAF, "@x.lua", 7, NULL);
	node = calls__node(&c, 0, cut);
	node = calls__node(&c, node, loc_lua(MAIN, 0));
	node = calls__node(&c, node, loc_lua(LEAF, 9));
	calls__alloc(&c, loc_lua(LEAF, 9), 0x10, 1000, node);
	calls__alloc(&c, loc_lua(LEAF, 9), 0x20, 200, 0);
	calls__alloc(&c, loc_vm(), 0x30, 30, node);
	o = run_command(cmd_report, "report", "-q", "-t", ",", "-g", "folded", "-F",
			"allocated,source", calls__end(&c, 1), NULL);
	ck_assert_str_eq(
		strbuf__str(&o.out),
		"1200,lua\n"
		"1000 function <x.lua:7> x.lua:9;main chunk a:b;[frames left out]\n"
		"200 function <x.lua:7> x.lua:9\n"
		"30,vm\n"
		"30 INTERNAL;function <x.lua:7> x.lua:9;main chunk a:b;[frames left out]\n");
	output__exit(&o);
}
END_TEST

/* 3000 frames deep: the tree ends at the limit, and nothing is lost. */
START_TEST(test_deep)
{
	struct aggregate *a;
	uint32_t frames[STACK_DEPTH_MAX + 1], cell;
	uint64_t node = 0;
	u128 sum = 0;
	int i;

	calls__begin(&c, 0, 1);
	calls__func(&c, LEAF, "@deep.lua", 1, "f");
	for (i = 0; i < 3000; i++) {
		node = calls__node(&c, node, loc_lua(LEAF, (uint64_t)i + 1));
		calls__alloc(&c, loc_lua(LEAF, (uint64_t)i + 1), 0x10 + (uint64_t)i, 8, node);
	}
	a = read_all(calls__end(&c, 1));
	ck_assert_uint_eq(a->stacks.n, STACK_DEPTH_MAX + 1);
	for (cell = 0; cell < a->n_stats; cell++) {
		ck_assert_uint_le(aggregate__frames(a, cell, frames), STACK_DEPTH_MAX + 1);
		sum += a->stats[cell].alloc_bytes;
	}
	ck_assert(sum == 3000 * 8);
	aggregate__delete(a);
}
END_TEST

/* Numbers that were never told are no stack; gaps are allowed, wild ones kept
 * out of memory. */
START_TEST(test_numbers)
{
	struct session_stack node = { .loc = loc_lua(LEAF, 1) };
	struct symtab *st = symtab__new();
	struct stacks s = { .at = NULL };

	ck_assert_int_eq(stacks__begin_session(&s), 0);
	node.id = 7;
	ck_assert_int_eq(stacks__add(&s, st, &node), 0);
	ck_assert_uint_eq(stacks__node(&s, 7), 1);
	ck_assert_uint_eq(stacks__node(&s, 3), STACK_ROOT);
	ck_assert_uint_eq(stacks__node(&s, 8), STACK_ROOT);
	ck_assert_uint_eq(stacks__node(&s, UINT64_MAX), STACK_ROOT);
	node.id = UINT64_MAX;
	node.parent = 7;
	ck_assert_int_eq(stacks__add(&s, st, &node), 0);
	ck_assert_uint_eq(s.n_ids, 8);
	node.id = 0; /* the root is nobody's to tell */
	ck_assert_int_eq(stacks__add(&s, st, &node), 0);
	ck_assert_uint_eq(stacks__node(&s, 0), STACK_ROOT);
	ck_assert_int_eq(stacks__begin_session(&s), 0);
	ck_assert_uint_eq(stacks__node(&s, 7), STACK_ROOT);
	stacks__exit(&s);
	symtab__delete(st);
}
END_TEST

/* ---- script ---- */

START_TEST(test_script)
{
	const char *path = small_program();
	struct output o = run_command(cmd_script, "script", "-F", "event,stack", path, NULL);

	assert_has(&o.out, "  alloc  \n\tstack 9\n\t\tstring.rep\n\t\tload app.lua:14\n"
			   "\t\tmain chunk app.lua:42\n\n");
	output__exit(&o);
	o = run_command(cmd_script, "script", "--json", "-F", "stack", path, NULL);
	assert_has(&o.out,
		   "{\"stack\":9,\"frames\":[{\"source\":\"c\",\"func\":\"string.rep\"},"
		   "{\"source\":\"lua\",\"func\":\"load\",\"file\":\"app.lua\",\"line\":14},"
		   "{\"source\":\"lua\",\"func\":\"main chunk\",\"file\":\"app.lua\","
		   "\"line\":42}]}\n");
	output__exit(&o);
	o = run_command(cmd_script, "script", path, NULL);
	assert_lacks(&o.out, "stack");
	output__exit(&o);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stacks");
	TCase *tc = tcase_create("trees");

	tcase_add_test(tc, test_callee);
	tcase_add_test(tc, test_caller);
	tcase_add_test(tc, test_fractal);
	tcase_add_test(tc, test_rest);
	tcase_add_test(tc, test_max_stack);
	tcase_add_test(tc, test_children);
	tcase_add_test(tc, test_children_trees);
	tcase_add_test(tc, test_recursion);
	tcase_add_test(tc, test_folded);
	tcase_add_test(tc, test_parent);
	tcase_add_test(tc, test_none_recorded);
	tcase_add_test(tc, test_epochs);
	tcase_add_test(tc, test_odd_frames);
	tcase_add_test(tc, test_deep);
	tcase_add_test(tc, test_numbers);
	tcase_add_test(tc, test_script);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
