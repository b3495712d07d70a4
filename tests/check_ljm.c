/* check_ljm.c - tests of the stream reader on raw streams: recordings of each
 * variant, and streams built here byte by byte. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib_formats.h"
#include "tests/lib_suite.h"

/* ---- recordings ---- */

/* Counts and sums as an independent reader of the stream (written in C with
 * its own decoder, by another hand, for the people who made the recordings)
 * prints them.  By kind: symbol, alloc, free, realloc; in each by source:
 * internal, Lua, C, trace. */
static const struct sample {
	const char *name;
	enum ljm_variant variant;
	uint64_t symtab[3]; /* Lua, C, trace */
	uint64_t n[4][4];
	uint64_t sum_new, sum_old;
} samples[] = {
	{ "variants/ljs1-ljm1-b4e6bf0d.bin",
	  LJM_V1,
	  { 11, 0, 0 },
	  { { 0, 0, 0, 0 }, { 27, 25, 1, 0 }, { 108, 4, 0, 0 }, { 4, 3, 1, 0 } },
	  8766,
	  13920 },
	{ "variants/ljs2-ljm2-196d4ca8.bin",
	  LJM_V2,
	  { 11, 0, 1 },
	  { { 0, 0, 0, 0 }, { 8, 25, 1, 19 }, { 108, 4, 0, 0 }, { 2, 3, 1, 2 } },
	  8766,
	  13920 },
	{ "variants/ljs2-ljm3a-0847e71a.bin",
	  LJM_V3A,
	  { 11, 0, 1 },
	  { { 0, 1, 0, 0 }, { 8, 25, 1, 19 }, { 108, 4, 0, 0 }, { 2, 3, 1, 2 } },
	  8766,
	  13920 },
	{ "variants/ljs2-ljm3b-0243fb72.bin",
	  LJM_V3B,
	  { 11, 0, 1 },
	  { { 0, 1, 0, 4 }, { 8, 25, 1, 19 }, { 108, 4, 0, 0 }, { 2, 3, 1, 2 } },
	  8766,
	  13920 },
	{ "variants/ljs3-ljm3-noevc-88d2600d.bin",
	  LJM_V4,
	  { 11, 4345, 1 },
	  { { 0, 1, 0, 4 }, { 8, 25, 1, 19 }, { 108, 4, 0, 0 }, { 2, 3, 1, 2 } },
	  8766,
	  13920 },
	{ "nores/bug_addr_reuse.bin",
	  LJM_V4,
	  { 9, 0, 0 },
	  { { 0, 5, 0, 0 }, { 0, 135, 0, 0 }, { 127, 25, 0, 0 }, { 7, 25, 0, 0 } },
	  11778,
	  13128 },
	{ "nores/bug_realloc.bin",
	  LJM_V4,
	  { 10, 0, 0 },
	  { { 0, 0, 0, 0 }, { 0, 200, 0, 0 }, { 221, 0, 0, 0 }, { 0, 1100, 0, 0 } },
	  6568000,
	  6569786 },
	{ "nores/bug_trace_reuse.bin",
	  LJM_V4,
	  { 11, 0, 0 },
	  { { 0, 0, 0, 2 }, { 8, 15, 0, 487 }, { 532, 0, 0, 0 }, { 3, 0, 0, 0 } },
	  48116,
	  48578 },
	{ "nores/variant.bin",
	  LJM_V4,
	  { 11, 0, 1 },
	  { { 0, 1, 0, 4 }, { 8, 25, 1, 19 }, { 108, 4, 0, 0 }, { 2, 3, 1, 2 } },
	  8766,
	  13920 },
	{ "nores/w1_closures.bin",
	  LJM_V4,
	  { 14, 0, 0 },
	  { { 0, 0, 0, 2 }, { 6, 1201, 0, 0 }, { 1135, 0, 0, 0 }, { 1, 5, 0, 0 } },
	  61904,
	  58450 },
	{ "nores/w2_strings.bin",
	  LJM_V4,
	  { 9, 0, 0 },
	  { { 0, 0, 0, 4 }, { 11, 295, 0, 221 }, { 265, 0, 0, 1 }, { 4, 17, 0, 1 } },
	  67448,
	  47697 },
	{ "nores/w4_coroutines.bin",
	  LJM_V4,
	  { 12, 0, 0 },
	  { { 0, 0, 0, 0 }, { 0, 240, 2, 0 }, { 176, 0, 0, 0 }, { 16, 7, 1, 0 } },
	  53814,
	  43514 },
	{ "nores/w5_loadstring.bin",
	  LJM_V4,
	  { 9, 0, 0 },
	  { { 0, 15, 0, 0 }, { 0, 234, 0, 0 }, { 150, 66, 0, 0 }, { 7, 33, 0, 0 } },
	  24682,
	  21781 },
	{ "nores/w6_require.bin",
	  LJM_V4,
	  { 9, 0, 0 },
	  { { 0, 8, 0, 0 }, { 0, 145, 107, 0 }, { 93, 0, 37, 0 }, { 5, 26, 14, 0 } },
	  28029,
	  19242 },
	{ "nores/w7_jithot.bin",
	  LJM_V4,
	  { 11, 0, 0 },
	  { { 0, 0, 0, 6 }, { 15, 67, 0, 1854 }, { 1937, 0, 0, 0 }, { 3, 4, 0, 0 } },
	  135772,
	  132886 },
	{ "nores/w9_builtins.bin",
	  LJM_V4,
	  { 12, 0, 0 },
	  { { 0, 0, 0, 0 }, { 0, 265, 29, 0 }, { 219, 1, 0, 0 }, { 3, 18, 0, 0 } },
	  338573,
	  298663 },
	{ "head/variant_def_noc.bin",
	  LJM_V4,
	  { 11, 5707, 1 },
	  { { 0, 1, 0, 4 }, { 8, 25, 0, 19 }, { 107, 4, 0, 0 }, { 1, 3, 0, 2 } },
	  6709,
	  10123 },
	{ "head/w5_loadstring.bin",
	  LJM_V4,
	  { 9, 5701, 0 },
	  { { 0, 15, 0, 0 }, { 0, 234, 0, 0 }, { 150, 66, 0, 0 }, { 7, 33, 0, 0 } },
	  24682,
	  21781 },
	{ "head/w7_jithot.bin",
	  LJM_V4,
	  { 11, 5701, 0 },
	  { { 0, 0, 0, 6 }, { 15, 67, 0, 1854 }, { 1937, 0, 0, 0 }, { 3, 4, 0, 0 } },
	  135772,
	  132886 },
};
enum { N_SAMPLES = sizeof(samples) / sizeof(*samples) };

static struct blob load_sample(const struct sample *sample)
{
	char name[128];

	snprintf(name, sizeof(name), "tarantool/%s", sample->name);
	return blob__load(name);
}

static void check_sample(const struct sample *want, const struct told *t,
			 const struct session_info *info)
{
	ck_assert_int_eq(info->container, SESSION_RAW);
	ck_assert_int_eq(info->variant, want->variant);
	ck_assert_int_eq(info->state, SESSION_COMPLETE);
	ck_assert_str_eq(info->damage, "");
	ck_assert_uint_eq(info->n_events, t->events);
	for (int i = 0; i < 3; i++)
		ck_assert_uint_eq(t->n_symtab[LJM_SRC_LUA + i], want->symtab[i]);
	for (int kind = 0; kind < 4; kind++)
		for (int source = 0; source < 4; source++)
			ck_assert_uint_eq(t->n[kind][source + 1], want->n[kind][source]);
	ck_assert_uint_eq(t->sum_new, want->sum_new);
	ck_assert_uint_eq(t->sum_old, want->sum_old);
}

START_TEST(sample_counts)
{
	struct blob s = load_sample(&samples[_i]);

	for (size_t i = 0; i < N_READERS; i++) {
		struct session_info info;
		struct told t;

		ck_assert_int_eq(readers[i](s.p, s.len, &t, &info), 0);
		check_sample(&samples[_i], &t, &info);
		ck_assert_uint_eq(info.file_bytes, s.len);
		ck_assert_uint_eq(info.stream_bytes, s.len);
		told__exit(&t);
	}
	blob__exit(&s);
}
END_TEST

/* What is told of a part is the beginning of what is told of the whole. */
START_TEST(sample_cut)
{
	struct blob s = load_sample(&samples[_i]);
	struct session_info info;
	struct told whole;
	/* Every byte of a small file, some of a large one. */
	size_t step = s.len < 6000 ? 1 : s.len / 500;

	ck_assert_int_eq(read_mem(s.p, s.len, &whole, &info), 0);
	for (size_t n = 0; n < s.len; n += step) {
		struct told t;
		int rc = read_mem(s.p, n, &t, &info);

		if (rc == 0) {
			ck_assert_int_eq(info.state, SESSION_TRUNCATED);
			ck_assert_uint_eq(info.damage_offset, n);
		} else {
			ck_assert_uint_lt(n, 7);
		}
		/* V3A cut inside its first trace cannot be known as such. */
		if (info.variant == samples[_i].variant) {
			ck_assert_uint_le(t.len, whole.len);
			ck_assert_mem_eq(t.text, whole.text, t.len);
		}
		told__exit(&t);
	}
	told__exit(&whole);
	blob__exit(&s);
}
END_TEST

/* Any answer will do, but for a crash. */
START_TEST(sample_bit_flips)
{
	struct blob s = load_sample(&samples[_i]);
	size_t step = s.len < 2500 ? 1 : s.len / 100;

	for (size_t i = 0; i < s.len; i += step) {
		for (int bit = 1; bit <= 128; bit *= 8) {
			struct session_info info;
			struct told t;

			s.p[i] ^= bit;
			read_mem(s.p, s.len, &t, &info);
			told__exit(&t);
			s.p[i] ^= bit;
		}
	}
	blob__exit(&s);
}
END_TEST

/* ---- built streams ---- */

static const struct variant_row {
	enum ljm_variant variant;
	unsigned ljs, ljm;
	bool mcode;
	unsigned trace_tag; /* in the symbol table; 0: has none */
	bool c_symbols;
} variants[] = {
	{ LJM_V1, 1, 1, false, 0, false },  { LJM_V1B, 1, 2, true, 0, false },
	{ LJM_V2, 2, 2, true, 1, false },   { LJM_V3A, 2, 3, true, 1, false },
	{ LJM_V3B, 2, 3, false, 1, false }, { LJM_V4, 3, 3, false, 2, true },
};
enum { N_VARIANTS = sizeof(variants) / sizeof(*variants) };

/* A stream, what should be told of it, and where each item ends in both. */
struct built {
	const struct variant_row *v;
	struct blob s;
	FILE *out;
	char *text;
	size_t len;
	size_t n, ends[256], text_ends[256];
	size_t decided; /* from this length on the variant is certain */
};

static void end_item(struct built *b)
{
	fflush(b->out);
	ck_assert_uint_lt(b->n, 256);
	b->ends[b->n] = b->s.len;
	b->text_ends[b->n++] = b->len;
}

static void put_symbol(struct built *b, unsigned tag, const struct ljm_symbol *sym)
{
	blob__byte(&b->s, tag);
	if (sym->source == LJM_SRC_TRACE) {
		blob__uleb(&b->s, sym->trace_num);
		if (b->v->mcode)
			blob__uleb(&b->s, sym->addr);
		blob__uleb(&b->s, sym->proto_addr);
		blob__uleb(&b->s, sym->line);
	} else {
		blob__uleb(&b->s, sym->addr);
		blob__string(&b->s, sym->name);
		if (sym->source == LJM_SRC_LUA)
			blob__uleb(&b->s, sym->line);
	}
	told__symbol(b->out, sym);
	end_item(b);
}

static void put_symbols(struct built *b, bool in_symtab)
{
	bool traces = in_symtab ? b->v->trace_tag : b->v->ljm == 3;
	struct ljm_symbol f = { .source = LJM_SRC_LUA,
				.in_symtab = in_symtab,
				.addr = 0x7f0011223344,
				.name = "@a.lua",
				.name_len = 6 };
	struct ljm_symbol c = { .source = LJM_SRC_C,
				.in_symtab = in_symtab,
				.addr = UINT64_MAX,
				.name = "malloc",
				.name_len = 6 };
	struct ljm_symbol t = { .source = LJM_SRC_TRACE,
				.in_symtab = in_symtab,
				.trace_num = 7,
				.proto_addr = 0x7f0011223344,
				.line = 300 };

	put_symbol(b, in_symtab ? 0 : 0x08, &f);
	f.line = UINT64_MAX; /* a built-in function, told as it is */
	f.addr = 0;
	f.name = "";
	f.name_len = 0;
	put_symbol(b, in_symtab ? 0x7c : 0x08, &f); /* unused bits are ignored */
	if (in_symtab ? b->v->c_symbols : b->v->ljm == 3)
		put_symbol(b, in_symtab ? 1 : 0x0c, &c);
	if (!traces)
		return;
	t.addr = b->v->mcode ? 0x55aabbccdd : 0;
	put_symbol(b, in_symtab ? b->v->trace_tag : 0x10, &t);
	put_symbol(b, in_symtab ? 0 : 0x08, &f);
	if (!b->decided)
		b->decided = b->s.len;
}

static void put_event(struct built *b, const struct ljm_event *ev)
{
	struct ljm_event told = *ev;
	const struct ljm_loc *loc = &ev->loc;

	blob__byte(&b->s, loc->source * 4 + ev->kind);
	if (loc->source == LJM_SRC_LUA || loc->source == LJM_SRC_C)
		blob__uleb(&b->s, loc->addr);
	if (loc->source == LJM_SRC_LUA || loc->source == LJM_SRC_TRACE)
		blob__uleb(&b->s, loc->num);
	if (loc->source == LJM_SRC_TRACE && b->v->mcode)
		blob__uleb(&b->s, loc->addr);
	if (ev->kind != LJM_ALLOC) {
		blob__uleb(&b->s, ev->old_addr);
		blob__uleb(&b->s, ev->old_size);
	}
	if (ev->kind != LJM_FREE) {
		blob__uleb(&b->s, ev->new_addr);
		blob__uleb(&b->s, ev->new_size);
	}
	if (loc->source == LJM_SRC_LUA && (loc->num == 0 || loc->num == UINT64_MAX))
		told.loc = (struct ljm_loc){ .source = LJM_SRC_INTERNAL };
	told__event(b->out, &told);
	end_item(b);
}

static void put_events(struct built *b)
{
	static const uint64_t nums[] = { 128, 0, 1, 127, 16384, UINT64_MAX - 1, UINT64_MAX };
	int last = b->v->ljm == 1 ? LJM_SRC_C : LJM_SRC_TRACE;

	for (size_t i = 0; i < sizeof(nums) / sizeof(*nums); i++)
		for (int source = LJM_SRC_INTERNAL; source <= last; source++)
			for (int kind = LJM_ALLOC; kind <= LJM_REALLOC; kind++) {
				struct ljm_event ev = {
					.kind = (enum ljm_kind)kind,
					.loc.source = (enum ljm_source)source,
				};

				if (source == LJM_SRC_LUA || source == LJM_SRC_C)
					ev.loc.addr = nums[i];
				if (source == LJM_SRC_LUA || source == LJM_SRC_TRACE)
					ev.loc.num = nums[i];
				if (source == LJM_SRC_TRACE && b->v->mcode)
					ev.loc.addr = 0x1234567890;
				if (kind != LJM_ALLOC)
					ev.old_addr = ev.old_size = nums[i];
				if (kind != LJM_FREE)
					ev.new_addr = ev.new_size = nums[i];
				put_event(b, &ev);
			}
}

static void build(struct built *b, const struct variant_row *v)
{
	*b = (struct built){ .v = v };
	b->out = open_memstream(&b->text, &b->len);
	blob__magic(&b->s, "ljs", v->ljs);
	put_symbols(b, true);
	blob__byte(&b->s, 0xff); /* any byte with the top bit ends the table */
	blob__magic(&b->s, "ljm", v->ljm);
	put_events(b);
	if (v->ljm == 3)
		put_symbols(b, false);
	put_events(b);
	blob__byte(&b->s, 0x80);
}

static void built__exit(struct built *b)
{
	blob__exit(&b->s);
	fclose(b->out);
	free(b->text);
}

START_TEST(built_whole)
{
	struct built b;

	build(&b, &variants[_i]);
	for (size_t i = 0; i < N_READERS; i++) {
		struct session_info info;
		struct told t;

		ck_assert_int_eq(readers[i](b.s.p, b.s.len, &t, &info), 0);
		ck_assert_int_eq(info.state, SESSION_COMPLETE);
		ck_assert_int_eq(info.variant, variants[_i].variant);
		ck_assert_str_eq(t.text, b.text);
		told__exit(&t);
	}
	built__exit(&b);
}
END_TEST

/* Exactly the items that are wholly before the cut are told. */
START_TEST(built_cut)
{
	struct built b;
	size_t items = 0, text = 0;

	build(&b, &variants[_i]);
	for (size_t n = 0; n < b.s.len; n++) {
		struct session_info info;
		struct told t;
		int rc = read_mem(b.s.p, n, &t, &info);

		while (items < b.n && b.ends[items] <= n)
			text = b.text_ends[items++];
		ck_assert(rc < 0 ? n < 7 : info.state == SESSION_TRUNCATED);
		/* Before this V3A is not told from V3B. */
		if (n >= b.decided) {
			ck_assert_uint_eq(t.len, text);
			ck_assert_mem_eq(t.text, b.text, text);
		}
		told__exit(&t);
	}
	built__exit(&b);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("ljm");
	TCase *t = tcase_create("ljm");

	tcase_add_loop_test(t, sample_counts, 0, N_SAMPLES);
	tcase_add_loop_test(t, sample_cut, 0, N_SAMPLES);
	tcase_add_loop_test(t, sample_bit_flips, 0, N_SAMPLES);
	tcase_add_loop_test(t, built_whole, 0, N_VARIANTS);
	tcase_add_loop_test(t, built_cut, 0, N_VARIANTS);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
