/* check_filters.c - what report leaves out: filters, suppressions, other VMs; and
 * the status of --fail-leaks.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ljperf.h"
#include "tests/lib_calls.h"
#include "tests/lib_suite.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Addresses of prototypes and of a C function. */
enum { A = 0x1000, B = 0x2000, SEND = 0x9000 };

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

/* ---- filters ---- */

/* send() of the C library 1000 bytes, handle() of app.lua 200 and 50 (of line 3),
 * the chunk util.lua 30, the VM 4. */
static const char *filter_program(void)
{
	calls__begin(&c, 0, 1);
	calls__func(&c, A, "@app.lua", 1, "handle");
	calls__func(&c, B, "@util.lua", 0, NULL);
	calls__c(&c, SEND, "socket.send");
	calls__alloc(&c, loc_c(SEND), 0x10, 1000, 0);
	calls__alloc(&c, loc_lua(A, 2), 0x20, 200, 0);
	calls__alloc(&c, loc_lua(A, 3), 0x30, 50, 0);
	calls__alloc(&c, loc_lua(B, 9), 0x40, 30, 0);
	calls__alloc(&c, loc_vm(), 0x50, 4, 0);
	calls__mark(&c, SESSION_MARK_SCRIPT_END, "");
	calls__mark(&c, SESSION_MARK_FULL_GC, "");
	return calls__end(&c, 1);
}

static const struct {
	const char *opt1, *opt2, *want;
} filters[] = {
	{ "--symbol=handle", NULL, "200\n50\n" },
	{ "-Shandle,socket.send", NULL, "1000\n200\n50\n" },
	{ "--symbol=app.lua:3", NULL, "50\n" },
	{ "--symbol=/^handle  app.lua:2$/", NULL, "200\n" },
	{ "--symbol=app.lua:3", "--symbol=app.lua:2", "200\n50\n" },
	{ "--chunk=util.lua", NULL, "30\n" },
	{ "--chunk=/lua$/", NULL, "200\n50\n30\n" },
	{ "--chunk=/lua$/", "--symbol=/:[39]$/", "50\n30\n" },
	{ "--source=c,vm", NULL, "1000\n4\n" },
	{ "--module=[vm]", NULL, "4\n" },
	{ "--vm=1", NULL, "1000\n200\n50\n30\n4\n" },
	{ "--vm=VM 1", NULL, "1000\n200\n50\n30\n4\n" },
	{ "--vm=2", NULL, "" },
};

START_TEST(test_filters)
{
	struct output o = run_command(cmd_report, "report", "-q", "-t", "|", "-F",
				      "allocated,source", "-s", "symbol", filter_program(),
				      filters[_i].opt1, filters[_i].opt2, NULL);
	struct strbuf numbers = STRBUF_INIT;
	const char *p;

	ck_assert_int_eq(o.status, 0);
	for (p = strbuf__str(&o.out); *p; p = strchr(p, '\n') + 1)
		strbuf__addf(&numbers, "%d\n", atoi(p));
	ck_assert_str_eq(strbuf__str(&numbers), filters[_i].want);
	strbuf__exit(&numbers);
	output__exit(&o);
}
END_TEST

/* 200 of 1284 bytes are 15.58 %, of the 250 that are left 80 %. */
START_TEST(test_percentage)
{
	const char *path = filter_program();

	assert_report("15.58%,handle  app.lua:2\n3.89%,handle  app.lua:3\n", path,
		      "overhead,symbol", "--symbol=handle", NULL, NULL);
	assert_report("80.00%,handle  app.lua:2\n20.00%,handle  app.lua:3\n", path,
		      "overhead,symbol", "--symbol=handle", "--percentage=relative", NULL);
}
END_TEST

/* ---- suppressions ---- */

static const char *rules_file(const void *rules, size_t len)
{
	static char path[64];
	int fd = memory_file(path, sizeof(path));

	ck_assert_int_eq((int)write(fd, rules, len), (int)len);
	return path;
}

static const struct {
	const char *rules, *left; /* bytes of the rows that stay */
} suppressions[] = {
	{ "# nothing\n\n", "1000 200 50 30 4 " },
	{ "symbol:handle", "1000 30 4 " },
	{ "symbol:app.lua:3\n", "1000 200 30 4 " },
	{ "  symbol:  handle app.lua:3\t\r\n", "1000 200 30 4 " },
	{ "leak:*send*\nchunk:util.*\n", "200 50 4 " },
	{ "module:[[]vm]\n", "1000 200 50 30 4 " }, /* no sets of characters */
	{ "module:[vm]\n", "1000 200 50 30 " },
	{ "stack:handle\n", "1000 30 4 " },
	{ "stack:... < handle\n", "1000 30 4 " },
	{ "stack:handle < *\n", "1000 200 50 30 4 " }, /* nobody is known to call it */
	{ "symbol:hand*", "1000 30 4 " },
	{ "symbol:hand\\*", "1000 200 50 30 4 " },
};

START_TEST(test_suppress)
{
	const char *rules = suppressions[_i].rules;
	struct output o = run_command(cmd_report, "report", "-q", "-t", "|", "-s", "symbol", "-F",
				      "leaked", "--metric", "leaked", "--suppress",
				      rules_file(rules, strlen(rules)), filter_program(), NULL);
	struct strbuf numbers = STRBUF_INIT;
	const char *p;

	ck_assert_str_eq(strbuf__str(&o.err), "");
	for (p = strbuf__str(&o.out); *p; p = strchr(p, '\n') + 1)
		strbuf__addf(&numbers, "%d ", atoi(p));
	ck_assert_str_eq(strbuf__str(&numbers), suppressions[_i].left);
	strbuf__exit(&numbers);
	output__exit(&o);
}
END_TEST

static const struct {
	const char *rules;
	size_t len; /* 0: a string */
	const char *error;
} bad_rules[] = {
	{ "leak", 0, "line 1: this is no rule" },
	{ "\n\nleek:x\n", 0, "line 3: unknown kind of rule" },
	{ "leak:\n", 0, "line 1: a pattern is empty" },
	{ "stack:a <  < b\n", 0, "line 1: a pattern is empty" },
	{ "leak:a\0b\n", 9, "line 1: this is no text" },
};

START_TEST(test_bad_rules)
{
	size_t len = bad_rules[_i].len ? bad_rules[_i].len : strlen(bad_rules[_i].rules);
	struct output o = run_command(cmd_report, "report", "--suppress",
				      rules_file(bad_rules[_i].rules, len), filter_program(), NULL);

	ck_assert_int_eq(o.status, EXIT_LJPERF);
	assert_has(&o.err, bad_rules[_i].error);
	output__exit(&o);
}
END_TEST

/* Files that are larger, and have more rules, than anybody writes. */
START_TEST(test_hostile_rules)
{
	size_t len = (1 << 20) + 1, i;
	char *rules = malloc(len);
	struct output o;

	ck_assert_ptr_nonnull(rules);
	memset(rules, '#', len);
	o = run_command(cmd_report, "report", "--suppress", rules_file(rules, len),
			filter_program(), NULL);
	ck_assert_int_eq(o.status, EXIT_LJPERF);
	assert_has(&o.err, "is too large for a file of suppressions");
	output__exit(&o);
	for (i = 0; i + 7 < len; i += 7)
		memcpy(rules + i, "leak:*\n", 7);
	o = run_command(cmd_report, "report", "--suppress", rules_file(rules, i), filter_program(),
			NULL);
	ck_assert_int_eq(o.status, EXIT_LJPERF);
	assert_has(&o.err, "line 4097: there are too many rules");
	output__exit(&o);
	free(rules);
}
END_TEST

START_TEST(test_suppress_says)
{
	const char *rules = rules_file("leak:nobody\nsymbol:handle\n", 26);
	struct output o = run_command(cmd_report, "report", "--metric", "leaked", "-v",
				      "--suppress", rules, filter_program(), NULL);

	assert_has(&o.out, "# suppressed: 250 B of 2 leaked blocks\n");
	assert_has(&o.err, ", line 1: this rule fits nothing\n");
	assert_lacks(&o.err, "line 2");
	output__exit(&o);
}
END_TEST

/* All but what the VM has for itself: 1000 + 200 + 50 + 30 = 1280 bytes. */
START_TEST(test_fail_leaks)
{
	const char *path = filter_program(), *rules;
	struct output o = run_command(cmd_report, "report", "-q", "--fail-leaks", path, NULL);

	ck_assert_int_eq(o.status, 1);
	ck_assert_str_eq(strbuf__str(&o.err), "ljperf: 1.2 KiB in 4 blocks leaked\n");
	output__exit(&o);
	o = run_command(cmd_report, "report", "--fail-leaks", "--source", "vm", path, NULL);
	ck_assert_int_eq(o.status, 0);
	ck_assert_str_eq(strbuf__str(&o.err), "");
	output__exit(&o);
	rules = rules_file("symbol:socket.*\nchunk:*.lua\n", 28);
	o = run_command(cmd_report, "report", "--fail-leaks", "--suppress", rules, path, NULL);
	ck_assert_int_eq(o.status, 0);
	output__exit(&o);
	calls__begin(&c, 0, 1);
	o = run_command(cmd_report, "report", "--fail-leaks", calls__end(&c, 1), NULL);
	ck_assert_int_eq(o.status, EXIT_LJPERF);
	assert_has(&o.err, "no full collection was recorded");
	output__exit(&o);
}
END_TEST

/* ---- VMs ---- */

START_TEST(test_vms)
{
	struct calls two;
	const char *one_path, *two_path;
	struct output o;

	calls__begin(&c, 0, 1);
	calls__func(&c, A, "@a.lua", 0, NULL);
	calls__alloc(&c, loc_lua(A, 1), 0x10, 100, 0);
	one_path = calls__end(&c, 1);
	calls__begin(&two, 0, 2);
	calls__func(&two, A, "@a.lua", 0, NULL);
	calls__alloc(&two, loc_lua(A, 1), 0x10, 30, 0);
	two_path = calls__end(&two, 1);
	o = run_command(cmd_report, "report", "-q", "-t", ",", "-s", "vm,symbol", "-F", "allocated",
			one_path, two_path, NULL);
	ck_assert_str_eq(strbuf__str(&o.out), "100,VM 1,a.lua:1\n30,VM 2,a.lua:1\n");
	output__exit(&o);
	o = run_command(cmd_report, "report", "-q", "-t", ",", "-F", "allocated", "--vm", "2",
			one_path, two_path, NULL);
	ck_assert_str_eq(strbuf__str(&o.out), "30,lua,a.lua:1\n");
	output__exit(&o);
}
END_TEST

static TCase *filtering(void)
{
	TCase *tc = tcase_create("filters");

	tcase_add_loop_test(tc, test_filters, 0, COUNT(filters));
	tcase_add_test(tc, test_percentage);
	tcase_add_loop_test(tc, test_suppress, 0, COUNT(suppressions));
	tcase_add_loop_test(tc, test_bad_rules, 0, COUNT(bad_rules));
	tcase_add_test(tc, test_hostile_rules);
	tcase_add_test(tc, test_suppress_says);
	tcase_add_test(tc, test_fail_leaks);
	tcase_add_test(tc, test_vms);
	return tc;
}

int main(void)
{
	Suite *suite = suite_create("filters");

	suite_add_tcase(suite, filtering());
	return run_suite(suite);
}
