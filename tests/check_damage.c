/* check_damage.c - the commands on small recordings of every kind, cut at each
 * byte and with each bit turned: what is wrong is told, what is before it is
 * shown, and the status says so unless it is forced.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ljperf.h"
#include "tests/lib_session.h"
#include "tests/lib_stream.h"
#include "tests/lib_suite.h"

static const struct recording {
	const char *name;
	bool compress; /* by this test */
	bool checked; /* checksums tell of each wrong byte */
	size_t known_at; /* bytes that are enough to know it as a recording */
} recordings[] = {
	{ "tarantool/variants/ljs1-ljm1-b4e6bf0d.bin", false, false, 4 },
	{ "tarantool/variants/ljs2-ljm3b-0243fb72.bin", false, false, 4 },
	/* zstd gives nothing before the whole block is there. */
	{ "tarantool/variants/ljs2-ljm3b-0243fb72.bin", true, true, SIZE_MAX },
	{ "session/version-1.ljm.zst", false, true, 12 },
	{ "session/hostile.ljm.zst", false, true, 12 },
};
enum { N_RECORDINGS = sizeof(recordings) / sizeof(*recordings) };

static struct blob load(const struct recording *r)
{
	struct blob s = blob__load(r->name), z = { 0 };

	if (!r->compress)
		return s;
	blob__zstd(&z, s.p, s.len);
	blob__exit(&s);
	return z;
}

/* A file in memory that is written again and again. */
static struct {
	int fd;
	char path[64];
} file;

/* Assertions write to a file: none where it is not one that fails. */
static void write_file(const uint8_t *p, size_t len)
{
	if (!file.fd)
		file.fd = memory_file(file.path, sizeof(file.path));
	if (ftruncate(file.fd, 0) || pwrite(file.fd, p, len, 0) != (ssize_t)len)
		ck_abort_msg("cannot write the file");
}

static struct output run_script(void)
{
	return run_here(cmd_script, "script", "--no-symbols", file.path, NULL);
}

static bool says(const struct strbuf *text, const char *word)
{
	return strstr(strbuf__str(text), word) != NULL;
}

static bool is_same(const struct strbuf *a, const struct strbuf *b)
{
	return a->len == b->len && (!a->len || !memcmp(a->buf, b->buf, a->len));
}

/* ---- cut ---- */

/* Each says what is wrong with the first N bytes, or NULL. */

/* A file too short to be known as a recording is refused: nothing is shown. */
static const char *check_refused(const struct output *o)
{
	if (o->status != EXIT_LJPERF)
		return "refused with another status";
	if (o->out.len)
		return "refused with output";
	return says(&o->err, "ljperf: '") ? NULL : "refused without a reason";
}

static const char *check_cut(const struct output *o)
{
	if (o->status != EXIT_LJPERF)
		return "cut without a status";
	return says(&o->err, ": truncated at offset ") ? NULL : "not said to be truncated";
}

static const char *check_script(const struct output *o, const struct output *whole)
{
	const char *why = check_cut(o);

	if (!why && (o->out.len > whole->out.len ||
		     memcmp(strbuf__str(&o->out), whole->out.buf, o->out.len) != 0))
		why = "what is shown is not the front of what was";
	return why;
}

static const char *check_forced(const struct output *forced, const struct output *report)
{
	if (forced->status)
		return "forced, and a status all the same";
	return is_same(&forced->out, &report->out) ? NULL : "forced, it shows something else";
}

static const char *check_info(const struct output *o)
{
	if (o->status != EXIT_LJPERF)
		return "info has another status";
	return says(&o->out, "complete : no, truncated at offset ") ? NULL : "info does not say so";
}

/* The front that is there now, through three commands. */
static const char *check_front(const struct output *whole, bool *shown)
{
	struct output script = run_script();
	struct output report = run_here(cmd_report, "report", "--no-symbols", file.path, NULL);
	struct output info = run_here(cmd_info, "info", file.path, NULL);
	struct output forced =
		run_here(cmd_report, "report", "-f", "--no-symbols", file.path, NULL);
	bool refused = !says(&script.err, "truncated");
	const char *why;

	if (refused) {
		why = *shown ? "refused, though less of it was not" : check_refused(&script);
		why = why ? why : check_refused(&report);
		why = why ? why : check_refused(&info);
		why = why ? why : check_refused(&forced);
	} else {
		*shown = true;
		why = check_script(&script, whole);
		why = why ? why : check_cut(&report);
		why = why ? why : check_info(&info);
		why = why ? why : check_forced(&forced, &report);
	}
	output__exit(&script);
	output__exit(&report);
	output__exit(&info);
	output__exit(&forced);
	return why;
}

START_TEST(cut_at_each_byte)
{
	const struct recording *r = &recordings[_i];
	struct blob s = load(r);
	struct output whole;
	bool shown = false;

	write_file(s.p, s.len);
	whole = run_script();
	ck_assert_int_eq(whole.status, 0);
	for (size_t n = 0; n < s.len; n++) {
		const char *why;

		write_file(s.p, n);
		why = check_front(&whole, &shown);
		if (why)
			ck_abort_msg("%zu bytes: %s", n, why);
		if (n >= r->known_at && !shown)
			ck_abort_msg("%zu bytes are not known as a recording", n);
	}
	output__exit(&whole);
	blob__exit(&s);
}
END_TEST

/* ---- wrong bits ---- */

static bool is_printable(const struct strbuf *text)
{
	for (size_t i = 0; i < text->len; i++) {
		unsigned char c = (unsigned char)text->buf[i];

		if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

/* Without checksums another bit is another recording, or none. */
static const char *check_turned(const struct recording *r, const struct output *o,
				const struct output *whole)
{
	if (!is_printable(&o->out) || !is_printable(&o->err))
		return "a byte that steers a terminal";
	if (o->status != 0 && o->status != EXIT_LJPERF)
		return "another status";
	if (!o->status)
		return !r->checked || is_same(&o->out, &whole->out) ? NULL : "it is shown as right";
	/* Flags and versions of a frame are not under its checksum: what seems to
	 * be newer is refused. */
	if (!o->err.len && !says(&o->out, "complete : no, "))
		return "no reason";
	if (o->err.len && o->out.len && !says(&o->err, "corrupt at offset ") &&
	    !says(&o->err, "truncated at offset ") && !says(&o->err, "this ljperf "))
		return "no place";
	return NULL;
}

typedef struct output (*run_fn)(void);

static struct output run_report(void)
{
	return run_here(cmd_report, "report", "-g", "--no-symbols", file.path, NULL);
}

static struct output run_info(void)
{
	return run_here(cmd_info, "info", file.path, NULL);
}

/* Every STEPth bit: with 7 one or two of each byte, each another one. */
static void turn_bits(const struct recording *r, run_fn run, size_t step)
{
	struct blob s = load(r);
	struct output whole, o;

	write_file(s.p, s.len);
	whole = run();
	for (size_t bit = 0; bit < s.len * 8; bit += step) {
		const char *why;

		s.p[bit / 8] ^= 1 << bit % 8;
		write_file(s.p, s.len);
		s.p[bit / 8] ^= 1 << bit % 8;
		o = run();
		why = check_turned(r, &o, &whole);
		if (why)
			ck_abort_msg("bit %zu of byte %zu: %s: %s", bit % 8, bit / 8, why,
				     strbuf__str(&o.err));
		output__exit(&o);
	}
	output__exit(&whole);
	blob__exit(&s);
}

START_TEST(each_bit_turned)
{
	turn_bits(&recordings[_i], run_script, 1);
}
END_TEST

START_TEST(each_byte_wrong)
{
	turn_bits(&recordings[_i], run_report, 7);
	turn_bits(&recordings[_i], run_info, 7);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("damage");
	TCase *t = tcase_create("damage");

	tcase_add_loop_test(t, cut_at_each_byte, 0, N_RECORDINGS);
	tcase_add_loop_test(t, each_bit_turned, 0, N_RECORDINGS);
	tcase_add_loop_test(t, each_byte_wrong, 0, N_RECORDINGS);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
