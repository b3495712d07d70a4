/* check_diff_tree.c - the call trees of diff: what they look like, and how frames are
 * joined.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "ljperf.h"
#include "tests/lib_calls.h"
#include "tests/lib_suite.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Addresses of functions, which differ between recordings by OTHER. */
enum { MAIN = 0x1000, CALL_A = 0x2000, CALL_B = 0x3000, LEAF = 0x4000, OTHER = 0x100000 };

/* What a recording of the small program is like. */
struct shape {
	uint64_t at; /* added to all addresses */
	uint64_t down; /* lines above its functions */
	const char *name_b; /* of b(); NULL: none */
	uint64_t by_a, by_b; /* bytes that leaf() makes; 0: it is not called there */
};

static struct calls recs[6];
static size_t n_recs;

static void call_leaf(struct calls *c, const struct shape *s, uint64_t top, struct ljm_loc call,
		      uint64_t bytes)
{
	struct ljm_loc leaf = loc_lua(LEAF + s->at, 3 + s->down);
	uint64_t node = calls__node(c, top, call);

	node = calls__node(c, node, leaf);
	calls__alloc(c, leaf, 0x10 + 0x10 * c->n_nodes, bytes, node);
}

/* app.lua: the main chunk calls a() at line 40, b() at line 41; they call leaf()
 * at lines 12 and 22, which makes a block at line 3. */
static const char *record_shape(struct shape s)
{
	struct calls *c = &recs[n_recs++];

	calls__begin(c, 0, 1);
	calls__func(c, MAIN + s.at, "@app.lua", 0, NULL);
	calls__func(c, CALL_A + s.at, "@app.lua", 10 + s.down, "a");
	calls__func(c, CALL_B + s.at, "@app.lua", 20 + s.down, s.name_b);
	calls__func(c, LEAF + s.at, "@app.lua", 2 + s.down, "leaf");
	if (s.by_a)
		call_leaf(c, &s, calls__node(c, 0, loc_lua(MAIN + s.at, 40 + s.down)),
			  loc_lua(CALL_A + s.at, 12 + s.down), s.by_a);
	if (s.by_b)
		call_leaf(c, &s, calls__node(c, 0, loc_lua(MAIN + s.at, 41 + s.down)),
			  loc_lua(CALL_B + s.at, 22 + s.down), s.by_b);
	return calls__end(c, 1000);
}

static const char *record(uint64_t by_a, uint64_t by_b)
{
	return record_shape((struct shape){
		.at = n_recs ? OTHER : 0, .name_b = "b", .by_a = by_a, .by_b = by_b });
}

/* ---- the trees as text ---- */

/* Leaves only the lines of trees, which end in an empty line. */
static void keep_trees(struct strbuf *out)
{
	struct strbuf trees = STRBUF_INIT;
	const char *line = strbuf__str(out), *end;
	bool row = true;

	for (; (end = strchr(line, '\n')); row = line == end, line = end + 1)
		if (!row && line != end)
			strbuf__addmem(&trees, line, (size_t)(end + 1 - line));
	strbuf__exit(out);
	*out = trees;
}

static void assert_tree(const char *kind, const char *more, const char *a, const char *b,
			const char *want)
{
	struct output o = run_command(cmd_diff, "diff", "-q", "-g", kind, a, b, more, NULL);

	ck_assert_str_eq(strbuf__str(&o.err), "");
	ck_assert_int_eq(o.status, 0);
	keep_trees(&o.out);
	ck_assert_str_eq(strbuf__str(&o.out), want);
	output__exit(&o);
}

/* Only b() makes more: 300 bytes became 600. */
START_TEST(test_one_caller)
{
	const char *a = record(100, 300), *b = record(100, 600);

	assert_tree("callee", NULL, a, b,
		    "            |\n"
		    "            ---leaf app.lua:3\n"
		    "               |\n"
		    "                --+300 B--b app.lua:22\n"
		    "                          main chunk app.lua:41\n");
	assert_tree("caller", NULL, a, b,
		    "            |\n"
		    "             --+300 B--main chunk app.lua:41\n"
		    "                       b app.lua:22\n"
		    "                       leaf app.lua:3\n");
	assert_tree("caller,function", NULL, a, b,
		    "            |\n"
		    "            ---main chunk app.lua\n"
		    "               |\n"
		    "                --+300 B--b app.lua\n"
		    "                          leaf app.lua\n");
	assert_tree("callee", "--all", a, b,
		    "            |\n"
		    "            ---leaf app.lua:3\n"
		    "               |\n"
		    "               |--+300 B--b app.lua:22\n"
		    "               |          main chunk app.lua:41\n"
		    "               |\n"
		    "                -----0 B--a app.lua:12\n"
		    "                          main chunk app.lua:40\n");
	assert_tree("callee", "--max-stack=1", a, b,
		    "            |\n"
		    "            ---leaf app.lua:3\n");
}
END_TEST

/* b() begins to call, a() ends: both are marked where the branch begins. */
START_TEST(test_new_and_gone)
{
	const char *a = record(100, 0), *b = record(0, 300);

	assert_tree("callee", NULL, a, b,
		    "            |\n"
		    "            ---leaf app.lua:3\n"
		    "               |\n"
		    "               |--+300 B--b app.lua:22  (new)\n"
		    "               |          main chunk app.lua:41\n"
		    "               |\n"
		    "                - -100 B--a app.lua:12  (gone)\n"
		    "                          main chunk app.lua:40\n");
	assert_tree("caller", NULL, b, a,
		    "            |\n"
		    "            |- -300 B--main chunk app.lua:41  (gone)\n"
		    "            |          b app.lua:22\n"
		    "            |          leaf app.lua:3\n"
		    "            |\n"
		    "             --+100 B--main chunk app.lua:40  (new)\n"
		    "                       a app.lua:12\n"
		    "                       leaf app.lua:3\n");
}
END_TEST

/* The row says what is new; its tree does not repeat it. */
START_TEST(test_new_row)
{
	assert_tree("callee", NULL, record(0, 0), record(1, 2),
		    "            |\n"
		    "            ---leaf app.lua:3\n"
		    "               |\n"
		    "               |--+2 B--b app.lua:22\n"
		    "               |        main chunk app.lua:41\n"
		    "               |\n"
		    "                --+1 B--a app.lua:12\n"
		    "                        main chunk app.lua:40\n");
}
END_TEST

/* 400 bytes here and there, but not from the same callers: with a tree that is
 * a change, without one it is none. */
START_TEST(test_moved_between_callers)
{
	const char *a = record(100, 300), *b = record(300, 100);
	struct output o;

	assert_tree("callee", NULL, a, b,
		    "            |\n"
		    "            ---leaf app.lua:3\n"
		    "               |\n"
		    "               |--+200 B--a app.lua:12\n"
		    "               |          main chunk app.lua:40\n"
		    "               |\n"
		    "                - -200 B--b app.lua:22\n"
		    "                          main chunk app.lua:41\n");
	o = run_command(cmd_diff, "diff", a, b, NULL);
	assert_has(&o.out, "nothing differs: all 1 rows are the same");
	output__exit(&o);
	o = run_command(cmd_diff, "diff", "-g", a, b, NULL);
	assert_lacks(&o.out, "same");
	output__exit(&o);
}
END_TEST

/* Of 100 bytes that changed, 40 are less than a half. */
START_TEST(test_small)
{
	const char *a = record(100, 100), *b = record(140, 160);

	assert_tree("callee,50", NULL, a, b,
		    "            |\n"
		    "            ---leaf app.lua:3\n"
		    "               |\n"
		    "               |--+60 B--b app.lua:22\n"
		    "               |         main chunk app.lua:41\n"
		    "               |\n"
		    "                --+40 B--[...]\n");
	assert_tree("callee,61", NULL, a, b,
		    "            |\n"
		    "            ---leaf app.lua:3\n"
		    "               |\n"
		    "                --+100 B--[...]\n");
}
END_TEST

/* What changed counts, whether up or down: 90 of 90 + 10. */
START_TEST(test_small_among_opposites)
{
	assert_tree("callee,20", NULL, record(10, 100), record(20, 10),
		    "            |\n"
		    "            ---leaf app.lua:3\n"
		    "               |\n"
		    "               |- -90 B--b app.lua:22\n"
		    "               |         main chunk app.lua:41\n"
		    "               |\n"
		    "                --+10 B--[...]\n");
}
END_TEST

/* 2 * new - 1 * baseline: a: 200 - 100, b: 1200 - 300. */
START_TEST(test_weighted)
{
	assert_tree("callee", "-cwdiff:1,2", record(100, 300), record(100, 600),
		    "            |\n"
		    "            ---leaf app.lua:3\n"
		    "               |\n"
		    "               |--+900 B--b app.lua:22\n"
		    "               |          main chunk app.lua:41\n"
		    "               |\n"
		    "                --+100 B--a app.lua:12\n"
		    "                          main chunk app.lua:40\n");
}
END_TEST

START_TEST(test_three_sides)
{
	const char *a = record(100, 300), *b = record(100, 600), *c = record(0, 300);

	assert_tree("callee", c, a, b,
		    "            |\n"
		    "            ---leaf app.lua:3\n"
		    "               |\n"
		    "               |--+300 B, 0 B--b app.lua:22\n"
		    "               |               main chunk app.lua:41\n"
		    "               |\n"
		    "                --0 B, -100 B--a app.lua:12  (gone/2)\n"
		    "                               main chunk app.lua:40\n");
}
END_TEST

/* Means: a() 110 and 112 of runs 100, 120 and 104, 120, b() 300 and 400. */
START_TEST(test_noise)
{
	char a[160], b[160];
	struct output o;

	snprintf(a, sizeof(a), "%s,%s", record(100, 300), record(120, 300));
	snprintf(b, sizeof(b), "%s,%s", record(104, 400), record(120, 400));
	o = run_command(cmd_diff, "diff", "-q", "-g", "callee", "--baseline", a, "--new", b, NULL);
	ck_assert_str_eq(strbuf__str(&o.err), "");
	keep_trees(&o.out);
	ck_assert_str_eq(strbuf__str(&o.out), "            |\n"
					      "            ---leaf app.lua:3\n"
					      "               |\n"
					      "               |--+100 B--b app.lua:22\n"
					      "               |          main chunk app.lua:41\n"
					      "               |\n"
					      "                ----+2 B--a app.lua:12  (noise)\n"
					      "                          main chunk app.lua:40\n");
	output__exit(&o);
}
END_TEST

/* No name ends the block of text that the trees are in. */
START_TEST(test_markdown)
{
	struct output o =
		run_command(cmd_diff, "diff", "-g", "--markdown", record(1, 1), record(2, 1), NULL);

	assert_has(&o.out, "\n```\n"
			   "    lua  leaf  app.lua:3\n"
			   "            |\n"
			   "            ---leaf app.lua:3\n"
			   "               |\n"
			   "                --+1 B--a app.lua:12\n"
			   "                        main chunk app.lua:40\n"
			   "\n"
			   "```\n\n");
	output__exit(&o);
}
END_TEST

/* ---- how frames are joined ---- */

static void assert_folded(const char *kind, const char *more, const char *a, const char *b,
			  const char *want)
{
	struct output o = run_command(cmd_diff, "diff", "-q", "-t", "\t", "-g", kind, "-s", "func",
				      a, b, more, NULL);
	const char *text;

	ck_assert_str_eq(strbuf__str(&o.err), "");
	ck_assert_int_eq(o.status, 0);
	text = strchr(strbuf__str(&o.out), '\n'); /* behind the row */
	ck_assert_str_eq(text ? text + 1 : "", want);
	output__exit(&o);
}

/* Ten lines above all functions: by function only the change is seen. */
START_TEST(test_shifted)
{
	const char *a = record_shape((struct shape){ .name_b = "b", .by_a = 100, .by_b = 300 });
	const char *b = record_shape(
		(struct shape){ .at = OTHER, .down = 10, .name_b = "b", .by_a = 100, .by_b = 301 });

	assert_folded("folded,function", NULL, a, b,
		      "+1 leaf app.lua;b app.lua;main chunk app.lua\n");
	assert_folded("folded", "--match=fuzzy", a, b,
		      "+1 leaf app.lua:3;b app.lua:22;main chunk app.lua:41\n");
	assert_folded("folded", NULL, a, b,
		      "-100 leaf app.lua:3;a app.lua:12;main chunk app.lua:40\n"
		      "-300 leaf app.lua:3;b app.lua:22;main chunk app.lua:41\n"
		      "+100 leaf app.lua:13;a app.lua:22;main chunk app.lua:50\n"
		      "+301 leaf app.lua:13;b app.lua:32;main chunk app.lua:51\n");
}
END_TEST

/* b() has a name on one side only: its lines tell who it is. */
START_TEST(test_name_of_one_side)
{
	const char *a = record_shape((struct shape){ .name_b = "b", .by_a = 100, .by_b = 300 });
	const char *b = record_shape((struct shape){ .at = OTHER, .by_a = 100, .by_b = 301 });

	assert_folded("folded", NULL, a, b,
		      "+1 leaf app.lua:3;b app.lua:22;main chunk app.lua:41\n");
	assert_folded("folded,caller,function", NULL, b, a,
		      "-1 main chunk app.lua;b app.lua;leaf app.lua\n");
}
END_TEST

/* A function of which nothing is known, a trace, and frames that were left out:
 * addresses and numbers differ, and mean nothing. */
static const char *odd_frames(uint64_t at, uint64_t trace, uint64_t bytes)
{
	const struct ljm_loc cut = { LJM_SRC_INTERNAL, 0, SESSION_STACK_CUT };
	const struct ljm_symbol sym = {
		.source = LJM_SRC_TRACE, .trace_num = trace, .proto_addr = LEAF + at, .line = 3
	};
	struct calls *c = &recs[n_recs++];
	uint64_t node;

	calls__begin(c, 0, 1);
	calls__func(c, LEAF + at, "@app.lua", 2, "leaf");
	ck_assert_int_eq(session_writer__symbol(c->w, &sym), 0);
	node = calls__node(c, 0, cut);
	node = calls__node(c, node, loc_lua(CALL_A + at, 7));
	node = calls__node(c, node, loc_c(0x70000 + at));
	node = calls__node(c, node, loc_trace(trace));
	calls__alloc(c, loc_trace(trace), 0x10, bytes, node);
	return calls__end(c, 1000);
}

START_TEST(test_accidents)
{
	assert_folded("folded", NULL, odd_frames(0, 1, 10), odd_frames(OTHER, 7, 15),
		      "+5 TRACE started at app.lua:3;CFUNC [unknown];[unknown]:7;"
		      "[frames left out]\n");
}
END_TEST

/* The line of a call may be unknown; such a frame is none of the lines. */
static const char *no_line(uint64_t at, uint64_t bytes)
{
	struct calls *c = &recs[n_recs++];
	uint64_t node;

	calls__begin(c, 0, 1);
	calls__func(c, CALL_A + at, "@app.lua", 10, "a");
	calls__func(c, LEAF + at, "@app.lua", 2, "leaf");
	node = calls__node(c, 0, loc_lua(CALL_A + at, 0));
	node = calls__node(c, node, loc_lua(LEAF + at, 3));
	calls__alloc(c, loc_lua(LEAF + at, 3), 0x10, bytes, node);
	return calls__end(c, 1000);
}

START_TEST(test_no_line)
{
	const char *a = no_line(0, 10), *b = no_line(OTHER, 15);

	assert_folded("folded", NULL, a, b, "+5 leaf app.lua:3;a app.lua\n");
	assert_folded("folded", "--match=fuzzy", a, b, "+5 leaf app.lua:3;a app.lua\n");
}
END_TEST

/* ---- rows by caller ---- */

START_TEST(test_parent)
{
	const char *a = record(100, 300), *b = record(100, 600);
	struct output o = run_command(cmd_diff, "diff", "-q", "-t", ";", "-a", "-s", "parent",
				      "--parent", "^[ab] ", a, b, NULL);

	ck_assert_str_eq(strbuf__str(&o.err), "");
	ck_assert_str_eq(strbuf__str(&o.out), "300;+300;+100.00%;0;;b\n"
					      "100;0;0.00%;0;;a\n");
	output__exit(&o);
	o = run_command(cmd_diff, "diff", "-q", "-t", ";", "-s", "parent", "--parent", "^b ", "-g",
			"folded", a, b, NULL);
	ck_assert_str_eq(strbuf__str(&o.out),
			 "300;+300;+100.00%;0;;b\n"
			 "+300 leaf app.lua:3;b app.lua:22;main chunk app.lua:41\n");
	output__exit(&o);
	o = run_command(cmd_diff, "diff", "-s", "parent", "--parent", "(", a, b, NULL);
	ck_assert_int_eq(o.status, EXIT_LJPERF);
	output__exit(&o);
}
END_TEST

START_TEST(test_refused)
{
	static const char *const words[][3] = {
		{ "-gfractal", NULL, "is not fractal" },
		{ "--call-graph=caler", NULL, "did you mean 'caller'?" },
		{ "-s", "parent", "the key 'parent' needs --parent" },
	};
	const char *a = record(1, 1), *b = record(1, 2);
	struct stream s = { .path = "" };
	struct output o;
	size_t i;

	for (i = 0; i < COUNT(words); i++) {
		o = run_command(cmd_diff, "diff", a, b, words[i][0], words[i][1], NULL);
		ck_assert_int_eq(o.status, EXIT_LJPERF);
		assert_has(&o.err, words[i][2]);
		output__exit(&o);
	}
	stream__lua(&s, LEAF, "@app.lua", 2);
	stream__alloc(&s, loc_lua(LEAF, 3), 0x10, 1);
	o = run_command(cmd_diff, "diff", "-g", a, stream__file(&s), NULL);
	ck_assert_int_eq(o.status, EXIT_LJPERF);
	assert_has(&o.err, "has no call stacks (ljperf record -g writes them)");
	output__exit(&o);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("trees of a diff");
	TCase *text = tcase_create("text"), *join = tcase_create("frames");

	tcase_add_test(text, test_one_caller);
	tcase_add_test(text, test_new_and_gone);
	tcase_add_test(text, test_new_row);
	tcase_add_test(text, test_moved_between_callers);
	tcase_add_test(text, test_small);
	tcase_add_test(text, test_small_among_opposites);
	tcase_add_test(text, test_weighted);
	tcase_add_test(text, test_three_sides);
	tcase_add_test(text, test_noise);
	tcase_add_test(text, test_markdown);
	suite_add_tcase(s, text);
	tcase_add_test(join, test_shifted);
	tcase_add_test(join, test_name_of_one_side);
	tcase_add_test(join, test_accidents);
	tcase_add_test(join, test_no_line);
	tcase_add_test(join, test_parent);
	tcase_add_test(join, test_refused);
	suite_add_tcase(s, join);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
