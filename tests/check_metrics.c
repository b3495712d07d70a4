/* check_metrics.c - what report measures on demand: the peak, short lives,
 * lifetimes, chains, sizes, parts of a recording.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "ljperf.h"
#include "report/match.h"
#include "report/sketch.h"
#include "report/timeline.h"
#include "report/window.h"
#include "tests/lib_calls.h"
#include "tests/lib_formats.h"
#include "tests/lib_suite.h"
#include "util/error.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { MS = 1000000 };

/* The address of a prototype. */
enum { A = 0x1000 };

static struct calls c;

static void assert_report(const char *want, const char *path, const char *fields, const char *opt1,
			  const char *opt2, const char *opt3)
{
	struct output o = run_command(cmd_report, "report", "-q", "-t", ",", "-F", fields, "-i",
				      path, opt1 ? opt1 : "--stdio", opt2 ? opt2 : "--stdio",
				      opt3 ? opt3 : "--stdio", NULL);

	ck_assert_str_eq(strbuf__str(&o.err), "");
	ck_assert_int_eq(o.status, 0);
	ck_assert_str_eq(strbuf__str(&o.out), want);
	output__exit(&o);
}

/* ---- sketches ---- */

static int cmp_values(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return a < b ? -1 : a > b;
}

/* The percentile by sorting: rank ceil(n * percent / 100). */
static uint64_t right_quantile(uint64_t *values, size_t n, unsigned percent)
{
	qsort(values, n, sizeof(*values), cmp_values);
	return values[(n * percent + 99) / 100 - 1];
}

static const size_t sketch_counts[] = { 1, 2, 3, 63, 64, 65, 100, 5000 };
enum { SKETCH_MAX = 5000 };

/* Exact up to 64 values, at most 1/64 off above; in two halves that are put
 * together, too. */
START_TEST(test_sketch)
{
	static uint64_t values[SKETCH_MAX];
	struct sketch all = { .n = 0 }, half[2] = { { .n = 0 }, { .n = 0 } };
	uint64_t state = (uint64_t)_i + 1, want, got, off;
	size_t n = sketch_counts[_i], i;
	unsigned percent;

	for (i = 0; i < n; i++) {
		values[i] = random_next(&state) >> random_next(&state) % 64;
		ck_assert_int_eq(sketch__add(&all, values[i]), 0);
		ck_assert_int_eq(sketch__add(&half[i % 2], values[i]), 0);
	}
	ck_assert_int_eq(sketch__merge(&half[0], &half[1]), 0);
	ck_assert_uint_eq(half[0].n, n);
	for (percent = 1; percent <= 100; percent++) {
		want = right_quantile(values, n, percent);
		got = sketch__quantile(&all, percent);
		ck_assert_uint_eq(sketch__quantile(&half[0], percent), got);
		off = got > want ? got - want : want - got;
		ck_assert_uint_le(off, n <= SKETCH_EXACT ? 0 : want / 64);
	}
	sketch__exit(&all);
	sketch__exit(&half[0]);
	sketch__exit(&half[1]);
}
END_TEST

START_TEST(test_sketch_borders)
{
	struct sketch s = { .n = 0 };
	int i;

	ck_assert_uint_eq(sketch__quantile(&s, 50), 0);
	for (i = 0; i < 100; i++)
		ck_assert_int_eq(sketch__add(&s, i % 2 ? UINT64_MAX : 0), 0);
	ck_assert_uint_eq(sketch__quantile(&s, 50), 0);
	ck_assert_uint_ge(sketch__quantile(&s, 51), UINT64_MAX - UINT64_MAX / 64);
	sketch__exit(&s);
}
END_TEST

/* ---- texts ---- */

static const struct {
	const char *pattern, *text;
	bool fits;
} globs[] = {
	{ "", "", true },       { "", "a", false },       { "*", "", true },
	{ "*", "abc", true },   { "**", "abc", true },    { "a*c", "abc", true },
	{ "a*c", "ac", true },  { "a*c", "abcd", false }, { "*b*", "abc", true },
	{ "*ab", "aab", true }, { "*aab", "aaab", true }, { "a?c", "abc", true },
	{ "a?c", "ac", false }, { "\\*", "*", true },     { "\\*", "a", false },
	{ "\\?x", "?x", true }, { "a\\", "a\\", true },   { "abc", "ab", false },
	{ "ab", "abc", false },
};

START_TEST(test_glob)
{
	ck_assert_int_eq(glob__fits(globs[_i].pattern, globs[_i].text, strlen(globs[_i].text)),
			 globs[_i].fits);
}
END_TEST

static const struct {
	const char *word, *text;
	bool has;
} matches[] = {
	{ "a.lua", "a.lua", true },
	{ "a.lua", "b/a.lua", false },
	{ "a,b", "b", true },
	{ "a,b", "a,b", true },
	{ "a,b", "c", false },
	{ "/a.lua/", "b/axlua:3", true },
	{ "/^a/", "ba", false },
	{ "/usr/x.lua", "/usr/x.lua", true }, /* a path, for it has no slash at its end */
	{ "/\xc3\xa9/", "caf\xc3\xa9", true },
	{ "/b/", "\xff\xfe b", true }, /* not UTF-8, and no reason to give up */
	{ "/(a+)+$/", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", false },
};

START_TEST(test_match)
{
	struct match *m = match__new(matches[_i].word);

	ck_assert_ptr_nonnull(m);
	ck_assert_int_eq(match__has(m, matches[_i].text, strlen(matches[_i].text)),
			 matches[_i].has);
	match__delete(m);
}
END_TEST

static const struct {
	const char *time;
	int err;
	enum window_kind kind;
	double from, to; /* seconds, or shares */
} windows[] = {
	{ "1.5,2.25", 0, WINDOW_TIME, 1.5, 2.25 },
	{ ",2", 0, WINDOW_TIME, 0, 2 },
	{ "0.25,", 0, WINDOW_TIME, 0.25, 1.8446744073709552e10 },
	{ "10%-20%", 0, WINDOW_PERCENT, 0.1, 0.2 },
	{ "10%", 0, WINDOW_PERCENT, 0, 0.1 },
	{ "2,1", -EINVAL, 0, 0, 0 },
	{ "1,1", -EINVAL, 0, 0, 0 },
	{ "20%-10%", -EINVAL, 0, 0, 0 },
	{ "10%-120%", -EINVAL, 0, 0, 0 },
	{ "-1,2", -EINVAL, 0, 0, 0 },
	{ "1", -EINVAL, 0, 0, 0 },
	{ "1,2,3", -EINVAL, 0, 0, 0 },
	{ "nan,2", -EINVAL, 0, 0, 0 },
	{ "10%-", -EINVAL, 0, 0, 0 },
	{ "", -EINVAL, 0, 0, 0 },
};

START_TEST(test_window)
{
	struct window w;

	ck_assert_int_eq(window__parse(windows[_i].time, NULL, NULL, &w), windows[_i].err);
	if (windows[_i].err)
		return;
	ck_assert_int_eq(w.kind, windows[_i].kind);
	if (w.kind == WINDOW_TIME) {
		ck_assert_double_eq_tol((double)w.from_ns / 1e9, windows[_i].from, 1e-9);
		ck_assert_double_eq_tol((double)w.to_ns / 1e9, windows[_i].to, 1e-9);
	} else {
		ck_assert_double_eq_tol(w.from_share, windows[_i].from, 1e-12);
		ck_assert_double_eq_tol(w.to_share, windows[_i].to, 1e-12);
	}
}
END_TEST

/* ---- the peak ---- */

/* The heap is 1000 at first, then 1100, 1300, 1200, 1500 (the peak, with line 2
 * at 200 and line 3 at 300), 1000, 1400. */
static const char *peak_program(void)
{
	calls__begin(&c, 1000, 1);
	calls__func(&c, A, "@a.lua", 0, NULL);
	calls__alloc(&c, loc_lua(A, 1), 0x10, 100, 0);
	calls__alloc(&c, loc_lua(A, 2), 0x20, 200, 0);
	calls__free(&c, 0x10, 100);
	calls__alloc(&c, loc_lua(A, 3), 0x30, 300, 0);
	calls__free(&c, 0x20, 200);
	calls__free(&c, 0x30, 300);
	calls__alloc(&c, loc_lua(A, 4), 0x40, 400, 0);
	return calls__end(&c, 1);
}

START_TEST(test_peak)
{
	assert_report("300,1,a.lua:3\n200,1,a.lua:2\n", peak_program(), "peak,peak-blocks,symbol",
		      "--metric=peak", NULL, NULL);
}
END_TEST

/* The heap only shrinks: nothing made while recording lived at its peak. */
START_TEST(test_peak_at_start)
{
	struct output o;

	calls__begin(&c, 1000, 1);
	calls__func(&c, A, "@a.lua", 0, NULL);
	calls__free(&c, 0x90, 500);
	calls__alloc(&c, loc_lua(A, 1), 0x10, 100, 0);
	o = run_command(cmd_report, "report", "--metric", "peak", calls__end(&c, 1), NULL);
	assert_has(&o.out, "peak 1000 B");
	assert_has(&o.out, "# there are no live blocks in this recording\n");
	output__exit(&o);
}
END_TEST

/* Two recordings, each at its own peak: 200 + 200 and 300 + 300. */
START_TEST(test_peak_of_two)
{
	const char *path = peak_program();

	assert_report("600,a.lua:3\n400,a.lua:2\n", path, "peak,symbol", "--metric=peak", path,
		      NULL);
}
END_TEST

/* ---- lives ---- */

/* Line 1: freed after 0 and after 2 other allocations, in 0 and 30 ms; line 2: a
 * block that grows twice, 10 to 40 to 30 bytes, and is freed 1 allocation after
 * its birth, 20 ms later; its last size is line 3's.  Copied are 10 and, as the
 * block shrinks, 30; the third resize stays where it is. */
static const char *lives_program(void)
{
	calls__begin(&c, 0, 1);
	calls__func(&c, A, "@a.lua", 0, NULL);
	calls__time(&c, 10 * MS);
	calls__alloc(&c, loc_lua(A, 1), 0x10, 7, 0);
	calls__free(&c, 0x10, 7);
	calls__alloc(&c, loc_lua(A, 1), 0x10, 8, 0);
	calls__time(&c, 20 * MS);
	calls__alloc(&c, loc_lua(A, 2), 0x20, 10, 0);
	calls__realloc(&c, loc_lua(A, 2), 0x20, 10, 0x30, 40, 0);
	calls__realloc(&c, loc_lua(A, 3), 0x30, 40, 0x20, 30, 0);
	calls__realloc(&c, loc_lua(A, 3), 0x20, 30, 0x20, 60, 0);
	calls__time(&c, 40 * MS);
	calls__alloc(&c, loc_lua(A, 4), 0x40, 1, 0);
	calls__free(&c, 0x10, 8);
	calls__free(&c, 0x20, 60);
	return calls__end(&c, 50 * MS);
}

START_TEST(test_temporary)
{
	const char *path = lives_program();

	assert_report("7,1,a.lua:1\n", path, "temporary,temporary-blocks,symbol",
		      "--metric=temporary", NULL, NULL);
	assert_report("60,1,a.lua:3\n7,1,a.lua:1\n", path, "temporary,temporary-blocks,symbol",
		      "--metric=temporary", "--temporary-threshold=2", NULL);
	assert_report("60,1,a.lua:3\n15,2,a.lua:1\n", path, "temporary,temporary-blocks,symbol",
		      "--metric=temporary", "--temporary-threshold=3", NULL);
}
END_TEST

START_TEST(test_lifetimes)
{
	assert_report("0,2,0.000000,30.000000,a.lua:1\n"
		      ",,,,a.lua:2\n"
		      "1,1,20.000000,20.000000,a.lua:3\n"
		      ",,,,a.lua:4\n",
		      lives_program(), "lifetime,symbol", "--metric=count", "--sort=symbol", NULL);
}
END_TEST

START_TEST(test_chains)
{
	assert_report("2,15,0,a.lua:1\n0,0,10,a.lua:2\n1,60,30,a.lua:3\n1,1,0,a.lua:4\n",
		      lives_program(), "objects,final,copied,symbol", "--metric=count", NULL, NULL);
	assert_report("30,a.lua:3\n10,a.lua:2\n", lives_program(), "copied,symbol",
		      "--metric=copied", NULL, NULL);
}
END_TEST

/* A block older than the recording becomes an object when it is resized, and
 * its lifetime is unknown; an address that is handed out twice begins another. */
START_TEST(test_unknown_lives)
{
	calls__begin(&c, 0, 1);
	calls__func(&c, A, "@a.lua", 0, NULL);
	calls__realloc(&c, loc_lua(A, 1), 0x90, 50, 0x20, 70, 0);
	calls__free(&c, 0x20, 70);
	calls__alloc(&c, loc_lua(A, 2), 0x30, 1, 0);
	calls__alloc(&c, loc_lua(A, 2), 0x30, 2, 0);
	calls__free(&c, 0x30, 2);
	assert_report("2,2,3,0,0,a.lua:2\n1,0,70,50,,a.lua:1\n", calls__end(&c, 1),
		      "objects,allocs,final,copied,life,symbol", "--metric=count",
		      "--temporary-threshold=5", NULL);
}
END_TEST

/* ---- sizes ---- */

START_TEST(test_sizes)
{
	static const uint64_t sizes[] = { 0, 1, 2, 3, 4, 1023, 1024, 2047, 2048, 1 << 20 };
	size_t i;

	calls__begin(&c, 0, 1);
	calls__func(&c, A, "@a.lua", 0, NULL);
	for (i = 0; i < COUNT(sizes); i++)
		calls__alloc(&c, loc_lua(A, 1), 0x100 + i * 16, sizes[i], 0);
	calls__alloc(&c, loc_lua(A, 1), 0x1000, UINT64_MAX, 0);
	assert_report("1,0 B\n1,1 B\n2,2-3 B\n1,4-7 B\n1,512-1023 B\n2,1-2 KiB\n1,2-4 KiB\n"
		      "1,1-2 MiB\n1,8-16 EiB\n",
		      calls__end(&c, 1), "allocs,size", "--sort=size", NULL, NULL);
}
END_TEST

/* ---- parts ---- */

/* 1 byte before the mark "a", 20 and 300 between "a" and "b", 4000 after it; the
 * 1 and the 20 are freed before and after "b".  Events are at 10, 20, ... ms. */
static const char *parts_program(void)
{
	calls__begin(&c, 0, 1);
	calls__func(&c, A, "@a.lua", 0, NULL);
	calls__time(&c, 10 * MS);
	calls__alloc(&c, loc_lua(A, 1), 0x10, 1, 0);
	calls__mark(&c, SESSION_MARK_USER, "a");
	calls__time(&c, 20 * MS);
	calls__alloc(&c, loc_lua(A, 2), 0x20, 20, 0);
	calls__time(&c, 30 * MS);
	calls__alloc(&c, loc_lua(A, 3), 0x30, 300, 0);
	calls__free(&c, 0x10, 1);
	calls__mark(&c, SESSION_MARK_USER, "b");
	calls__time(&c, 40 * MS);
	calls__free(&c, 0x20, 20);
	calls__alloc(&c, loc_lua(A, 4), 0x40, 4000, 0);
	return calls__end(&c, 100 * MS);
}

static const struct {
	const char *opt1, *opt2, *want;
} parts[] = {
	{ "--from=a", "--to=b", "300,300,a.lua:3\n20,20,a.lua:2\n" },
	{ "--from=b", NULL, "4000,4000,a.lua:4\n" },
	{ "--to=a", NULL, "1,1,a.lua:1\n" },
	{ "--time=0.02,0.03", NULL, "20,20,a.lua:2\n" },
	{ "--time=0.02,", NULL, "4000,4000,a.lua:4\n300,300,a.lua:3\n20,0,a.lua:2\n" },
	{ "--time=,0.02", NULL, "1,1,a.lua:1\n" },
	/* Of 100 ms. */
	{ "--time=10%-25%", NULL, "20,20,a.lua:2\n1,1,a.lua:1\n" },
	{ "--time=40%-100%", NULL, "4000,4000,a.lua:4\n" },
	{ "--time=50%-60%", NULL, "" },
};

START_TEST(test_parts)
{
	assert_report(parts[_i].want, parts_program(), "allocated,live,symbol", parts[_i].opt1,
		      parts[_i].opt2, NULL);
}
END_TEST

/* What was alive at a pause is not known behind it, and cannot be told from what
 * was allocated in it: blocks 0x10 and 0x20 are freed, and neither counts as old. */
START_TEST(test_unknown_after_pause)
{
	struct output o;

	calls__begin(&c, 0, 1);
	calls__func(&c, A, "@a.lua", 0, NULL);
	calls__alloc(&c, loc_lua(A, 1), 0x10, 1, 0);
	calls__mark(&c, SESSION_MARK_PAUSE, "");
	calls__mark(&c, SESSION_MARK_RESUME, "1000");
	calls__free(&c, 0x10, 1);
	calls__free(&c, 0x20, 20);
	o = run_command(cmd_report, "report", calls__end(&c, 100 * MS), NULL);
	assert_has(&o.out, "# 2 blocks freed or resized whose allocation was not recorded\n");
	output__exit(&o);
}
END_TEST

/* The heap goes on outside: 321 bytes at most up to "b", 300 there, 4300 at last. */
START_TEST(test_part_summary)
{
	struct output o = run_command(cmd_report, "report", "--from", "b", parts_program(), NULL);

	assert_has(&o.out, "# part: mark b to the end\n# allocated 3.9 KiB in 1 allocation");
	assert_has(&o.out, "peak 4.2 KiB at 40.0 ms");
	assert_has(&o.out, "# 1 block freed or resized that was allocated before this part\n");
	output__exit(&o);
	o = run_command(cmd_report, "report", "--from", "a", "--to", "c", parts_program(), NULL);
	ck_assert_int_eq(o.status, EXIT_LJPERF);
	assert_has(&o.err, "has no mark 'c' behind the beginning");
	output__exit(&o);
}
END_TEST

/* ---- the timeline ---- */

/* 40 columns of 1 s: 60 bytes from 0 s, 120 from 10 s, 40 from 20 s, when the
 * collector freed 80, to the end.  Heights of 5 lines: 2.5, 5 and 1.67. */
START_TEST(test_timeline)
{
	const uint64_t second = 1000 * (uint64_t)MS;
	struct output o;

	calls__begin(&c, 0, 1);
	calls__func(&c, A, "@a.lua", 0, NULL);
	calls__alloc(&c, loc_lua(A, 1), 0x10, 40, 0);
	calls__alloc(&c, loc_lua(A, 1), 0x20, 20, 0);
	calls__time(&c, 10 * second);
	calls__mark(&c, SESSION_MARK_USER, "more");
	calls__alloc(&c, loc_lua(A, 1), 0x30, 60, 0);
	calls__time(&c, 20 * second);
	calls__free(&c, 0x20, 20);
	calls__free(&c, 0x30, 60);
	setenv("COLUMNS", "52", 1);
	setenv("LINES", "15", 1);
	o = run_command(cmd_report, "report", "-q", "--timeline", calls__end(&c, 40 * second),
			NULL);
	ck_assert_str_eq(strbuf__str(&o.out),
			 "     120 B |          ###########\n"
			 "           |          ###########\n"
			 "           |::::::::::###########\n"
			 "      48 B |#####################:::::::::::::::::::\n"
			 "           |########################################\n"
			 "       0 B +----------------------------------------\n"
			 "            0 s"
			 "                              "
			 "40.00 s\n"
			 "        gc                      *\n"
			 "     marks            a\n"
			 "            a  at 10.00 s: more\n");
	output__exit(&o);
}
END_TEST

/* Columns of 1 s: two marks are in that of 10 s.  The chart is as large as the
 * screen whatever stands below it. */
START_TEST(test_timeline_marks)
{
	const uint64_t second = 1000 * (uint64_t)MS;
	const char *at, *path;
	unsigned lines = 0;
	struct output o;

	calls__begin(&c, 0, 1);
	calls__func(&c, A, "@a.lua", 0, NULL);
	calls__alloc(&c, loc_lua(A, 1), 0x10, 40, 0);
	calls__time(&c, 10 * second);
	calls__mark(&c, SESSION_MARK_USER, "one");
	calls__mark(&c, SESSION_MARK_USER, "two");
	calls__time(&c, 20 * second);
	calls__mark(&c, SESSION_MARK_USER, "three");
	calls__alloc(&c, loc_lua(A, 1), 0x20, 40, 0);
	path = calls__end(&c, 40 * second);
	setenv("COLUMNS", "52", 1);
	setenv("LINES", "24", 1);
	o = run_command(cmd_report, "report", "--timeline", path, NULL);
	assert_has(&o.out, "\n"
			   "     marks            a         c\n"
			   "                      b\n"
			   "            a  at 10.00 s: one\n"
			   "            b  at 10.00 s: two\n"
			   "            c  at 20.00 s: three\n");
	for (at = strbuf__str(&o.out); (at = strchr(at, '\n')); at++)
		lines++;
	ck_assert_uint_le(lines, 24);
	ck_assert_uint_ge(lines, 20);
	output__exit(&o);
}
END_TEST

/* However many samples come, few are kept, and no peak is lost. */
START_TEST(test_timeline_memory)
{
	struct timeline t = { .by_time = true };
	uint64_t i;
	u128 max = 0;
	size_t k;
	int err = 0;

	for (i = 0; i < 1000000 && !err; i++)
		err = timeline__add(&t, i * 7, i == 777777 ? 1000000 : i % 1000, false);
	ck_assert_int_eq(err, 0);
	ck_assert_uint_le(t.n, TIMELINE_SAMPLES);
	ck_assert_uint_ge(t.n, TIMELINE_SAMPLES / 4);
	for (k = 0; k < t.n; k++) {
		max = t.at[k].max > max ? t.at[k].max : max;
		err |= k && t.at[k].at <= t.at[k - 1].at;
		if (t.at[k].max == 1000000) {
			ck_assert_uint_le(t.at[k].at, 777777 * 7);
			ck_assert(k + 1 == t.n || t.at[k + 1].at > 777777 * 7);
		}
	}
	ck_assert_int_eq(err, 0);
	ck_assert(max == 1000000);
	timeline__exit(&t);
}
END_TEST

static TCase *parts_of_it(void)
{
	TCase *tc = tcase_create("parts");

	tcase_add_loop_test(tc, test_sketch, 0, COUNT(sketch_counts));
	tcase_add_test(tc, test_sketch_borders);
	tcase_add_loop_test(tc, test_glob, 0, COUNT(globs));
	tcase_add_loop_test(tc, test_match, 0, COUNT(matches));
	tcase_add_loop_test(tc, test_window, 0, COUNT(windows));
	tcase_add_test(tc, test_timeline_memory);
	return tc;
}

static TCase *metrics(void)
{
	TCase *tc = tcase_create("metrics");

	tcase_add_test(tc, test_peak);
	tcase_add_test(tc, test_peak_at_start);
	tcase_add_test(tc, test_peak_of_two);
	tcase_add_test(tc, test_temporary);
	tcase_add_test(tc, test_lifetimes);
	tcase_add_test(tc, test_chains);
	tcase_add_test(tc, test_unknown_lives);
	tcase_add_test(tc, test_sizes);
	tcase_add_loop_test(tc, test_parts, 0, COUNT(parts));
	tcase_add_test(tc, test_part_summary);
	tcase_add_test(tc, test_unknown_after_pause);
	tcase_add_test(tc, test_timeline);
	tcase_add_test(tc, test_timeline_marks);
	return tc;
}

int main(void)
{
	Suite *suite = suite_create("metrics");

	suite_add_tcase(suite, parts_of_it());
	suite_add_tcase(suite, metrics());
	return run_suite(suite);
}
