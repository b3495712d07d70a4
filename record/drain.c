/* drain.c - see drain.h.  The grammar of the ring stands in ring.h. */
#include "record/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

/* Longer strings than this are no names; the agent's VM cannot make them. */
#define TEXT_MAX ((size_t)256 << 20)

void drain__init(struct drain *d, struct ring *ring, uint32_t data_bytes,
		 struct session_writer *out, uint64_t start_ns)
{
	memset(d, 0, sizeof(*d));
	d->ring = ring;
	d->data = (const uint64_t *)(const void *)((const char *)ring + RING_HEADER_BYTES);
	d->mask = data_bytes / 8 - 1;
	d->out = out;
	d->start_ns = start_ns;
}

void drain__exit(struct drain *d)
{
	free(d->text);
	d->text = NULL;
}

static uint64_t peek(const struct drain *d, uint64_t nth)
{
	return ((const volatile uint64_t *)d->data)[(d->tail + nth) & d->mask];
}

static int corrupt(const struct drain *d, const char *what)
{
	(void)d;
	return err__set(-EBADMSG, "the target has written over the ring: %s", what);
}

/* ---- events ---- */

static enum ljm_kind event_kind(uint64_t w0)
{
	return (enum ljm_kind)(ring_type(w0) & ~(unsigned)RING_WITH_STACK);
}

/* Words of an event's record, word0 included. */
static unsigned event_words(uint64_t w0)
{
	unsigned source = ring_source(w0);

	return 1 + (w0 & RING_WIDE ? 2 : 0) + (source == LJM_SRC_LUA || source == LJM_SRC_C) +
	       (event_kind(w0) == LJM_REALLOC ? 3 : 1) + (ring_type(w0) & RING_WITH_STACK ? 1 : 0);
}

static int drain_event(struct drain *d, uint64_t w0)
{
	struct ljm_event ev = { .kind = event_kind(w0), .vmstate = (uint8_t)ring_part(w0) };
	uint64_t size = ring_size(w0), at = 1;

	ev.loc.source = (enum ljm_source)ring_source(w0);
	ev.loc.num = ring_num(w0);
	if (ev.loc.source < LJM_SRC_INTERNAL || ev.loc.source > LJM_SRC_TRACE ||
	    ev.vmstate >= LJM_VMSTATE_MAX)
		return corrupt(d, "an event from nowhere");
	if (w0 & RING_WIDE) {
		ev.loc.num = peek(d, at++);
		size = peek(d, at++);
	}
	if (ev.loc.source == LJM_SRC_LUA || ev.loc.source == LJM_SRC_C)
		ev.loc.addr = peek(d, at++);
	if (ev.kind == LJM_ALLOC) {
		ev.new_size = size;
		ev.new_addr = peek(d, at++);
	} else if (ev.kind == LJM_FREE) {
		ev.old_size = size;
		ev.old_addr = peek(d, at);
	} else {
		ev.new_size = size;
		ev.old_addr = peek(d, at++);
		ev.new_addr = peek(d, at++);
		ev.old_size = peek(d, at++);
	}
	if (ring_type(w0) & RING_WITH_STACK)
		ev.stack = peek(d, at);
	if (d->nodes && ev.kind != LJM_FREE)
		ev.stack = nodes__of_event(d->nodes, ev.stack, ev.new_addr);
	return session_writer__event(d->out, &ev);
}

/* ---- control records ---- */

/* The strings of the pending record, from byte AT on. */
static const char *text_at(const struct drain *d, uint64_t at)
{
	return d->text ? d->text + at : "";
}

static uint64_t since_start(const struct drain *d, uint64_t ns)
{
	return ns > d->start_ns ? ns - d->start_ns : 0;
}

static int put_proto(struct drain *d)
{
	struct ljm_symbol sym = {
		.source = LJM_SRC_LUA,
		.addr = d->words[0],
		.line = d->words[1],
		.last_line = d->words[2],
		.has_detail = true,
		.name = text_at(d, 0),
		.name_len = d->words[3],
		.func_name = text_at(d, d->words[3]),
		.func_name_len = d->words[4],
	};

	return session_writer__symbol(d->out, &sym);
}

static int put_cfunc(struct drain *d)
{
	struct ljm_symbol sym = {
		.source = LJM_SRC_C,
		.addr = d->words[0],
		.name = text_at(d, 0),
		.name_len = d->words[1],
	};

	return session_writer__symbol(d->out, &sym);
}

static int put_trace(struct drain *d)
{
	struct ljm_symbol sym = {
		.source = LJM_SRC_TRACE,
		.proto_addr = d->words[0],
		.line = d->words[1],
		.trace_num = d->words[2],
		.has_detail = true,
		.trace_root = (uint32_t)d->words[3],
		.trace_link = (uint32_t)d->words[4],
		.trace_linktype = (uint8_t)d->words[5],
	};

	return session_writer__symbol(d->out, &sym);
}

static int put_mark(struct drain *d)
{
	struct session_mark mark = {
		.kind = (enum session_mark_kind)d->words[0],
		.time_ns = since_start(d, d->words[1]),
		.name = text_at(d, 0),
		.name_len = d->words[2],
	};

	if (d->words[0] >= SESSION_MARK_MAX)
		return corrupt(d, "a mark of an unknown kind");
	return session_writer__mark(d->out, &mark);
}

static int put_time(struct drain *d)
{
	return session_writer__time(d->out, since_start(d, d->words[0]));
}

static int put_module(struct drain *d)
{
	struct session_module m = {
		.start = d->words[0],
		.end = d->words[1],
		.offset = d->words[2],
		.bias = d->words[3],
		.path = text_at(d, 0),
		.path_len = d->words[4],
		.build_id = text_at(d, d->words[4]),
		.build_id_len = d->words[5],
	};
	bool known = false;
	int err = 0;

	if (m.end <= m.start)
		return corrupt(d, "an empty module");
	if (d->nodes)
		err = nodes__module(d->nodes, &m, d->words[6], &known);
	return err || known ? err : session_writer__module(d->out, &m);
}

static int put_unloads(struct drain *d)
{
	if (d->nodes)
		nodes__unloads(d->nodes);
	return 0;
}

static int put_stack(struct drain *d)
{
	struct session_stack node = {
		.id = d->words[0],
		.parent = d->words[1],
		.loc = { .source = (enum ljm_source)d->words[2],
			 .addr = d->words[3],
			 .num = d->words[4] },
	};

	if (d->words[2] < LJM_SRC_INTERNAL || d->words[2] > LJM_SRC_TRACE ||
	    node.parent >= node.id || node.id != d->last_stack + 1)
		return corrupt(d, "a stack out of order");
	d->last_stack = node.id;
	return d->nodes ? nodes__stack(d->nodes, &node) : session_writer__stack(d->out, &node);
}

static int put_forget(struct drain *d)
{
	return d->nodes ? nodes__forget(d->nodes, d->words[0]) : 0;
}

static int put_native(struct drain *d)
{
	struct native_sample sample = { .pc = d->words[2],
					.sp = d->words[3],
					.bp = d->words[4],
					.bound = d->words[5],
					.stack = text_at(d, 0),
					.len = d->words[6] };
	bool ask;
	int err;

	if (!d->nodes)
		return corrupt(d, "a native stack that nobody has asked for");
	err = nodes__native(d->nodes, d->words[0], d->words[1], &sample, &ask);
	if (!err && ask)
		atomic_fetch_add_explicit(&d->ring->modules_wanted, 1, memory_order_relaxed);
	return err;
}

static int put_lost(struct drain *d)
{
	if (d->nodes)
		nodes__lost(d->nodes);
	return session_writer__lost(d->out, d->words[0]);
}

/* Each record: its words, which two of them are lengths of its strings. */
static const struct ctl_ops {
	unsigned words;
	int text1, text2; /* index of the length, -1: no string */
	int (*put)(struct drain *d);
} ctl_ops[CTL_MAX] = {
	[CTL_PROTO] = { 5, 3, 4, put_proto },       [CTL_CFUNC] = { 2, 1, -1, put_cfunc },
	[CTL_TRACE] = { 6, -1, -1, put_trace },     [CTL_TIME] = { 1, -1, -1, put_time },
	[CTL_MARK] = { 3, 2, -1, put_mark },        [CTL_STACK] = { 5, -1, -1, put_stack },
	[CTL_MODULE] = { 7, 4, 5, put_module },     [CTL_LOST] = { 1, -1, -1, put_lost },
	[CTL_FORGET] = { 1, -1, -1, put_forget },   [CTL_NATIVE] = { 7, 6, -1, put_native },
	[CTL_UNLOADS] = { 0, -1, -1, put_unloads },
};

static int finish_pending(struct drain *d)
{
	const struct ctl_ops *ops = &ctl_ops[d->pending];

	d->pending = 0;
	return ops->put(d);
}

/* A length of a string; more than TEXT_MAX in all is refused. */
static int want_text(struct drain *d, int word)
{
	if (word < 0)
		return 0;
	if (d->words[word] > TEXT_MAX - d->text_want)
		return corrupt(d, "a name of more than 256 MiB");
	d->text_want += d->words[word];
	return 0;
}

static int start_ctl(struct drain *d, enum ring_ctl kind, unsigned n)
{
	const struct ctl_ops *ops = &ctl_ops[kind];
	unsigned i;

	if (!ops->put || n != ops->words)
		return corrupt(d, "an unknown record");
	for (i = 0; i < n; i++)
		d->words[i] = peek(d, 1 + i);
	d->pending = kind; /* one that still waited for a string was dropped */
	d->text_len = d->text_want = 0;
	if (want_text(d, ops->text1) || want_text(d, ops->text2))
		return -EBADMSG;
	return d->text_want ? 0 : finish_pending(d);
}

/* Grows with what has really come, not with what was announced. */
static int text_reserve(struct drain *d, size_t more)
{
	size_t room = d->text_room ? d->text_room : 4096;
	char *text;

	while (room - d->text_len < more)
		room *= 2;
	if (room == d->text_room)
		return 0;
	text = realloc(d->text, room);
	if (!text)
		return err__set(-ENOMEM, "no memory for a name of %zu bytes", d->text_len + more);
	d->text = text;
	d->text_room = room;
	return 0;
}

/* The target may be writing there: then the bytes are any, but no more. */
static void copy_bytes(const struct drain *d, uint64_t nth, char *to, size_t len)
{
	uint64_t at = (d->tail + nth) & d->mask;
	size_t to_end = (size_t)(d->mask + 1 - at) * 8, n = len < to_end ? len : to_end;

	memcpy(to, d->data + at, n);
	memcpy(to + n, d->data, len - n);
}

static int add_string(struct drain *d, unsigned n)
{
	uint64_t len;
	int err;

	if (n < 2)
		return corrupt(d, "an empty string");
	len = peek(d, 1);
	if (len == 0 || len > (uint64_t)(n - 1) * 8)
		return corrupt(d, "a string of a wrong length");
	if (!d->pending)
		return 0; /* its record was dropped */
	if (len > d->text_want - d->text_len)
		return corrupt(d, "a string longer than announced");
	err = text_reserve(d, len);
	if (err)
		return err;
	copy_bytes(d, 2, d->text + d->text_len, (size_t)len);
	d->text_len += len;
	return d->text_len == d->text_want ? finish_pending(d) : 0;
}

static int drain_ctl(struct drain *d, uint64_t w0)
{
	uint32_t kind = ring_num(w0), n = ring_size(w0);

	if (kind == CTL_STRING)
		return add_string(d, n);
	return kind < CTL_MAX ? start_ctl(d, (enum ring_ctl)kind, n)
			      : corrupt(d, "an unknown record");
}

/* ---- one record after the other ---- */

static int drain_one(struct drain *d)
{
	uint64_t w0 = peek(d, 0), n;
	int err;

	switch (ring_type(w0)) {
	case RING_ALLOC:
	case RING_FREE:
	case RING_REALLOC:
	case RING_ALLOC_STACK:
	case RING_REALLOC_STACK:
		n = event_words(w0);
		break;
	case RING_CTL:
		n = 1 + (uint64_t)ring_size(w0);
		break;
	default:
		return corrupt(d, "an unknown record");
	}
	if (n > d->head - d->tail)
		return corrupt(d, "a record longer than what was written");
	err = ring_type(w0) == RING_CTL ? drain_ctl(d, w0) : drain_event(d, w0);
	d->tail += n;
	return err;
}

long drain__some(struct drain *d, size_t most)
{
	uint64_t from = d->tail;
	int err;

	d->head = atomic_load_explicit(&d->ring->head, memory_order_acquire);
	if (d->head - d->tail > d->mask + 1)
		return corrupt(d, "more was written than fits");
	while (d->tail != d->head && d->tail - from < most) {
		err = drain_one(d);
		if (err)
			return err;
	}
	atomic_store_explicit(&d->ring->tail, d->tail, memory_order_release);
	return (long)(d->tail - from);
}
