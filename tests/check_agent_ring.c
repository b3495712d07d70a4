/* check_agent_ring.c - the ring from end to end: what the agent's producer
 * writes is what the collector's drain hands to the session writer, and a ring
 * full of rubbish is refused, never obeyed.
 */
#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backends/luajit/known.h"
#include "backends/luajit/producer.h"
#include "formats/session.h"
#include "record/drain.h"
#include "tests/lib_suite.h"

static uint64_t seed;

/* xorshift64* */
static uint64_t rnd(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * UINT64_C(2685821657736338717);
}

/* A number of any magnitude, so that both the narrow and the wide form come up. */
static uint64_t rnd_size(void)
{
	return rnd() >> (rnd() % 64);
}

/* ---- one event, both ways ---- */

struct pair {
	struct producer out;
	struct session_writer *writer;
	struct drain in;
	int fd; /* of the session file */
};

static void pair__init(struct pair *p, uint32_t bytes)
{
	struct session_writer_opts opts = { .stacks = true };
	struct session_header h = { .backend = "luajit" };
	int memfd = producer__init(&p->out, bytes, -1);

	ck_assert_int_ge(memfd, 0);
	close(memfd);
	p->fd = memfd_create("session", 0);
	p->writer = session_writer__new(p->fd, &h, &opts);
	ck_assert_ptr_nonnull(p->writer);
	drain__init(&p->in, p->out.ring, bytes, p->writer, 1000);
}

static void pair__exit(struct pair *p)
{
	drain__exit(&p->in);
	producer__exit(&p->out);
	session_writer__delete(p->writer);
	close(p->fd);
}

/* Writes EV as the hook does (put_head() and emit() of hook.c), by the grammar
 * of ring.h. */
static void put_event(struct producer *out, const struct ljm_event *ev)
{
	uint64_t size = ev->kind == LJM_FREE ? ev->old_size : ev->new_size;
	unsigned type = ev->kind == LJM_FREE ? RING_FREE : ev->kind | RING_WITH_STACK;
	bool wide = size > RING_SIZE_MAX || ev->loc.num > RING_NUM_MAX;

	ck_assert(producer__room(out, 8));
	producer__put(out, ring_word0(type, ev->loc.source, ev->vmstate, wide ? 0 : ev->loc.num,
				      wide ? 0 : size) |
				   (wide ? RING_WIDE : 0));
	if (wide) {
		producer__put(out, ev->loc.num);
		producer__put(out, size);
	}
	if (ev->loc.source == LJM_SRC_LUA || ev->loc.source == LJM_SRC_C)
		producer__put(out, ev->loc.addr);
	if (ev->kind & LJM_FREE)
		producer__put(out, ev->old_addr);
	if (ev->kind & LJM_ALLOC)
		producer__put(out, ev->new_addr);
	if (ev->kind == LJM_REALLOC)
		producer__put(out, ev->old_size);
	if (type & RING_WITH_STACK)
		producer__put(out, ev->stack);
	producer__publish(out);
}

static struct ljm_event random_event(void)
{
	struct ljm_event ev = { .kind = (enum ljm_kind)(1 + rnd() % 3) };

	ev.loc.source = (enum ljm_source)(1 + rnd() % 4);
	if (ev.loc.source == LJM_SRC_INTERNAL)
		ev.vmstate = (uint8_t)(rnd() % LJM_VMSTATE_MAX);
	if (ev.loc.source == LJM_SRC_LUA || ev.loc.source == LJM_SRC_C)
		ev.loc.addr = rnd() >> 17;
	if (ev.loc.source == LJM_SRC_LUA)
		ev.loc.num = 1 + rnd_size() % INT32_MAX;
	else if (ev.loc.source == LJM_SRC_TRACE)
		ev.loc.num = rnd() % 65536;
	if (ev.kind & LJM_FREE) {
		ev.old_addr = rnd() >> 17;
		ev.old_size = rnd_size();
	}
	if (ev.kind & LJM_ALLOC) {
		ev.new_addr = 1 + (rnd() >> 17);
		ev.new_size = rnd_size();
		ev.stack = rnd_size();
	}
	return ev;
}

struct expected {
	const struct ljm_event *events;
	size_t n, at;
};

static int on_event(void *ctx, const struct ljm_event *ev)
{
	struct expected *x = ctx;
	const struct ljm_event *want = &x->events[x->at++];

	ck_assert_uint_le(x->at, x->n);
	ck_assert_int_eq(ev->kind, want->kind);
	ck_assert_int_eq(ev->loc.source, want->loc.source);
	ck_assert_uint_eq(ev->loc.addr, want->loc.addr);
	ck_assert_uint_eq(ev->loc.num, want->loc.num);
	ck_assert_uint_eq(ev->old_addr, want->old_addr);
	ck_assert_uint_eq(ev->old_size, want->old_size);
	ck_assert_uint_eq(ev->new_addr, want->new_addr);
	ck_assert_uint_eq(ev->new_size, want->new_size);
	ck_assert_uint_eq(ev->stack, want->stack);
	if (want->loc.source == LJM_SRC_INTERNAL)
		ck_assert_int_eq(ev->vmstate, want->vmstate);
	return 0;
}

static void read_back(struct pair *p, const struct session_handlers *h, void *ctx)
{
	struct session_footer end = { 0 };
	struct session_reader *r;

	ck_assert_int_eq(session_writer__finish(p->writer, &end), 0);
	ck_assert_int_eq(lseek(p->fd, 0, SEEK_SET), 0);
	r = session_reader__new_fd(p->fd, "test");
	ck_assert_int_eq(session_reader__run(r, h, ctx), 0);
	ck_assert_int_eq(session_reader__info(r)->state, SESSION_COMPLETE);
	session_reader__delete(r);
}

/* The ring holds some 1500 events, so 20000 go round it many times. */
START_TEST(events_pass_unchanged)
{
	enum { N = 20000 };
	static struct ljm_event events[N];
	struct session_handlers h = { .event = on_event };
	struct expected x = { events, N, 0 };
	struct pair p;
	int i;

	seed = 88172645463325252u + (uint64_t)_i;
	pair__init(&p, RING_MIN_BYTES);
	for (i = 0; i < N; i++) {
		events[i] = random_event();
		put_event(&p.out, &events[i]);
		if (rnd() % 500 == 0 || i % 900 == 899)
			ck_assert_int_ge(drain__some(&p.in, 1 + rnd() % 10000), 0);
		if (i % 900 == 899)
			while (drain__some(&p.in, 1u << 20))
				;
	}
	while (drain__some(&p.in, 1u << 20))
		;
	read_back(&p, &h, &x);
	ck_assert_uint_eq(x.at, N);
	pair__exit(&p);
}
END_TEST

/* ---- strings longer than the ring ---- */

#define LONG_NAME (3u * RING_MIN_BYTES + 123)

static char long_byte(size_t i)
{
	return (char)('a' + i % 23);
}

static void *put_long(void *arg)
{
	struct producer *out = arg;
	char *name = malloc(LONG_NAME);
	uint64_t words[5] = { 0x1234, 7, 9, LONG_NAME, 4 };

	for (size_t i = 0; i < LONG_NAME; i++)
		name[i] = long_byte(i);
	if (!producer__ctl(out, CTL_PROTO, words, 5) || !producer__string(out, name, LONG_NAME) ||
	    !producer__string(out, "func", 4))
		abort();
	free(name);
	return NULL;
}

static int on_symbol(void *ctx, const struct ljm_symbol *sym)
{
	ck_assert_uint_eq(sym->addr, 0x1234);
	ck_assert_uint_eq(sym->line, 7);
	ck_assert_uint_eq(sym->last_line, 9);
	ck_assert_uint_eq(sym->name_len, LONG_NAME);
	for (size_t i = 0; i < LONG_NAME; i++)
		ck_assert_int_eq(sym->name[i], long_byte(i));
	ck_assert_uint_eq(sym->func_name_len, 4);
	ck_assert(memcmp(sym->func_name, "func", 4) == 0);
	++*(int *)ctx;
	return 0;
}

START_TEST(long_names_pass_through)
{
	struct session_handlers h = { .symbol = on_symbol };
	struct pair p;
	pthread_t thread;
	int seen = 0;

	pair__init(&p, RING_MIN_BYTES);
	ck_assert_int_eq(pthread_create(&thread, NULL, put_long, &p.out), 0);
	while (p.in.pending || p.in.tail == 0 || drain__some(&p.in, 4096) > 0)
		ck_assert_int_ge(drain__some(&p.in, 4096), 0);
	pthread_join(thread, NULL);
	while (drain__some(&p.in, 4096))
		;
	read_back(&p, &h, &seen);
	ck_assert_int_eq(seen, 1);
	pair__exit(&p);
}
END_TEST

/* ---- a full ring ---- */

static int on_lost(void *ctx, uint64_t n)
{
	*(uint64_t *)ctx += n;
	return 0;
}

/* With drop, what does not fit is counted, told when there is room again, and
 * the rest arrives: written + lost is all. */
START_TEST(drops_are_counted)
{
	struct session_handlers h = { .lost = on_lost };
	struct ljm_event ev = {
		.kind = LJM_ALLOC, .loc = { LJM_SRC_INTERNAL, 0, 0 }, .new_addr = 8, .new_size = 16
	};
	uint64_t lost = 0, told = 0;
	struct pair p;
	int i;

	pair__init(&p, RING_MIN_BYTES);
	p.out.drop = true;
	for (i = 0; i < 100000; i++) {
		if (producer__room(&p.out, 8)) {
			put_event(&p.out, &ev);
		} else {
			p.out.lost++; /* as event_lost() of hook.c does */
			lost++;
		}
		if (i % 30000 == 29999)
			while (drain__some(&p.in, 1u << 20))
				;
	}
	ck_assert_uint_gt(lost, 0);
	while (drain__some(&p.in, 1u << 20))
		;
	ck_assert(producer__room(&p.out, 8)); /* tells of the last ones */
	producer__publish(&p.out);
	while (drain__some(&p.in, 1u << 20))
		;
	ck_assert_uint_eq(session_writer__events(p.writer) + lost, 100000);
	read_back(&p, &h, &told);
	ck_assert_uint_eq(told, lost);
	pair__exit(&p);
}
END_TEST

/* ---- a target that has gone mad ---- */

/* Half of the words are rubbish, half look like records. */
static uint64_t mad_word(void)
{
	if (rnd() & 1)
		return rnd();
	return ring_word0((unsigned)(rnd() % 8), (unsigned)(rnd() % 8), (unsigned)(rnd() % 16),
			  rnd() % 16, rnd() % 20);
}

START_TEST(rubbish_is_refused)
{
	struct pair p;
	int i;

	seed = 999331 + (uint64_t)_i;
	pair__init(&p, RING_MIN_BYTES);
	for (i = 0; i <= (int)p.out.mask; i++)
		p.out.data[i] = mad_word();
	atomic_store(&p.out.ring->head, rnd() % 3 ? p.out.mask + 1 : rnd());
	for (i = 0; i < 10000; i++) {
		long n = drain__some(&p.in, 100);

		if (n <= 0)
			break;
	}
	ck_assert_int_lt(i, 10000);
	pair__exit(&p);
}
END_TEST

/* ---- the set of described objects ---- */

enum { OBJECTS = 100000 };

/* It may forget what it was not told to, but never know what was freed. */
START_TEST(known_never_lies)
{
	static struct known k;
	static bool alive[OBJECTS];
	unsigned hits = 0, i;

	seed = 4711;
	for (i = 0; i < 1000000; i++) {
		size_t n = rnd() % OBJECTS;
		const void *addr = (const void *)(uintptr_t)(0x7f0000000000 + n * 104);
		uintptr_t *entry = known__find(&k, addr);

		ck_assert(!entry || alive[n]);
		hits += entry != NULL;
		if (entry && rnd() % 4 == 0) {
			ck_assert(known__forget(&k, addr));
			ck_assert_ptr_null(known__find(&k, addr));
			alive[n] = false;
		} else if (!entry) {
			uint32_t before = k.last_seq;

			known__add(&k, addr, 0);
			entry = known__find(&k, addr);
			ck_assert_ptr_nonnull(entry);
			ck_assert_uint_eq(known__seq(&k, entry), before + 1);
			alive[n] = true;
		}
	}
	ck_assert_uint_gt(hits, 100000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent_ring");
	TCase *tc = tcase_create("ring");

	tcase_add_loop_test(tc, events_pass_unchanged, 0, 5);
	tcase_add_test(tc, long_names_pass_through);
	tcase_add_test(tc, drops_are_counted);
	tcase_add_loop_test(tc, rubbish_is_refused, 0, 200);
	tcase_add_test(tc, known_never_lies);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
