/* check_session_write.c - tests of the session writer: header, totals, long
 * names, errors. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib_session.h"
#include "tests/lib_suite.h"
#include "util/error.h"

/* ---- the header ---- */

static struct session_header got;
static char got_argv[256];

static int keep_header(void *ctx, const struct session_header *h)
{
	size_t used = 0;

	(void)ctx;
	got = *h;
	for (size_t i = 0; i < h->argc; i++)
		used += (size_t)snprintf(got_argv + used, sizeof(got_argv) - used, "[%s]",
					 h->argv[i]);
	ck_assert(h->argc == 0 || h->argv[h->argc] == NULL);
	return 0;
}

static void read_header(struct made *m, struct session_reader **r)
{
	struct session_handlers h = { .header = keep_header };

	ck_assert_int_eq((int)lseek(m->fd, 0, SEEK_SET), 0);
	*r = session_reader__new_fd(m->fd, "x");
	ck_assert_int_eq(session_reader__run(*r, &h, NULL), 0);
	ck_assert(session_reader__info(*r)->has_header);
}

START_TEST(header_fields)
{
	static const char *const argv[] = { "luajit", "", "a b", "\xff" };
	struct session_header h = {
		.argv = argv,
		.argc = 4,
		.cwd = "/tmp",
		.hostname = "host",
		.os_release = "6.1",
		.arch = "x86_64",
		.ljperf_version = "0.1",
		.backend = "luajit",
		.backend_options = "o=1",
		.vm_version = "LuaJIT 2.1.0-beta3",
		.vm_path = "/usr/lib/libluajit.so",
		.vm_build_id = "0123abcd",
		.vm_options = "off",
		.vm_gc64 = true,
		.pid = 1,
		.ppid = UINT64_MAX,
		.tid = 3,
		.vm_number = 4,
		.thread_name = "main",
		.start_mono_ns = 5,
		.start_wall_ns = 6,
		.heap_start = 7,
		.recording = "0af1",
	};
	struct session_reader *r;
	struct made m;

	made__init(&m, &h, 0, false);
	made__finish(&m);
	read_header(&m, &r);
	ck_assert_uint_eq(got.version, 1);
	ck_assert_str_eq(got_argv, "[luajit][][a b][\xff]");
#define SAME_TEXT(field) ck_assert_str_eq(got.field, h.field)
	SAME_TEXT(cwd);
	SAME_TEXT(hostname);
	SAME_TEXT(os_release);
	SAME_TEXT(arch);
	SAME_TEXT(ljperf_version);
	SAME_TEXT(backend);
	SAME_TEXT(backend_options);
	SAME_TEXT(vm_version);
	SAME_TEXT(vm_path);
	SAME_TEXT(vm_build_id);
	SAME_TEXT(vm_options);
	SAME_TEXT(thread_name);
	SAME_TEXT(recording);
#define SAME_NUMBER(field) ck_assert_uint_eq(got.field, h.field)
	SAME_NUMBER(vm_gc64);
	SAME_NUMBER(pid);
	SAME_NUMBER(ppid);
	SAME_NUMBER(tid);
	SAME_NUMBER(vm_number);
	SAME_NUMBER(start_mono_ns);
	SAME_NUMBER(start_wall_ns);
	SAME_NUMBER(heap_start);
	session_reader__delete(r);
	made__exit(&m);
}
END_TEST

START_TEST(header_unknown)
{
	struct session_header h = { 0 };
	struct session_reader *r;
	struct made m;

	made__init(&m, &h, 0, false);
	made__finish(&m);
	read_header(&m, &r);
	ck_assert_ptr_null(got.cwd);
	ck_assert_ptr_null(got.vm_options);
	ck_assert_ptr_null(got.argv);
	ck_assert_uint_eq(got.argc, 0);
	ck_assert_uint_eq(got.heap_start, 0);
	session_reader__delete(r);
	made__exit(&m);
}
END_TEST

/* ---- totals ---- */

static struct session_footer totals(const struct ljm_event *evs, size_t n, uint64_t heap_start)
{
	struct session_header h = { .heap_start = heap_start };
	struct session_info info;
	struct blob s;
	struct made m;
	struct told t;

	made__init(&m, &h, 0, false);
	for (size_t i = 0; i < n; i++)
		made__event(&m, &evs[i]);
	made__finish(&m);
	s = made__file(&m);
	ck_assert_int_eq(read_mem(s.p, s.len, &t, &info), 0);
	told__exit(&t);
	blob__exit(&s);
	made__exit(&m);
	return t.footer;
}

#define INTERNAL \
	{ \
		.source = LJM_SRC_INTERNAL \
	}

START_TEST(totals_add_up)
{
	static const struct ljm_event evs[] = {
		{ .kind = LJM_ALLOC, .loc = INTERNAL, .new_addr = 16, .new_size = 100 },
		{ .kind = LJM_ALLOC,
		  .loc = INTERNAL,
		  .new_addr = 0,
		  .new_size = 5000 }, /* failed */
		{ .kind = LJM_ALLOC, .loc = INTERNAL, .new_addr = 32, .new_size = 200 },
		{ .kind = LJM_REALLOC,
		  .loc = INTERNAL,
		  .old_addr = 16,
		  .old_size = 100,
		  .new_addr = 64,
		  .new_size = 150 }, /* the peak: 1000 + 350 */
		{ .kind = LJM_FREE, .loc = INTERNAL, .old_addr = 64, .old_size = 150 },
		{ .kind = LJM_ALLOC, .loc = INTERNAL, .new_addr = 16, .new_size = 10 },
	};
	struct session_footer f = totals(evs, 6, 1000);

	ck_assert_uint_eq(f.n_alloc, 4);
	ck_assert_uint_eq(f.n_free, 1);
	ck_assert_uint_eq(f.n_realloc, 1);
	ck_assert_uint_eq(f.bytes_new, 100 + 5000 + 200 + 150 + 10);
	ck_assert_uint_eq(f.bytes_old, 100 + 150);
	ck_assert_uint_eq(f.peak, 1350);
	ck_assert_uint_eq(f.peak_event_no, 3);
	ck_assert_uint_eq(f.max_live_blocks, 2);
}
END_TEST

START_TEST(totals_do_not_overflow)
{
	static const struct ljm_event evs[] = {
		{ .kind = LJM_FREE, .loc = INTERNAL, .old_addr = 1, .old_size = UINT64_MAX },
		{ .kind = LJM_FREE, .loc = INTERNAL, .old_addr = 1, .old_size = UINT64_MAX },
		{ .kind = LJM_ALLOC, .loc = INTERNAL, .new_addr = 1, .new_size = UINT64_MAX },
		{ .kind = LJM_ALLOC, .loc = INTERNAL, .new_addr = 1, .new_size = UINT64_MAX },
		{ .kind = LJM_ALLOC, .loc = INTERNAL, .new_addr = 1, .new_size = 5 },
		{ .kind = LJM_ALLOC, .loc = INTERNAL, .new_addr = 1, .new_size = UINT64_MAX },
		{ .kind = LJM_ALLOC, .loc = INTERNAL, .new_addr = 1, .new_size = UINT64_MAX },
	};
	struct session_footer f = totals(evs, 5, 0);

	/* Two of 2^64 - 1 went, two came, and then 5: the sum is exact. */
	ck_assert_uint_eq(f.peak, 5);
	ck_assert_uint_eq(f.bytes_new, UINT64_MAX);
	ck_assert_uint_eq(f.bytes_old, UINT64_MAX);
	f = totals(evs + 2, 5, UINT64_MAX);
	ck_assert_uint_eq(f.peak, UINT64_MAX);
}
END_TEST

/* ---- sizes and errors of the writer ---- */

/* Longer than a batch, and longer than what a batch may hold. */
START_TEST(long_names)
{
	const size_t n = (size_t)50 << 20, cut = (size_t)48 << 20;
	struct ljm_symbol sym = { .source = LJM_SRC_LUA, .addr = 1, .name_len = 11 << 20 };
	struct ljm_event ev = { .kind = LJM_ALLOC, .loc = INTERNAL, .new_addr = 1 };
	struct session_header h = { 0 };
	struct session_info info;
	char *name = malloc(n);
	struct blob s;
	struct made m;
	struct told t;

	memset(name, 'n', n);
	sym.name = name;
	made__init(&m, &h, 0, false);
	ck_assert_int_eq(session_writer__event(m.w, &ev), 0);
	ck_assert_int_eq(session_writer__symbol(m.w, &sym), 0);
	sym.name_len = n;
	ck_assert_int_eq(session_writer__symbol(m.w, &sym), 0);
	ck_assert_int_eq(session_writer__event(m.w, &ev), 0);
	made__finish(&m);
	s = made__file(&m);
	ck_assert_int_eq(read_mem(s.p, s.len, &t, &info), 0);
	ck_assert_msg(info.state == SESSION_COMPLETE, "%s", info.damage);
	ck_assert_uint_eq(t.symbols, 2);
	ck_assert_uint_eq(t.events, 2);
	ck_assert_uint_gt(t.len, (11 << 20) + cut);
	ck_assert_uint_lt(t.len, (11 << 20) + cut + 1000);
	told__exit(&t);
	blob__exit(&s);
	made__exit(&m);
	free(name);
}
END_TEST

/* Events until something fails: the error is told, and stays. */
static int write_until_error(int fd)
{
	struct ljm_event ev = { .kind = LJM_ALLOC, .loc = INTERNAL, .new_addr = 1 };
	struct session_header h = { 0 };
	struct session_writer *w = session_writer__new(fd, &h, NULL);
	int err = 0;

	if (!w)
		return -1;
	for (int i = 0; i < 10000000 && !err; i++) {
		ev.new_addr = (uint64_t)i * 0x9e3779b97f4a7c15u;
		err = session_writer__event(w, &ev);
	}
	ck_assert_int_lt(err, 0);
	ck_assert_int_eq(session_writer__event(w, &ev), err);
	ck_assert_int_eq(session_writer__flush(w), err);
	ck_assert_int_eq(session_writer__finish(w, &(struct session_footer){ 0 }), err);
	session_writer__delete(w);
	return err;
}

START_TEST(device_full)
{
	int fd = open("/dev/full", O_WRONLY);

	/* Already the header cannot be written. */
	ck_assert_int_eq(write_until_error(fd), -1);
	ck_assert_ptr_nonnull(strstr(err__msg(), strerror(ENOSPC)));
	close(fd);
}
END_TEST

START_TEST(reader_gone)
{
	int fds[2];

	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(pipe(fds), 0);
	if (fork() == 0) {
		char byte;

		close(fds[1]);
		_exit(read(fds[0], &byte, 1) != 1);
	}
	close(fds[0]);
	ck_assert_int_eq(write_until_error(fds[1]), -EPIPE);
	ck_assert_str_eq(err__msg(), "cannot write the recording: Broken pipe");
	close(fds[1]);
}
END_TEST

/* A pipe that takes little at a time and does not block. */
START_TEST(slow_pipe)
{
	int fds[2];
	struct session_header h = { 0 };
	struct session_info info;
	struct told t;

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
	if (fork() == 0) {
		struct session_writer *w = session_writer__new(fds[1], &h, NULL);
		struct ljm_event ev = { .kind = LJM_ALLOC, .loc = INTERNAL };

		close(fds[0]);
		for (int i = 0; i < 100000; i++) {
			ev.new_addr = (uint64_t)i * 0x9e3779b97f4a7c15u;
			session_writer__event(w, &ev);
		}
		_exit(session_writer__finish(w, &(struct session_footer){ 0 }) != 0);
	}
	close(fds[1]);
	told__init(&t);
	struct session_reader *r = session_reader__new_fd(fds[0], "pipe");

	usleep(20000);
	ck_assert_int_eq(session_reader__run(r, &told_handlers, &t), 0);
	info = *session_reader__info(r);
	ck_assert_msg(info.state == SESSION_COMPLETE, "%s", info.damage);
	ck_assert_uint_eq(t.events, 100000);
	session_reader__delete(r);
	told__exit(&t);
	close(fds[0]);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("session_write");
	TCase *t = tcase_create("session_write");

	tcase_add_test(t, header_fields);
	tcase_add_test(t, header_unknown);
	tcase_add_test(t, totals_add_up);
	tcase_add_test(t, totals_do_not_overflow);
	tcase_add_test(t, long_names);
	tcase_add_test(t, device_full);
	tcase_add_test(t, reader_gone);
	tcase_add_test(t, slow_pipe);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
