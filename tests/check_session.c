/* check_session.c - tests of the session file: what is written is read again,
 * and is a plain stream for zstd. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib_session.h"
#include "tests/lib_suite.h"

/* ---- random recordings ---- */

static uint64_t pick(struct made *m, uint64_t below)
{
	return random_next(&m->state) % below;
}

/* Numbers of every length. */
static uint64_t number(struct made *m)
{
	uint64_t v = random_next(&m->state);

	return v >> pick(m, 64);
}

static void random_event(struct made *m)
{
	struct ljm_event ev = { .kind = (enum ljm_kind)(1 + pick(m, 3)),
				.stack = pick(m, m->last_stack + 1) };

	ev.loc.source = (enum ljm_source)(1 + pick(m, 4));
	ev.vmstate = (uint8_t)(pick(m, 3) ? LJM_VMSTATE_GC : pick(m, LJM_VMSTATE_MAX));
	if (ev.loc.source == LJM_SRC_LUA || ev.loc.source == LJM_SRC_C)
		ev.loc.addr = number(m);
	if (ev.loc.source == LJM_SRC_LUA || ev.loc.source == LJM_SRC_TRACE)
		ev.loc.num = pick(m, 20) ? number(m) : pick(m, 2) - 1;
	if (ev.kind != LJM_ALLOC) {
		ev.old_addr = number(m);
		ev.old_size = number(m);
	}
	if (ev.kind != LJM_FREE) {
		ev.new_addr = number(m);
		ev.new_size = number(m);
	}
	made__event(m, &ev);
}

/* Names with NUL, escapes and bytes above 127 are passed as they are. */
static const char text[] = "@path/to \0 file \x1b[31m\xff.lua";

static void random_symbol(struct made *m)
{
	struct ljm_symbol s = { .source = (enum ljm_source)(2 + pick(m, 3)) };

	s.has_detail = s.source != LJM_SRC_C && pick(m, 2);
	s.line = number(m);
	if (s.source == LJM_SRC_TRACE) {
		s.trace_num = number(m);
		s.proto_addr = number(m);
	} else {
		s.addr = number(m);
		s.name = text;
		s.name_len = pick(m, sizeof(text));
	}
	if (s.source == LJM_SRC_C)
		s.line = 0;
	if (s.has_detail && s.source == LJM_SRC_LUA) {
		s.func_name = text;
		s.func_name_len = pick(m, sizeof(text));
		s.last_line = number(m);
	} else if (s.has_detail) {
		s.trace_parent = (uint32_t)number(m);
		s.trace_exit = (uint32_t)number(m);
		s.trace_root = (uint32_t)number(m);
		s.trace_link = (uint32_t)number(m);
		s.trace_linktype = (uint8_t)pick(m, 10);
	}
	made__symbol(m, &s);
}

static void random_module(struct made *m)
{
	struct session_module mod = {
		.start = number(m) / 2,
		.offset = number(m),
		.bias = number(m),
		.path = text,
		.path_len = pick(m, sizeof(text)),
		.build_id = text,
		.build_id_len = pick(m, sizeof(text)),
		.event_no = m->events,
	};

	mod.end = mod.start + number(m) / 2;
	ck_assert_int_eq(session_writer__module(m->w, &mod), 0);
	told__module(m->out, &mod);
}

static void random_stack(struct made *m)
{
	struct session_stack node = {
		.id = ++m->last_stack,
		.parent = pick(m, m->last_stack),
		.loc = { .source = (enum ljm_source)(1 + pick(m, 4)) },
	};

	node.loc.addr = number(m);
	node.loc.num = number(m);
	ck_assert_int_eq(session_writer__stack(m->w, &node), 0);
	told__stack(m->out, &node);
}

static void random_aside(struct made *m)
{
	if (pick(m, 20) == 0) {
		uint64_t n = 1 + number(m) / 1000;

		ck_assert_int_eq(session_writer__lost(m->w, n), 0);
		m->lost += n;
		fprintf(m->out, "lost %llu\n", (unsigned long long)n);
	}
	if (pick(m, 10) == 0) {
		m->ns += pick(m, 3) ? 4000000 : 0;
		ck_assert_int_eq(session_writer__time(m->w, m->ns), 0);
		if (m->ns != m->told_ns)
			fprintf(m->out, "time %llu\n", (unsigned long long)m->ns);
		m->told_ns = m->ns;
	}
	if (pick(m, 30) == 0)
		random_module(m);
	if (pick(m, 8) == 0)
		random_stack(m);
	if (pick(m, 15) == 0) {
		struct session_mark mark = {
			.kind = (enum session_mark_kind)pick(m, SESSION_MARK_MAX),
			.name = text,
			.name_len = pick(m, sizeof(text)),
			.event_no = m->events,
			.time_ns = number(m),
		};

		ck_assert_int_eq(session_writer__mark(m->w, &mark), 0);
		told__mark(m->out, &mark);
	}
}

static void make_random(struct made *m, int seed, int n)
{
	static const size_t batches[] = { 0, 1, 100, 5000, 100000 };
	struct session_header h = { 0 };

	made__init(m, &h, batches[seed % 5], seed % 2);
	m->state = (uint64_t)seed * 77 + 1;
	m->told_ns = UINT64_MAX;
	for (int i = 0; i < n; i++) {
		while (pick(m, 4) == 0)
			random_symbol(m);
		random_aside(m);
		random_event(m);
		if (pick(m, 200) == 0)
			ck_assert_int_eq(session_writer__flush(m->w), 0);
	}
	random_aside(m);
}

static void check_read(struct made *m, const struct told *t, const struct session_info *info)
{
	ck_assert_int_eq(info->container, SESSION_LJPERF);
	ck_assert_msg(info->state == SESSION_COMPLETE, "%s", info->damage);
	ck_assert_int_eq(info->variant, LJM_V4);
	ck_assert(info->has_header && info->has_footer);
	ck_assert_uint_eq(info->n_events, m->events);
	ck_assert_uint_eq(info->stream_bytes, m->plain.len);
	ck_assert_uint_eq(info->lost_events, m->lost);
	ck_assert_uint_eq(info->lost_batches, 0);
	ck_assert_uint_eq(t->footer.n_alloc, m->n[LJM_ALLOC]);
	ck_assert_uint_eq(t->footer.n_free, m->n[LJM_FREE]);
	ck_assert_uint_eq(t->footer.n_realloc, m->n[LJM_REALLOC]);
	ck_assert_uint_eq(t->footer.lost, m->lost);
	ck_assert_int_eq(t->footer.end_kind, SESSION_END_SIGNAL);
	ck_assert_int_eq(t->footer.end_code, 9);
	ck_assert_uint_eq(t->footer.duration_ns, 123456789);
	ck_assert_uint_eq(t->len, m->len);
	ck_assert_mem_eq(t->text, m->text, m->len);
}

START_TEST(round_trip)
{
	struct made m;
	struct blob s;

	make_random(&m, _i, _i % 5 == 1 ? 300 : 3000);
	made__finish(&m);
	s = made__file(&m);
	ck_assert_uint_eq(session_writer__bytes(m.w), s.len);
	ck_assert_uint_eq(session_writer__events(m.w), m.events);
	ck_assert_uint_eq(session_writer__lost_events(m.w), m.lost);
	for (int i = 0; i < N_READERS; i++) {
		struct session_info info;
		struct told t;

		ck_assert_int_eq(readers[i](s.p, s.len, &t, &info), 0);
		check_read(&m, &t, &info);
		ck_assert_uint_eq(info.file_bytes, s.len);
		told__exit(&t);
	}
	blob__exit(&s);
	made__exit(&m);
}
END_TEST

/* ---- zstd -dc ---- */

static struct blob zstd_dc(int fd)
{
	struct blob s = { 0 };
	uint8_t chunk[65536];
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	ck_assert_int_eq((int)lseek(fd, 0, SEEK_SET), 0);
	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		dup2(fd, 0);
		dup2(fds[1], 1);
		close(fds[0]);
		execlp("zstd", "zstd", "-dcq", (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	while ((n = read(fds[0], chunk, sizeof(chunk))) > 0)
		blob__bytes(&s, chunk, (size_t)n);
	close(fds[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
		      "the zstd command failed or is missing: %d", status);
	return s;
}

START_TEST(zstd_sees_plain_stream)
{
	struct session_info info;
	struct blob s;
	struct made m;
	struct told t;

	make_random(&m, _i, 2000);
	made__finish(&m);
	s = zstd_dc(m.fd);
	ck_assert_uint_eq(s.len, m.plain.len);
	ck_assert_mem_eq(s.p, m.plain.p, s.len);
	ck_assert_int_eq(read_mem(s.p, s.len, &t, &info), 0);
	ck_assert_int_eq(info.container, SESSION_RAW);
	ck_assert_int_eq(info.state, SESSION_COMPLETE);
	ck_assert_uint_eq(t.events, m.events);
	told__exit(&t);
	blob__exit(&s);
	made__exit(&m);
}
END_TEST

/* ---- files of versions that were ever written ---- */

/* Two batches, in each: a time, a function and a trace with details, 8 events
 * of kinds 1 2 3 1 2 3 1 2 and sources 1 2 3 4 1 2 3 4, and before the fifth a
 * mark, 2 lost events, a module and a stack node. */
START_TEST(golden_version_1)
{
	struct blob s = blob__load("session/version-1.ljm.zst");
	struct session_info info;
	struct told t;

	ck_assert_int_eq(read_mem(s.p, s.len, &t, &info), 0);
	ck_assert_msg(info.state == SESSION_COMPLETE, "%s", info.damage);
	ck_assert_uint_eq(t.headers, 1);
	ck_assert_uint_eq(t.events, 16);
	ck_assert_uint_eq(t.symbols, 4);
	ck_assert_uint_eq(t.marks, 2);
	ck_assert_uint_eq(t.times, 2);
	ck_assert_uint_eq(t.lost, 4);
	ck_assert_uint_eq(t.footer.n_alloc, 6);
	ck_assert_uint_eq(t.footer.n_free, 6);
	ck_assert_uint_eq(t.footer.n_realloc, 4);
	ck_assert_ptr_nonnull(
		strstr(t.text, "symbol 2 table 0 addr 1000 line 1 6:@x.lua 1:f last 9"));
	ck_assert_ptr_nonnull(strstr(t.text, "parent 1/0 root 0 link 0 type 3"));
	ck_assert_ptr_nonnull(
		strstr(t.text, "module 1000-2000 offset 0 bias 0 at 4 9:/lib/x.so 2:ab"));
	ck_assert_ptr_nonnull(strstr(t.text, "stack 2 parent 1 src 2 addr 1000 num 5"));
	told__exit(&t);
	blob__exit(&s);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("session");
	TCase *t = tcase_create("session");

	tcase_add_loop_test(t, round_trip, 0, 15);
	tcase_add_loop_test(t, zstd_sees_plain_stream, 0, 5);
	tcase_add_test(t, golden_version_1);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
