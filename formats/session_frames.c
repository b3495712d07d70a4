/* session_frames.c - finds the frames of a session file.  Called by
 * session_reader__run(); the grammar stands in session_read.c.
 *
 * After damage the next frame of ours is looked for by its magic and
 * signature: no length that may be damaged is believed.
 */
#include "formats/session_reader.h"
#include "util/error.h"

#include <errno.h>

/* A damaged size must not make us wait for gigabytes. */
#define FRAME_MAX (SESSION_FRAME_FIXED + ZFRAME_SIZE_MAX)

/* The state of one pass over the frames. */
struct pass {
	struct session_reader *r;
	bool drop_data; /* the next DATA belongs to a batch that was read before */
	bool seen_batch;
};

static unsigned long long ull(uint64_t n)
{
	return n;
}

/* ---- finding frames ---- */

static bool is_our_frame(const uint8_t *p, size_t len)
{
	struct cursor c = cursor__of(p, len);
	bool magic = cursor__le32(&c) == SESSION_FRAME_MAGIC;
	const uint8_t *sig;

	cursor__bytes(&c, 4);
	sig = cursor__bytes(&c, 4);
	return magic && sig && memcmp(sig, SESSION_SIGNATURE, 4) == 0;
}

/* Offset of the next frame of ours in the LEN bytes at P, from FROM on; LEN
 * when there is none. */
static size_t find_frame(const uint8_t *p, size_t len, size_t from)
{
	while (from < len) {
		const uint8_t *q = memchr(p + from, SESSION_FRAME_MAGIC & 0xff, len - from);

		if (!q)
			break;
		from = (size_t)(q - p);
		if (is_our_frame(q, len - from))
			return from;
		from++;
	}
	return len;
}

/* Passes everything up to the next frame of ours, behind the byte that is
 * first now.  At the end of the input nothing is left. */
static void resync(struct session_reader *r)
{
	enum { STEP = 64 << 10, OVERLAP = SESSION_FRAME_PRELUDE + 3 };
	struct input *in = &r->in;

	input__advance(in, in->avail ? 1 : 0);
	for (;;) {
		size_t n = input__need(in, STEP), at = find_frame(in->p, n, 0);

		if (at < n) {
			input__advance(in, at);
			return;
		}
		if (in->eof) {
			input__advance(in, n);
			return;
		}
		/* The frame may begin in the last bytes. */
		input__advance(in, n - OVERLAP);
	}
}

/* Whether a frame, or the end, is N bytes ahead: then N is to be believed. */
static bool frame_follows(struct session_reader *r, size_t n)
{
	size_t have = input__need(&r->in, n + 4);
	struct cursor c = cursor__of(r->in.p, have);
	uint32_t magic;

	if (have == n)
		return true;
	cursor__bytes(&c, n);
	magic = cursor__le32(&c);
	return c.status == CURSOR_OK &&
	       (magic == ZFRAME_MAGIC || (magic & ~0xfu) == ZFRAME_SKIPPABLE_MAGIC);
}

/* ---- data frames ---- */

static void data_damaged(struct session_reader *r, uint64_t offset, const char *how)
{
	if (r->has_side)
		session_reader__note(
			r, SESSION_CORRUPT, offset,
			"corrupt at offset %llu: %s, batch %llu of %llu events is lost",
			ull(offset), how, ull(r->side.batch.number), ull(r->side.batch.n_events));
	else
		session_reader__note(r, SESSION_CORRUPT, offset,
				     "corrupt at offset %llu: %s, a batch is lost", ull(offset),
				     how);
	session_reader__lose_batches(r, 1);
	resync(r);
}

/* A length inside the frame may be damaged and reach behind the end of the
 * file: then a frame of ours is to be seen in what seems to be this one. */
static int data_cut(struct session_reader *r, uint64_t offset, size_t size)
{
	int err;

	if (find_frame(r->in.p, size, 1) < size) {
		data_damaged(r, offset, "damaged data frame");
		return 0;
	}
	err = zbuf__decode(&r->data_buf, r->in.p, size, ZFRAME_CONTENT_MAX, true);
	input__advance(&r->in, size);
	if (err == -ENOMEM)
		return err__errno(ENOMEM, "cannot read '%s'", r->name);
	if (err) {
		session_reader__corrupt(r, offset, "damaged data frame");
		return 0;
	}
	session_reader__note(r, SESSION_TRUNCATED, r->in.offset,
			     "truncated at offset %llu: inside a batch", ull(r->in.offset));
	return session_reader__tell_batch(r, offset, true);
}

static int data_whole(struct session_reader *r, uint64_t offset, const struct zframe *f)
{
	int err = -EBADMSG;

	if (f->has_content && f->has_checksum)
		err = zbuf__decode(&r->data_buf, r->in.p, f->size, ZFRAME_CONTENT_MAX, false);
	if (err == -ENOMEM)
		return err__errno(ENOMEM, "cannot read '%s'", r->name);
	if (err) {
		data_damaged(r, offset, "damaged data frame");
		return 0;
	}
	input__advance(&r->in, f->size);
	return session_reader__tell_batch(r, offset, false);
}

static int read_data(struct pass *p)
{
	struct session_reader *r = p->r;
	uint64_t offset = r->in.offset;
	struct zframe f;
	enum zframe_status status = zframe__walk(&r->in, &f);
	int rc = 0;

	p->seen_batch = true;
	if (p->drop_data) {
		p->drop_data = false;
		resync(r);
		return 0;
	}
	if (!r->has_side)
		session_reader__corrupt(r, offset, "data frame without a side frame");
	if (status == ZFRAME_OK)
		rc = data_whole(r, offset, &f);
	else if (status == ZFRAME_CUT)
		rc = data_cut(r, offset, f.size);
	else
		data_damaged(r, offset, "damaged data frame");
	r->has_side = false;
	r->next_batch++;
	return rc;
}

/* ---- skippable frames ---- */

/* The SIDE that was read before has no DATA. */
static void drop_side(struct session_reader *r, uint64_t offset)
{
	if (!r->has_side)
		return;
	session_reader__corrupt(r, offset, "side frame without its data frame before this");
	session_reader__lose_batches(r, 1);
	r->has_side = false;
	r->next_batch++;
}

static void expect_batch(struct session_reader *r, uint64_t offset, uint64_t number)
{
	if (number > r->next_batch) {
		uint64_t n = number - r->next_batch;

		session_reader__note(r, SESSION_CORRUPT, offset,
				     "corrupt at offset %llu: %llu batches are missing before it",
				     ull(offset), ull(n));
		session_reader__lose_batches(r, n);
	}
	r->next_batch = number;
}

/* A file begins with its header; what was said before about that is enough. */
static void expect_header(struct pass *p, uint64_t offset)
{
	if (!p->r->info.has_header && !p->seen_batch)
		session_reader__corrupt(p->r, offset, "no header frame before this");
}

static int read_header(struct pass *p, struct cursor c, uint64_t offset)
{
	struct session_reader *r = p->r;
	struct session_header h;
	int err;

	if (r->info.has_header || p->seen_batch) {
		session_reader__corrupt(r, offset, "header frame in a wrong place");
		return 0;
	}
	err = session_header__get(c, &h, &r->strings);
	if (err == -ENOMEM)
		return err__errno(ENOMEM, "cannot read '%s'", r->name);
	if (err)
		session_reader__corrupt(r, offset, "wrong section in the header");
	h.version = SESSION_VERSION;
	r->info.has_header = true;
	return r->h.header(r->ctx, &h);
}

static int read_side(struct pass *p, struct cursor c, uint64_t offset)
{
	struct session_reader *r = p->r;

	expect_header(p, offset);
	p->seen_batch = true;
	p->drop_data = false;
	if (side_reader__init(&r->side, c)) {
		session_reader__corrupt(r, offset, "wrong section in a side frame");
		return 0;
	}
	if (r->side.batch.number < r->next_batch) {
		session_reader__corrupt(r, offset, "batch out of order");
		p->drop_data = true;
		return 0;
	}
	expect_batch(r, offset, r->side.batch.number);
	r->has_side = true;
	return 0;
}

static void check_footer(struct session_reader *r, const struct session_footer *f, uint64_t offset)
{
	uint64_t n = session_reader__add(session_reader__add(f->n_alloc, f->n_free), f->n_realloc);

	if (r->info.state == SESSION_COMPLETE && n != r->parser.n_events)
		session_reader__note(
			r, SESSION_CORRUPT, offset,
			"corrupt at offset %llu: the footer counts %llu events, not %llu",
			ull(offset), ull(n), ull(r->parser.n_events));
}

static int read_footer(struct pass *p, struct cursor c, uint64_t offset)
{
	struct session_reader *r = p->r;
	struct session_footer_more more;

	expect_header(p, offset);
	if (session_footer__get(c, &more))
		session_reader__corrupt(r, offset, "wrong section in the footer");
	if (more.n_batches > r->next_batch)
		expect_batch(r, offset, more.n_batches);
	check_footer(r, &more.f, offset);
	r->info.has_footer = true;
	return r->h.footer(r->ctx, &more.f);
}

static const struct frame_ops {
	const char *damaged;
	uint64_t most; /* bytes of its sections */
	int (*read)(struct pass *p, struct cursor c, uint64_t offset);
} frame_ops[] = {
	[SESSION_HEADER] = { "damaged header frame", SESSION_HEADER_MAX, read_header },
	[SESSION_SIDE] = { "damaged side frame", SESSION_SIDE_MAX, read_side },
	[SESSION_FOOTER] = { "damaged footer frame", SESSION_FOOTER_MAX, read_footer },
};

/* What a reader must not go on without.  C is behind the signature. */
static int check_flags(struct session_reader *r, struct cursor *c, uint16_t *version,
		       uint16_t *kind)
{
	uint32_t required;

	*version = cursor__le16(c);
	*kind = cursor__le16(c);
	required = cursor__le32(c);
	cursor__le32(c); /* optional flags: none is known */
	if (*version > SESSION_VERSION)
		return err__set(-ENOTSUP,
				"'%s': session file version %u is newer than this ljperf knows",
				r->name, *version);
	if (required & ~SESSION_FLAGS_KNOWN)
		return err__set(-ENOTSUP,
				"'%s': needs features (flags 0x%x) that this ljperf does not know",
				r->name, (unsigned)(required & ~SESSION_FLAGS_KNOWN));
	return 0;
}

static int frame_damaged(struct session_reader *r, const char *how, size_t size)
{
	session_reader__corrupt(r, r->in.offset, how);
	if (frame_follows(r, size))
		input__advance(&r->in, size);
	else
		resync(r);
	return 0;
}

/* A whole frame of ours, of SIZE bytes, at the front. */
static int read_sections(struct pass *p, uint16_t kind, size_t size)
{
	enum { FIXED = SESSION_FRAME_PRELUDE + SESSION_FRAME_FIXED };
	struct session_reader *r = p->r;
	uint64_t offset = r->in.offset;
	const struct frame_ops *ops =
		kind < sizeof(frame_ops) / sizeof(*frame_ops) ? &frame_ops[kind] : NULL;
	int err;

	if (!ops || !ops->read) {
		input__advance(&r->in, size);
		return 0;
	}
	/* The sections of a SIDE that has no DATA are overwritten here. */
	drop_side(r, offset);
	zbuf__shrink(&r->data_buf);
	err = zbuf__decode(&r->side_buf, r->in.p + FIXED, size - FIXED, ops->most, false);
	if (err == -ENOMEM)
		return err__errno(ENOMEM, "cannot read '%s'", r->name);
	if (err || !session_kind__check(cursor__of(r->side_buf.p, r->side_buf.len),
					(enum session_frame_kind)kind))
		return frame_damaged(r, ops->damaged, size);
	input__advance(&r->in, size);
	return ops->read(p, cursor__of(r->side_buf.p, r->side_buf.len), offset);
}

/* The input ends inside a frame of ours that seems to have SIZE bytes. */
static int frame_cut(struct session_reader *r)
{
	if (find_frame(r->in.p, r->in.avail, 1) < r->in.avail) {
		session_reader__corrupt(r, r->in.offset, "wrong length of a frame");
		resync(r);
		return 0;
	}
	input__advance(&r->in, r->in.avail);
	return 0;
}

static int read_our_frame(struct pass *p)
{
	enum { FIXED = SESSION_FRAME_PRELUDE + SESSION_FRAME_FIXED };
	struct session_reader *r = p->r;
	struct input *in = &r->in;
	struct cursor c = cursor__of(in->p, input__need(in, FIXED));
	uint64_t size;
	uint16_t version, kind;
	int err;

	c = cursor__of(in->p, in->avail);
	cursor__le32(&c);
	size = cursor__le32(&c);
	cursor__bytes(&c, 4);
	if (in->avail < FIXED)
		return frame_cut(r);
	err = check_flags(r, &c, &version, &kind);
	if (err)
		return err;
	if (version == 0 || size < SESSION_FRAME_FIXED || size > FRAME_MAX) {
		session_reader__corrupt(r, in->offset, "wrong version or length of a frame");
		resync(r);
		return 0;
	}
	size += SESSION_FRAME_PRELUDE;
	if (input__need(in, size) < size)
		return frame_cut(r);
	return read_sections(p, kind, size);
}

static int read_foreign_frame(struct session_reader *r)
{
	struct cursor c = cursor__of(r->in.p, r->in.avail);

	cursor__le32(&c);
	input__skip(&r->in, (uint64_t)SESSION_FRAME_PRELUDE + cursor__le32(&c));
	return 0;
}

/* ---- the file ---- */

/* One frame.  1 when nothing may follow any more. */
static int read_frame(struct pass *p)
{
	struct session_reader *r = p->r;
	size_t n = input__need(&r->in, SESSION_FRAME_PRELUDE + 4);
	struct cursor c = cursor__of(r->in.p, n);
	uint32_t magic = cursor__le32(&c);
	bool skippable = (magic & ~0xfu) == ZFRAME_SKIPPABLE_MAGIC;
	bool ours = is_our_frame(r->in.p, n);

	if (r->info.has_footer && (ours || !skippable)) {
		session_reader__corrupt(r, r->in.offset, "something stands behind the footer");
		return 1;
	}
	if (ours)
		return read_our_frame(p);
	/* Too short for what it begins with: a cut, told by the missing footer. */
	if (n < SESSION_FRAME_PRELUDE + 4 && (n < 4 || magic == SESSION_FRAME_MAGIC)) {
		input__advance(&r->in, n);
		return 0;
	}
	if (skippable)
		return read_foreign_frame(r);
	if (magic == ZFRAME_MAGIC)
		return read_data(p);
	session_reader__corrupt(r, r->in.offset, "no frame begins here");
	resync(r);
	return 0;
}

static void check_end(struct session_reader *r)
{
	uint64_t offset = r->in.offset;

	if (!r->info.has_footer)
		session_reader__note(r, SESSION_TRUNCATED, offset,
				     "truncated at offset %llu: no footer", ull(offset));
	else if (r->parser.phase != LJM_AT_END)
		session_reader__corrupt(r, offset, "the stream has no end");
}

int session_reader__run_frames(struct session_reader *r)
{
	struct pass p = { .r = r };
	int rc = 0;

	r->parser.symbol = session_reader__tell_symbol;
	r->parser.ctx = r;
	r->parser.event = r->h.event;
	r->parser.event_ctx = r->ctx;
	r->parser.next_vmstate = session_reader__next_vmstate;
	while (rc == 0 && input__need(&r->in, 1))
		rc = read_frame(&p);
	if (rc < 0)
		return rc;
	rc = session_reader__input_error(r);
	if (!rc)
		check_end(r);
	return rc;
}
