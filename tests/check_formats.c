/* check_formats.c - tests of the small parts of formats/: cursor, ULEB128 both
 * ways, input, zstd frames. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "formats/cursor.h"
#include "formats/input.h"
#include "formats/uleb.h"
#include "formats/zframe.h"
#include "tests/lib_formats.h"
#include "tests/lib_suite.h"

/* ---- ULEB128, reading ---- */

/* Values by arithmetic: the groups of 7 bits from the lowest up. */
static const struct uleb_row {
	const char *bytes;
	size_t len;
	enum cursor_status status;
	uint64_t value;
} uleb_rows[] = {
#define ROW(text, status, value) \
	{ \
		text, sizeof(text) - 1, status, value \
	}
	ROW("\x00", CURSOR_OK, 0),
	ROW("\x01", CURSOR_OK, 1),
	ROW("\x7f", CURSOR_OK, 127),
	ROW("\x80\x01", CURSOR_OK, 128),
	ROW("\xff\x7f", CURSOR_OK, 16383),
	ROW("\x80\x80\x01", CURSOR_OK, 16384),
	ROW("\xe5\x8e\x26", CURSOR_OK, 624485), /* 0x65 + (0x0e << 7) + (0x26 << 14) */
	ROW("\xb0\xf8\xa7\xfc\xad\xfe\x1f", CURSOR_OK, 0x7ff2df89fc30),
	ROW("\xff\xff\xff\xff\xff\xff\xff\x7f", CURSOR_OK, ((uint64_t)1 << 56) - 1),
	ROW("\x80\x80\x80\x80\x80\x80\x80\x80\x01", CURSOR_OK, (uint64_t)1 << 56),
	ROW("\xff\xff\xff\xff\xff\xff\xff\xff\x7f", CURSOR_OK, INT64_MAX),
	ROW("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", CURSOR_OK, (uint64_t)1 << 63),
	ROW("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", CURSOR_OK, UINT64_MAX),
	/* Redundant groups are accepted up to ten bytes. */
	ROW("\x80\x00", CURSOR_OK, 0),
	ROW("\x81\x80\x00", CURSOR_OK, 1),
	ROW("\xff\x80\x80\x80\x80\x80\x80\x00", CURSOR_OK, 127),
	ROW("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", CURSOR_OK, 0),
	/* Bit 64 and above, and an eleventh byte. */
	ROW("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", CURSOR_BAD, 0),
	ROW("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", CURSOR_BAD, 0),
	ROW("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", CURSOR_BAD, 0),
	ROW("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", CURSOR_BAD, 0),
	ROW("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x82\x00", CURSOR_BAD, 0),
#undef ROW
};
enum { N_ULEB_ROWS = sizeof(uleb_rows) / sizeof(*uleb_rows) };

/* With PADDING bytes behind it, so that both ways of cursor__uleb() are gone. */
static void check_uleb(const struct uleb_row *row, size_t padding)
{
	uint8_t *p = malloc(row->len + padding);
	struct cursor c;
	uint64_t v;

	memcpy(p, row->bytes, row->len);
	memset(p + row->len, 0xff, padding);
	c = cursor__of(p, row->len + padding);
	v = cursor__uleb(&c);
	ck_assert_int_eq(c.status, row->status);
	ck_assert_uint_eq(v, row->value);
	if (row->status == CURSOR_OK)
		ck_assert_uint_eq((size_t)(c.p - p), row->len);
	else
		ck_assert_ptr_eq(c.bad, p);
	free(p);
}

START_TEST(uleb_values)
{
	static const size_t paddings[] = { 0, 1, 8, 9, 10, 16 };

	for (size_t i = 0; i < sizeof(paddings) / sizeof(*paddings); i++)
		check_uleb(&uleb_rows[_i], paddings[i]);
}
END_TEST

/* Each proper prefix is short, never wrong. */
START_TEST(uleb_prefixes)
{
	const struct uleb_row *row = &uleb_rows[_i];

	if (row->status != CURSOR_OK)
		return;
	for (size_t n = 0; n < row->len; n++) {
		uint8_t *p = malloc(n + 1);
		struct cursor c = cursor__of(p, n);

		memcpy(p, row->bytes, n);
		ck_assert_uint_eq(cursor__uleb(&c), 0);
		ck_assert_int_eq(c.status, CURSOR_SHORT);
		ck_assert_uint_eq(c.missing, 1);
		free(p);
	}
}
END_TEST

/* ---- SLEB128 ---- */

/* The first eight are DWARF 5's own examples (7.6, table 7.8). */
static const struct sleb_row {
	const char *bytes;
	size_t len;
	enum cursor_status status;
	int64_t value;
} sleb_rows[] = {
#define ROW(text, status, value) \
	{ \
		text, sizeof(text) - 1, status, value \
	}
	ROW("\x02", CURSOR_OK, 2),
	ROW("\x7e", CURSOR_OK, -2),
	ROW("\xff\x00", CURSOR_OK, 127),
	ROW("\x81\x7f", CURSOR_OK, -127),
	ROW("\x80\x01", CURSOR_OK, 128),
	ROW("\x80\x7f", CURSOR_OK, -128),
	ROW("\x81\x01", CURSOR_OK, 129),
	ROW("\xff\x7e", CURSOR_OK, -129),
	ROW("\x00", CURSOR_OK, 0),
	ROW("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", CURSOR_OK, INT64_MAX),
	ROW("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", CURSOR_OK, INT64_MIN),
	ROW("\xff\xff\xff\xff\xff\xff\xff\xff\x3f", CURSOR_OK, ((int64_t)1 << 62) - 1),
	ROW("\x80\x80\x80\x80\x80\x80\x80\x80\x40", CURSOR_OK, -((int64_t)1 << 62)),
	/* Copies of the sign, and bits above bit 63 that are none. */
	ROW("\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x7f", CURSOR_OK, -2),
	ROW("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", CURSOR_BAD, 0),
	ROW("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7e", CURSOR_BAD, 0),
	ROW("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", CURSOR_BAD, 0),
#undef ROW
};
enum { N_SLEB_ROWS = sizeof(sleb_rows) / sizeof(*sleb_rows) };

START_TEST(sleb_values)
{
	const struct sleb_row *row = &sleb_rows[_i];
	size_t n;

	for (n = 0; n <= row->len; n++) {
		uint8_t *p = malloc(n + 1); /* each proper prefix is short */
		struct cursor c = cursor__of(p, n);
		int64_t v;

		memcpy(p, row->bytes, n);
		v = cursor__sleb(&c);
		ck_assert_int_eq(v, n == row->len ? row->value : 0);
		if (n == row->len || c.status == CURSOR_BAD)
			ck_assert_int_eq(c.status, row->status);
		else
			ck_assert_int_eq(c.status, CURSOR_SHORT);
		free(p);
	}
}
END_TEST

/* ---- ULEB128, writing ---- */

static void check_written(uint64_t v)
{
	struct blob want = { 0 };
	uint8_t exact[ULEB_MAX], wide[ULEB_MAX + 8];
	struct cursor c;

	blob__uleb(&want, v);
	ck_assert_uint_eq(uleb__size(v), want.len);
	ck_assert_uint_eq((size_t)(uleb__put(exact, v) - exact), want.len);
	ck_assert_mem_eq(exact, want.p, want.len);
	memset(wide, 0x5a, sizeof(wide));
	ck_assert_uint_eq((size_t)(uleb__put_wide(wide, v) - wide), want.len);
	ck_assert_mem_eq(wide, want.p, want.len);
	for (size_t i = ULEB_MAX; i < sizeof(wide); i++)
		ck_assert_uint_eq(wide[i], 0x5a);
	c = cursor__of(wide, sizeof(wide));
	ck_assert_uint_eq(cursor__uleb(&c), v);
	c = cursor__of(exact, want.len);
	ck_assert_uint_eq(cursor__uleb(&c), v);
	blob__exit(&want);
}

START_TEST(uleb_written)
{
	uint64_t power = (uint64_t)1 << _i, state = (uint64_t)_i + 1;

	check_written(power - 1);
	check_written(power);
	check_written(power + 1);
	check_written(~power);
	for (int i = 0; i < 200; i++)
		check_written(random_next(&state) >> _i);
}
END_TEST

/* ---- cursor ---- */

START_TEST(cursor_sticks)
{
	static const uint8_t bytes[] = { 1, 2, 3 };
	struct cursor c = cursor__of(bytes, sizeof(bytes));

	ck_assert_uint_eq(cursor__u8(&c), 1);
	ck_assert_uint_eq(cursor__le32(&c), 0);
	ck_assert_int_eq(c.status, CURSOR_SHORT);
	/* Now even what would fit is refused, and the first error stays. */
	ck_assert_uint_eq(cursor__u8(&c), 0);
	ck_assert_uint_eq(cursor__uleb(&c), 0);
	ck_assert_ptr_null(cursor__bytes(&c, 0));
	cursor__fail(&c, CURSOR_BAD, bytes);
	ck_assert_int_eq(c.status, CURSOR_SHORT);
}
END_TEST

START_TEST(cursor_integers)
{
	static const uint8_t bytes[] = { 0xff, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 0xfe };
	struct cursor c = cursor__of(bytes, sizeof(bytes));

	ck_assert_uint_eq(cursor__u8(&c), 0xff);
	ck_assert_uint_eq(cursor__le16(&c), 0x0201);
	ck_assert_uint_eq(cursor__le32(&c), 0x06050403);
	ck_assert_uint_eq(cursor__le64(&c), 0xfe0d0c0b0a090807);
	ck_assert_int_eq(c.status, CURSOR_OK);
	ck_assert_uint_eq(cursor__left(&c), 0);
}
END_TEST

static const uint64_t huge[] = {
	4,           0x7fffffff,        0x80000000,        0xffffffff,
	0x100000000, (uint64_t)1 << 62, (uint64_t)1 << 63, UINT64_MAX,
};

START_TEST(cursor_huge_lengths)
{
	static const uint8_t bytes[] = { 1, 2, 3 };
	struct cursor c = cursor__of(bytes, sizeof(bytes));

	ck_assert_ptr_null(cursor__bytes(&c, huge[_i]));
	ck_assert_int_eq(c.status, CURSOR_SHORT);
	ck_assert_uint_eq(c.missing, huge[_i] - 3);
}
END_TEST

START_TEST(cursor_strings)
{
	struct blob s = { 0 };
	struct cursor c;
	const char *text;
	size_t len;

	blob__string(&s, "abc");
	blob__string(&s, "");
	blob__uleb(&s, CURSOR_STRING_MAX);
	c = cursor__of(s.p, s.len);
	text = cursor__string(&c, &len);
	ck_assert_uint_eq(len, 3);
	ck_assert_mem_eq(text, "abc", 3);
	ck_assert_ptr_nonnull(cursor__string(&c, &len));
	ck_assert_uint_eq(len, 0);
	ck_assert_ptr_null(cursor__string(&c, &len));
	ck_assert_int_eq(c.status, CURSOR_SHORT);
	ck_assert_uint_eq(c.missing, 268435456); /* 256 MiB */
	s.len = 0;
	blob__uleb(&s, CURSOR_STRING_MAX + 1);
	c = cursor__of(s.p, s.len);
	ck_assert_ptr_null(cursor__string(&c, &len));
	ck_assert_int_eq(c.status, CURSOR_BAD);
	blob__exit(&s);
}
END_TEST

/* ---- input ---- */

START_TEST(input_from_pipe)
{
	int fds[2];
	struct input in;
	uint8_t got[4];

	ck_assert_int_eq(pipe(fds), 0);
	input__init_fd(&in, fds[0]);
	ck_assert_int_eq((int)write(fds[1], "abcdef", 6), 6);
	ck_assert_uint_ge(input__need(&in, 3), 3);
	ck_assert_mem_eq(in.p, "abc", 3);
	input__advance(&in, 1);
	ck_assert_int_eq((int)input__read(&in, got, 4), 4);
	ck_assert_mem_eq(got, "bcde", 4);
	ck_assert_uint_eq(in.offset, 5);
	ck_assert_uint_eq(input__remaining(&in), UINT64_MAX);
	close(fds[1]);
	/* A wish for the impossible takes no memory: there is one byte. */
	ck_assert_uint_eq(input__need(&in, SIZE_MAX), 1);
	ck_assert(!input__skip(&in, 2));
	ck_assert_uint_eq(in.offset, 6);
	input__exit(&in);
	close(fds[0]);
}
END_TEST

START_TEST(input_error)
{
	struct input in;
	uint8_t byte;

	input__init_fd(&in, -1);
	in.fd = 9999;
	ck_assert_uint_eq(input__need(&in, 1), 0);
	ck_assert_int_eq(in.error, -EBADF);
	ck_assert_int_eq((int)input__read(&in, &byte, 1), -EBADF);
	input__exit(&in);
}
END_TEST

/* ---- zstd frames ---- */

static struct blob compress(const void *src, size_t n, int level)
{
	struct blob s = { .cap = ZSTD_compressBound(n) };

	s.p = malloc(s.cap);
	s.len = ZSTD_compress(s.p, s.cap, src, n, level);
	ck_assert(!ZSTD_isError(s.len));
	return s;
}

/* libzstd's own opinion of where a frame ends, for frames of many shapes. */
START_TEST(zframe_extent)
{
	static const size_t sizes[] = {
		0, 1, 255, 256, 257, 65791, 65792, 131072, 1 << 20, 5000000
	};
	size_t n = sizes[_i];
	uint8_t *src = calloc(1, n + 1);
	uint64_t state = 5;

	for (int kind = 0; kind < 3; kind++) {
		struct blob s;
		struct input in;
		struct zframe f;

		/* Zeros (RLE blocks), text, noise (raw blocks). */
		for (size_t i = 0; kind && i < n; i++)
			src[i] = (uint8_t)(kind == 1 ? i * i >> 9 : random_next(&state) >> 20);
		s = compress(src, n, 1);
		ck_assert_uint_eq(ZSTD_findFrameCompressedSize(s.p, s.len), s.len);
		blob__bytes(&s, "rest", 4);
		input__init_mem(&in, s.p, s.len);
		ck_assert_int_eq(zframe__walk(&in, &f), ZFRAME_OK);
		ck_assert_uint_eq(f.size, s.len - 4);
		ck_assert(f.has_content);
		ck_assert_uint_eq(f.content, n);
		input__init_mem(&in, s.p, s.len - 5);
		ck_assert_int_eq(zframe__walk(&in, &f), ZFRAME_CUT);
		blob__exit(&s);
	}
	free(src);
}
END_TEST

START_TEST(zframe_decode)
{
	uint8_t *src = calloc(1, 3 << 20);
	struct blob s = compress(src, 3 << 20, 1);
	struct zbuf z = { 0 };

	ck_assert_int_eq(zbuf__decode(&z, s.p, s.len, 3 << 20, false), 0);
	ck_assert_uint_eq(z.len, 3 << 20);
	ck_assert_mem_eq(z.p, src, 3 << 20);
	ck_assert_int_eq(zbuf__decode(&z, s.p, s.len, (3 << 20) - 1, false), -EBADMSG);
	ck_assert_int_eq(zbuf__decode(&z, s.p, s.len - 1, 3 << 20, false), -EBADMSG);
	ck_assert_int_eq(zbuf__decode(&z, s.p, s.len - 4, 3 << 20, true), 0);
	ck_assert_uint_gt(z.len, 0);
	ck_assert_int_eq(zbuf__decode(&z, "rubbish", 7, 3 << 20, false), -EBADMSG);
	/* It can be used again after an error. */
	ck_assert_int_eq(zbuf__decode(&z, s.p, s.len, 3 << 20, false), 0);
	zbuf__exit(&z);
	blob__exit(&s);
	free(src);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("formats");
	TCase *t = tcase_create("formats");

	tcase_add_loop_test(t, uleb_values, 0, N_ULEB_ROWS);
	tcase_add_loop_test(t, uleb_prefixes, 0, N_ULEB_ROWS);
	tcase_add_loop_test(t, uleb_written, 0, 64);
	tcase_add_loop_test(t, sleb_values, 0, N_SLEB_ROWS);
	tcase_add_test(t, cursor_sticks);
	tcase_add_test(t, cursor_integers);
	tcase_add_loop_test(t, cursor_huge_lengths, 0, sizeof(huge) / sizeof(*huge));
	tcase_add_test(t, cursor_strings);
	tcase_add_test(t, input_from_pipe);
	tcase_add_test(t, input_error);
	tcase_add_loop_test(t, zframe_extent, 0, 10);
	tcase_add_test(t, zframe_decode);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
