/* check_report_live.c - the map of live blocks, against a slow obvious one. */
#include <check.h>
#include <stdlib.h>

#include "report/live.h"
#include "tests/lib_suite.h"

/* The obvious model: a list that is searched from the front. */
enum { MODEL_MAX = 4096 };

static struct live_block model[MODEL_MAX];
static size_t n_model;

static struct live_block *model__find(uint64_t addr)
{
	size_t i;

	for (i = 0; i < n_model; i++)
		if (model[i].addr == addr)
			return &model[i];
	return NULL;
}

static uint64_t random_state;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void assert_same(const struct live_block *a, const struct live_block *b)
{
	ck_assert_uint_eq(a->addr, b->addr);
	ck_assert_uint_eq(a->size, b->size);
	ck_assert_uint_eq(a->site, b->site);
}

/* Sizes around the border between small and big blocks, and the largest. */
static uint64_t random_size(void)
{
	static const uint64_t sizes[] = { 0,          1,          64,         UINT32_MAX - 1ull,
					  UINT32_MAX, 1ull << 32, 1ull << 63, UINT64_MAX };
	uint64_t r = next_random();

	return r % 3 ? r >> 40 : sizes[r / 3 % 8];
}

static void put_both(struct live *l, const struct live_block *b)
{
	struct live_block old, *known = model__find(b->addr);
	int ret = live__put(l, b, &old);

	ck_assert_int_eq(ret, known != NULL);
	if (known)
		assert_same(&old, known);
	else
		known = &model[n_model++];
	*known = *b;
}

static void take_both(struct live *l, uint64_t addr)
{
	struct live_block out, *known = model__find(addr);

	ck_assert_int_eq(live__take(l, addr, &out), known != NULL);
	if (!known)
		return;
	assert_same(&out, known);
	*known = model[--n_model];
}

/* Few addresses collide often, many make the table grow. */
static const unsigned address_counts[] = { 3, 40, 1000, 4000 };

START_TEST(test_random)
{
	static struct live l;
	struct live_block b, out;
	int i;

	random_state = 88172645463325252u + (unsigned)_i;
	for (i = 0; i < 100000; i++) {
		b.addr = 0x7f0000000010 + next_random() % address_counts[_i] * 16;
		b.size = random_size();
		b.site = (uint32_t)next_random();
		/* More puts than takes for a while, then the other way. */
		if (next_random() % 10 < (i / 10000 % 2 ? 3 : 7))
			put_both(&l, &b);
		else
			take_both(&l, b.addr);
		ck_assert_uint_eq(l.n, n_model);
	}
	while (n_model)
		take_both(&l, model[n_model / 2].addr);
	ck_assert_uint_eq(l.n, 0);
	ck_assert(!live__take(&l, 0x7f0000000010, &out));
	live__exit(&l);
}
END_TEST

START_TEST(test_empty)
{
	static struct live l;
	struct live_block out;

	live__prefetch(&l, 0x1000);
	ck_assert(!live__take(&l, 0x1000, &out));
	ck_assert(!live__take(&l, 0, &out));
	live__exit(&l);
}
END_TEST

/* Memory is for the blocks that live, however many came and went: of a million
 * blocks at most 100 are alive, in 256 segments of 16 slots. */
START_TEST(test_memory_follows_blocks)
{
	static struct live l;
	struct live_block b = { 0, 8, 0 }, out;
	size_t slots = 0;
	uint64_t i;

	for (i = 1; i <= 1000000; i++) {
		b.addr = i * 16;
		ck_assert_int_eq(live__put(&l, &b, &out), 0);
		if (i > 100)
			ck_assert(live__take(&l, (i - 100) * 16, &out));
	}
	for (i = 0; i < LIVE_SEGMENTS; i++)
		slots += l.blocks.segments[i].cap;
	ck_assert_uint_le(slots, 256 * 24);
	ck_assert_uint_eq(l.n, 100);
	live__exit(&l);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("report_live");
	TCase *tc = tcase_create("live");

	tcase_add_loop_test(tc, test_random, 0, sizeof(address_counts) / sizeof(address_counts[0]));
	tcase_add_test(tc, test_empty);
	tcase_add_test(tc, test_memory_follows_blocks);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
