/* check_options.c - tests of util/options.c: parsing, help, suggestions. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/error.h"
#include "util/options.h"
#include "tests/lib_suite.h"

static bool quiet, color, no_final;
static const char *output;
static uint64_t level;
static double limit;

/* What the callback was given. */
static char called[64];

static int note(const struct option *opt, const char *arg, bool unset)
{
	if (arg && !strcmp(arg, "bad"))
		return err__set(-EINVAL, "no event '%s'", arg);
	snprintf(called, sizeof(called), "%s %s %d", opt->name, arg ? arg : "none", unset);
	return 0;
}

static bool is_kind(const char *word)
{
	return !strcmp(word, "caller") || !strcmp(word, "callee");
}

static const struct option table[] = {
	OPT_GROUP("Output"),
	OPT_BOOL('q', "quiet", &quiet, "print nothing"),
	OPT_BOOL(0, "color", &color, "use colors"),
	OPT_BOOL(0, "no-final-gc", &no_final, "do not collect at the end"),
	OPT_STRING('o', "output", &output, "FILE", "write to FILE"),
	OPT_U64('z', "compression-level", &level, "N", "level of compression"),
	OPT_DOUBLE(0, "percent-limit", &limit, "N", "hide rows below N percent"),
	OPT_CALLBACK('e', "event", NULL, "NAME", "event to record", note),
	OPT_CALLBACK('g', "graph", NULL, NULL, "call graph", note),
	{ .type = OPT_CALLBACK,
	  .letter = 'H',
	  .name = "header",
	  .arg = "WHAT",
	  .callback = note,
	  .optional_arg = true,
	  .no_negate = true,
	  .help = "print the header" },
	{ .type = OPT_CALLBACK,
	  .letter = 'k',
	  .name = "kind",
	  .arg = "KIND",
	  .callback = note,
	  .optional_arg = true,
	  .takes = is_kind,
	  .help = "which end is the root" },
	{ .type = OPT_BOOL,
	  .name = "header-only",
	  .value = &color,
	  .no_negate = true,
	  .help = "print the header and nothing else" },
	OPT_END()
};

static const char *args[16];
static int n_args;
static bool dashes;

static void reset(void)
{
	quiet = color = no_final = dashes = false;
	output = NULL;
	level = 0;
	limit = 0;
	called[0] = '\0';
	n_args = 0;
}

/* Parses LINE, split at spaces; the command is "report". */
static int parse(const char *line, unsigned flags)
{
	static char copy[256];
	int n = 1;

	reset();
	snprintf(copy, sizeof(copy), "%s", line);
	args[0] = "report";
	for (char *p = copy, *word; (word = strsep(&p, " "));)
		if (*word)
			args[n++] = word;
	n_args = options__parse(n, args, table, "ljperf report [OPTIONS]", flags, &dashes);
	return n_args;
}

START_TEST(test_letters)
{
	ck_assert_int_eq(parse("-q -o out -z9", 0), 0);
	ck_assert(quiet);
	ck_assert_str_eq(output, "out");
	ck_assert_uint_eq(level, 9);
	ck_assert_int_eq(parse("-qgz 3", 0), 0);
	ck_assert(quiet);
	ck_assert_str_eq(called, "graph none 0");
	ck_assert_uint_eq(level, 3);
	ck_assert_int_eq(parse("-qoq", 0), 0);
	ck_assert_str_eq(output, "q");
}
END_TEST

START_TEST(test_long)
{
	ck_assert_int_eq(parse("--quiet --output=a=b --compression-level 7", 0), 0);
	ck_assert(quiet);
	ck_assert_str_eq(output, "a=b");
	ck_assert_uint_eq(level, 7);
	ck_assert_int_eq(parse("--output=", 0), 0);
	ck_assert_str_eq(output, "");
	/* The value of an option may look like one. */
	ck_assert_int_eq(parse("--output --quiet", 0), 0);
	ck_assert_str_eq(output, "--quiet");
	ck_assert(!quiet);
	ck_assert_int_eq(parse("--percent-limit 0.25", 0), 0);
	ck_assert_double_eq(limit, 0.25);
}
END_TEST

START_TEST(test_negated)
{
	ck_assert_int_eq(parse("--color --no-color", 0), 0);
	ck_assert(!color);
	ck_assert_int_eq(parse("--no-color --color", 0), 0);
	ck_assert(color);
	ck_assert_int_eq(parse("--no-final-gc", 0), 0);
	ck_assert(no_final);
	ck_assert_int_eq(parse("--no-final-gc --final-gc", 0), 0);
	ck_assert(!no_final);
	ck_assert_int_eq(parse("--no-event", 0), 0);
	ck_assert_str_eq(called, "event none 1");
}
END_TEST

START_TEST(test_prefix)
{
	ck_assert_int_eq(parse("--comp=4 --q --no-fi --no-col", 0), 0);
	ck_assert_uint_eq(level, 4);
	ck_assert(quiet && no_final && !color);
	/* A whole name wins over a longer one that begins with it. */
	ck_assert_int_eq(parse("--header", 0), 0);
	ck_assert_str_eq(called, "header none 0");
	ck_assert_int_eq(parse("--head", 0), -EINVAL);
	ck_assert_str_eq(err__msg(), "option '--head' is ambiguous: '--header' or '--header-only'");
	ck_assert_int_eq(parse("--co", 0), -EINVAL);
	ck_assert_str_eq(err__msg(),
			 "option '--co' is ambiguous: '--color' or '--compression-level'");
}
END_TEST

/* An optional argument that can be told from what else may follow. */
static const struct {
	const char *line, *called;
	int n; /* arguments left */
} taken[] = {
	{ "-k", "kind none 0", 0 },
	{ "-k caller", "kind caller 0", 0 },
	{ "-k caller file", "kind caller 0", 1 },
	{ "-k file", "kind none 0", 1 },
	{ "-k -q", "kind none 0", 0 },
	{ "-kcallee", "kind callee 0", 0 },
	{ "-qk callee", "kind callee 0", 0 },
	{ "-kq", "kind none 0", 0 },
	{ "--kind caller", "kind caller 0", 0 },
	{ "--kind=other", "kind other 0", 0 }, /* it is said, so it is taken */
	{ "--kind file", "kind none 0", 1 },
	{ "--no-kind", "kind none 1", 0 },
};

START_TEST(test_takes)
{
	ck_assert_int_eq(parse(taken[_i].line, 0), taken[_i].n);
	ck_assert_str_eq(called, taken[_i].called);
}
END_TEST

START_TEST(test_optional)
{
	ck_assert_int_eq(parse("--header=full", 0), 0);
	ck_assert_str_eq(called, "header full 0");
	ck_assert_int_eq(parse("--header full", 0), 1);
	ck_assert_str_eq(called, "header none 0");
	ck_assert_str_eq(args[1], "full");
	ck_assert_int_eq(parse("-Hq", 0), 0);
	ck_assert(quiet);
}
END_TEST

START_TEST(test_arguments)
{
	ck_assert_int_eq(parse("a -q b - -o out c", 0), 4);
	ck_assert_str_eq(args[1], "a");
	ck_assert_str_eq(args[2], "b");
	ck_assert_str_eq(args[3], "-");
	ck_assert_str_eq(args[4], "c");
	ck_assert(quiet && !dashes);
	ck_assert_int_eq(parse("a -- -q b", 0), 3);
	ck_assert_str_eq(args[2], "-q");
	ck_assert(!quiet && dashes);
	ck_assert_int_eq(parse("", 0), 0);
}
END_TEST

START_TEST(test_stop)
{
	/* What follows the script belongs to the script. */
	ck_assert_int_eq(parse("-q a.lua -q -- --bogus", OPTIONS_STOP_AT_NON_OPTION), 4);
	ck_assert_str_eq(args[1], "a.lua");
	ck_assert_str_eq(args[2], "-q");
	ck_assert_str_eq(args[3], "--");
	ck_assert_str_eq(args[4], "--bogus");
	ck_assert(!dashes);
	ck_assert_int_eq(parse("-q -- prog -x", OPTIONS_STOP_AT_NON_OPTION), 2);
	ck_assert_str_eq(args[1], "prog");
	ck_assert_str_eq(args[2], "-x");
	ck_assert(dashes);
	ck_assert_int_eq(parse("- -q", OPTIONS_STOP_AT_NON_OPTION), 2);
	ck_assert_str_eq(args[1], "-");
}
END_TEST

/* 2^64-1 = 18446744073709551615 is the largest number; one more is refused. */
static const struct {
	const char *line;
	const char *error; /* NULL: accepted */
} numbers[] = {
	{ "-z 0", NULL },
	{ "-z 18446744073709551615", NULL },
	{ "-z 18446744073709551616", "number '18446744073709551616' of option '-z' is too large" },
	{ "--compression-level=99999999999999999999999",
	  "number '99999999999999999999999' of option '--compression-level' is too large" },
	{ "-z -1", "option '-z' needs a number, not '-1'" },
	{ "-z +1", "option '-z' needs a number, not '+1'" },
	{ "-z 1x", "option '-z' needs a number, not '1x'" },
	{ "--compression-level=", "option '--compression-level' needs a number, not ''" },
	{ "-z", "option '-z' needs a value (N)" },
	{ "--percent-limit=1e999", "option '--percent-limit' needs a number, not '1e999'" },
	{ "--percent-limit=nan", "option '--percent-limit' needs a number, not 'nan'" },
	{ "--percent-limit=1,5", "option '--percent-limit' needs a number, not '1,5'" },
	{ "--percent-limit=-.5", NULL },
};

START_TEST(test_number)
{
	int n = parse(numbers[_i].line, 0);

	if (!numbers[_i].error) {
		ck_assert_int_eq(n, 0);
		return;
	}
	ck_assert_int_lt(n, 0);
	ck_assert_str_eq(err__msg(), numbers[_i].error);
}
END_TEST

START_TEST(test_largest)
{
	ck_assert_int_eq(parse("-z 18446744073709551615", 0), 0);
	ck_assert(level == UINT64_MAX);
}
END_TEST

static const struct {
	const char *line, *error;
} refused[] = {
	{ "--outptu", "unknown option '--outptu', did you mean '--output'?" },
	{ "--ouput=x", "unknown option '--ouput', did you mean '--output'?" },
	{ "--hepl", "unknown option '--hepl', did you mean '--help'?" },
	{ "--zebra", "unknown option '--zebra', see 'ljperf report -h'" },
	{ "-x", "unknown option '-x', see 'ljperf report -h'" },
	{ "-qx", "unknown option '-x', see 'ljperf report -h'" },
	{ "-q\033", "unknown option '\\x1b', see 'ljperf report -h'" },
	{ "--=x", "unknown option '--', see 'ljperf report -h'" },
	{ "--quiet=yes", "option '--quiet' takes no value" },
	{ "--no-color=yes", "option '--no-color' takes no value" },
	{ "--no-output", "unknown option '--no-output', did you mean '--output'?" },
	{ "--no-header", "unknown option '--no-header', did you mean '--header'?" },
	{ "--output", "option '--output' needs a value (FILE)" },
	{ "--event bad", "no event 'bad'" },
	{ "-ebad", "no event 'bad'" },
};

START_TEST(test_refused)
{
	ck_assert_int_eq(parse(refused[_i].line, 0), -EINVAL);
	ck_assert_str_eq(err__msg(), refused[_i].error);
}
END_TEST

/* A word as long as the command line allows does not overrun the message. */
START_TEST(test_long_word)
{
	static char word[5000];
	const char *line[] = { "report", word, NULL };

	memset(word, 'a', sizeof(word) - 1);
	memcpy(word, "--", 2);
	ck_assert_int_eq(options__parse(2, line, table, "", 0, NULL), -EINVAL);
	ck_assert_uint_lt(strlen(err__msg()), 200);
}
END_TEST

/* ---- texts ---- */

static char text[4096];

/* Runs parse(LINE) with stdout in a file, and reads that into text[]. */
static int parse_captured(const char *line)
{
	FILE *tmp = tmpfile();
	int saved = dup(STDOUT_FILENO), n;
	size_t len;

	ck_assert(tmp && saved >= 0);
	fflush(stdout);
	ck_assert_int_ge(dup2(fileno(tmp), STDOUT_FILENO), 0);
	n = parse(line, 0);
	fflush(stdout);
	ck_assert_int_ge(dup2(saved, STDOUT_FILENO), 0);
	close(saved);
	rewind(tmp);
	len = fread(text, 1, sizeof(text) - 1, tmp);
	text[len] = '\0';
	fclose(tmp);
	return n;
}

START_TEST(test_help)
{
	setenv("COLUMNS", "80", 1);
	ck_assert_int_eq(parse_captured(_i ? "a --help b" : "-qh"), OPTIONS_HELP);
	ck_assert_ptr_eq(strstr(text, "Usage: ljperf report [OPTIONS]\n"), text);
	ck_assert_ptr_nonnull(
		strstr(text, "\nOutput\n    -q, --quiet               print nothing\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n        --color               use colors\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n    -z, --compression-level N\n"
					   "                              level of compression\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n    -H, --header[=WHAT]       print the header\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n    -h, --help                print this text\n"));
}
END_TEST

static const char *const widths[] = { "40", "60", "80", "120", "1", "99999999999999999999", "junk" };

START_TEST(test_help_width)
{
	/* Outside 40 to 120 the nearest of these counts, junk is 80. */
	static const size_t most[] = { 40, 60, 80, 120, 40, 120, 80 };

	setenv("COLUMNS", widths[_i], 1);
	ck_assert_int_eq(parse_captured("-h"), OPTIONS_HELP);
	for (char *p = text, *line; (line = strsep(&p, "\n"));)
		ck_assert_uint_le(strlen(line), most[_i]);
}
END_TEST

START_TEST(test_list)
{
	ck_assert_int_eq(parse_captured("--ljperf-list-options"), OPTIONS_HELP);
	ck_assert_ptr_nonnull(
		strstr(text, "-o\tFILE\twrite to FILE\n--output\tFILE\twrite to FILE\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n--no-final-gc\t\tdo not collect at the end\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n--help\t"));
	ck_assert_ptr_null(strstr(text, "Output\n"));
}
END_TEST

/* ---- suggestions ---- */

static const char *const commands[] = { "record", "report", "script", "info", "list", "help" };

static const struct {
	const char *word, *near; /* distance in the comment */
} words[] = {
	{ "recrod", "record" }, /* 1: two neighbours swapped */
	{ "reprot", "report" },
	{ "ifno", "info" },
	{ "scrip", "script" }, /* 1: one missing */
	{ "lists", "list" }, /* 1: one too many */
	{ "hulp", "help" }, /* 1: one replaced */
	{ "", NULL },
	{ "x", NULL },
	{ "completely", NULL },
	{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL },
};

START_TEST(test_suggest)
{
	const char *near = options__suggest(words[_i].word, commands, 6);

	if (words[_i].near)
		ck_assert_pstr_eq(near, words[_i].near);
	else
		ck_assert_ptr_null(near);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

int main(void)
{
	Suite *s = suite_create("options");
	TCase *parsing = tcase_create("parsing"), *texts = tcase_create("texts");

	tcase_add_test(parsing, test_letters);
	tcase_add_test(parsing, test_long);
	tcase_add_test(parsing, test_negated);
	tcase_add_test(parsing, test_prefix);
	tcase_add_test(parsing, test_optional);
	tcase_add_loop_test(parsing, test_takes, 0, sizeof(taken) / sizeof(taken[0]));
	tcase_add_test(parsing, test_arguments);
	tcase_add_test(parsing, test_stop);
	tcase_add_loop_test(parsing, test_number, 0, COUNT(numbers));
	tcase_add_test(parsing, test_largest);
	tcase_add_loop_test(parsing, test_refused, 0, COUNT(refused));
	tcase_add_test(parsing, test_long_word);
	tcase_add_loop_test(texts, test_help, 0, 2);
	tcase_add_loop_test(texts, test_help_width, 0, COUNT(widths));
	tcase_add_test(texts, test_list);
	tcase_add_loop_test(texts, test_suggest, 0, COUNT(words));
	suite_add_tcase(s, parsing);
	suite_add_tcase(s, texts);
	return run_suite(s);
}
