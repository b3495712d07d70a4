/* check_ljm_bad.c - tests of the stream reader on what is wrong, large or
 * unclear: single bytes, refused and corrupt streams, V3A and V3B, long
 * strings. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/lib_formats.h"
#include "tests/lib_suite.h"
#include "util/error.h"

/* The event bytes that Tarantool's parser accepts. */
#define TAGS_3 "\x05\x06\x07\x09\x0a\x0b\x0d\x0e\x0f"
#define TAGS_4 TAGS_3 "\x11\x12\x13"
#define TAGS_SYMBOLS TAGS_4 "\x08\x0c\x10"

static const struct variant_row {
	unsigned ljs, ljm;
	const char *tags;
} variants[] = {
	{ 1, 1, TAGS_3 },       { 1, 2, TAGS_4 },       { 2, 2, TAGS_4 },
	{ 2, 3, TAGS_SYMBOLS }, { 3, 3, TAGS_SYMBOLS },
};
enum { N_VARIANTS = sizeof(variants) / sizeof(*variants) };

/* ---- single bytes ---- */

static void put_empty(struct blob *s, unsigned ljs, unsigned ljm)
{
	blob__magic(s, "ljs", ljs);
	blob__byte(s, 0x80);
	blob__magic(s, "ljm", ljm);
}

/* Each of the 256 bytes as the first of the events. */
START_TEST(event_bytes)
{
	const struct variant_row *v = &variants[_i];

	for (unsigned tag = 0; tag < 256; tag++) {
		bool ok = tag && tag < 0x80 && strchr(v->tags, (int)tag);
		struct blob s = { 0 };
		struct session_info info;
		struct told t;

		put_empty(&s, v->ljs, v->ljm);
		blob__byte(&s, tag);
		for (int i = 0; i < 40; i++)
			blob__byte(&s, 1);
		ck_assert_int_eq(read_mem(s.p, s.len, &t, &info), 0);
		if (tag == 0x80) {
			ck_assert_int_eq(info.state, SESSION_COMPLETE);
		} else {
			/* 01 is no event byte: what stands behind is wrong. */
			ck_assert_int_eq(info.state, SESSION_CORRUPT);
			ck_assert_uint_eq(t.events + t.symbols, ok);
			if (!ok)
				ck_assert_uint_eq(info.damage_offset, 15);
			if (!ok)
				ck_assert_ptr_nonnull(strstr(info.damage, "corrupt at offset 15"));
		}
		told__exit(&t);
		blob__exit(&s);
	}
}
END_TEST

static const struct refused_row {
	const char *bytes;
	size_t len;
	const char *message;
} refused[] = {
#define ROW(text, message) \
	{ \
		text, sizeof(text) - 1, message \
	}
	ROW("", "empty"),
	ROW("l", "too short"),
	ROW("lj", "too short"),
	ROW("PK\x03\x04 something else", "not a recording"),
	ROW("ljx\x03\0\0\0\x80", "not a recording"),
	ROW("ljs\x04\0\0\0\x80ljm\x03\0\0\0\x80", "newer"),
	ROW("ljs\xff\0\0\0\x80ljm\x03\0\0\0\x80", "newer"),
	ROW("ljs\0\0\0\0\x80ljm\x03\0\0\0\x80", "unknown"),
	ROW("ljs\x03\0\0\0\x80ljm\x04\0\0\0\x80", "newer"),
	ROW("ljs\x03\0\0\0\x80ljm\0\0\0\0\x80", "unknown variant: ljs 3, ljm 0"),
	ROW("ljs\x01\0\0\0\x80ljm\x03\0\0\0\x80", "unknown variant: ljs 1, ljm 3"),
	ROW("ljs\x02\0\0\0\x80ljm\x01\0\0\0\x80", "unknown variant: ljs 2, ljm 1"),
	ROW("ljs\x03\0\0\0\x80ljm\x02\0\0\0\x80", "unknown variant: ljs 3, ljm 2"),
	ROW("ljs\x03\0\0\0\x80ljp\x02\0\0\0\x80", "CPU profile"),
	ROW("\x28\xb5\x2f\xfd", "too short"),
	ROW("\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff\xff\xff\xff", "too short"),
	/* A block of the reserved type. */
	ROW("\x28\xb5\x2f\xfd\x20\x05\xff\xff\xff\xff\xff\xff", "damaged zstd"),
	ROW("\x50\x2a\x4d\x18\xff\xff\xff\xff", "no recording"),
	ROW("\x50\x2a\x4d\x18\x04\0\0\0abcdPK", "too short"),
#undef ROW
};

START_TEST(refusals)
{
	for (size_t i = 0; i < N_READERS; i++) {
		struct session_info info;
		struct told t;

		ck_assert_int_lt(readers[i](refused[_i].bytes, refused[_i].len, &t, &info), 0);
		ck_assert_msg(strstr(err__msg(), refused[_i].message) != NULL, "'%s'", err__msg());
		ck_assert_uint_eq(t.events, 0);
		told__exit(&t);
	}
}
END_TEST

static const struct corrupt_row {
	const char *bytes; /* behind "ljs" 3 and reserved */
	size_t len;
	uint64_t offset;
} corrupt[] = {
#define ROW(text, offset) \
	{ \
		text, sizeof(text) - 1, offset \
	}
	ROW("\x03", 7), /* no such tag */
	ROW("\x00\x01\x01x\x01\x7f", 12), /* the same behind a symbol */
	ROW("\x80xyz\x03\0\0\0", 8), /* no ljm */
	ROW("\x80ljm\x03\0\0\0\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x01", 16),
	ROW("\x80ljm\x03\0\0\0\x05\x01\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 17),
	ROW("\x80ljm\x03\0\0\0\x08\x01\x81\x80\x80\x80\x01x", 17), /* 2^28 + 1 bytes */
	ROW("\x80ljm\x03\0\0\0\x08\x01\xff\xff\xff\xff\x07x", 17), /* 2^31 - 1 */
	ROW("\x80ljm\x03\0\0\0\x08\x01\x80\x80\x80\x80\x10x", 17), /* 2^32 */
	ROW("\x80ljm\x03\0\0\0\x08\x01\x80\x80\x80\x80\x80\x80\x80\x80\x40x", 17), /* 2^62 */
	ROW("\x80ljm\x03\0\0\0\x08\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x", 17),
#undef ROW
};

START_TEST(corruptions)
{
	const struct corrupt_row *row = &corrupt[_i];
	struct blob s = { 0 };
	char want[64];

	blob__magic(&s, "ljs", 3);
	blob__bytes(&s, row->bytes, row->len);
	snprintf(want, sizeof(want), "corrupt at offset %d: ", (int)row->offset);
	for (size_t i = 0; i < N_READERS; i++) {
		struct session_info info;
		struct told t;

		ck_assert_int_eq(readers[i](s.p, s.len, &t, &info), 0);
		ck_assert_int_eq(info.state, SESSION_CORRUPT);
		ck_assert_uint_eq(info.damage_offset, row->offset);
		ck_assert_msg(strncmp(info.damage, want, strlen(want)) == 0, "%s", info.damage);
		told__exit(&t);
	}
	blob__exit(&s);
}
END_TEST

/* ---- V3A and V3B ---- */

/* A location of a trace makes the size 128, which reads as the end byte when
 * the machine code address is taken for an address. */
START_TEST(v3_size_128)
{
	struct blob s = { 0 };
	struct session_info info;
	struct told t;

	put_empty(&s, 2, 3);
	for (int i = 0; i < 100; i++) {
		blob__byte(&s, 0x12);
		blob__uleb(&s, 3);
		blob__uleb(&s, 0x7f0000001000);
		blob__uleb(&s, 0x7f0000002000);
		blob__uleb(&s, 128);
	}
	blob__byte(&s, 0x80);
	ck_assert_int_eq(read_mem(s.p, s.len, &t, &info), 0);
	ck_assert_int_eq(info.variant, LJM_V3A);
	ck_assert_int_eq(info.state, SESSION_COMPLETE);
	ck_assert_uint_eq(t.sum_old, 12800);
	told__exit(&t);
	blob__exit(&s);
}
END_TEST

/* The first trace comes after much more than the window holds. */
static void check_late_trace(bool mcode, read_fn reader)
{
	const uint64_t n_before = 400000;
	struct blob s = { 0 };
	struct session_info info;
	struct told t;

	put_empty(&s, 2, 3);
	for (uint64_t i = 0; i < n_before; i++) {
		blob__byte(&s, 0x05);
		blob__uleb(&s, 0x7f0000000000 + i * 16);
		blob__uleb(&s, 16);
	}
	for (int i = 0; i < 1000; i++) {
		blob__byte(&s, 0x11);
		blob__uleb(&s, 9);
		if (mcode)
			blob__uleb(&s, 0x55aabbccdd00);
		blob__uleb(&s, 0x7e0000000000);
		blob__uleb(&s, 100);
	}
	blob__byte(&s, 0x80);
	blob__bytes(&s, "trailing", 8);
	ck_assert_int_eq(reader(s.p, s.len, &t, &info), 0);
	ck_assert_int_eq(info.variant, mcode ? LJM_V3A : LJM_V3B);
	ck_assert_int_eq(info.state, SESSION_COMPLETE);
	ck_assert_ptr_nonnull(strstr(info.damage, "8 bytes after the end"));
	ck_assert_uint_eq(t.events, n_before + 1000);
	ck_assert_uint_eq(t.sum_new, n_before * 16 + 1000 * 100);
	told__exit(&t);
	blob__exit(&s);
}

static int read_pipe_big(const void *buf, size_t len, struct told *t, struct session_info *info)
{
	return read_pipe(buf, len, 50000, t, info);
}

START_TEST(v3_late_trace)
{
	check_late_trace(_i, read_mem);
	check_late_trace(_i, read_pipe_big);
}
END_TEST

/* ---- long strings, memory, handlers ---- */

static long max_rss_kib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

/* A source text as chunk name, beyond what the reader of Tarantool takes. */
START_TEST(long_string)
{
	const size_t n = (size_t)11 << 20;
	char *text = malloc(n + 1);
	struct blob s = { 0 };
	struct session_info info;
	struct told t;

	memset(text, 'x', n);
	text[n] = '\0';
	blob__magic(&s, "ljs", 3);
	blob__byte(&s, 0);
	blob__uleb(&s, 1);
	blob__string(&s, text);
	blob__uleb(&s, 5);
	blob__bytes(&s, "\x80ljm\x03\0\0\0\x05\x01\x02\x80", 12);
	ck_assert_int_eq(
		_i ? read_pipe_big(s.p, s.len, &t, &info) : read_mem(s.p, s.len, &t, &info), 0);
	ck_assert_int_eq(info.state, SESSION_COMPLETE);
	ck_assert_uint_eq(t.symbols, 1);
	ck_assert_uint_eq(t.events, 1);
	ck_assert_uint_gt(t.len, n);
	told__exit(&t);
	blob__exit(&s);
	free(text);
}
END_TEST

/* 2^28 bytes are claimed and there are three: nothing is taken for them. */
START_TEST(claimed_string)
{
	long before = max_rss_kib();
	struct blob s = { 0 };
	struct session_info info;
	struct told t;

	put_empty(&s, 3, 3);
	blob__bytes(&s, "\x08\x01\x80\x80\x80\x80\x01xyz", 10);
	ck_assert_int_eq(readers[_i](s.p, s.len, &t, &info), 0);
	ck_assert_int_eq(info.state, SESSION_TRUNCATED);
	ck_assert_uint_eq(info.damage_offset, s.len);
	ck_assert_int_lt(max_rss_kib() - before, 16 << 10);
	told__exit(&t);
	blob__exit(&s);
}
END_TEST

static int stop_at_3(void *ctx, const struct ljm_event *ev)
{
	(void)ev;
	return ++*(int *)ctx == 3 ? -77 : 1;
}

START_TEST(handler_stops)
{
	struct blob s = blob__load("tarantool/variants/ljs1-ljm1-b4e6bf0d.bin");
	struct session_reader *r = session_reader__new_mem(s.p, s.len, "x");
	int n = 0;

	ck_assert_int_eq(
		session_reader__run(r, &(struct session_handlers){ .event = stop_at_3 }, &n), -77);
	ck_assert_int_eq(n, 3);
	ck_assert_int_lt(session_reader__run(r, &(struct session_handlers){ 0 }, NULL), 0);
	session_reader__delete(r);
	blob__exit(&s);
}
END_TEST

START_TEST(no_handlers)
{
	struct blob s = blob__load("tarantool/variants/ljs1-ljm1-b4e6bf0d.bin");
	struct session_reader *r = session_reader__new_mem(s.p, s.len, "x");

	ck_assert_int_eq(session_reader__run(r, &(struct session_handlers){ 0 }, NULL), 0);
	ck_assert_uint_eq(session_reader__info(r)->n_events, 173);
	session_reader__delete(r);
	blob__exit(&s);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("ljm_bad");
	TCase *t = tcase_create("ljm_bad");

	tcase_add_loop_test(t, event_bytes, 0, N_VARIANTS);
	tcase_add_loop_test(t, refusals, 0, sizeof(refused) / sizeof(*refused));
	tcase_add_loop_test(t, corruptions, 0, sizeof(corrupt) / sizeof(*corrupt));
	tcase_add_test(t, v3_size_128);
	tcase_add_loop_test(t, v3_late_trace, 0, 2);
	tcase_add_loop_test(t, long_string, 0, 2);
	tcase_add_loop_test(t, claimed_string, 0, 3);
	tcase_add_test(t, handler_stops);
	tcase_add_test(t, no_handlers);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
