/* check_symtab.c - epochs, sites and names. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/escape.h"
#include "report/names.h"
#include "report/symtab.h"
#include "tests/lib_stream.h"
#include "tests/lib_suite.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct symtab *st;

static void setup(void)
{
	st = symtab__new();
	ck_assert_ptr_nonnull(st);
	symtab__begin_session(st);
}

static void teardown(void)
{
	symtab__delete(st);
}

static void add_lua(uint64_t addr, const char *chunk, size_t len, uint64_t line)
{
	struct ljm_symbol sym = {
		.source = LJM_SRC_LUA, .addr = addr, .name = chunk, .name_len = len, .line = line
	};

	ck_assert_int_eq(symtab__symbol(st, &sym), 0);
}

static void add_named(uint64_t addr, const char *chunk, uint64_t line, const char *func)
{
	struct ljm_symbol sym = { .source = LJM_SRC_LUA,
				  .addr = addr,
				  .name = chunk,
				  .name_len = strlen(chunk),
				  .line = line,
				  .has_detail = true,
				  .func_name = func,
				  .func_name_len = strlen(func) };

	ck_assert_int_eq(symtab__symbol(st, &sym), 0);
}

static void add_c(uint64_t addr, const char *name)
{
	struct ljm_symbol sym = {
		.source = LJM_SRC_C, .addr = addr, .name = name, .name_len = strlen(name)
	};

	ck_assert_int_eq(symtab__symbol(st, &sym), 0);
}

static void add_trace(uint64_t num, uint64_t mcode, uint64_t proto, uint64_t line, bool in_symtab)
{
	struct ljm_symbol sym = { .source = LJM_SRC_TRACE,
				  .addr = mcode,
				  .trace_num = num,
				  .proto_addr = proto,
				  .line = line,
				  .in_symtab = in_symtab };

	ck_assert_int_eq(symtab__symbol(st, &sym), 0);
}

static uint32_t site_of(struct ljm_loc loc)
{
	uint32_t site = symtab__site(st, &loc, LJM_VMSTATE_UNKNOWN);

	ck_assert_uint_ne(site, SITE_NONE);
	/* The second time comes from the cache. */
	ck_assert_uint_eq(symtab__site(st, &loc, LJM_VMSTATE_UNKNOWN), site);
	return site;
}

static void assert_name(uint32_t site, enum name_style style, const char *want)
{
	struct strbuf sb = STRBUF_INIT;

	names__site(st, site, style, &sb);
	ck_assert_str_eq(strbuf__str(&sb), want);
	strbuf__exit(&sb);
}

/* ---- epochs ---- */

START_TEST(test_proto_epochs)
{
	uint32_t old, new, again;

	add_lua(0x1000, "@old.lua", 8, 1);
	old = site_of(loc_lua(0x1000, 5));
	add_lua(0x1000, "@new.lua", 8, 1);
	new = site_of(loc_lua(0x1000, 5));
	ck_assert_uint_ne(old, new);
	assert_name(old, NAME_MEMPROF, "@old.lua:5");
	assert_name(new, NAME_MEMPROF, "@new.lua:5");
	add_lua(0x1000, "@old.lua", 8, 1);
	again = site_of(loc_lua(0x1000, 5));
	ck_assert_uint_eq(again, old);
}
END_TEST

START_TEST(test_trace_epochs)
{
	uint32_t first, second;

	add_lua(0x1000, "@a.lua", 6, 1);
	add_trace(1, 0, 0x1000, 3, false);
	first = site_of(loc_trace(1));
	add_trace(1, 0, 0x1000, 9, false);
	second = site_of(loc_trace(1));
	ck_assert_uint_ne(first, second);
	assert_name(first, NAME_MEMPROF, "TRACE [1] started at @a.lua:3");
	assert_name(second, NAME_TABLE, "TRACE [1] started at a.lua:9");
}
END_TEST

/* The name of a trace's start is that of its time, whatever comes later. */
START_TEST(test_trace_keeps_its_start)
{
	uint32_t site;

	add_lua(0x1000, "@a.lua", 6, 1);
	add_trace(4, 0, 0x1000, 3, false);
	add_lua(0x1000, "@b.lua", 6, 1);
	site = site_of(loc_trace(4));
	assert_name(site, NAME_MEMPROF, "TRACE [4] started at @a.lua:3");
}
END_TEST

/* In the table before the events, a trace may stand before its prototype. */
START_TEST(test_trace_before_proto)
{
	add_trace(2, 0, 0x2000, 7, true);
	add_lua(0x2000, "@late.lua", 9, 1);
	assert_name(site_of(loc_trace(2)), NAME_MEMPROF, "TRACE [2] started at @late.lua:7");
}
END_TEST

START_TEST(test_trace_unknown)
{
	add_trace(3, 0, 0x9000, 7, false);
	assert_name(site_of(loc_trace(3)), NAME_TABLE, "TRACE [3] started at 0x9000:7");
	assert_name(site_of(loc_trace(8)), NAME_TABLE, "TRACE [8]");
}
END_TEST

/* With its machine code known, a trace elsewhere is another one. */
START_TEST(test_trace_mcode)
{
	struct ljm_loc here = { LJM_SRC_TRACE, 0x5000, 1 }, there = { LJM_SRC_TRACE, 0x6000, 1 };

	add_lua(0x1000, "@a.lua", 6, 1);
	add_trace(1, 0x5000, 0x1000, 3, true);
	assert_name(site_of(here), NAME_MEMPROF, "TRACE [1] 0x5000 started at @a.lua:3");
	assert_name(site_of(there), NAME_MEMPROF, "TRACE [1] 0x6000");
}
END_TEST

START_TEST(test_c_epochs)
{
	uint32_t before = site_of(loc_c(0x4000)), f, g;

	add_c(0x4000, "alias");
	add_c(0x4000, "f");
	f = site_of(loc_c(0x4000));
	add_c(0x4000, "alias"); /* all symbols again, as Tarantool's VM does */
	add_c(0x4000, "f");
	ck_assert_uint_eq(site_of(loc_c(0x4000)), f);
	add_c(0x4000, "g");
	g = site_of(loc_c(0x4000));
	assert_name(before, NAME_MEMPROF, "CFUNC 0x4000");
	assert_name(f, NAME_MEMPROF, "f:0x4000");
	assert_name(f, NAME_TABLE, "f");
	assert_name(g, NAME_MEMPROF, "g:0x4000");
}
END_TEST

/* Without a symbol of its own: the nearest below, but not from far away. */
START_TEST(test_c_nearest)
{
	add_c(0x40000, "low");
	add_c(0x41000, "high");
	assert_name(site_of(loc_c(0x40fff)), NAME_MEMPROF, "low:0x40000");
	assert_name(site_of(loc_c(0x41001)), NAME_MEMPROF, "high:0x41000");
	assert_name(site_of(loc_c(0x3ffff)), NAME_MEMPROF, "CFUNC 0x3ffff");
	assert_name(site_of(loc_c(0x41000 + 64 * 1024)), NAME_MEMPROF, "high:0x41000");
	assert_name(site_of(loc_c(0x41001 + 64 * 1024)), NAME_MEMPROF, "CFUNC 0x51001");
}
END_TEST

/* As many symbols as need merging, in an order that is not theirs: 7919 is
 * prime, so I * 7919 mod 5000 takes every value once. */
START_TEST(test_c_nearest_of_many)
{
	char name[32];
	uint64_t i, n;

	for (i = 0; i < 5000; i++) {
		n = i * 7919 % 5000;
		snprintf(name, sizeof(name), "f%u", (unsigned)n);
		add_c(0x100000 + n * 32 + 1, name);
		if (i % 600 == 0)
			site_of(loc_c(0x100000 + n * 32 + 2));
	}
	for (n = 0; n < 5000; n += 97) {
		snprintf(name, sizeof(name), "f%u", (unsigned)n);
		assert_name(site_of(loc_c(0x100000 + n * 32 + 20)), NAME_TABLE, name);
	}
}
END_TEST

/* Where a library begins, symbols without a value stand, 9 of them here. */
START_TEST(test_c_load_base)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i" };
	size_t i;

	for (i = 0; i < COUNT(names); i++)
		add_c(0x7000, names[i]);
	assert_name(site_of(loc_c(0x7010)), NAME_MEMPROF, "CFUNC 0x7010");
	for (i = 0; i < COUNT(names) - 1; i++)
		add_c(0x8000, names[i]);
	assert_name(site_of(loc_c(0x8010)), NAME_MEMPROF, "h:0x8000");
}
END_TEST

START_TEST(test_c_module)
{
	struct session_module m = { .start = 0x70000,
				    .end = 0x80000,
				    .offset = 0x1000,
				    .bias = 0x6f000,
				    .path = "/usr/lib/libx.so.1",
				    .path_len = 18 };
	uint32_t before = site_of(loc_c(0x70010)), after;

	ck_assert_int_eq(symtab__module(st, &m), 0);
	after = site_of(loc_c(0x70010));
	assert_name(before, NAME_TABLE, "CFUNC 0x70010");
	assert_name(after, NAME_TABLE, "libx.so.1+0x1010");
	assert_name(after, NAME_MEMPROF, "CFUNC 0x70010");
	assert_name(site_of(loc_c(0x80000)), NAME_TABLE, "CFUNC 0x80000");
	add_c(0x70010, "lua_open");
	assert_name(site_of(loc_c(0x70010)), NAME_TABLE, "lua_open");
}
END_TEST

/* The same address in another session is another thing. */
START_TEST(test_sessions)
{
	uint32_t unknown, known;

	add_lua(0x1000, "@a.lua", 6, 1);
	add_trace(1, 0, 0x1000, 3, false);
	add_c(0x4000, "f");
	known = site_of(loc_lua(0x1000, 5));
	symtab__begin_session(st);
	unknown = site_of(loc_lua(0x1000, 5));
	ck_assert_uint_ne(known, unknown);
	assert_name(unknown, NAME_TABLE, "0x1000:5");
	assert_name(site_of(loc_trace(1)), NAME_TABLE, "TRACE [1]");
	assert_name(site_of(loc_c(0x4000)), NAME_TABLE, "CFUNC 0x4000");
	add_lua(0x1000, "@a.lua", 6, 1);
	ck_assert_uint_eq(site_of(loc_lua(0x1000, 5)), known);
}
END_TEST

/* 100000 epochs with 10 names between them make 10 prototypes and 10 sites. */
START_TEST(test_epochs_share_names)
{
	char name[16];
	unsigned i;

	for (i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "=c%u", i % 10);
		add_lua(0x1000 + i % 77 * 64, name, strlen(name), 0);
		site_of(loc_lua(0x1000 + i % 77 * 64, 1));
	}
	ck_assert_uint_eq(st->n_protos, 10);
	ck_assert_uint_eq(st->n_sites, 10);
	ck_assert_uint_eq(st->strings.n, 10);
	ck_assert_uint_eq(st->cur_proto.n, 77);
}
END_TEST

/* ---- names ---- */

static const struct {
	const char *chunk;
	size_t len;
	uint64_t first_line;
	const char *memprof, *table;
} chunks[] = {
	{ "@dir/a.lua", 10, 1, "@dir/a.lua:5", "dir/a.lua:5" },
	{ "=stdin", 6, 0, "=stdin:5", "stdin:5" },
	{ "return 1", 8, 0, "return 1:5", "return 1:5" },
	{ "remove", 6, UINT64_MAX, "[builtin:remove]", "[builtin:remove]" },
	{ "@b.lua", 6, UINT64_MAX, "@b.lua:5", "b.lua:5" },
	{ "\033LJ\002\000\n", 6, 0, "?:5", "?:5" },
	{ "", 0, 0, ":5", ":5" },
	{ "@a\033[31m\n", 8, 0, "@a\\x1b[31m\\n:5", "a\\x1b[31m\\n:5" },
	{ "a\033[31m\n", 7, 0, "function_alias_1:5", "function_alias_1 \"a\\x1b[31m\":5" },
	{ "@a\033[31m\a", 8, 0, "@a\\x1b[31m\\x07:5", "a\\x1b[31m\\x07:5" },
	{ "@\xc3\xa9\xff\xe2\x82", 6, 0, "@\xc3\xa9\\xff\\xe2\\x82:5",
	  "\xc3\xa9\\xff\\xe2\\x82:5" },
	{ "@a\0b", 4, 0, "@a\\x00b:5", "a\\x00b:5" },
	/* 24 bytes of it are shown: up to "ret" */
	{ "local a = 1\n\tlocal b\nreturn a", 29, 0, "function_alias_1:5",
	  "function_alias_1 \"local a = 1 local b ret...\":5" },
};

START_TEST(test_chunk_names)
{
	uint32_t site;

	add_lua(0x1000, chunks[_i].chunk, chunks[_i].len, chunks[_i].first_line);
	site = site_of(loc_lua(0x1000, 5));
	assert_name(site, NAME_MEMPROF, chunks[_i].memprof);
	assert_name(site, NAME_TABLE, chunks[_i].table);
}
END_TEST

START_TEST(test_never_described)
{
	uint32_t site = site_of(loc_lua(0x7f0010, 12));

	assert_name(site, NAME_TABLE, "0x7f0010:12");
	assert_name(site, NAME_MEMPROF, "CFUNC 0x7f0010"); /* as Tarantool's tool says */
}
END_TEST

START_TEST(test_internal)
{
	struct ljm_loc vm = loc_vm(), no_line = loc_lua(0x1000, UINT64_MAX);
	uint32_t gc = symtab__site(st, &vm, LJM_VMSTATE_GC);

	ck_assert_uint_ne(gc, site_of(vm));
	ck_assert_uint_eq(symtab__site(st, &vm, LJM_VMSTATE_GC), gc);
	ck_assert_uint_eq(symtab__site(st, &vm, 200), site_of(vm)); /* no such state */
	ck_assert_uint_eq(site_of(no_line), site_of(vm));
	assert_name(gc, NAME_TABLE, "INTERNAL (collector)");
	assert_name(gc, NAME_MEMPROF, "INTERNAL");
	assert_name(site_of(vm), NAME_TABLE, "INTERNAL");
}
END_TEST

static const char *func_of(uint32_t site)
{
	uint32_t func = symtab__proto(st, &st->sites[site])->func;

	return func == STR_NONE ? "" : strpool__get(&st->strings, func)->s;
}

/* A function that was first described because of a trace has no name then. */
START_TEST(test_func_named_later)
{
	uint32_t site;

	add_named(0x1000, "@a.lua", 10, "");
	site = site_of(loc_lua(0x1000, 12));
	ck_assert_str_eq(func_of(site), "");
	add_named(0x2000, "@a.lua", 10, "parse");
	ck_assert_uint_eq(site_of(loc_lua(0x2000, 12)), site);
	ck_assert_str_eq(func_of(site), "parse");
	add_named(0x3000, "@a.lua", 11, "other");
	ck_assert_str_eq(func_of(site_of(loc_lua(0x3000, 12))), "other");
}
END_TEST

START_TEST(test_func)
{
	struct strbuf sb = STRBUF_INIT;
	uint32_t a, b;

	add_named(0x1000, "@a.lua", 10, "parse");
	a = site_of(loc_lua(0x1000, 12));
	add_named(0x1000, "@a.lua", 10, "other");
	b = site_of(loc_lua(0x1000, 12));
	ck_assert_uint_eq(a, b); /* it was written in one place, whatever it is called */
	ck_assert_str_eq(func_of(a), "parse");
	names__func(st, a, &sb);
	ck_assert_str_eq(strbuf__str(&sb), "a.lua:10");
	strbuf__exit(&sb);
}
END_TEST

/* Every line under its own number, as Lua counts: \r\n is one end, an empty
 * line is a line, and a last one without an end too. */
START_TEST(test_aliases)
{
	static const char one[] = "a\n\n\tb\r\nc\n\nd", two[] = "x\033\n";
	struct strbuf sb = STRBUF_INIT;
	bool second_only[] = { false, true };

	add_lua(0x1000, one, strlen(one), 0);
	add_lua(0x2000, "=no alias", 9, 0);
	add_lua(0x3000, two, strlen(two), 0);
	add_lua(0x4000, one, strlen(one), 3);
	names__aliases(st, NULL, &sb);
	ck_assert_str_eq(strbuf__str(&sb), "ALIASES:\n"
					   "function_alias_1:\n1\t| a\n2\t| \n3\t| \tb\n4\t| c\n"
					   "5\t| \n6\t| d\n\n\n"
					   "function_alias_2:\n1\t| x\\x1b\n\n\n");
	strbuf__reset(&sb);
	names__aliases(st, second_only, &sb);
	ck_assert_str_eq(strbuf__str(&sb), "ALIASES:\nfunction_alias_2:\n1\t| x\\x1b\n\n\n");
	strbuf__exit(&sb);
}
END_TEST

/* ---- text and numbers ---- */

static const struct {
	const char *in;
	size_t len;
	const char *text, *json;
} escapes[] = {
	{ "plain", 5, "plain", "\"plain\"" },
	{ "a\"\\b", 4, "a\"\\b", "\"a\\\"\\\\b\"" },
	{ "\n\t\r\x01\x7f", 5, "\\n\\t\\r\\x01\\x7f", "\"\\n\\u0009\\u000d\\u0001\\u007f\"" },
	{ "\xc2\x9b", 2, "\\xc2\\x9b", "\"\\u009b\"" }, /* CSI, as one character */
	{ "\xe2\x80\xae", 3, "\\xe2\\x80\\xae", "\"\\u202e\"" }, /* right-to-left override */
	{ "\xc0\xaf", 2, "\\xc0\\xaf", "\"\\udcc0\\udcaf\"" }, /* overlong */
	{ "\xed\xa0\x80", 3, "\\xed\\xa0\\x80", "\"\\udced\\udca0\\udc80\"" }, /* surrogate */
	{ "\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80", "\"\\udcf4\\udc90\\udc80\\udc80\"" },
	{ "\xf0\x9f\x99\x82", 4, "\xf0\x9f\x99\x82", "\"\xf0\x9f\x99\x82\"" },
};

START_TEST(test_escapes)
{
	struct strbuf sb = STRBUF_INIT;

	escape__text(&sb, escapes[_i].in, escapes[_i].len, 0);
	ck_assert_str_eq(strbuf__str(&sb), escapes[_i].text);
	strbuf__reset(&sb);
	escape__json(&sb, escapes[_i].in, escapes[_i].len);
	ck_assert_str_eq(strbuf__str(&sb), escapes[_i].json);
	strbuf__exit(&sb);
}
END_TEST

#define U128(hi, lo) ((u128)(hi) << 64 | (lo))

static const struct {
	u128 value;
	const char *bytes, *count, *dec;
} numbers[] = {
	{ 0, "0 B", "0", "0" },
	{ 1023, "1023 B", "1023", "1023" },
	{ 1024, "1.0 KiB", "1024", "1024" },
	{ 1048524, "1023.9 KiB", "1.05 M", "1048524" }, /* 1023.949 KiB */
	{ 1048526, "1.0 MiB", "1.05 M", "1048526" }, /* 1023.951 KiB */
	{ 99999, "97.7 KiB", "99999", "99999" },
	{ 100000, "97.7 KiB", "100000", "100000" },
	{ 999999, "976.6 KiB", "999999", "999999" }, /* 976.561 KiB */
	{ 1000000, "976.6 KiB", "1.00 M", "1000000" },
	{ 999994999, "953.7 MiB", "999.99 M", "999994999" }, /* 953.669 MiB */
	{ 999995000, "953.7 MiB", "1.00 G", "999995000" },
	{ 2000000000, "1.9 GiB", "2.00 G", "2000000000" },
	{ UINT64_MAX, "16.0 EiB", "18446744073.71 G", "18446744073709551615" },
	{ U128(1, 0), "16.0 EiB", "18446744073.71 G", "18446744073709551616" },
	/* 2^128 - 1 */
	{ U128(UINT64_MAX, UINT64_MAX), "281474976710656.0 YiB",
	  "340282366920938463463374607431.77 G", "340282366920938463463374607431768211455" },
};

START_TEST(test_numbers)
{
	struct strbuf sb = STRBUF_INIT;

	number__bytes(&sb, numbers[_i].value);
	ck_assert_str_eq(strbuf__str(&sb), numbers[_i].bytes);
	strbuf__reset(&sb);
	number__dec(&sb, numbers[_i].value);
	ck_assert_str_eq(strbuf__str(&sb), numbers[_i].dec);
	strbuf__reset(&sb);
	number__count(&sb, numbers[_i].value);
	/* The last digits of so long a double are its own affair. */
	ck_assert_int_eq(strncmp(strbuf__str(&sb), numbers[_i].count, 12), 0);
	strbuf__exit(&sb);
}
END_TEST

static const struct {
	uint64_t ns;
	const char *text;
} times[] = {
	{ 0, "0 s" },
	{ 1, "0.00 ms" },
	{ 1500000, "1.50 ms" },
	{ 9990000, "9.99 ms" },
	{ 10000000, "10.0 ms" },
	{ 99900000, "99.9 ms" },
	{ 100000000, "0.10 s" },
	{ 2413000000, "2.41 s" },
};

START_TEST(test_times)
{
	struct strbuf sb = STRBUF_INIT;

	number__time(&sb, times[_i].ns);
	ck_assert_str_eq(strbuf__str(&sb), times[_i].text);
	strbuf__exit(&sb);
}
END_TEST

/* Three of the columns are dots. */
static const struct {
	const char *name;
	size_t max;
	const char *cut;
} cuts[] = {
	{ "f  a.lua:1", 10, "f  a.lua:1" },
	{ "f  dir/a.lua:1", 13, "f  ...a.lua:1" }, /* 3 + 3 + 7 */
	{ "f  dir/a.lua:1", 12, "f ...a.lua:1" },
	{ "f  dir/a.lua:1", 8, "...lua:1" },
	{ "f  dir/a.lua:1", 4, "...1" },
	{ "f  dir/a.lua:1", 3, "f  dir/a.lua:1" }, /* no room for anything */
	{ "TRACE [7] started at a/b.lua:40", 20, "TRACE [7]...b.lua:40" },
	{ "INTERNAL (collector)", 11, "INTE...tor)" },
	{ "a_c_function_of_22_chr", 13, "a_c_f...2_chr" },
	{ "", 10, "" },
	/* Characters, not bytes. */
	{ "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f  /\xe2\x82\xac.lua:12", 12,
	  "\xc3\xa4...\xe2\x82\xac.lua:12" },
};

START_TEST(test_cuts)
{
	struct strbuf sb = STRBUF_INIT;

	cut__name(&sb, cuts[_i].name, strlen(cuts[_i].name), cuts[_i].max);
	ck_assert_str_eq(strbuf__str(&sb), cuts[_i].cut);
	strbuf__exit(&sb);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("symtab");
	TCase *epochs = tcase_create("epochs"), *names = tcase_create("names");
	TCase *texts = tcase_create("texts");

	tcase_add_checked_fixture(epochs, setup, teardown);
	tcase_add_test(epochs, test_proto_epochs);
	tcase_add_test(epochs, test_trace_epochs);
	tcase_add_test(epochs, test_trace_keeps_its_start);
	tcase_add_test(epochs, test_trace_before_proto);
	tcase_add_test(epochs, test_trace_unknown);
	tcase_add_test(epochs, test_trace_mcode);
	tcase_add_test(epochs, test_c_epochs);
	tcase_add_test(epochs, test_c_nearest);
	tcase_add_test(epochs, test_c_nearest_of_many);
	tcase_add_test(epochs, test_c_load_base);
	tcase_add_test(epochs, test_c_module);
	tcase_add_test(epochs, test_sessions);
	tcase_add_test(epochs, test_epochs_share_names);
	tcase_add_checked_fixture(names, setup, teardown);
	tcase_add_loop_test(names, test_chunk_names, 0, COUNT(chunks));
	tcase_add_test(names, test_never_described);
	tcase_add_test(names, test_internal);
	tcase_add_test(names, test_func);
	tcase_add_test(names, test_func_named_later);
	tcase_add_test(names, test_aliases);
	tcase_add_loop_test(texts, test_escapes, 0, COUNT(escapes));
	tcase_add_loop_test(texts, test_numbers, 0, COUNT(numbers));
	tcase_add_loop_test(texts, test_times, 0, COUNT(times));
	tcase_add_loop_test(texts, test_cuts, 0, COUNT(cuts));
	suite_add_tcase(s, epochs);
	suite_add_tcase(s, names);
	suite_add_tcase(s, texts);
	return run_suite(s);
}
