/* check_bombs.c - files built to hurt: lengths that are not to be believed, and
 * few bytes that become many.  Each is read by commands in a process of their
 * own, whose memory is measured: no more than a batch may take, 64 MiB, above
 * what a good file needs.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "ljperf.h"
#include "tests/lib_session.h"
#include "tests/lib_stream.h"
#include "tests/lib_suite.h"

/* What the shadow of a sanitizer takes is not ours. */
#if defined(__SANITIZE_ADDRESS__)
enum { MIB_MAX = 1024 };
#else
enum { MIB_MAX = 64 + 24 }; /* and the program itself */
#endif

static char path[64];

static void write_file(struct blob *s)
{
	int fd = memory_file(path, sizeof(path));
	size_t done = 0;

	while (done < s->len) {
		ssize_t n = write(fd, s->p + done, s->len - done);

		ck_assert_int_gt(n, 0);
		done += (size_t)n;
	}
	blob__exit(s);
}

typedef int (*command_fn)(int argc, const char **argv);

static const struct how {
	command_fn run;
	const char *argv[4];
} commands[] = {
	{ cmd_report, { "report", "--no-symbols", "-g", "none" } },
	{ cmd_report, { "report", "--no-symbols", "--header", "--timeline" } },
	{ cmd_report, { "report", "--no-symbols", "--format", "memprof" } },
	{ cmd_info, { "info", "-f", "-f", "-f" } },
	{ cmd_script, { "script", "--no-symbols", "-F", "number" } },
	{ cmd_export, { "export", "--no-symbols", "--format", "firefox" } },
	{ cmd_export, { "export", "--no-symbols", "--format", "ljm" } },
};
enum { N_COMMANDS = sizeof(commands) / sizeof(*commands) };

/* No output is kept: there may be gigabytes of it. */
static int run_quiet(command_fn run, int argc, const char **argv)
{
	stdout = freopen("/dev/null", "w", stdout);
	return run(argc, argv);
}

static int run_measured(const struct how *how)
{
	const char *argv[] = { how->argv[0], how->argv[1], how->argv[2], how->argv[3], path, NULL };
	struct rusage usage;
	int status;
	pid_t pid;

	fflush(NULL);
	malloc_trim(0); /* a child begins with what we have */
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		freopen("/dev/null", "w", stderr);
		_exit(run_quiet(how->run, 5, argv));
	}
	ck_assert_int_eq(wait4(pid, &status, 0, &usage), pid);
	ck_assert_msg(WIFEXITED(status), "%s: status %x", how->argv[0], status);
	ck_assert_msg(usage.ru_maxrss < MIB_MAX * 1024L, "%s: %ld KiB", how->argv[0],
		      usage.ru_maxrss);
	return WEXITSTATUS(status);
}

/* All commands take it, or refuse it. */
static void measure_all(void)
{
	for (int i = 0; i < N_COMMANDS; i++)
		ck_assert_int_le(run_measured(&commands[i]), EXIT_LJPERF);
}

/* What FILE is said to be by report: "" for whole. */
static void check_said(const char *word)
{
	struct output o = run_command(cmd_report, "report", "--no-symbols", path, NULL);

	ck_assert_int_eq(o.status, *word ? EXIT_LJPERF : 0);
	assert_has(&o.err, word);
	output__exit(&o);
}

/* ---- lengths ---- */

static const uint64_t lengths[] = {
	(uint64_t)1 << 31,       (uint64_t)1 << 32,       (uint64_t)1 << 62, UINT64_MAX,
	((uint64_t)1 << 31) - 1, ((uint64_t)1 << 32) - 1, (uint64_t)1 << 63,
};
enum { N_LENGTHS = sizeof(lengths) / sizeof(*lengths) };

static void put_stream_head(struct blob *s)
{
	blob__bytes(s, "ljs\3\0\0\0\x80ljm\3\0\0\0", 15);
}

/* Of a name in the symbol table, of one among the events, of a C function's; and
 * each in zstd. */
START_TEST(string_lengths)
{
	static const char *const fronts[] = { "ljs\3\0\0\0\0\1", "ljs\3\0\0\0\1\1",
					      "ljs\3\0\0\0\x80ljm\3\0\0\0\x08\1",
					      "ljs\3\0\0\0\x80ljm\3\0\0\0\x0c\1" };
	static const size_t lens[] = { 9, 9, 17, 17 };

	for (size_t i = 0; i < 2 * sizeof(lens) / sizeof(*lens); i++) {
		struct blob s = { 0 }, z = { 0 };

		blob__bytes(&s, fronts[i / 2], lens[i / 2]);
		blob__uleb(&s, lengths[_i]);
		blob__string(&s, "name");
		if (i % 2) {
			blob__zstd(&z, s.p, s.len);
			blob__exit(&s);
			s = z;
		}
		write_file(&s);
		check_said("corrupt at offset ");
		measure_all();
	}
}
END_TEST

/* Side sections with a string that is too long, by number and what is before
 * the length in an entry. */
static const struct entry {
	unsigned section;
	const char *before;
	size_t n;
} entries[] = {
	{ 3, "\0\0\5", 3 }, /* the name of a mark: at, kind, ns */
	{ 4, "\0", 1 }, /* a detail */
	{ 7, "\0\5\1\0\0", 5 }, /* the path of a module: at, start, length, offset, bias */
	{ 7, "\0\5\1\0\0\1x", 7 }, /* and its build id */
};

static void put_sections(struct frame *f, unsigned id, const struct blob *body)
{
	struct blob old = frame__sections(f), new = { 0 };

	/* The first of a repeated section counts; number 0 stays the first. */
	blob__bytes(&new, old.p, 3);
	blob__uleb(&new, id);
	blob__uleb(&new, body->len);
	blob__bytes(&new, body->p, body->len);
	blob__bytes(&new, old.p + 3, old.len - 3);
	frame__replace(f, &new);
	blob__exit(&old);
	blob__exit(&new);
}

static void check_section(int frame, unsigned id, const struct blob *body)
{
	struct parts p;
	struct blob s;

	parts__make(&p);
	put_sections(&p.f[frame], id, body);
	s = parts__join_all(&p);
	write_file(&s);
	check_said("corrupt at offset ");
	measure_all();
	parts__exit(&p);
}

START_TEST(nested_lengths)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		struct blob body = { 0 };

		blob__bytes(&body, entries[i].before, entries[i].n);
		blob__uleb(&body, lengths[_i]);
		blob__bytes(&body, "abc", 3);
		check_section(3, entries[i].section, &body);
		blob__exit(&body);
	}
}
END_TEST

/* An argument of the command line, in HEADER. */
START_TEST(argument_lengths)
{
	struct blob body = { 0 };

	blob__string(&body, "luajit");
	blob__uleb(&body, lengths[_i]);
	blob__bytes(&body, "abc", 3);
	check_section(0, 1, &body);
	blob__exit(&body);
}
END_TEST

/* The name of a function inside a detail, and the index of the footer: what
 * they claim is not there, or not needed. */
START_TEST(inner_lengths)
{
	struct blob detail = { 0 }, body = { 0 }, index = { 0 }, s;
	struct parts p;

	blob__uleb(&detail, lengths[_i]);
	blob__bytes(&detail, "f\1", 2);
	blob__uleb(&body, 0);
	blob__uleb(&body, detail.len);
	blob__bytes(&body, detail.p, detail.len);
	check_section(1, 4, &body);
	blob__uleb(&index, lengths[_i]);
	parts__make(&p);
	put_sections(&p.f[9], 14, &index);
	s = parts__join_all(&p);
	write_file(&s);
	measure_all();
	parts__exit(&p);
	blob__exit(&detail);
	blob__exit(&body);
	blob__exit(&index);
}
END_TEST

/* ---- claims of zstd ---- */

struct claim {
	unsigned descriptor; /* of the frame's header */
	const char *fields; /* window, content size */
	size_t n;
};

/* Windows of 2^31 bytes and of the largest, 3.75 TiB; contents of 2^60 and
 * 2^64-1 bytes. */
static const struct claim claims[] = {
	{ 0x04, "\xa8", 1 },
	{ 0x04, "\xff", 1 },
	{ 0xc4, "\x50\0\0\0\0\0\0\0\x10", 9 },
	{ 0xe4, "\0\0\0\0\0\0\0\x10", 8 },
	{ 0xe4, "\xff\xff\xff\xff\xff\xff\xff\xff", 8 },
	{ 0xc4, "\xff\xff\xff\xff\xff\xff\xff\xff\xff", 9 },
};

/* One block that repeats a byte, the last. */
static void put_claim(struct blob *s, const struct claim *c)
{
	blob__le(s, 0xFD2FB528, 4);
	blob__byte(s, c->descriptor);
	blob__bytes(s, c->fields, c->n);
	blob__le(s, 1 | 1 << 1 | 8 << 3, 3);
	blob__byte(s, 'l');
	blob__le(s, 0, 4);
}

START_TEST(claims_of_a_stream)
{
	struct blob s = { 0 };

	put_claim(&s, &claims[_i]);
	write_file(&s);
	check_said("ljperf: '/proc/self/fd/");
	measure_all();
}
END_TEST

static void check_claimed(struct parts *p)
{
	struct blob s = parts__join_all(p);

	write_file(&s);
	check_said("corrupt at offset ");
	measure_all();
}

START_TEST(claims_of_a_session)
{
	struct blob nested = { 0 };
	struct parts p;

	parts__make(&p);
	parts__data(&p, 1)->s.len = 0;
	put_claim(&parts__data(&p, 1)->s, &claims[_i]);
	check_claimed(&p);
	parts__exit(&p);
	parts__make(&p);
	put_claim(&nested, &claims[_i]);
	parts__side(&p, 1)->s.len = 0;
	blob__frame(&parts__side(&p, 1)->s, (struct fixed){ 1, SIDE, 0, 0 }, nested.p, nested.len);
	check_claimed(&p);
	parts__exit(&p);
	blob__exit(&nested);
}
END_TEST

/* ---- few bytes that become many ---- */

/* N bytes of TEXT repeated. */
static struct blob repeated(const char *text, size_t len, size_t n)
{
	struct blob s = { .p = malloc(n), .len = n - n % len, .cap = n };

	ck_assert_ptr_nonnull(s.p);
	for (size_t i = 0; i < s.len; i += len)
		memcpy(s.p + i, text, len);
	return s;
}

/* Entries of a side section, 8 MiB of them: times, marks, pauses, losses,
 * modules, nodes of stacks; and of HEADER: arguments, and one text. */
static const struct flood {
	int frame;
	unsigned section;
	const char *entry;
	size_t n, bytes;
} floods[] = {
	{ 1, 2, "\0\5", 2, 8 << 20 },
	{ 1, 3, "\0\0\5\0", 4, 8 << 20 },
	{ 1, 3, "\0\4\5\0\0\5\5\0011", 9, 8 << 20 },
	{ 1, 3, "\0\2\5\0", 4, 8 << 20 },
	{ 1, 6, "\0\1", 2, 8 << 20 },
	{ 1, 7, "\0\5\1\0\0\0\0", 7, 8 << 20 },
	{ 1, 8, "\0\1\0\1\0\0", 6, 8 << 20 },
	{ 1, 9, "\1", 1, 8 << 20 },
	{ 0, 1, "\0", 1, 1 << 20 },
	{ 0, 3, "\1", 1, 7 << 20 },
	{ 0, 3, "\1", 1, 60 << 20 }, /* more than a header may have */
	{ 1, 2, "\0\5", 2, 60 << 20 }, /* the same of a side frame, */
	{ 9, 14, "\0", 1, 60 << 20 }, /* and of a footer */
};

START_TEST(floods_of_entries)
{
	const struct flood *f = &floods[_i];
	struct blob body = repeated(f->entry, f->n, f->bytes), s;
	struct parts p;

	parts__make(&p);
	put_sections(&p.f[f->frame], f->section, &body);
	blob__exit(&body);
	s = parts__join_all(&p);
	ck_assert_uint_lt(s.len, 16 << 10);
	write_file(&s);
	measure_all();
	parts__exit(&p);
}
END_TEST

/* 30 MiB of events and of symbols in one batch. */
START_TEST(floods_of_events)
{
	static const struct {
		const char *item;
		size_t n;
	} items[] = { { "\x05\x10\1", 3 }, { "\x06\0\0", 3 }, { "\x08\1\0\1", 4 } };
	struct blob plain = { 0 }, many = repeated(items[_i].item, items[_i].n, 30 << 20), s;
	struct parts p;

	parts__make(&p);
	put_stream_head(&plain);
	blob__bytes(&plain, many.p, many.len);
	parts__data(&p, 0)->s.len = 0;
	blob__zstd(&parts__data(&p, 0)->s, plain.p, plain.len);
	blob__exit(&plain);
	blob__exit(&many);
	s = parts__join_all(&p);
	write_file(&s);
	for (int i = 0; i < N_COMMANDS; i++)
		if (commands[i].run != cmd_script && commands[i].run != cmd_export)
			run_measured(&commands[i]);
	parts__exit(&p);
}
END_TEST

/* A gigabyte in some 30 KiB: as the stream, as a name in it, and behind its end.
 * It is made in frames of 64 MiB, so as not to need it here. */
static struct blob gigabyte(const void *front, size_t front_len)
{
	struct blob plain = { 0 }, s = { 0 }, z = { 0 };

	blob__bytes(&plain, front, front_len);
	blob__zstd(&s, plain.p, plain.len);
	blob__exit(&plain);
	plain = repeated("x\n", 2, 64 << 20);
	blob__zstd(&z, plain.p, plain.len);
	for (int i = 0; i < 16; i++)
		blob__bytes(&s, z.p, z.len);
	blob__exit(&z);
	blob__exit(&plain);
	return s;
}

START_TEST(gigabytes)
{
	/* 2^28 is the longest name that there is. */
	static const struct {
		const char *front;
		size_t n;
		const char *said;
	} rows[] = {
		{ "ljs\3\0\0\0\x80ljm\3\0\0\0", 15, "corrupt at offset 15: bad event" },
		{ "ljs\3\0\0\0\0\1\x80\x80\x80\x80\1", 14,
		  "corrupt at offset 7: a string of more" },
		{ "ljs\3\0\0\0\x80ljm\3\0\0\0\x80", 16, "" },
	};
	struct blob s = gigabyte(rows[_i].front, rows[_i].n);

	write_file(&s);
	check_said(rows[_i].said);
	measure_all();
}
END_TEST

/* Frames that are to be skipped claim gigabytes. */
START_TEST(skipped_frames)
{
	static const uint32_t sizes[] = { 0x7fffffff, 0x80000000, 0xffffffff };
	struct parts p;
	struct blob s;

	parts__make(&p);
	s = parts__join_all(&p);
	blob__le(&s, 0x184D2A50, 4);
	blob__le(&s, sizes[_i], 4);
	blob__bytes(&s, "rest", 4);
	write_file(&s);
	check_said("");
	measure_all();
	blob__le(&s, 0x184D2A50, 4);
	blob__le(&s, sizes[_i], 4);
	blob__bytes(&s, "only", 4);
	write_file(&s);
	check_said("no recording, or cut too early");
	parts__exit(&p);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("bombs");
	TCase *t = tcase_create("bombs");

	tcase_add_loop_test(t, string_lengths, 0, N_LENGTHS);
	tcase_add_loop_test(t, nested_lengths, 0, N_LENGTHS);
	tcase_add_loop_test(t, argument_lengths, 0, N_LENGTHS);
	tcase_add_loop_test(t, inner_lengths, 0, N_LENGTHS);
	tcase_add_loop_test(t, claims_of_a_stream, 0, sizeof(claims) / sizeof(*claims));
	tcase_add_loop_test(t, claims_of_a_session, 0, sizeof(claims) / sizeof(*claims));
	tcase_add_loop_test(t, floods_of_entries, 0, sizeof(floods) / sizeof(*floods));
	tcase_add_loop_test(t, floods_of_events, 0, 3);
	tcase_add_loop_test(t, gigabytes, 0, 3);
	tcase_add_loop_test(t, skipped_frames, 0, 3);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
