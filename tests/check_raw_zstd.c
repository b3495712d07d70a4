/* check_raw_zstd.c - tests of reading plain streams that were compressed with
 * zstd, by any tool and in any number of frames. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <zstd.h>

#include "tests/lib_formats.h"
#include "tests/lib_suite.h"
#include "util/error.h"

#define SAMPLE "tarantool/variants/ljs2-ljm3b-0243fb72.bin"
enum { SAMPLE_EVENTS = 173 }; /* see check_ljm.c */

static void put_zstd(struct blob *s, const void *src, size_t n, int window_log, bool checksum)
{
	size_t bound = ZSTD_compressBound(n), size;
	ZSTD_CCtx *c = ZSTD_createCCtx();
	void *buf = malloc(bound);

	if (window_log)
		ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, window_log);
	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, checksum);
	/* As from a pipe: without the content size. */
	ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, 0);
	ZSTD_outBuffer out = { buf, bound, 0 };
	ZSTD_inBuffer in = { src, n, 0 };

	size = ZSTD_compressStream2(c, &out, &in, ZSTD_e_end);
	ck_assert_uint_eq(size, 0);
	blob__bytes(s, buf, out.pos);
	free(buf);
	ZSTD_freeCCtx(c);
}

static void check_same(const struct blob *z, const struct blob *plain)
{
	struct session_info info;
	struct told want, t;

	ck_assert_int_eq(read_mem(plain->p, plain->len, &want, &info), 0);
	for (int i = 0; i < N_READERS; i++) {
		ck_assert_int_eq(readers[i](z->p, z->len, &t, &info), 0);
		ck_assert_int_eq(info.container, SESSION_RAW_ZSTD);
		ck_assert_int_eq(info.variant, LJM_V3B);
		ck_assert_msg(info.state == SESSION_COMPLETE, "%s", info.damage);
		ck_assert_uint_eq(info.stream_bytes, plain->len);
		ck_assert_uint_eq(info.file_bytes, z->len);
		ck_assert_uint_eq(t.events, SAMPLE_EVENTS);
		ck_assert_str_eq(t.text, want.text);
		told__exit(&t);
	}
	told__exit(&want);
}

START_TEST(one_frame)
{
	struct blob plain = blob__load(SAMPLE), z = { 0 };

	put_zstd(&z, plain.p, plain.len, 0, _i);
	check_same(&z, &plain);
	blob__exit(&z);
	blob__exit(&plain);
}
END_TEST

START_TEST(many_frames)
{
	struct blob plain = blob__load(SAMPLE), z = { 0 };

	/* One that some compressors begin with, then 10 bytes in each. */
	blob__le(&z, 0x184D2A5F, 4);
	blob__le(&z, 4, 4);
	blob__bytes(&z, "LJPF", 4);
	for (size_t i = 0; i < plain.len; i += 10) {
		size_t n = plain.len - i;

		put_zstd(&z, plain.p + i, n < 10 ? n : 10, 0, false);
		blob__le(&z, 0x184D2A50, 4);
		blob__le(&z, 0, 4);
	}
	check_same(&z, &plain);
	blob__exit(&z);
	blob__exit(&plain);
}
END_TEST

START_TEST(cut)
{
	struct blob plain = blob__load(SAMPLE), z = { 0 };
	struct session_info info;
	struct told want, t;

	ck_assert_int_eq(read_mem(plain.p, plain.len, &want, &info), 0);
	for (size_t i = 0; i < plain.len; i += 400) {
		size_t n = plain.len - i;

		put_zstd(&z, plain.p + i, n < 400 ? n : 400, 0, true);
	}
	for (size_t n = 0; n < z.len; n++) {
		int rc = read_mem(z.p, n, &t, &info);

		/* The last bytes are a checksum: without it all is told. */
		if (rc == 0 && n < z.len - 4)
			ck_assert_int_eq(info.state, SESSION_TRUNCATED);
		ck_assert_uint_le(t.len, want.len);
		ck_assert_mem_eq(t.text, want.text, t.len);
		told__exit(&t);
	}
	told__exit(&want);
	blob__exit(&z);
	blob__exit(&plain);
}
END_TEST

/* The first frame is whole, the second damaged. */
START_TEST(damaged)
{
	struct blob plain = blob__load(SAMPLE), z = { 0 };
	struct session_info info;
	struct told want, t;
	size_t second;

	ck_assert_int_eq(read_mem(plain.p, 1500, &want, &info), 0);
	put_zstd(&z, plain.p, 1500, 0, true);
	second = z.len;
	put_zstd(&z, plain.p + 1500, plain.len - 1500, 0, true);
	memset(z.p + second + 8, 0xff, 20);
	for (int i = 0; i < N_READERS; i++) {
		ck_assert_int_eq(readers[i](z.p, z.len, &t, &info), 0);
		ck_assert_int_eq(info.state, SESSION_CORRUPT);
		ck_assert_uint_eq(info.damage_offset, 1500);
		ck_assert_str_eq(info.damage, "corrupt at offset 1500: damaged zstd frame");
		ck_assert_str_eq(t.text, want.text);
		told__exit(&t);
	}
	told__exit(&want);
	blob__exit(&z);
	blob__exit(&plain);
}
END_TEST

START_TEST(trailing)
{
	struct blob plain = blob__load(SAMPLE), z = { 0 };
	struct session_info info;
	struct told t;

	put_zstd(&z, plain.p, plain.len, 0, true);
	put_zstd(&z, "12345", 5, 0, true);
	if (_i)
		blob__bytes(&z, "rubbish behind", 14);
	ck_assert_int_eq(read_mem(z.p, z.len, &t, &info), 0);
	ck_assert_int_eq(info.state, SESSION_COMPLETE);
	ck_assert_ptr_nonnull(strstr(info.damage, "5 bytes after the end are ignored"));
	ck_assert_int_eq(strstr(info.damage, "no zstd frame") != NULL, _i);
	ck_assert_uint_eq(t.events, SAMPLE_EVENTS);
	told__exit(&t);
	blob__exit(&z);
	blob__exit(&plain);
}
END_TEST

START_TEST(no_recording)
{
	struct session_info info;
	struct blob z = { 0 };
	struct told t;

	put_zstd(&z, "some text that is no recording", 30, 0, true);
	ck_assert_int_lt(read_mem(z.p, z.len, &t, &info), 0);
	ck_assert_ptr_nonnull(strstr(err__msg(), "not a recording"));
	told__exit(&t);
	blob__exit(&z);
}
END_TEST

static long max_rss_kib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

/* 1 GiB of zeros behind the headers: the first one is no event. */
START_TEST(bomb)
{
	static uint8_t zeros[1 << 20];
	struct session_info info;
	struct blob z = { 0 };
	struct told t;
	long before;

	put_zstd(&z, "ljs\3\0\0\0\x80ljm\3\0\0\0", 15, 0, false);
	for (int i = 0; i < 1024; i++)
		put_zstd(&z, zeros, sizeof(zeros), 0, false);
	before = max_rss_kib();
	ck_assert_int_eq(read_mem(z.p, z.len, &t, &info), 0);
	ck_assert_int_eq(info.state, SESSION_CORRUPT);
	ck_assert_uint_eq(info.damage_offset, 15);
	ck_assert_int_lt(max_rss_kib() - before, 16 << 10);
	told__exit(&t);
	blob__exit(&z);
}
END_TEST

/* A window of 1 GiB is above the limit of 128 MiB and takes no memory. */
START_TEST(window)
{
	long before = max_rss_kib();
	struct session_info info;
	struct blob z = { 0 };
	struct told t;

	blob__le(&z, 0xFD2FB528, 4);
	blob__byte(&z, 0);
	blob__byte(&z, (30 - 10) << 3);
	blob__le(&z, 1 | 15 << 3, 3); /* a last, raw block */
	blob__bytes(&z, "ljs\3\0\0\0\x80ljm\3\0\0\0", 15);
	ck_assert_int_lt(read_mem(z.p, z.len, &t, &info), 0);
	told__exit(&t);
	ck_assert_int_lt(max_rss_kib() - before, 16 << 10);
	z.p[5] = (27 - 10) << 3;
	ck_assert_int_eq(read_mem(z.p, z.len, &t, &info), 0);
	ck_assert_int_eq(info.state, SESSION_TRUNCATED);
	told__exit(&t);
	blob__exit(&z);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("raw_zstd");
	TCase *t = tcase_create("raw_zstd");

	tcase_add_loop_test(t, one_frame, 0, 2);
	tcase_add_test(t, many_frames);
	tcase_add_test(t, cut);
	tcase_add_test(t, damaged);
	tcase_add_loop_test(t, trailing, 0, 2);
	tcase_add_test(t, no_recording);
	tcase_add_test(t, bomb);
	tcase_add_test(t, window);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
