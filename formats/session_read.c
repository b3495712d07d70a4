/* session_read.c - the session reader: what kind of file it is, and the calls
 * of session.h.  Called by every command that reads a recording.
 *
 * Grammar of the session file.  Integers are little-endian, or ULEB128 where
 * it says so.  A zstd frame is one of RFC 8878 with its content size.
 *
 *   file      := HEADER (SIDE DATA)* FOOTER?
 *   DATA      := zstd frame, with checksum, at most 64 MiB decoded
 *                the DATA of a file joined: the plain stream (ljm_read.c, V4)
 *   HEADER    := skippable frame of kind 1      SIDE: 2      FOOTER: 3
 *   skippable := 0x184D2A5C:u32 size:u32 payload
 *   payload   := "LJPF" version:u16 kind:u16 required:u32 optional:u32
 *                zstd frame of sections, with checksum
 *   section   := id:uleb length:uleb bytes
 *
 * The first section, number 0, holds the kind again, as the frame's own is not
 * under the checksum.  The other sections are listed in session_fields.c and session_side.c.
 *
 * - An item of the stream never spans two batches.  The first DATA holds the
 *   two headers of the stream, the last one its end byte.
 * - A reader refuses versions above its own and required flags that it does
 *   not know.  It ignores optional flags, sections and kinds that it does not
 *   know, and skippable frames that are not marked LJPF.
 * - A batch that is damaged is left out.  The next one is found by the magic
 *   and "LJPF"; the numbers in SIDE tell how many are missing.
 * - A file without FOOTER was cut.  Of a DATA frame that was cut, the events
 *   that can still be decoded count.
 */
#include "formats/session_reader.h"
#include "util/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void session_reader__note(struct session_reader *r, enum session_state state, uint64_t offset,
			  const char *fmt, ...)
{
	struct session_info *info = &r->info;
	va_list ap;

	if (state == SESSION_COMPLETE && info->damage[0])
		return;
	if (info->state == SESSION_COMPLETE) {
		va_start(ap, fmt);
		vsnprintf(info->damage, sizeof(info->damage), fmt, ap);
		va_end(ap);
		info->damage_offset = offset;
	}
	if (state > info->state)
		info->state = state;
}

void session_reader__corrupt(struct session_reader *r, uint64_t offset, const char *what)
{
	session_reader__note(r, SESSION_CORRUPT, offset, "corrupt at offset %llu: %s",
			     (unsigned long long)offset, what);
}

void session_reader__lose_batches(struct session_reader *r, uint64_t n)
{
	r->info.lost_batches = session_reader__add(r->info.lost_batches, n);
}

int session_reader__refuse(struct session_reader *r, int code, const char *why)
{
	return err__set(code, "'%s': %s", r->name, why);
}

int session_reader__input_error(struct session_reader *r)
{
	return r->in.error ? err__errno(-r->in.error, "cannot read '%s'", r->name) : 0;
}

/* ---- handlers that do nothing, for those that are NULL ---- */

static int no_header(void *ctx, const struct session_header *h)
{
	(void)ctx, (void)h;
	return 0;
}

static int no_symbol(void *ctx, const struct ljm_symbol *sym)
{
	(void)ctx, (void)sym;
	return 0;
}

static int no_event(void *ctx, const struct ljm_event *ev)
{
	(void)ctx, (void)ev;
	return 0;
}

static int no_mark(void *ctx, const struct session_mark *m)
{
	(void)ctx, (void)m;
	return 0;
}

static int no_module(void *ctx, const struct session_module *m)
{
	(void)ctx, (void)m;
	return 0;
}

static int no_stack(void *ctx, const struct session_stack *node)
{
	(void)ctx, (void)node;
	return 0;
}

static int no_number(void *ctx, uint64_t n)
{
	(void)ctx, (void)n;
	return 0;
}

static int no_footer(void *ctx, const struct session_footer *f)
{
	(void)ctx, (void)f;
	return 0;
}

static struct session_handlers with_defaults(const struct session_handlers *h)
{
	return (struct session_handlers){
		.header = h->header ? h->header : no_header,
		.symbol = h->symbol ? h->symbol : no_symbol,
		.event = h->event ? h->event : no_event,
		.mark = h->mark ? h->mark : no_mark,
		.time = h->time ? h->time : no_number,
		.module = h->module ? h->module : no_module,
		.stack = h->stack ? h->stack : no_stack,
		.lost = h->lost ? h->lost : no_number,
		.footer = h->footer ? h->footer : no_footer,
	};
}

/* ---- which container ---- */

enum { DETECT = SESSION_FRAME_PRELUDE + 4 };

/* Passes skippable frames of others: some compressors begin with one. */
static int detect(struct session_reader *r, enum session_container *container)
{
	for (;;) {
		size_t n = input__need(&r->in, DETECT);
		struct cursor c = cursor__of(r->in.p, n < DETECT ? n : DETECT);
		uint32_t magic = cursor__le32(&c), size = cursor__le32(&c);
		const uint8_t *sig = cursor__bytes(&c, 4);

		if (r->in.error)
			return session_reader__input_error(r);
		if (n == 0)
			return session_reader__refuse(r, -ENODATA, "empty, no recording");
		*container = SESSION_RAW;
		if (n >= 4 && magic == ZFRAME_MAGIC)
			*container = SESSION_RAW_ZSTD;
		if (n < 4 || (magic & ~0xfu) != ZFRAME_SKIPPABLE_MAGIC)
			return 0;
		if (sig && magic == SESSION_FRAME_MAGIC && memcmp(sig, SESSION_SIGNATURE, 4) == 0) {
			*container = SESSION_LJPERF;
			return 0;
		}
		if (!input__skip(&r->in, (uint64_t)SESSION_FRAME_PRELUDE + size))
			return session_reader__refuse(r, -EBADMSG,
						      "no recording, or cut too early");
	}
}

/* Damage ends the reading early: the size of a file is known all the same, and
 * a pipe is read empty, so that its writer does not fail. */
static uint64_t file_size(struct session_reader *r)
{
	uint64_t left = input__remaining(&r->in);

	if (left != UINT64_MAX)
		return r->in.offset + left;
	input__skip(&r->in, UINT64_MAX);
	return r->in.offset;
}

int session_reader__run(struct session_reader *r, const struct session_handlers *h, void *ctx)
{
	int rc;

	if (r->has_run)
		return session_reader__refuse(r, -EINVAL, "cannot be read twice");
	r->has_run = true;
	r->h = with_defaults(h);
	r->ctx = ctx;
	rc = detect(r, &r->info.container);
	if (rc)
		return rc;
	ljm_parser__init(&r->parser);
	if (r->info.container == SESSION_LJPERF)
		rc = session_reader__run_frames(r);
	else
		rc = session_reader__run_raw(r, r->info.container == SESSION_RAW_ZSTD);
	r->info.variant = ljm_parser__variant(&r->parser);
	r->info.n_events = r->parser.n_events;
	r->info.n_symbols = r->parser.n_symbols;
	r->info.stream_bytes = r->parser.offset;
	r->info.file_bytes = rc ? r->in.offset : file_size(r);
	return rc;
}

const struct session_info *session_reader__info(const struct session_reader *r)
{
	return &r->info;
}

/* ---- the object ---- */

static struct session_reader *new_reader(const char *name)
{
	struct session_reader *r = calloc(1, sizeof(*r));

	if (r)
		r->name = strdup(name ? name : "-");
	if (!r || !r->name) {
		err__errno(ENOMEM, "cannot read '%s'", name ? name : "-");
		free(r);
		return NULL;
	}
	r->info.variant = LJM_V4;
	return r;
}

struct session_reader *session_reader__new_fd(int fd, const char *name)
{
	struct session_reader *r = new_reader(name);

	if (r)
		input__init_fd(&r->in, fd);
	return r;
}

struct session_reader *session_reader__new_mem(const void *buf, size_t len, const char *name)
{
	struct session_reader *r = new_reader(name);

	if (r)
		input__init_mem(&r->in, buf, len);
	return r;
}

void session_reader__delete(struct session_reader *r)
{
	if (!r)
		return;
	input__exit(&r->in);
	zbuf__exit(&r->side_buf);
	zbuf__exit(&r->data_buf);
	free(r->strings.pool);
	free(r->strings.argv);
	free(r->name);
	free(r);
}
