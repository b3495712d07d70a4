/* session_batch.c - tells the handlers one batch of a session file: its stream
 * and what stands beside it in SIDE.  Called by session_frames.c, when the
 * batch is decoded and its checksum known. */
#include "formats/session_reader.h"
#include "util/error.h"

#include <errno.h>

static unsigned long long ull(uint64_t n)
{
	return n;
}

/* ---- what stands beside the stream ---- */

static int tell_lost(struct session_reader *r, const struct side_item *it)
{
	r->info.lost_events = session_reader__add(r->info.lost_events, it->num);
	return r->h.lost(r->ctx, it->num);
}

/* The first time of a batch repeats the last one of the batch before. */
static int tell_time(struct session_reader *r, const struct side_item *it)
{
	if (r->has_time && it->num == r->time_ns)
		return 0;
	r->has_time = true;
	r->time_ns = it->num;
	return r->h.time(r->ctx, it->num);
}

/* Kinds of later versions are left out. */
static int tell_mark(struct session_reader *r, const struct side_item *it)
{
	struct session_mark m = {
		.kind = (enum session_mark_kind)it->kind,
		.name = it->name,
		.name_len = it->name_len,
		.event_no = session_reader__add(r->side.batch.first_event, it->at),
		.time_ns = it->num,
	};

	return it->kind < SESSION_MARK_MAX ? r->h.mark(r->ctx, &m) : 0;
}

static int tell_module(struct session_reader *r, const struct side_item *it)
{
	struct session_module m = it->mod;

	m.event_no = session_reader__add(r->side.batch.first_event, it->at);
	return r->h.module(r->ctx, &m);
}

static int tell_stack(struct session_reader *r, const struct side_item *it)
{
	return r->h.stack(r->ctx, &it->stack);
}

/* In the order they are told in before the same event. */
static const struct teller {
	enum side_section id;
	int (*tell)(struct session_reader *r, const struct side_item *it);
} tellers[] = {
	{ SIDE_LOST, tell_lost },   { SIDE_TIME, tell_time }, { SIDE_MODULE, tell_module },
	{ SIDE_STACK, tell_stack }, { SIDE_MARK, tell_mark },
};
enum { N_TELLERS = sizeof(tellers) / sizeof(*tellers) };

/* Makes the parser stop before the next event that something stands before. */
static void set_stop(struct session_reader *r)
{
	const struct side_reader *s = &r->side;
	uint64_t next = UINT64_MAX;

	for (int i = 0; r->has_side && i < N_TELLERS; i++) {
		enum side_section id = tellers[i].id;

		if (s->has[id] && s->next[id].at < next)
			next = s->next[id].at;
	}
	r->parser.stop_at = session_reader__add(r->base, next);
}

/* Tells what stands before event AT of the batch. */
static int tell_side(struct session_reader *r, uint64_t at)
{
	struct side_reader *s = &r->side;

	for (int i = 0; i < N_TELLERS; i++) {
		enum side_section id = tellers[i].id;

		while (r->has_side && s->has[id] && s->next[id].at <= at) {
			int rc = tellers[i].tell(r, &s->next[id]);

			if (rc < 0)
				return rc;
			side_reader__advance(s, id);
		}
	}
	set_stop(r);
	return 0;
}

void session_reader__next_vmstate(struct ljm_parser *ps)
{
	struct session_reader *r = ps->ctx;
	struct side_item *it = &r->side.next[SIDE_VMSTATE];

	while (r->has_side && r->side.has[SIDE_VMSTATE] && ps->vmstate_left == 0) {
		ps->vmstate = it->kind < LJM_VMSTATE_MAX ? (uint8_t)it->kind : LJM_VMSTATE_UNKNOWN;
		ps->vmstate_left = it->num;
		side_reader__advance(&r->side, SIDE_VMSTATE);
	}
}

static uint64_t next_stack(struct ljm_parser *ps)
{
	struct session_reader *r = ps->ctx;
	uint64_t id;

	if (!r->side.has[SIDE_STACK_OF])
		return 0;
	id = r->side.next[SIDE_STACK_OF].num;
	side_reader__advance(&r->side, SIDE_STACK_OF);
	return id;
}

int session_reader__tell_symbol(void *ctx, struct ljm_symbol *sym)
{
	struct session_reader *r = ctx;

	if (r->has_side)
		side_reader__symbol(&r->side, r->parser.n_symbols - r->symbol_base, sym);
	return r->h.symbol(r->ctx, sym);
}

/* ---- batches ---- */

static void begin_batch(struct session_reader *r, const uint8_t *p, size_t len)
{
	struct ljm_parser *ps = &r->parser;
	/* 'l' of "ljs" is no event byte. */
	bool has_headers = len && p[0] == 'l';

	/* The batch with the headers may be missing or wrong. */
	if (ps->phase != LJM_IN_EVENTS && ps->phase != LJM_AT_END && !has_headers)
		ljm_parser__init_events(ps);
	ps->vmstate_left = 0;
	/* A call for each allocation that most recordings need not pay for. */
	ps->next_stack = r->has_side && r->side.has[SIDE_STACK_OF] ? next_stack : NULL;
	r->base = ps->n_events;
	r->symbol_base = ps->n_symbols;
}

/* Parses up to the end of the batch; *USED bytes were right. */
static enum ljm_status parse_batch(struct session_reader *r, const uint8_t *p, size_t len,
				   size_t *used)
{
	struct ljm_parser *ps = &r->parser;
	enum ljm_status status;

	*used = 0;
	set_stop(r);
	for (;;) {
		size_t n;

		status = ljm_parser__run(ps, p + *used, len - *used, true, &n);
		*used += n;
		if (status != LJM_STOP)
			return status;
		ps->rc = tell_side(r, ps->n_events - r->base);
		if (ps->rc < 0)
			return LJM_HANDLER;
	}
}

static void check_batch(struct session_reader *r, uint64_t offset)
{
	const struct side_batch *b = &r->side.batch;
	uint64_t n = r->parser.n_events - r->base;

	if (!r->has_side)
		return;
	if (b->n_events != n)
		session_reader__note(r, SESSION_CORRUPT, offset,
				     "corrupt at offset %llu: batch %llu has %llu events, not %llu",
				     ull(offset), ull(b->number), ull(n), ull(b->n_events));
	if (r->side.bad)
		session_reader__corrupt(r, offset, "wrong section in the side frame of this batch");
}

int session_reader__tell_batch(struct session_reader *r, uint64_t offset, bool partial)
{
	const uint8_t *p = r->data_buf.p;
	size_t len = r->data_buf.len, used;
	struct ljm_parser *ps = &r->parser;
	const char *why = NULL;
	bool was_at_end;

	begin_batch(r, p, len);
	was_at_end = ps->phase == LJM_AT_END;
	switch (parse_batch(r, p, len, &used)) {
	case LJM_HANDLER:
		return ps->rc;
	case LJM_REFUSED:
		return session_reader__refuse(r, -ENOTSUP, ps->why);
	case LJM_CORRUPT:
		why = ps->why;
		break;
	case LJM_END_SEEN:
		if (was_at_end || used < len)
			why = "bytes after the end of the stream";
		break;
	default:
		if (used < len && !partial)
			why = "the batch ends inside an item";
		break;
	}
	if (why) {
		session_reader__corrupt(r, offset, why);
		session_reader__lose_batches(r, 1);
		return 0;
	}
	if (partial)
		return 0;
	check_batch(r, offset);
	return tell_side(r, UINT64_MAX);
}
