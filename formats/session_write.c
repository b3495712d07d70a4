/* session_write.c - writes the session file.  Called by the collector and by
 * tests; the grammar stands in session_read.c.
 *
 * One batch of the plain stream is gathered, with what stands beside it in
 * SIDE, then both are compressed and written with one call.  Memory follows
 * the size of a batch, not of the recording (but for some 10 bytes of index
 * for each batch).
 */
#include "formats/session_frame.h"
#include "formats/uleb.h"
#include "util/error.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

enum {
	BATCH_DEFAULT = 1 << 20,
	BATCH_MAX = 16 << 20,
	PROLOGUE = 8 + 7, /* empty symbol table, event header */
	CHUNK_NAME_MAX = 48 << 20, /* a batch has at most 64 MiB */
	INDEX_MAX = 32 << 20,
	WINDOW_LOG = 20, /* a batch: farther back there is nothing */
};

/* Sums of 64-bit sizes: 2^63 events of 2^64 bytes fit. */
typedef __int128 wide;

struct session_writer {
	int fd;
	int failed; /* the first error; every later call returns it */
	bool finished;
	uint64_t bytes; /* written to fd */
	uint64_t written; /* events of batches that were written whole */

	uint8_t *buf; /* the open batch */
	size_t len, cap, batch_bytes;
	bool aside; /* it has marks, times or losses that are not written yet */
	struct side_batch batch;
	struct side_writer side;
	uint64_t vmstate, vmstate_count; /* the open run */
	uint64_t time_ns;
	bool has_time;
	bool stacks, raw;
	uint64_t last_stack; /* of this batch: ids are written as differences */

	ZSTD_CCtx *cctx;
	bool fixed_level, hurry;
	struct bytes plain, out; /* sections of a frame; what is to be written */
	struct bytes index;
	struct session_index_entry index_last;

	struct session_footer total;
	wide heap, peak, bytes_new, bytes_old;
	int64_t live;
};

static int fail(struct session_writer *w, int code, const char *why)
{
	w->failed = code;
	return err__errno(-code, "%s", why);
}

/* ---- output ---- */

static int write_all(struct session_writer *w, const uint8_t *p, size_t n)
{
	while (n) {
		ssize_t put = write(w->fd, p, n);

		if (put >= 0) {
			p += put;
			n -= (size_t)put;
			w->bytes += (uint64_t)put;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			poll(&(struct pollfd){ .fd = w->fd, .events = POLLOUT }, 1, -1);
		} else if (errno != EINTR) {
			return fail(w, -errno, "cannot write the recording");
		}
	}
	return 0;
}

static int write_out(struct session_writer *w)
{
	int err = w->out.failed ? fail(w, -ENOMEM, "cannot gather a batch")
				: write_all(w, w->out.p, w->out.len);

	w->out.len = 0;
	return err;
}

/* One zstd frame, with its content size and checksum, to w->out. */
static void put_zstd(struct session_writer *w, const void *src, size_t n)
{
	size_t bound = ZSTD_compressBound(n), got;

	if (!bytes__reserve(&w->out, bound))
		return;
	got = ZSTD_compress2(w->cctx, w->out.p + w->out.len, bound, src, n);
	if (ZSTD_isError(got))
		w->out.failed = true; /* out of memory: nothing else can fail */
	else
		w->out.len += got;
}

/* A skippable frame with the sections of w->plain, to w->out. */
static void put_frame(struct session_writer *w, enum session_frame_kind kind)
{
	struct bytes *out = &w->out;
	size_t start = out->len;
	struct bytes size = { 0 };

	bytes__put_le32(out, SESSION_FRAME_MAGIC);
	bytes__put_le32(out, 0);
	bytes__put(out, SESSION_SIGNATURE, 4);
	bytes__put_le16(out, SESSION_VERSION);
	bytes__put_le16(out, (uint16_t)kind);
	bytes__put_le32(out, 0); /* required flags */
	bytes__put_le32(out, 0); /* optional flags */
	put_zstd(w, w->plain.p, w->plain.len);
	out->failed |= w->plain.failed;
	w->plain.len = 0;
	if (out->failed)
		return;
	bytes__put_le32(&size, (uint32_t)(out->len - start - SESSION_FRAME_PRELUDE));
	if (!size.failed)
		memcpy(out->p + start + 4, size.p, 4);
	out->failed |= size.failed;
	bytes__exit(&size);
}

/* ---- batches ---- */

static void end_vmstate_run(struct session_writer *w)
{
	if (w->vmstate_count)
		side_writer__put(&w->side, SIDE_VMSTATE,
				 &(struct side_item){ .kind = w->vmstate,
						      .num = w->vmstate_count });
	w->vmstate_count = 0;
}

/* Each batch begins with the time, so that it can be read alone. */
static void put_time(struct session_writer *w)
{
	side_writer__put(&w->side, SIDE_TIME,
			 &(struct side_item){ .at = w->batch.n_events, .num = w->time_ns });
}

static void next_batch(struct session_writer *w)
{
	side_writer__reset(&w->side);
	w->len = 0;
	w->aside = false;
	w->last_stack = 0;
	w->batch = (struct side_batch){
		.number = w->batch.number + 1,
		.first_event = w->batch.first_event + w->batch.n_events,
	};
	if (w->has_time)
		put_time(w);
}

static void put_index(struct session_writer *w)
{
	struct session_index_entry e = {
		.offset = w->bytes,
		.first_event = w->batch.first_event,
		.time_ns = w->time_ns,
	};

	if (w->index.len < INDEX_MAX)
		session_index__put(&w->index, &e, &w->index_last);
}

static int end_batch(struct session_writer *w)
{
	int err;

	end_vmstate_run(w);
	if (w->raw) {
		err = write_all(w, w->buf, w->len);
		next_batch(w);
		return err;
	}
	put_index(w);
	session_kind__put(&w->plain, SESSION_SIDE);
	side_writer__finish(&w->side, &w->batch, &w->plain);
	put_frame(w, SESSION_SIDE);
	put_zstd(w, w->buf, w->len);
	err = write_out(w);
	next_batch(w);
	if (!err)
		w->written = w->batch.first_event;
	return err;
}

int session_writer__flush(struct session_writer *w)
{
	if (w->failed)
		return w->failed;
	return w->len || w->aside ? end_batch(w) : 0;
}

/* What stands beside the stream must not grow without end either. */
static int end_full_batch(struct session_writer *w)
{
	if (w->len >= w->batch_bytes || side_writer__size(&w->side) >= w->batch_bytes)
		return end_batch(w);
	return 0;
}

/* ---- the calls, in the order of the stream ---- */

static void count_vmstate(struct session_writer *w, uint8_t state)
{
	if (state != w->vmstate) {
		end_vmstate_run(w);
		w->vmstate = state;
	}
	w->vmstate_count++;
}

/* Address 0 is an allocation that failed: an event, but no block. */
static void count_event(struct session_writer *w, const struct ljm_event *ev)
{
	if (ev->kind & LJM_FREE) {
		w->bytes_old += ev->old_size;
		w->heap -= ev->old_size;
	}
	if (ev->kind & LJM_ALLOC) {
		w->bytes_new += ev->new_size;
		if (ev->kind == LJM_REALLOC || ev->new_addr)
			w->heap += ev->new_size;
	}
	switch (ev->kind) {
	case LJM_ALLOC:
		w->total.n_alloc++;
		w->live += ev->new_addr != 0;
		if (w->live > 0 && (uint64_t)w->live > w->total.max_live_blocks)
			w->total.max_live_blocks = (uint64_t)w->live;
		break;
	case LJM_FREE:
		w->total.n_free++;
		w->live--;
		break;
	default:
		w->total.n_realloc++;
		break;
	}
	if (w->heap > w->peak) {
		w->peak = w->heap;
		w->total.peak_event_no = w->batch.first_event + w->batch.n_events;
	}
}

int session_writer__event(struct session_writer *w, const struct ljm_event *ev)
{
	if (w->failed)
		return w->failed;
	if (ev->loc.source == LJM_SRC_INTERNAL || ljm_loc__is_unknown_line(&ev->loc))
		count_vmstate(w, ev->vmstate);
	if (w->stacks && (ev->kind & LJM_ALLOC))
		side_writer__put(&w->side, SIDE_STACK_OF, &(struct side_item){ .num = ev->stack });
	w->len = (size_t)(ljm__put_event(w->buf + w->len, ev) - w->buf);
	count_event(w, ev);
	w->batch.n_events++;
	return w->len >= w->batch_bytes ? end_batch(w) : 0;
}

/* Room for N bytes and an event behind them. */
static int make_room(struct session_writer *w, size_t n)
{
	size_t cap;
	uint8_t *p;

	if (w->len + n + LJM_EVENT_MAX <= w->cap)
		return 0;
	if (w->len > PROLOGUE) {
		int err = end_batch(w);

		if (err)
			return err;
	}
	cap = w->len + n + LJM_EVENT_MAX;
	if (cap <= w->cap)
		return 0;
	p = realloc(w->buf, cap);
	if (!p)
		return fail(w, -ENOMEM, "cannot gather a batch");
	w->buf = p;
	w->cap = cap;
	return 0;
}

int session_writer__symbol(struct session_writer *w, const struct ljm_symbol *sym)
{
	struct ljm_symbol s = *sym;
	size_t size;
	int err;

	if (w->failed)
		return w->failed;
	if (s.name_len > CHUNK_NAME_MAX)
		s.name_len = CHUNK_NAME_MAX;
	size = ljm_symbol__size(&s);
	err = make_room(w, size);
	if (err)
		return err;
	ljm__put_symbol(w->buf + w->len, &s);
	w->len += size;
	if (s.has_detail && s.source != LJM_SRC_C)
		side_writer__put(&w->side, SIDE_SYMBOL,
				 &(struct side_item){ .at = w->batch.n_symbols, .sym = &s });
	w->batch.n_symbols++;
	return end_full_batch(w);
}

int session_writer__mark(struct session_writer *w, const struct session_mark *m)
{
	struct side_item it = {
		.at = w->batch.n_events,
		.num = m->time_ns,
		.kind = m->kind,
		.name = m->name,
		.name_len = m->name_len < SESSION_NAME_MAX ? m->name_len : SESSION_NAME_MAX,
	};

	if (w->failed)
		return w->failed;
	side_writer__put(&w->side, SIDE_MARK, &it);
	w->aside = true;
	return end_full_batch(w);
}

/* Time that goes back or stands still says nothing. */
int session_writer__time(struct session_writer *w, uint64_t time_ns)
{
	if (w->failed || (w->has_time && time_ns <= w->time_ns))
		return w->failed;
	w->time_ns = time_ns;
	w->has_time = true;
	put_time(w);
	return end_full_batch(w);
}

int session_writer__module(struct session_writer *w, const struct session_module *m)
{
	struct side_item it = { .at = w->batch.n_events, .mod = *m };

	if (w->failed)
		return w->failed;
	if (it.mod.path_len > SESSION_NAME_MAX)
		it.mod.path_len = SESSION_NAME_MAX;
	if (it.mod.build_id_len > SESSION_BUILD_ID_MAX)
		it.mod.build_id_len = SESSION_BUILD_ID_MAX;
	side_writer__put(&w->side, SIDE_MODULE, &it);
	w->aside = true;
	return end_full_batch(w);
}

int session_writer__stack(struct session_writer *w, const struct session_stack *node)
{
	struct side_item it = { .at = w->batch.n_events, .stack = *node };

	if (w->failed)
		return w->failed;
	it.num = node->id - w->last_stack;
	w->last_stack = node->id;
	side_writer__put(&w->side, SIDE_STACK, &it);
	w->aside = true;
	return end_full_batch(w);
}

int session_writer__lost(struct session_writer *w, uint64_t n_events)
{
	if (w->failed || n_events == 0)
		return w->failed;
	side_writer__put(&w->side, SIDE_LOST,
			 &(struct side_item){ .at = w->batch.n_events, .num = n_events });
	w->total.lost += n_events;
	w->aside = true;
	return end_full_batch(w);
}

static uint64_t clamp(wide n)
{
	return n < 0 ? 0 : n > UINT64_MAX ? UINT64_MAX : (uint64_t)n;
}

int session_writer__finish(struct session_writer *w, const struct session_footer *end)
{
	struct session_footer_more more = { 0 };
	int err;

	if (w->failed || w->finished)
		return w->failed;
	w->finished = true;
	w->buf[w->len++] = LJM_END;
	err = end_batch(w);
	if (err || w->raw)
		return err;
	w->total.peak = clamp(w->peak);
	w->total.bytes_new = clamp(w->bytes_new);
	w->total.bytes_old = clamp(w->bytes_old);
	w->total.end_kind = end->end_kind;
	w->total.end_code = end->end_code;
	w->total.duration_ns = end->duration_ns;
	more.f = w->total;
	more.n_batches = w->batch.number;
	more.index = &w->index;
	session_kind__put(&w->plain, SESSION_FOOTER);
	session_footer__put(&w->plain, &more);
	put_frame(w, SESSION_FOOTER);
	return write_out(w);
}

/* ---- the object ---- */

/* What streams of this kind compress best with: events repeat at distances and
 * lengths that matches of 7 bytes in small tables catch.  On recordings of an
 * allocation-heavy script (15 bytes per event), JIT on and off: 3.13 and 2.89
 * bytes per event, at 0.9 of the time of level 1; in a hurry 3.54 and 3.19, at
 * 0.65 of that time.  With random lifetimes of 20000 blocks (14 bytes per event)
 * 4.51, level 1: 4.64. */
struct zstd_setting {
	ZSTD_cParameter name;
	int value;
};

enum { N_SETTINGS = 6 };

static const struct zstd_setting tuned[2][N_SETTINGS] = {
	{ { ZSTD_c_compressionLevel, 1 },
	  { ZSTD_c_strategy, ZSTD_dfast },
	  { ZSTD_c_hashLog, 12 },
	  { ZSTD_c_chainLog, 12 },
	  { ZSTD_c_minMatch, 7 },
	  { ZSTD_c_targetLength, 0 } },
	{ { ZSTD_c_compressionLevel, 1 },
	  { ZSTD_c_strategy, ZSTD_fast },
	  { ZSTD_c_hashLog, 13 },
	  { ZSTD_c_chainLog, 12 },
	  { ZSTD_c_minMatch, 7 },
	  { ZSTD_c_targetLength, 1 } },
};

static bool set(struct session_writer *w, ZSTD_cParameter name, int value)
{
	return !ZSTD_isError(ZSTD_CCtx_setParameter(w->cctx, name, value));
}

static bool tune(struct session_writer *w, bool hurry)
{
	bool ok = true;

	for (int i = 0; i < N_SETTINGS; i++)
		ok &= set(w, tuned[hurry][i].name, tuned[hurry][i].value);
	return ok && set(w, ZSTD_c_windowLog, WINDOW_LOG);
}

static bool set_up_zstd(struct session_writer *w, int level)
{
	w->cctx = ZSTD_createCCtx();
	if (!w->cctx || !set(w, ZSTD_c_checksumFlag, 1))
		return false;
	w->fixed_level = level != 0;
	if (level)
		return set(w, ZSTD_c_compressionLevel, level) &&
		       set(w, ZSTD_c_windowLog, WINDOW_LOG);
	return tune(w, false);
}

void session_writer__hurry(struct session_writer *w, bool hurry)
{
	if (w->fixed_level || w->hurry == hurry)
		return;
	w->hurry = hurry;
	tune(w, hurry); /* the values are valid: it cannot fail */
}

static int put_header(struct session_writer *w, const struct session_header *h)
{
	if (w->raw)
		return 0;
	session_kind__put(&w->plain, SESSION_HEADER);
	session_header__put(&w->plain, h);
	if (w->plain.len > SESSION_HEADER_MAX)
		return err__set(-E2BIG, "the command line is too long to be recorded");
	put_frame(w, SESSION_HEADER);
	return write_out(w);
}

static bool set_up_batch(struct session_writer *w, size_t batch_bytes)
{
	w->batch_bytes = batch_bytes ? batch_bytes : BATCH_DEFAULT;
	if (w->batch_bytes > BATCH_MAX)
		w->batch_bytes = BATCH_MAX;
	w->cap = w->batch_bytes + PROLOGUE + 2 * LJM_EVENT_MAX;
	w->buf = malloc(w->cap);
	if (!w->buf)
		return false;
	w->len = (size_t)(ljm__put_header(ljm__put_symtab(w->buf)) - w->buf);
	return true;
}

struct session_writer *session_writer__new(int fd, const struct session_header *h,
					   const struct session_writer_opts *opts)
{
	struct session_writer_opts defaults = { 0 };
	struct session_writer *w = calloc(1, sizeof(*w));

	if (!opts)
		opts = &defaults;
	if (!w || !set_up_zstd(w, opts->level) || !set_up_batch(w, opts->batch_bytes)) {
		err__errno(ENOMEM, "cannot begin a recording");
		session_writer__delete(w);
		return NULL;
	}
	w->fd = fd;
	w->stacks = opts->stacks;
	w->raw = opts->raw;
	w->heap = w->peak = h->heap_start;
	if (put_header(w, h)) {
		session_writer__delete(w);
		return NULL;
	}
	return w;
}

void session_writer__delete(struct session_writer *w)
{
	if (!w)
		return;
	ZSTD_freeCCtx(w->cctx);
	side_writer__exit(&w->side);
	bytes__exit(&w->plain);
	bytes__exit(&w->out);
	bytes__exit(&w->index);
	free(w->buf);
	free(w);
}

uint64_t session_writer__events(const struct session_writer *w)
{
	return w->failed ? w->written : w->total.n_alloc + w->total.n_free + w->total.n_realloc;
}

uint64_t session_writer__bytes(const struct session_writer *w)
{
	return w->bytes;
}

uint64_t session_writer__lost_events(const struct session_writer *w)
{
	return w->total.lost;
}

size_t session_writer__pending(const struct session_writer *w)
{
	return w->len;
}
