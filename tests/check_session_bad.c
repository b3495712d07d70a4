/* check_session_bad.c - tests of the session reader on files that are cut,
 * damaged, out of order, newer, or built to hurt. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <zstd.h>

#include "tests/lib_session.h"
#include "tests/lib_suite.h"
#include "util/error.h"

/* Reads in each way, with one result. */
static void check_file(const struct blob *s, enum session_state state, uint64_t events,
		       uint64_t lost_batches)
{
	for (int i = 0; i < N_READERS; i++) {
		struct session_info info;
		struct told t;

		ck_assert_int_eq(readers[i](s->p, s->len, &t, &info), 0);
		ck_assert_int_eq(info.container, SESSION_LJPERF);
		ck_assert_msg(info.state == state, "state %d: %s", info.state, info.damage);
		ck_assert_msg(t.events == events, "%d events: %s", (int)t.events, info.damage);
		ck_assert_uint_eq(info.n_events, events);
		ck_assert_uint_eq(info.lost_batches, lost_batches);
		ck_assert_int_eq(info.damage[0] != 0, state != SESSION_COMPLETE);
		told__exit(&t);
	}
}

static void check_refused(const struct blob *s, const char *message)
{
	for (int i = 0; i < N_READERS; i++) {
		struct session_info info;
		struct told t;

		ck_assert_int_lt(readers[i](s->p, s->len, &t, &info), 0);
		ck_assert_msg(strstr(err__msg(), message) != NULL, "%s", err__msg());
		told__exit(&t);
	}
}

/* ---- cut ---- */

START_TEST(cut_anywhere)
{
	struct parts p;
	size_t end = 0, ends[BATCHES], header_end;
	int whole = 0;

	parts__make(&p);
	header_end = end = p.f[0].s.len;
	for (int i = 0; i < BATCHES; i++)
		ends[i] = end += parts__side(&p, i)->s.len + parts__data(&p, i)->s.len;
	for (size_t n = 0; n < p.whole.len; n++) {
		struct session_info info;
		struct told t;
		int rc = read_mem(p.whole.p, n, &t, &info);

		while (whole < BATCHES && ends[whole] <= n)
			whole++;
		if (n < 12) {
			ck_assert_int_lt(rc, 0);
		} else {
			ck_assert_int_eq(rc, 0);
			ck_assert_msg(info.state == SESSION_TRUNCATED, "%d: %s", (int)n,
				      info.damage);
			ck_assert_uint_eq(info.damage_offset, n);
			ck_assert_uint_eq(info.lost_batches, 0);
		}
		ck_assert_uint_eq(t.headers, n >= header_end);
		ck_assert_uint_ge(t.len, whole ? p.batch_text[whole] : 0);
		ck_assert_uint_le(t.len, p.told.len);
		ck_assert_mem_eq(t.text, p.told.text, t.len);
		told__exit(&t);
	}
	parts__exit(&p);
}
END_TEST

/* What can be decoded of the batch that was cut counts: it has several zstd
 * blocks of 128 KiB, as its addresses are noise. */
START_TEST(cut_inside_a_batch)
{
	struct session_header h = { 0 };
	FILE *file = tmpfile();
	struct session_writer *w = session_writer__new(fileno(file), &h, NULL);
	struct blob s = { .cap = 4 << 20 };
	uint64_t state = 3, last = 0;

	for (int i = 0; i < 40000; i++) {
		struct ljm_event ev = { .kind = LJM_ALLOC,
					.loc.source = LJM_SRC_INTERNAL,
					.new_addr = random_next(&state),
					.new_size = 1 };

		ck_assert_int_eq(session_writer__event(w, &ev), 0);
	}
	ck_assert_int_eq(session_writer__flush(w), 0);
	session_writer__delete(w);
	rewind(file);
	s.p = malloc(s.cap);
	s.len = fread(s.p, 1, s.cap, file);
	fclose(file);
	for (size_t n = s.len / 8; n <= s.len; n += s.len / 8) {
		struct session_info info;
		struct told t;

		ck_assert_int_eq(read_mem(s.p, n, &t, &info), 0);
		ck_assert_int_eq(info.state, SESSION_TRUNCATED);
		/* At most 128 KiB and the cut event are missing; an event has at
		 * least 1 + 1 + 9 bytes, but for one in 256. */
		ck_assert_uint_ge(t.events, last);
		ck_assert_uint_ge(t.events * 12 + (128 << 10) + 64 + 4096, n - 200);
		ck_assert_uint_eq(t.sum_new, t.events);
		last = t.events;
		told__exit(&t);
	}
	ck_assert_uint_gt(last, 25000);
	blob__exit(&s);
}
END_TEST

/* ---- damaged ---- */

/* Each bit of the second batch, one after the other. */
START_TEST(damaged_batch_is_lost_alone)
{
	struct parts p;
	size_t from, to, harmless = 0, damaged = 0;

	parts__make(&p);
	from = p.f[0].s.len + parts__side(&p, 0)->s.len + parts__data(&p, 0)->s.len;
	to = from + parts__side(&p, 1)->s.len + parts__data(&p, 1)->s.len;
	for (size_t bit = from * 8 + (size_t)_i; bit < to * 8; bit += 8) {
		size_t i = bit / 8, tail = p.told.len - p.batch_text[2];
		struct session_info info;
		struct told t;
		int rc;

		p.whole.p[i] ^= 1 << bit % 8;
		rc = read_mem(p.whole.p, p.whole.len, &t, &info);
		p.whole.p[i] ^= 1 << bit % 8;
		if (rc < 0) {
			/* Version and required flags of the side frame. */
			ck_assert_uint_ge(i, from + 12);
			ck_assert_uint_lt(i, from + 20);
			told__exit(&t);
			continue;
		}
		/* The batches before and behind are told as ever. */
		ck_assert_uint_ge(t.len, p.batch_text[1] + tail);
		ck_assert_mem_eq(t.text, p.told.text, p.batch_text[1]);
		ck_assert_mem_eq(t.text + t.len - tail, p.told.text + p.batch_text[2], tail);
		/* Optional flags, and bits of zstd that mean nothing. */
		if (info.state == SESSION_COMPLETE) {
			ck_assert_str_eq(t.text, p.told.text);
			harmless++;
		} else {
			ck_assert_int_eq(info.state, SESSION_CORRUPT);
			ck_assert_uint_le(info.lost_batches, 1);
			ck_assert_uint_eq(t.events, (BATCHES - info.lost_batches) * EVENTS);
			damaged++;
		}
		told__exit(&t);
	}
	ck_assert_uint_le(harmless, 8);
	ck_assert_uint_ge(damaged, 100);
	parts__exit(&p);
}
END_TEST

START_TEST(damage_says_where)
{
	struct parts p;
	struct session_info info;
	struct told t;
	char want[80];
	size_t at;

	parts__make(&p);
	at = p.f[0].s.len + p.f[1].s.len + p.f[2].s.len + p.f[3].s.len;
	parts__data(&p, 1)->s.p[parts__data(&p, 1)->s.len - 1] ^= 1; /* the checksum */
	struct blob s = parts__join_all(&p);

	ck_assert_int_eq(read_mem(s.p, s.len, &t, &info), 0);
	ck_assert_int_eq(info.state, SESSION_CORRUPT);
	ck_assert_uint_eq(info.damage_offset, at);
	snprintf(want, sizeof(want),
		 "corrupt at offset %d: damaged data frame, batch 1 of 25 events is lost", (int)at);
	ck_assert_str_eq(info.damage, want);
	ck_assert_uint_eq(info.lost_batches, 1);
	ck_assert_uint_eq(t.events, 75);
	told__exit(&t);
	blob__exit(&s);
	parts__exit(&p);
}
END_TEST

/* ---- order ---- */

/* Frames: 0 HEADER, 1 2, 3 4, 5 6, 7 8 the batches, 9 FOOTER. */
static const struct order_row {
	int order[16];
	enum session_state state;
	uint64_t batches, lost;
} orders[] = {
	{ { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1 }, SESSION_COMPLETE, 4, 0 },
	{ { 1, 2, 3, 4, 5, 6, 7, 8, 9, -1 }, SESSION_CORRUPT, 4, 0 }, /* no HEADER */
	{ { 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1 }, SESSION_CORRUPT, 4, 0 }, /* two */
	{ { 0, 1, 2, 0, 3, 4, 5, 6, 7, 8, 9, -1 }, SESSION_CORRUPT, 4, 0 },
	{ { 0, 1, 3, 4, 5, 6, 7, 8, 9, -1 }, SESSION_CORRUPT, 3, 1 }, /* no DATA */
	{ { 0, 2, 3, 4, 5, 6, 7, 8, 9, -1 }, SESSION_CORRUPT, 4, 0 }, /* no SIDE */
	{ { 0, 1, 2, 4, 5, 6, 7, 8, 9, -1 }, SESSION_CORRUPT, 4, 0 },
	{ { 0, 3, 4, 5, 6, 7, 8, 9, -1 }, SESSION_CORRUPT, 3, 1 }, /* first missing */
	{ { 0, 5, 6, 7, 8, 9, -1 }, SESSION_CORRUPT, 2, 2 },
	{ { 0, 1, 2, 5, 6, 7, 8, 9, -1 }, SESSION_CORRUPT, 3, 1 },
	{ { 0, 1, 2, 3, 4, 5, 6, 9, -1 }, SESSION_CORRUPT, 3, 1 }, /* last missing */
	{ { 0, 1, 2, 3, 4, 3, 4, 5, 6, 7, 8, 9, -1 }, SESSION_CORRUPT, 4, 0 }, /* twice */
	{ { 0, 3, 4, 1, 2, 5, 6, 7, 8, 9, -1 }, SESSION_CORRUPT, 3, 1 }, /* swapped */
	{ { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 7, 8, -1 }, SESSION_CORRUPT, 4, 0 }, /* behind */
	{ { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 8, -1 }, SESSION_CORRUPT, 4, 0 },
	{ { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, -1 }, SESSION_CORRUPT, 4, 0 },
	{ { 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, -1 }, SESSION_CORRUPT, 4, 1 }, /* after the end */
	{ { 0, 1, 2, 3, 4, 5, 6, 7, 9, -1 }, SESSION_CORRUPT, 3, 1 },
	{ { 0, 9, -1 }, SESSION_CORRUPT, 0, 4 },
	{ { 9, -1 }, SESSION_CORRUPT, 0, 4 },
	{ { 0, -1 }, SESSION_TRUNCATED, 0, 0 },
	{ { 1, -1 }, SESSION_CORRUPT, 0, 0 },
	{ { 0, 1, 2, 3, 4, 5, 6, 7, 8, -1 }, SESSION_TRUNCATED, 4, 0 },
};

START_TEST(frames_out_of_order)
{
	const struct order_row *row = &orders[_i];
	struct parts p;
	struct blob s;

	parts__make(&p);
	s = parts__join(&p, row->order);
	check_file(&s, row->state, row->batches * EVENTS, row->lost);
	blob__exit(&s);
	parts__exit(&p);
}
END_TEST

/* Between any two frames, and at the ends. */
START_TEST(foreign_frames_are_skipped)
{
	struct blob s = { 0 };
	struct parts p;

	parts__make(&p);
	for (size_t i = 0; i <= p.n; i++) {
		if (i)
			blob__bytes(&s, p.f[i - 1].s.p, p.f[i - 1].s.len);
		/* Another magic, the same signature; our magic, another signature. */
		blob__le(&s, 0x184D2A50 + i % 12, 4);
		blob__le(&s, 20, 4);
		blob__bytes(&s, "LJPF\1\0\1\0\xff\xff\xff\xff\0\0\0\0....", 20);
		blob__le(&s, 0x184D2A5C, 4);
		blob__le(&s, 4 + i, 4);
		blob__bytes(&s, "LJPX............", 4 + i);
	}
	check_file(&s, SESSION_COMPLETE, BATCHES * EVENTS, 0);
	blob__exit(&s);
	parts__exit(&p);
}
END_TEST

/* ---- versions and flags ---- */

START_TEST(unknown_parts)
{
	struct blob s = { 0 }, nested = { 0 };
	struct parts p;

	parts__make(&p);
	for (size_t i = 0; i < p.n; i++) {
		struct blob sections;

		if (p.f[i].kind == DATA)
			continue;
		sections = frame__sections(&p.f[i]);
		blob__uleb(&sections, 999);
		blob__string(&sections, "of a later version");
		blob__uleb(&sections, UINT64_MAX);
		blob__uleb(&sections, 0);
		frame__replace(&p.f[i], &sections);
		p.f[i].s.p[20] = 0xff; /* optional flags */
		blob__exit(&sections);
	}
	/* A kind that is not known. */
	blob__zstd(&nested, "\0\1\7", 3);
	blob__frame(&p.f[0].s, (struct fixed){ 1, 7, 0, 0 }, nested.p, nested.len);
	s = parts__join_all(&p);
	check_file(&s, SESSION_COMPLETE, BATCHES * EVENTS, 0);
	blob__exit(&nested);
	blob__exit(&s);
	parts__exit(&p);
}
END_TEST

/* By frame: HEADER, a SIDE, FOOTER. */
START_TEST(newer_is_refused)
{
	static const int which[] = { 0, 3, 9 };
	struct frame *f;
	struct blob s;
	struct parts p;

	parts__make(&p);
	f = &p.f[which[_i]];
	f->s.p[12] = 2;
	s = parts__join_all(&p);
	check_refused(&s, "session file version 2 is newer than this ljperf knows");
	blob__exit(&s);
	f->s.p[12] = 1;
	f->s.p[19] = 0x80;
	s = parts__join_all(&p);
	check_refused(&s, "needs features (flags 0x80000000)");
	blob__exit(&s);
	parts__exit(&p);
}
END_TEST

/* ---- built to hurt ---- */

static long max_rss_kib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

static const uint64_t lengths[] = {
	1000, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, (uint64_t)1 << 62, UINT64_MAX,
};
enum { N_LENGTHS = sizeof(lengths) / sizeof(*lengths) };

/* A section that claims more than there is, in each kind of frame; and the
 * number as every number of the SIDE sections. */
START_TEST(section_lengths)
{
	static const int which[] = { 0, 3, 9 };

	for (int i = 0; i < 3; i++)
		for (unsigned id = 0; id < 30; id++) {
			struct parts p;
			struct blob s, sections = { 0 };
			struct session_info info;
			struct told t;

			parts__make(&p);
			blob__bytes(&sections, "\0\1", 2);
			blob__byte(&sections, (unsigned)p.f[which[i]].kind);
			blob__uleb(&sections, id);
			blob__uleb(&sections, lengths[_i]);
			blob__bytes(&sections, "abc", 3);
			frame__replace(&p.f[which[i]], &sections);
			s = parts__join_all(&p);
			ck_assert_int_eq(read_mem(s.p, s.len, &t, &info), 0);
			ck_assert_int_eq(info.state, SESSION_CORRUPT);
			ck_assert_uint_eq(t.events, BATCHES * EVENTS);
			told__exit(&t);
			blob__exit(&s);
			blob__exit(&sections);
			parts__exit(&p);
		}
}
END_TEST

/* Good sections with absurd numbers inside: at, counts, lengths. */
START_TEST(section_numbers)
{
	for (unsigned id = 2; id < 8; id++)
		for (int n_numbers = 1; n_numbers < 5; n_numbers++) {
			struct blob s, body = { 0 }, sections = { 0 };
			struct session_info info;
			struct parts p;
			struct told t;

			parts__make(&p);
			for (int i = 0; i < 4 * n_numbers; i++)
				blob__uleb(&body, i % n_numbers ? lengths[_i] : (uint64_t)i);
			sections = frame__sections(&p.f[3]);
			/* The first of a repeated section counts: put it in front. */
			struct blob front = { 0 };

			blob__bytes(&front, sections.p, 3);
			blob__uleb(&front, id);
			blob__uleb(&front, body.len);
			blob__bytes(&front, body.p, body.len);
			blob__bytes(&front, sections.p + 3, sections.len - 3);
			frame__replace(&p.f[3], &front);
			s = parts__join_all(&p);
			ck_assert_int_eq(read_mem(s.p, s.len, &t, &info), 0);
			ck_assert_uint_eq(t.events, BATCHES * EVENTS);
			told__exit(&t);
			blob__exit(&front);
			blob__exit(&s);
			blob__exit(&body);
			blob__exit(&sections);
			parts__exit(&p);
		}
}
END_TEST

/* Sizes of frames and of decoded content that are not to be believed. */
static void put_claim(struct blob *s, uint64_t content)
{
	blob__le(s, 0xFD2FB528, 4);
	blob__byte(s, 0xc4); /* content size of 8 bytes, checksum */
	blob__byte(s, 0x50); /* window of 1 MiB */
	blob__le(s, content, 8);
	blob__le(s, 1 | 1 << 1 | 8 << 3, 3); /* last block: a byte, 8 times */
	blob__byte(s, 0x80);
	blob__le(s, 0, 4);
}

START_TEST(bomb_claims)
{
	static const uint64_t claims[] = { 8,          64 << 20,          (64 << 20) + 1,
					   0xffffffff, (uint64_t)1 << 40, UINT64_MAX - 2,
					   UINT64_MAX };
	long before = max_rss_kib();
	struct blob s = { 0 }, nested = { 0 };
	struct parts p;

	parts__make(&p);
	/* As DATA: */
	parts__data(&p, 1)->s.len = 0;
	put_claim(&parts__data(&p, 1)->s, claims[_i]);
	s = parts__join_all(&p);
	check_file(&s, SESSION_CORRUPT, (BATCHES - 1) * EVENTS, 1);
	blob__exit(&s);
	/* and inside SIDE: */
	put_claim(&nested, claims[_i]);
	parts__side(&p, 1)->s.len = 0;
	blob__frame(&parts__side(&p, 1)->s, (struct fixed){ 1, SIDE, 0, 0 }, nested.p, nested.len);
	s = parts__join_all(&p);
	check_file(&s, SESSION_CORRUPT, (BATCHES - 1) * EVENTS, 1);
	ck_assert_int_lt(max_rss_kib() - before, 16 << 10);
	blob__exit(&nested);
	blob__exit(&s);
	parts__exit(&p);
}
END_TEST

START_TEST(frame_sizes)
{
	static const uint32_t sizes[] = { 0, 1, 15, 16, 1000, 0x7fffffff, 0x80000000, 0xffffffff };
	long before = max_rss_kib();
	struct parts p;
	struct blob s;

	parts__make(&p);
	for (int i = 0; i < 4; i++)
		parts__side(&p, 1)->s.p[4 + i] = (uint8_t)(sizes[_i] >> 8 * i);
	s = parts__join_all(&p);
	/* Of batch 1 the SIDE is lost; where it ends is not known, and DATA with
	 * it. */
	check_file(&s, SESSION_CORRUPT, (BATCHES - 1) * EVENTS, 1);
	ck_assert_int_lt(max_rss_kib() - before, 16 << 10);
	blob__exit(&s);
	parts__exit(&p);
}
END_TEST

/* 64 MiB from 2 KiB are allowed, and are not events. */
START_TEST(bomb_of_zeros)
{
	const size_t n = 64 << 20;
	uint8_t *zeros = calloc(1, n);
	struct session_info info;
	struct parts p;
	struct blob s;
	struct told t;

	parts__make(&p);
	parts__data(&p, 1)->s.len = 0;
	blob__zstd(&parts__data(&p, 1)->s, zeros, n);
	s = parts__join_all(&p);
	ck_assert_int_eq(read_mem(s.p, s.len, &t, &info), 0);
	ck_assert_int_eq(info.state, SESSION_CORRUPT);
	ck_assert_uint_eq(t.events, (BATCHES - 1) * EVENTS);
	told__exit(&t);
	blob__exit(&s);
	parts__exit(&p);
	free(zeros);
}
END_TEST

/* An event that goes on in the next batch is no event. */
START_TEST(event_spans_batches)
{
	struct parts p;
	struct blob s;
	size_t n = 0;

	parts__make(&p);
	uint8_t *plain = malloc(1 << 20);

	n = ZSTD_decompress(plain, 1 << 20, parts__data(&p, 1)->s.p, parts__data(&p, 1)->s.len);
	ck_assert(!ZSTD_isError(n));
	parts__data(&p, 1)->s.len = 0;
	blob__zstd(&parts__data(&p, 1)->s, plain, n - 1);
	s = parts__join_all(&p);
	check_file(&s, SESSION_CORRUPT, BATCHES * EVENTS - 1, 1);
	blob__exit(&s);
	free(plain);
	parts__exit(&p);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("session_bad");
	TCase *t = tcase_create("session_bad");

	tcase_add_test(t, cut_anywhere);
	tcase_add_test(t, cut_inside_a_batch);
	tcase_add_loop_test(t, damaged_batch_is_lost_alone, 0, 8);
	tcase_add_test(t, damage_says_where);
	tcase_add_loop_test(t, frames_out_of_order, 0, sizeof(orders) / sizeof(*orders));
	tcase_add_test(t, foreign_frames_are_skipped);
	tcase_add_test(t, unknown_parts);
	tcase_add_loop_test(t, newer_is_refused, 0, 3);
	tcase_add_loop_test(t, section_lengths, 0, N_LENGTHS);
	tcase_add_loop_test(t, section_numbers, 0, N_LENGTHS);
	tcase_add_loop_test(t, bomb_claims, 0, 7);
	tcase_add_loop_test(t, frame_sizes, 0, 8);
	tcase_add_test(t, bomb_of_zeros);
	tcase_add_test(t, event_spans_batches);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
