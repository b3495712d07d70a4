/* check_demangle.c - readable names of C++ and Rust functions. */
#include <check.h>
#include <stdlib.h>

#include "report/demangle.h"
#include "tests/lib_suite.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *symbol, *name; /* by the rules of the Itanium ABI and of Rust */
} manglings[] = {
	{ "_ZN3foo3barEi", "foo::bar(int)" },
	{ "_ZN5words5Table4fillEPKci", "words::Table::fill(char const*, int)" },
	{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
	{ "_RNvC7mycrate3foo", "mycrate::foo" },
	{ "_RNvNtC3std3mem8align_of", "std::mem::align_of" },
	{ "main", NULL },
	{ "_Z", NULL },
	{ "_ZN", NULL },
	{ "_Zfoo", NULL },
	{ "", NULL },
	{ "_R", NULL },
	{ "lj_cf_string_format", NULL },
};

START_TEST(test_manglings)
{
	struct strbuf out = STRBUF_INIT;
	bool mangled;

	strbuf__addstr(&out, "<");
	mangled = demangle__append(manglings[_i].symbol, &out);
	ck_assert_int_eq(mangled, manglings[_i].name != NULL);
	ck_assert_str_eq(strbuf__str(&out) + 1, mangled ? manglings[_i].name : "");
	ck_assert_int_eq(out.buf[0], '<');
	strbuf__exit(&out);
}
END_TEST

/* S_IS0_S0_E is a pair of two of the pair before: N of them are 2^N long. */
START_TEST(test_endless_name)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct strbuf symbol = STRBUF_INIT, out = STRBUF_INIT;
	int i, levels = _i ? 34 : 8;

	strbuf__addstr(&symbol, "_Z1fSt4pairIiiE");
	for (i = 0; i < levels; i++)
		strbuf__addf(&symbol, "S_IS%c_S%c_E", digits[i], digits[i]);
	ck_assert_int_eq(demangle__append(strbuf__str(&symbol), &out), levels == 8);
	ck_assert_uint_le(out.len, 64 * 1024);
	if (levels == 8) /* 2^8 pairs of two "int" in it, and all the smaller ones */
		ck_assert_uint_gt(out.len, 256 * strlen("pair<int, int>"));
	else
		ck_assert_uint_eq(out.len, 0);
	strbuf__exit(&symbol);
	strbuf__exit(&out);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("demangle");
	TCase *tc = tcase_create("names");

	tcase_add_loop_test(tc, test_manglings, 0, COUNT(manglings));
	tcase_add_loop_test(tc, test_endless_name, 0, 2);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
