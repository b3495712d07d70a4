/* session_fields.c - the sections of HEADER and FOOTER frames, both ways.
 * Called by the session writer and reader.
 *
 * Each field is a section of its own, with an id that is never used again for
 * anything else.  A field that is unknown, empty or 0 is not written.
 *
 *   text    the bytes, without a NUL
 *   number  ULEB128
 *   signed  ULEB128 of (n << 1) ^ (n >> 63)
 *   list    { length, bytes }*
 *   index   number of bytes, then { offset, first event, ns }*, each as the
 *           difference to the entry before, one entry for each batch
 */
#include "formats/session_frame.h"

#include <errno.h>
#include <stdlib.h>

enum field_type {
	FIELD_TEXT,
	FIELD_NUMBER,
	FIELD_SIGNED,
	FIELD_BOOL,
	FIELD_ENUM,
	FIELD_LIST,
	FIELD_INDEX
};

struct field {
	uint64_t id;
	enum field_type type;
	size_t offset; /* in the struct of the frame */
};

#define HEADER(id, type, member) \
	{ \
		id, type, offsetof(struct session_header, member) \
	}
#define FOOTER(id, type, member) \
	{ \
		id, type, offsetof(struct session_footer_more, member) \
	}

static const struct field header_fields[] = {
	HEADER(1, FIELD_LIST, argv),
	HEADER(2, FIELD_TEXT, cwd),
	HEADER(3, FIELD_TEXT, hostname),
	HEADER(4, FIELD_TEXT, os_release),
	HEADER(5, FIELD_TEXT, arch),
	HEADER(6, FIELD_TEXT, ljperf_version),
	HEADER(7, FIELD_TEXT, backend),
	HEADER(8, FIELD_TEXT, backend_options),
	HEADER(9, FIELD_TEXT, vm_version),
	HEADER(10, FIELD_TEXT, vm_path),
	HEADER(11, FIELD_TEXT, vm_build_id),
	HEADER(12, FIELD_TEXT, vm_options),
	HEADER(13, FIELD_BOOL, vm_gc64),
	HEADER(14, FIELD_NUMBER, pid),
	HEADER(15, FIELD_NUMBER, ppid),
	HEADER(16, FIELD_NUMBER, tid),
	HEADER(17, FIELD_NUMBER, vm_number),
	HEADER(18, FIELD_TEXT, thread_name),
	HEADER(19, FIELD_NUMBER, start_mono_ns),
	HEADER(20, FIELD_NUMBER, start_wall_ns),
	HEADER(21, FIELD_NUMBER, heap_start),
	HEADER(22, FIELD_TEXT, recording),
};

static const struct field footer_fields[] = {
	FOOTER(1, FIELD_NUMBER, f.n_alloc),       FOOTER(2, FIELD_NUMBER, f.n_free),
	FOOTER(3, FIELD_NUMBER, f.n_realloc),     FOOTER(4, FIELD_NUMBER, f.bytes_new),
	FOOTER(5, FIELD_NUMBER, f.bytes_old),     FOOTER(6, FIELD_NUMBER, f.peak),
	FOOTER(7, FIELD_NUMBER, f.peak_event_no), FOOTER(8, FIELD_NUMBER, f.max_live_blocks),
	FOOTER(9, FIELD_NUMBER, f.lost),          FOOTER(10, FIELD_ENUM, f.end_kind),
	FOOTER(11, FIELD_SIGNED, f.end_code),     FOOTER(12, FIELD_NUMBER, f.duration_ns),
	FOOTER(13, FIELD_NUMBER, n_batches),      FOOTER(14, FIELD_INDEX, index_bytes),
};

#define N_ROWS(t) (sizeof(t) / sizeof((t)[0]))

/* ---- writing ---- */

static void put_list(struct bytes *b, const struct session_header *h)
{
	for (size_t i = 0; i < h->argc; i++)
		bytes__put_string(b, h->argv[i], strlen(h->argv[i]));
}

static void put_number(struct bytes *b, uint64_t v)
{
	if (v)
		bytes__put_uleb(b, v);
}

static void put_index(struct bytes *b, const struct session_footer_more *f)
{
	if (f->index)
		b->failed |= f->index->failed;
	if (!f->index || !f->index->len)
		return;
	bytes__put_uleb(b, f->index->len);
	bytes__put(b, f->index->p, f->index->len);
}

static void put_field(struct bytes *b, const struct field *row, const void *base)
{
	const char *at = (const char *)base + row->offset;

	switch (row->type) {
	case FIELD_TEXT: {
		const char *s = *(const char *const *)at;

		bytes__put(b, s, s ? strlen(s) : 0);
		break;
	}
	case FIELD_NUMBER:
		put_number(b, *(const uint64_t *)at);
		break;
	case FIELD_SIGNED: {
		int64_t n = *(const int *)at;

		put_number(b, (uint64_t)n << 1 ^ (uint64_t)(n >> 63));
		break;
	}
	case FIELD_BOOL:
		put_number(b, *(const bool *)at);
		break;
	case FIELD_ENUM:
		put_number(b, *(const enum session_end_kind *)at);
		break;
	case FIELD_LIST:
		put_list(b, base);
		break;
	case FIELD_INDEX:
		put_index(b, base);
		break;
	}
}

static void put_fields(struct bytes *b, const struct field *rows, size_t n, const void *base)
{
	struct bytes body = { 0 };

	for (size_t i = 0; i < n; i++) {
		body.len = 0;
		put_field(&body, &rows[i], base);
		if (body.len || body.failed)
			session_section__put(b, rows[i].id, &body);
	}
	bytes__exit(&body);
}

void session_header__put(struct bytes *b, const struct session_header *h)
{
	put_fields(b, header_fields, N_ROWS(header_fields), h);
}

void session_footer__put(struct bytes *b, const struct session_footer_more *f)
{
	put_fields(b, footer_fields, N_ROWS(footer_fields), f);
}

void session_index__put(struct bytes *b, const struct session_index_entry *e,
			struct session_index_entry *last)
{
	bytes__put_uleb(b, e->offset - last->offset);
	bytes__put_uleb(b, e->first_event - last->first_event);
	bytes__put_uleb(b, e->time_ns - last->time_ns);
	*last = *e;
}

/* ---- reading ---- */

/* A section of N bytes took at least N + 2 of the frame, an entry of a list at
 * least N + 1: the pool has room for each text and its NUL. */
static const char *copy_text(struct session_strings *s, const void *src, size_t n)
{
	char *dst = s->pool + s->used;

	if (n)
		memcpy(dst, src, n);
	dst[n] = '\0';
	s->used += n + 1;
	return dst;
}

enum { LIST_MAX = 1 << 20 };

static int get_list(struct cursor c, struct session_header *h, struct session_strings *s)
{
	struct cursor count = c;
	size_t n = 0, len;

	while (cursor__left(&count) && cursor__string(&count, &len))
		n++;
	if (count.status != CURSOR_OK || n > LIST_MAX)
		return -EBADMSG;
	s->argv = calloc(n + 1, sizeof(*s->argv));
	if (!s->argv)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *text = cursor__string(&c, &len);

		s->argv[i] = copy_text(s, text, len);
	}
	h->argv = s->argv;
	h->argc = n;
	return 0;
}

/* S is NULL for a frame without texts and lists. */
static int get_field(struct cursor c, const struct field *row, void *base,
		     struct session_strings *s)
{
	char *at = (char *)base + row->offset;
	uint64_t v;

	if (row->type == FIELD_TEXT) {
		*(const char **)at = copy_text(s, c.p, cursor__left(&c));
		return 0;
	}
	if (row->type == FIELD_LIST)
		return get_list(c, base, s);
	v = cursor__uleb(&c);
	if (c.status != CURSOR_OK)
		return -EBADMSG;
	if (row->type == FIELD_SIGNED)
		*(int *)at = (int)(int64_t)(v >> 1 ^ -(v & 1));
	else if (row->type == FIELD_BOOL)
		*(bool *)at = v != 0;
	else if (row->type == FIELD_ENUM)
		*(enum session_end_kind *)at = v <= SESSION_END_SIGNAL ? (enum session_end_kind)v
								       : SESSION_END_UNKNOWN;
	else
		*(uint64_t *)at = v;
	return 0;
}

/* Of a repeated section the first counts: the pool was measured for one. */
static int get_fields(struct cursor c, const struct field *rows, size_t n, void *base,
		      struct session_strings *s)
{
	uint64_t id, seen = 0;
	struct cursor body;
	int rc = 0;

	while (session_section__next(&c, &id, &body)) {
		for (size_t i = 0; i < n; i++) {
			int err = 0;

			if (rows[i].id == id && !(seen >> i & 1)) {
				seen |= (uint64_t)1 << i;
				err = get_field(body, &rows[i], base, s);
			}
			if (err == -ENOMEM)
				return err;
			if (err)
				rc = err;
		}
	}
	return c.status == CURSOR_OK ? rc : -EBADMSG;
}

int session_header__get(struct cursor c, struct session_header *h, struct session_strings *s)
{
	*h = (struct session_header){ 0 };
	*s = (struct session_strings){ .pool = malloc(cursor__left(&c) + 1) };
	if (!s->pool)
		return -ENOMEM;
	return get_fields(c, header_fields, N_ROWS(header_fields), h, s);
}

int session_footer__get(struct cursor c, struct session_footer_more *f)
{
	*f = (struct session_footer_more){ 0 };
	return get_fields(c, footer_fields, N_ROWS(footer_fields), f, NULL);
}
