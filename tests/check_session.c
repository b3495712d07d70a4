/* check_session.c - tests of the session file: what is written is read again,
 * and is a plain stream for zstd. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib_formats.h"
#include "util/error.h"

/* A recording that is written and, beside it, what should be read: the calls
 * as text, the plain stream, the totals. */
struct made {
	struct session_writer *w;
	int fd;
	FILE *file, *out;
	char *text;
	size_t len;
	struct blob plain;
	uint64_t events, n[4], lost, state;
	uint64_t ns, told_ns;
};

static void made__init(struct made *m, const struct session_header *h, size_t batch_bytes)
{
	struct session_writer_opts opts = { .batch_bytes = batch_bytes };

	*m = (struct made){ .state = 1 };
	m->file = tmpfile();
	ck_assert_ptr_nonnull(m->file);
	m->fd = fileno(m->file);
	m->out = open_memstream(&m->text, &m->len);
	m->w = session_writer__new(m->fd, h, &opts);
	ck_assert_msg(m->w != NULL, "%s", err__msg());
	blob__bytes(&m->plain, "ljs\3\0\0\0\x80ljm\3\0\0\0", 15);
}

static struct blob made__file(struct made *m)
{
	struct blob s = { 0 };
	uint8_t chunk[65536];
	ssize_t n;

	ck_assert_int_eq((int)lseek(m->fd, 0, SEEK_SET), 0);
	while ((n = read(m->fd, chunk, sizeof(chunk))) > 0)
		blob__bytes(&s, chunk, (size_t)n);
	fflush(m->out);
	return s;
}

static void made__finish(struct made *m)
{
	struct session_footer end = { .end_kind = SESSION_END_SIGNAL, .end_code = 9,
				      .duration_ns = 123456789 };

	ck_assert_int_eq(session_writer__finish(m->w, &end), 0);
	blob__byte(&m->plain, 0x80);
}

static void made__exit(struct made *m)
{
	session_writer__delete(m->w);
	fclose(m->file);
	fclose(m->out);
	free(m->text);
	blob__exit(&m->plain);
}

static void put_event(struct made *m, const struct ljm_event *ev)
{
	struct ljm_event told = *ev;
	bool no_line = ev->loc.source == LJM_SRC_LUA && ev->loc.num + 1 < 2;
	int source = no_line ? LJM_SRC_INTERNAL : (int)ev->loc.source;

	ck_assert_int_eq(session_writer__event(m->w, ev), 0);
	m->events++;
	m->n[ev->kind]++;
	if (no_line)
		told.loc = (struct ljm_loc){ .source = LJM_SRC_INTERNAL };
	if (source != LJM_SRC_INTERNAL)
		told.vmstate = 0;
	told__event(m->out, &told);
	blob__byte(&m->plain, source * 4 + ev->kind);
	if (source == LJM_SRC_LUA || source == LJM_SRC_C)
		blob__uleb(&m->plain, ev->loc.addr);
	if (source == LJM_SRC_LUA || source == LJM_SRC_TRACE)
		blob__uleb(&m->plain, ev->loc.num);
	if (ev->kind != LJM_ALLOC) {
		blob__uleb(&m->plain, ev->old_addr);
		blob__uleb(&m->plain, ev->old_size);
	}
	if (ev->kind != LJM_FREE) {
		blob__uleb(&m->plain, ev->new_addr);
		blob__uleb(&m->plain, ev->new_size);
	}
}

static void put_symbol(struct made *m, const struct ljm_symbol *sym)
{
	ck_assert_int_eq(session_writer__symbol(m->w, sym), 0);
	told__symbol(m->out, sym);
	blob__byte(&m->plain, sym->source * 4);
	if (sym->source == LJM_SRC_TRACE) {
		blob__uleb(&m->plain, sym->trace_num);
		blob__uleb(&m->plain, sym->proto_addr);
		blob__uleb(&m->plain, sym->line);
		return;
	}
	blob__uleb(&m->plain, sym->addr);
	blob__uleb(&m->plain, sym->name_len);
	blob__bytes(&m->plain, sym->name, sym->name_len);
	if (sym->source == LJM_SRC_LUA)
		blob__uleb(&m->plain, sym->line);
}

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
	struct ljm_event ev = { .kind = (enum ljm_kind)(1 + pick(m, 3)) };

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
	put_event(m, &ev);
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
	put_symbol(m, &s);
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

	made__init(m, &h, batches[seed % 5]);
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
		.argv = argv, .argc = 4, .cwd = "/tmp", .hostname = "host", .os_release = "6.1",
		.arch = "x86_64", .ljperf_version = "0.1", .backend = "luajit",
		.backend_options = "o=1", .vm_version = "LuaJIT 2.1.0-beta3",
		.vm_path = "/usr/lib/libluajit.so", .vm_build_id = "0123abcd", .vm_options = "off",
		.vm_gc64 = true, .pid = 1, .ppid = UINT64_MAX, .tid = 3, .vm_number = 4,
		.thread_name = "main", .start_mono_ns = 5, .start_wall_ns = 6, .heap_start = 7,
	};
	struct session_reader *r;
	struct made m;

	made__init(&m, &h, 0);
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

	made__init(&m, &h, 0);
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

	made__init(&m, &h, 0);
	for (size_t i = 0; i < n; i++)
		put_event(&m, &evs[i]);
	made__finish(&m);
	s = made__file(&m);
	ck_assert_int_eq(read_mem(s.p, s.len, &t, &info), 0);
	told__exit(&t);
	blob__exit(&s);
	made__exit(&m);
	return t.footer;
}

#define INTERNAL { .source = LJM_SRC_INTERNAL }

START_TEST(totals_add_up)
{
	static const struct ljm_event evs[] = {
		{ .kind = LJM_ALLOC, .loc = INTERNAL, .new_addr = 16, .new_size = 100 },
		{ .kind = LJM_ALLOC, .loc = INTERNAL, .new_addr = 0, .new_size = 5000 }, /* failed */
		{ .kind = LJM_ALLOC, .loc = INTERNAL, .new_addr = 32, .new_size = 200 },
		{ .kind = LJM_REALLOC, .loc = INTERNAL, .old_addr = 16, .old_size = 100,
		  .new_addr = 64, .new_size = 150 }, /* the peak: 1000 + 350 */
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
	made__init(&m, &h, 0);
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
	Suite *s = suite_create("session");
	TCase *t = tcase_create("session");

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, round_trip, 0, 15);
	tcase_add_loop_test(t, zstd_sees_plain_stream, 0, 5);
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
	SRunner *r = srunner_create(suite());
	int failed;

	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
