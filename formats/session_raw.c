/* session_raw.c - reads raw streams, plain and compressed with zstd.  Called
 * by session_reader__run().
 *
 * The stream passes through one window.  It grows only when it is full of one
 * item (a long string), so never above what has arrived.
 */
#include "formats/session_reader.h"
#include "util/error.h"

#include <errno.h>
#include <stdlib.h>

enum {
	WINDOW_LOG_MAX = 27,
	FIRST_HINT = 5,
	BOMB_WINDOW = 32 << 20,
	BOMB_RATIO = 1000,
	TRAILING_MAX = 64 << 20, /* of what is decompressed only to be counted */
};

/* A symbol with the longest string, and a window that is twice too large. */
#define WINDOW_MAX (2 * (size_t)CURSOR_STRING_MAX + LJM_TRIAL_BYTES)

struct raw {
	struct session_reader *r;
	uint8_t *buf;
	size_t pos, len, cap; /* the window is pos..len */
	bool eof;
	ZSTD_DCtx *dctx; /* NULL: plain */
	bool in_frame; /* a zstd frame has begun */
	uint64_t n_frames; /* that have ended, with a right checksum */
	size_t hint; /* bytes the decoder would like to have */
	bool bad_zstd;
};

/* ---- sources ---- */

/* As input__read(), decompressed.  Damage and a cut end the stream, and are
 * told when the parser has seen everything before them.  The decoder gets one
 * block at a time: an error drops what the same call had decoded before. */
static int64_t read_zstd(struct raw *w, void *dst, size_t n)
{
	struct input *in = &w->r->in;

	while (!w->bad_zstd) {
		ZSTD_inBuffer src;
		ZSTD_outBuffer out = { dst, n, 0 };
		size_t left, avail = input__need(in, 1);

		if (avail == 0 && !w->in_frame)
			return in->error;
		src = (ZSTD_inBuffer){ in->p, avail < w->hint ? avail : w->hint, 0 };
		left = ZSTD_decompressStream(w->dctx, &out, &src);
		if (ZSTD_isError(left)) {
			w->bad_zstd = true;
			break;
		}
		w->in_frame = left != 0;
		w->n_frames += left == 0;
		w->hint = left ? left : FIRST_HINT;
		if (src.pos)
			input__advance(in, src.pos);
		if (out.pos)
			return (int64_t)out.pos;
		if (avail == 0)
			return in->error;
	}
	return 0;
}

static int64_t read_source(struct raw *w, void *dst, size_t n)
{
	return w->dctx ? read_zstd(w, dst, n) : input__read(&w->r->in, dst, n);
}

/* ---- the window ---- */

static int grow(struct raw *w)
{
	size_t cap = w->cap ? w->cap * 2 : LJM_TRIAL_BYTES;
	uint8_t *buf = cap > WINDOW_MAX ? NULL : realloc(w->buf, cap);

	if (!buf)
		return err__errno(ENOMEM, "cannot read '%s'", w->r->name);
	w->buf = buf;
	w->cap = cap;
	return 0;
}

/* One more read; 0 when the window has grown or the stream has ended. */
static int fill(struct raw *w)
{
	int64_t got;

	if (w->pos) {
		memmove(w->buf, w->buf + w->pos, w->len - w->pos);
		w->len -= w->pos;
		w->pos = 0;
	}
	if (w->len == w->cap) {
		int err = grow(w);

		if (err)
			return err;
	}
	got = read_source(w, w->buf + w->len, w->cap - w->len);
	if (got < 0)
		return session_reader__input_error(w->r);
	if (got == 0)
		w->eof = true;
	w->len += (size_t)got;
	return 0;
}

static int fill_for_trial(struct raw *w)
{
	int err = 0;

	while (!err && !w->eof && w->len - w->pos < LJM_TRIAL_BYTES)
		err = fill(w);
	return err;
}

/* A string that claims more than a file still has is not waited for. */
static bool is_hopeless(const struct raw *w)
{
	uint64_t have = w->len - w->pos, need = w->r->parser.need, left;

	if (w->dctx || need <= w->cap)
		return false;
	left = input__remaining(&w->r->in);
	return left != UINT64_MAX && need - have > left;
}

/* A string that fills a large window and still goes on, of a file that has next
 * to nothing of it: texts are compressed to a hundredth, not to a thousandth. */
static bool is_bomb(const struct raw *w)
{
	return w->dctx && w->pos == 0 && w->len == w->cap && w->cap >= BOMB_WINDOW &&
	       w->cap / BOMB_RATIO > w->r->in.offset;
}

/* ---- endings ---- */

static int cut(struct raw *w)
{
	struct session_reader *r = w->r;
	uint64_t offset = r->parser.offset + (w->len - w->pos);

	/* Not even one header: whatever this is, it is no recording. */
	if (r->parser.phase == LJM_IN_LJS_HEADER && offset < 4)
		return session_reader__refuse(r, -EBADMSG,
					      w->bad_zstd ? "damaged zstd frame, nothing to read"
							  : "too short to be a recording");
	if (!w->eof)
		offset += input__remaining(&r->in);
	if (w->bad_zstd)
		session_reader__note(r, SESSION_CORRUPT, offset,
				     "corrupt at offset %llu: damaged zstd frame",
				     (unsigned long long)offset);
	else
		session_reader__note(r, SESSION_TRUNCATED, offset,
				     "truncated at offset %llu: no end of the stream",
				     (unsigned long long)offset);
	return 0;
}

static int bomb(struct raw *w)
{
	uint64_t offset = w->r->parser.offset;

	session_reader__note(w->r, SESSION_CORRUPT, offset,
			     "corrupt at offset %llu: a string of more than %zu bytes in %llu of "
			     "the file",
			     (unsigned long long)offset, w->cap,
			     (unsigned long long)w->r->in.offset);
	return 0;
}

static int corrupt(struct raw *w)
{
	const struct ljm_parser *ps = &w->r->parser;

	session_reader__note(w->r, SESSION_CORRUPT, ps->bad_offset, "corrupt at offset %llu: %s",
			     (unsigned long long)ps->bad_offset, ps->why);
	return 0;
}

/* The frame that the end of the stream is in: its checksum, which tells whether
 * all before was right, is missing or wrong. */
static int unchecked(struct raw *w)
{
	if (w->bad_zstd)
		session_reader__note(w->r, SESSION_CORRUPT, w->r->parser.offset,
				     "corrupt at offset %llu: damaged zstd frame",
				     (unsigned long long)w->r->parser.offset);
	else
		session_reader__note(w->r, SESSION_TRUNCATED, w->r->parser.offset,
				     "truncated at offset %llu: no end of the zstd frame",
				     (unsigned long long)w->r->parser.offset);
	return 0;
}

/* Bytes behind the end are no part of the stream; a pipe is read empty, so
 * that its writer does not fail. */
static int end(struct raw *w)
{
	uint64_t trailing = 0, last_frame = w->n_frames;
	bool open = w->in_frame;

	do {
		trailing += w->len - w->pos;
		w->pos = w->len;
		if (!w->eof) {
			int err = fill(w);

			if (err)
				return err;
		}
	} while ((!w->eof || w->pos != w->len) && (!w->dctx || trailing < TRAILING_MAX));
	if (open && w->n_frames == last_frame && w->eof)
		return unchecked(w);
	if (trailing || w->bad_zstd)
		session_reader__note(w->r, SESSION_COMPLETE, w->r->parser.offset,
				     "%s%llu bytes after the end are ignored%s",
				     w->eof ? "" : "more than ", (unsigned long long)trailing,
				     w->bad_zstd ? ", and what follows is no zstd frame" : "");
	return 0;
}

static int run(struct raw *w)
{
	struct ljm_parser *ps = &w->r->parser;
	bool full = false;

	for (;;) {
		size_t used;
		enum ljm_status status = ljm_parser__run(ps, w->buf + w->pos, w->len - w->pos,
							 full || w->eof, &used);
		int err = 0;

		w->pos += used;
		full = false;
		switch (status) {
		case LJM_MORE:
			if (w->eof || is_hopeless(w))
				return cut(w);
			if (is_bomb(w))
				return bomb(w);
			err = fill(w);
			break;
		case LJM_TRIAL:
			err = fill_for_trial(w);
			full = true;
			break;
		case LJM_END_SEEN:
			return end(w);
		case LJM_CORRUPT:
			return corrupt(w);
		case LJM_REFUSED:
			return session_reader__refuse(w->r, -ENOTSUP, ps->why);
		case LJM_HANDLER:
			return ps->rc;
		case LJM_STOP: /* stop_at is not set here */
			break;
		}
		if (err)
			return err;
	}
}

static int tell_symbol(void *ctx, struct ljm_symbol *sym)
{
	struct session_reader *r = ctx;

	return r->h.symbol(r->ctx, sym);
}

int session_reader__run_raw(struct session_reader *r, bool zstd)
{
	struct raw w = { .r = r };
	int rc;

	if (zstd) {
		w.hint = FIRST_HINT;
		w.dctx = ZSTD_createDCtx();
		if (!w.dctx)
			return err__errno(ENOMEM, "cannot read '%s'", r->name);
		ZSTD_DCtx_setParameter(w.dctx, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	}
	r->parser.symbol = tell_symbol;
	r->parser.ctx = r;
	r->parser.event = r->h.event;
	r->parser.event_ctx = r->ctx;
	rc = grow(&w);
	if (!rc)
		rc = run(&w);
	ZSTD_freeDCtx(w.dctx);
	free(w.buf);
	return rc;
}
