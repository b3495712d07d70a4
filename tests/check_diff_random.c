/* check_diff_random.c - diff of random sessions with call stacks, against a list of
 * stacks that is kept beside them.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "ljperf.h"
#include "tests/lib_calls.h"
#include "tests/lib_suite.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct calls recs[2];
static size_t n_recs;

enum { N_FUNCS = 5, N_LINES = 3, N_NODES = 40, N_EVENTS = 200, N_STACKS = 2 * (N_NODES + 1) };

/* What a recording should say: bytes by the text of a stack, of rows in front. */
struct model {
	struct {
		struct strbuf text;
		int64_t bytes[2];
	} at[2 * N_FUNCS * N_LINES + N_STACKS * 2];
	size_t n;
};

static uint64_t rnd_state;

/* xorshift64* */
static uint64_t rnd(uint64_t below)
{
	rnd_state ^= rnd_state >> 12;
	rnd_state ^= rnd_state << 25;
	rnd_state ^= rnd_state >> 27;
	return (rnd_state * 0x2545f4914f6cdd1d >> 32) % below;
}

static void model__add(struct model *m, const char *text, int side, int64_t bytes)
{
	size_t i;

	for (i = 0; i < m->n && strcmp(strbuf__str(&m->at[i].text), text); i++)
		;
	ck_assert_uint_lt(i, COUNT(m->at));
	if (i == m->n) {
		strbuf__addstr(&m->at[m->n].text, text);
		m->n++;
	}
	m->at[i].bytes[side] += bytes;
}

struct random_node {
	uint64_t id, func, line;
	struct strbuf caller; /* the frames above it, in both orders */
	struct strbuf callee;
};

static uint64_t func_line(uint64_t func, uint64_t line)
{
	return 10 * func + line + 2;
}

static void model__event(struct model *m, const struct random_node *n, bool caller, int side,
			 uint64_t bytes)
{
	char row[64];

	snprintf(row, sizeof(row), "row f%d  app.lua:%d", (int)n->func,
		 (int)func_line(n->func, n->line));
	model__add(m, row, side, (int64_t)bytes);
	model__add(m, strbuf__str(caller ? &n->caller : &n->callee), side, (int64_t)bytes);
}

static void random_node__make(struct random_node *n, const struct random_node *parent)
{
	char frame[64];

	n->func = rnd(N_FUNCS);
	n->line = rnd(N_LINES);
	snprintf(frame, sizeof(frame), "f%d app.lua:%d", (int)n->func,
		 (int)func_line(n->func, n->line));
	strbuf__addstr(&n->callee, frame);
	if (parent) {
		strbuf__addf(&n->callee, ";%s", strbuf__str(&parent->callee));
		strbuf__addf(&n->caller, "%s;", strbuf__str(&parent->caller));
	}
	strbuf__addstr(&n->caller, frame);
}

static const char *random_recording(struct model *m, bool caller, int side)
{
	struct random_node nodes[N_NODES] = { { .id = 0 } };
	struct calls *c = &recs[n_recs++];
	uint64_t at = 0x1000 * (1 + rnd(100)), i, parent, bytes;

	calls__begin(c, 0, 1);
	for (i = 0; i < N_FUNCS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%d", (int)i);
		calls__func(c, at + 0x100 * i, "@app.lua", func_line(i, 0), name);
	}
	for (i = 0; i < N_NODES; i++) {
		struct random_node *n = &nodes[i];
		struct ljm_loc loc;

		parent = rnd(i + 1); /* 0: none */
		random_node__make(n, parent ? &nodes[parent - 1] : NULL);
		loc = loc_lua(at + 0x100 * n->func, func_line(n->func, n->line));
		n->id = calls__node(c, parent, loc);
	}
	for (i = 0; i < N_EVENTS; i++) {
		const struct random_node *n = &nodes[rnd(N_NODES)];

		bytes = rnd(4) ? rnd(100) : rnd(UINT64_C(1) << 31) << 8;
		calls__alloc(c, loc_lua(at + 0x100 * n->func, func_line(n->func, n->line)),
			     0x10 + 0x10 * i, bytes, n->id);
		model__event(m, n, caller, side, bytes);
	}
	for (i = 0; i < N_NODES; i++) {
		strbuf__exit(&nodes[i].caller);
		strbuf__exit(&nodes[i].callee);
	}
	return calls__end(c, 1000);
}

static int cmp_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a text, sorted. */
static char *sorted(const char *text)
{
	char *copy = strdup(text), *rest = copy, *lines[4 * N_STACKS], *line;
	struct strbuf out = STRBUF_INIT;
	size_t n = 0, i;

	while ((line = strsep(&rest, "\n")))
		if (*line) {
			ck_assert_uint_lt(n, COUNT(lines));
			lines[n++] = line;
		}
	qsort(lines, n, sizeof(*lines), cmp_lines);
	for (i = 0; i < n; i++)
		strbuf__addf(&out, "%s\n", lines[i]);
	free(copy);
	return out.buf;
}

/* "BASELINE\tDELTA\tPERCENT\tALLOCS\tMARK\tSYMBOL" becomes "DELTA row SYMBOL". */
static char *told(const char *text)
{
	char *copy = strdup(text), *rest = copy, *line, *cell[6], *lines;
	struct strbuf out = STRBUF_INIT;
	size_t i;

	while ((line = strsep(&rest, "\n"))) {
		if (!strchr(line, '\t')) {
			strbuf__addf(&out, "%s\n", line);
			continue;
		}
		for (i = 0; i < 6; i++)
			cell[i] = strsep(&line, "\t");
		strbuf__addf(&out, "%s row %s\n", cell[1], cell[5]);
	}
	lines = sorted(strbuf__str(&out));
	strbuf__exit(&out);
	free(copy);
	return lines;
}

static char *model__text(const struct model *m, int sign)
{
	struct strbuf out = STRBUF_INIT;
	char *lines;
	size_t i;

	for (i = 0; i < m->n; i++) {
		int64_t delta = sign * (m->at[i].bytes[1] - m->at[i].bytes[0]);

		strbuf__addf(&out, delta ? "%+lld %s\n" : "%lld %s\n", (long long)delta,
			     strbuf__str(&m->at[i].text));
	}
	lines = sorted(strbuf__str(&out));
	strbuf__exit(&out);
	return lines;
}

/* The first line that differs is enough to see, and the whole would be too long. */
static void assert_same(const char *got, const char *want)
{
	size_t i = 0, line = 0;

	for (; got[i] && got[i] == want[i]; i++)
		if (got[i] == '\n')
			line = i + 1;
	if (got[i] != want[i])
		ck_abort_msg("got '%.200s', wanted '%.200s'", got + line, want + line);
}

static void assert_model(const struct model *m, bool caller, const char *a, const char *b, int sign)
{
	struct output o = run_command(cmd_diff, "diff", "-q", "-a", "-t", "\t", "-s", "symbol",
				      "-g", caller ? "folded,caller" : "folded", a, b, NULL);
	char *want = model__text(m, sign), *got = told(strbuf__str(&o.out));

	ck_assert_str_eq(strbuf__str(&o.err), "");
	assert_same(got, want);
	free(want);
	free(got);
	output__exit(&o);
}

/* Every stack of both sides has its change, rows are the sums of theirs, and the
 * other way round every change is the opposite. */
START_TEST(test_random)
{
	struct model m = { .n = 0 };
	bool caller = _i % 2;
	const char *a, *b;
	size_t i;

	rnd_state = 0x9e3779b97f4a7c15 * (uint64_t)(_i + 1);
	a = random_recording(&m, caller, 0);
	b = random_recording(&m, caller, 1);
	assert_model(&m, caller, a, b, 1);
	assert_model(&m, caller, b, a, -1);
	for (i = 0; i < m.n; i++)
		strbuf__exit(&m.at[i].text);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("diff of random stacks");
	TCase *c = tcase_create("random");

	tcase_add_loop_test(c, test_random, 0, 20);
	suite_add_tcase(s, c);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
