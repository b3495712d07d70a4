/* eh_frame.c - see eh_frame.h. */
#include "record/eh_frame.h"

#include <stdlib.h>
#include <string.h>

#include "formats/cursor.h"
#include "record/eh_program.h"
#include "util/grow.h"

/* How an address is encoded: what it is (low bits), and to what it is added. */
enum {
	PE_ABSPTR = 0x00,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_FORM = 0x0f,
	PE_PCREL = 0x10,
};

/* Longer ones are not believed, so that no file makes the collector search long. */
enum { KINDS_MAX = 16, PROGRAM_MAX = 65536 };

struct row {
	uint64_t start, end; /* addresses of the code */
	uint32_t at; /* of its entry, from the section's first byte */
};

struct eh_frame {
	const uint8_t *bytes;
	size_t len;
	uint64_t addr;
	struct row *rows; /* by start */
	size_t n_rows, cap_rows;
};

/* What many functions have in common (CIE). */
struct common {
	uint32_t at;
	bool usable;
	bool sized; /* functions have augmentation data, with its length before it */
	bool signal; /* a frame that a signal has made */
	uint8_t encoding; /* of addresses */
	struct eh_program program;
};

/* One function (FDE). */
struct function {
	uint64_t start, end;
	struct cursor program;
};

/* ---- entries ---- */

static struct cursor section_at(const struct eh_frame *t, size_t at)
{
	return cursor__of(t->bytes + at, t->len - at);
}

/* An address may be relative to where it is stored. */
static uint64_t read_address(const struct eh_frame *t, struct cursor *c, uint8_t encoding)
{
	uint64_t base = t->addr + (uint64_t)(c->p - t->bytes);

	if ((encoding & ~PE_FORM) == 0)
		base = 0;
	else if ((encoding & ~PE_FORM) != PE_PCREL)
		cursor__fail(c, CURSOR_BAD, c->p);
	switch (encoding & PE_FORM) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		return base + cursor__le64(c);
	case PE_UDATA4:
		return base + cursor__le32(c);
	case PE_SDATA4:
		return base + (uint64_t)(int64_t)(int32_t)cursor__le32(c);
	}
	cursor__fail(c, CURSOR_BAD, c->p);
	return 0;
}

/* Only its length matters: 4 or 8 bytes. */
static void skip_address(struct cursor *c, uint8_t encoding)
{
	unsigned form = encoding & PE_FORM;

	cursor__bytes(c, form == PE_UDATA4 || form == PE_SDATA4 ? 4 : 8);
	if (form != PE_ABSPTR && form != PE_UDATA4 && form != PE_UDATA8 && form != PE_SDATA4 &&
	    form != PE_SDATA8)
		cursor__fail(c, CURSOR_BAD, c->p);
}

/* The entry that begins at AT, behind its length; *END is where the next one
 * begins.  Entries of 4 GB and more are not believed. */
static struct cursor entry_at(const struct eh_frame *t, size_t at, size_t *end)
{
	struct cursor c = section_at(t, at);
	uint32_t len = cursor__le32(&c);
	const uint8_t *p = cursor__bytes(&c, len);

	*end = at + 4 + len;
	return p ? cursor__of(p, len) : c;
}

static void read_augmentation(struct common *m, struct cursor *c, const char *kinds)
{
	uint64_t len = cursor__uleb(c);
	const uint8_t *p = cursor__bytes(c, len);
	struct cursor data = cursor__of(p, p ? len : 0);

	for (; *kinds; kinds++) {
		switch (*kinds) {
		case 'L':
			cursor__u8(&data);
			break;
		case 'P':
			skip_address(&data, cursor__u8(&data));
			break;
		case 'R':
			m->encoding = cursor__u8(&data);
			break;
		case 'S':
			m->signal = true;
			break;
		default:
			cursor__fail(&data, CURSOR_BAD, data.p);
		}
	}
	if (data.status != CURSOR_OK)
		cursor__fail(c, CURSOR_BAD, c->p);
}

/* The letters that say what the augmentation data holds; NULL if they are wrong. */
static const char *read_kinds(struct cursor *c)
{
	size_t most = cursor__left(c) < KINDS_MAX ? cursor__left(c) : KINDS_MAX;
	const uint8_t *end = memchr(c->p, 0, most);

	return (const char *)cursor__bytes(c, end ? (uint64_t)(end - c->p) + 1 : UINT64_MAX);
}

static void read_common(const struct eh_frame *t, uint32_t at, struct common *m)
{
	const char *kinds;
	uint8_t version;
	size_t end;
	struct cursor c = entry_at(t, at, &end);

	*m = (struct common){ .at = at, .encoding = PE_ABSPTR };
	if (cursor__le32(&c) != 0)
		cursor__fail(&c, CURSOR_BAD, c.p);
	version = cursor__u8(&c);
	if (version != 1 && version != 3)
		cursor__fail(&c, CURSOR_BAD, c.p);
	kinds = read_kinds(&c);
	m->program.code_align = cursor__uleb(&c);
	m->program.data_align = cursor__sleb(&c);
	m->program.ra_reg = version == 1 ? cursor__u8(&c) : cursor__uleb(&c);
	m->sized = kinds && *kinds == 'z';
	if (m->sized)
		read_augmentation(m, &c, kinds + 1);
	else if (kinds && *kinds)
		cursor__fail(&c, CURSOR_BAD, c.p);
	m->usable = c.status == CURSOR_OK && cursor__left(&c) <= PROGRAM_MAX;
	m->program.common = c;
}

/* The function whose entry begins at AT, and what it refers to, which is in M
 * already when it was the same for the last one.  False if it cannot be used, or
 * is none. */
static bool read_function(const struct eh_frame *t, uint32_t at, struct common *m,
			  struct function *f)
{
	size_t end, id_at = (size_t)at + 4;
	struct cursor c = entry_at(t, at, &end);
	uint32_t back = cursor__le32(&c);

	if (c.status != CURSOR_OK || back == 0 || back > id_at)
		return false;
	if (m->at != id_at - back || !m->usable)
		read_common(t, (uint32_t)(id_at - back), m);
	if (!m->usable)
		return false;
	f->start = read_address(t, &c, m->encoding);
	f->end = f->start + read_address(t, &c, m->encoding & PE_FORM);
	if (m->sized)
		cursor__bytes(&c, cursor__uleb(&c));
	f->program = c;
	return c.status == CURSOR_OK && f->end > f->start && cursor__left(&c) <= PROGRAM_MAX;
}

/* ---- all functions of a file ---- */

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Up to the first entry that cannot be passed, or the one of length 0, which
 * ends the table. */
static int read_rows(struct eh_frame *t)
{
	struct common common = { 0 };
	struct function f;
	size_t at, end;

	for (at = 0; t->len - at > 8; at = end) {
		struct cursor c = entry_at(t, at, &end);

		if (c.status != CURSOR_OK || end == at + 4)
			break;
		if (!read_function(t, (uint32_t)at, &common, &f))
			continue;
		if (GROW(t->rows, t->cap_rows, t->n_rows))
			return -ENOMEM;
		t->rows[t->n_rows++] = (struct row){ f.start, f.end, (uint32_t)at };
	}
	if (t->n_rows)
		qsort(t->rows, t->n_rows, sizeof(*t->rows), compare_rows);
	return 0;
}

struct eh_frame *eh_frame__new(const uint8_t *bytes, size_t len, uint64_t addr)
{
	struct eh_frame *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->bytes = bytes;
	t->len = len < UINT32_MAX ? len : UINT32_MAX;
	t->addr = addr;
	if (read_rows(t)) {
		eh_frame__delete(t);
		return NULL;
	}
	return t;
}

void eh_frame__delete(struct eh_frame *t)
{
	if (!t)
		return;
	free(t->rows);
	free(t);
}

static const struct row *row_of(const struct eh_frame *t, uint64_t pc)
{
	size_t lo = 0, hi = t->n_rows;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->rows[mid].start <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && pc < t->rows[lo - 1].end ? &t->rows[lo - 1] : NULL;
}

struct eh_rule eh_frame__rule(const struct eh_frame *t, uint64_t pc)
{
	const struct row *row = row_of(t, pc);
	struct common common = { 0 };
	struct eh_rule r = { 0 };
	struct function f;

	if (row && read_function(t, row->at, &common, &f) && !common.signal) {
		common.program.own = f.program;
		r = eh_program__run(&common.program, f.start, pc);
	}
	return r;
}
