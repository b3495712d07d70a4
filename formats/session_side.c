/* session_side.c - the sections of SIDE frames, both ways.  Called by the
 * session writer and reader.
 *
 * All numbers are ULEB128.  "at" is the difference to the entry before in the
 * same section, counted from the start of the batch.
 *
 *   BATCH    number, first event, events, symbols
 *   TIME     { at, ns }*           ns since the start of the recording
 *   MARK     { at, kind, ns, name }*
 *   SYMBOL   { at, length, detail }*
 *     detail of a function: name, last line
 *     detail of a trace: parent, exit, root, link, linktype
 *   VMSTATE  { state, count }*     over the INTERNAL events, in order
 *   LOST     { at, count }*
 *   MODULE   { at, start, length, offset, bias, path, build id }*
 *   STACK    { at, id, parent, source, address, line or number }*
 *            id is the difference to the entry before
 *   STACK_OF { id }*               over the allocations and reallocations, in order
 *
 * More may follow a detail inside its length: readers ignore it.
 */
#include "formats/session_frame.h"

#include <errno.h>

bool session_section__next(struct cursor *c, uint64_t *id, struct cursor *body)
{
	uint64_t len;
	const uint8_t *p;

	if (c->status != CURSOR_OK || cursor__left(c) == 0)
		return false;
	*id = cursor__uleb(c);
	len = cursor__uleb(c);
	p = cursor__bytes(c, len);
	if (!p)
		return false;
	*body = cursor__of(p, (size_t)len);
	return true;
}

void session_section__put(struct bytes *b, uint64_t id, const struct bytes *body)
{
	bytes__put_uleb(b, id);
	bytes__put_uleb(b, body->len);
	bytes__put(b, body->p, body->len);
	b->failed |= body->failed;
}

void session_kind__put(struct bytes *b, enum session_frame_kind kind)
{
	bytes__put_uleb(b, 0);
	bytes__put_uleb(b, 1);
	bytes__put_uleb(b, kind);
}

bool session_kind__check(struct cursor c, enum session_frame_kind kind)
{
	struct cursor body;
	uint64_t id;

	return session_section__next(&c, &id, &body) && id == 0 && cursor__uleb(&body) == kind;
}

/* ---- one pair of functions for each section ---- */

static void put_num(struct bytes *b, const struct side_item *it, struct bytes *scratch)
{
	(void)scratch;
	bytes__put_uleb(b, it->num);
}

static void get_num(struct cursor *c, struct side_item *it)
{
	it->num = cursor__uleb(c);
}

static void put_mark(struct bytes *b, const struct side_item *it, struct bytes *scratch)
{
	(void)scratch;
	bytes__put_uleb(b, it->kind);
	bytes__put_uleb(b, it->num);
	bytes__put_string(b, it->name, it->name_len);
}

static void get_mark(struct cursor *c, struct side_item *it)
{
	it->kind = cursor__uleb(c);
	it->num = cursor__uleb(c);
	it->name = cursor__string(c, &it->name_len);
}

static void put_vmstate(struct bytes *b, const struct side_item *it, struct bytes *scratch)
{
	(void)scratch;
	bytes__put_uleb(b, it->kind);
	bytes__put_uleb(b, it->num);
}

static void get_vmstate(struct cursor *c, struct side_item *it)
{
	it->kind = cursor__uleb(c);
	it->num = cursor__uleb(c);
}

static void put_symbol(struct bytes *b, const struct side_item *it, struct bytes *scratch)
{
	const struct ljm_symbol *sym = it->sym;
	size_t len = sym->func_name_len < SESSION_NAME_MAX ? sym->func_name_len : SESSION_NAME_MAX;

	scratch->len = 0;
	if (sym->source == LJM_SRC_LUA) {
		bytes__put_string(scratch, sym->func_name, len);
		bytes__put_uleb(scratch, sym->last_line);
	} else {
		bytes__put_uleb(scratch, sym->trace_parent);
		bytes__put_uleb(scratch, sym->trace_exit);
		bytes__put_uleb(scratch, sym->trace_root);
		bytes__put_uleb(scratch, sym->trace_link);
		bytes__put_uleb(scratch, sym->trace_linktype);
	}
	bytes__put_string(b, (const char *)scratch->p, scratch->len);
	b->failed |= scratch->failed;
}

/* The detail is kept as it is: what it means depends on the symbol. */
static void get_symbol(struct cursor *c, struct side_item *it)
{
	it->name = cursor__string(c, &it->name_len);
}

static bool get_detail(struct cursor c, struct ljm_symbol *sym)
{
	if (sym->source == LJM_SRC_LUA) {
		sym->func_name = cursor__string(&c, &sym->func_name_len);
		sym->last_line = cursor__uleb(&c);
	} else {
		sym->trace_parent = (uint32_t)cursor__uleb(&c);
		sym->trace_exit = (uint32_t)cursor__uleb(&c);
		sym->trace_root = (uint32_t)cursor__uleb(&c);
		sym->trace_link = (uint32_t)cursor__uleb(&c);
		sym->trace_linktype = (uint8_t)cursor__uleb(&c);
	}
	return c.status == CURSOR_OK;
}

static void put_module(struct bytes *b, const struct side_item *it, struct bytes *scratch)
{
	const struct session_module *m = &it->mod;

	(void)scratch;
	bytes__put_uleb(b, m->start);
	bytes__put_uleb(b, m->end - m->start);
	bytes__put_uleb(b, m->offset);
	bytes__put_uleb(b, m->bias);
	bytes__put_string(b, m->path, m->path_len);
	bytes__put_string(b, m->build_id, m->build_id_len);
}

static void get_module(struct cursor *c, struct side_item *it)
{
	struct session_module *m = &it->mod;
	uint64_t length;

	m->start = cursor__uleb(c);
	length = cursor__uleb(c);
	m->end = length > UINT64_MAX - m->start ? UINT64_MAX : m->start + length;
	m->offset = cursor__uleb(c);
	m->bias = cursor__uleb(c);
	m->path = cursor__string(c, &m->path_len);
	m->build_id = cursor__string(c, &m->build_id_len);
}

static void put_stack(struct bytes *b, const struct side_item *it, struct bytes *scratch)
{
	const struct session_stack *s = &it->stack;

	(void)scratch;
	bytes__put_uleb(b, it->num);
	bytes__put_uleb(b, s->parent);
	bytes__put_uleb(b, s->loc.source);
	bytes__put_uleb(b, s->loc.addr);
	bytes__put_uleb(b, s->loc.num);
}

static void get_stack(struct cursor *c, struct side_item *it)
{
	struct session_stack *s = &it->stack;
	uint64_t source;

	s->id += cursor__uleb(c);
	s->parent = cursor__uleb(c);
	source = cursor__uleb(c);
	s->loc.addr = cursor__uleb(c);
	s->loc.num = cursor__uleb(c);
	/* Sources of later versions: a place that is not known. */
	s->loc.source = source > LJM_SRC_NATIVE || source < LJM_SRC_INTERNAL
				? LJM_SRC_INTERNAL
				: (enum ljm_source)source;
}

static const struct side_ops {
	bool placed; /* entries begin with "at" */
	void (*put)(struct bytes *b, const struct side_item *it, struct bytes *scratch);
	void (*get)(struct cursor *c, struct side_item *it);
} side_ops[SIDE_MAX] = {
	[SIDE_TIME] = { true, put_num, get_num },
	[SIDE_MARK] = { true, put_mark, get_mark },
	[SIDE_SYMBOL] = { true, put_symbol, get_symbol },
	[SIDE_VMSTATE] = { false, put_vmstate, get_vmstate },
	[SIDE_LOST] = { true, put_num, get_num },
	[SIDE_MODULE] = { true, put_module, get_module },
	[SIDE_STACK] = { true, put_stack, get_stack },
	[SIDE_STACK_OF] = { false, put_num, get_num },
};

static void put_batch(struct bytes *b, const struct side_batch *batch)
{
	bytes__put_uleb(b, batch->number);
	bytes__put_uleb(b, batch->first_event);
	bytes__put_uleb(b, batch->n_events);
	bytes__put_uleb(b, batch->n_symbols);
}

static void get_batch(struct cursor *c, struct side_batch *batch)
{
	batch->number = cursor__uleb(c);
	batch->first_event = cursor__uleb(c);
	batch->n_events = cursor__uleb(c);
	batch->n_symbols = cursor__uleb(c);
}

/* ---- writing ---- */

void side_writer__put(struct side_writer *w, enum side_section id, const struct side_item *it)
{
	struct bytes *b = &w->body[id];

	if (side_ops[id].placed) {
		bytes__put_uleb(b, it->at - w->last_at[id]);
		w->last_at[id] = it->at;
	}
	side_ops[id].put(b, it, &w->scratch);
}

size_t side_writer__size(const struct side_writer *w)
{
	size_t n = 0;

	for (int id = 0; id < SIDE_MAX; id++)
		n += w->body[id].len;
	return n;
}

void side_writer__finish(struct side_writer *w, const struct side_batch *batch, struct bytes *b)
{
	put_batch(&w->body[SIDE_BATCH], batch);
	for (int id = 0; id < SIDE_MAX; id++)
		if (w->body[id].len || w->body[id].failed)
			session_section__put(b, (uint64_t)id, &w->body[id]);
}

void side_writer__reset(struct side_writer *w)
{
	for (int id = 0; id < SIDE_MAX; id++) {
		w->body[id].len = 0;
		w->last_at[id] = 0;
	}
}

void side_writer__exit(struct side_writer *w)
{
	for (int id = 0; id < SIDE_MAX; id++)
		bytes__exit(&w->body[id]);
	bytes__exit(&w->scratch);
}

/* ---- reading ---- */

void side_reader__advance(struct side_reader *s, enum side_section id)
{
	const struct side_ops *ops = &side_ops[id];
	struct cursor *c = &s->body[id];
	struct side_item *it = &s->next[id];

	s->has[id] = false;
	if (!ops->get || cursor__left(c) == 0)
		return;
	if (ops->placed)
		it->at += cursor__uleb(c);
	ops->get(c, it);
	s->has[id] = c->status == CURSOR_OK;
	s->bad |= !s->has[id];
}

int side_reader__init(struct side_reader *s, struct cursor c)
{
	bool seen[SIDE_MAX] = { false };
	struct cursor body;
	uint64_t id;

	*s = (struct side_reader){ 0 };
	while (session_section__next(&c, &id, &body)) {
		if (id >= SIDE_MAX || seen[id])
			continue;
		seen[id] = true;
		s->body[id] = body;
	}
	get_batch(&s->body[SIDE_BATCH], &s->batch);
	if (c.status != CURSOR_OK || s->body[SIDE_BATCH].status != CURSOR_OK)
		return -EBADMSG;
	for (id = 0; id < SIDE_MAX; id++)
		side_reader__advance(s, (enum side_section)id);
	return 0;
}

void side_reader__symbol(struct side_reader *s, uint64_t at, struct ljm_symbol *sym)
{
	struct side_item *it = &s->next[SIDE_SYMBOL];

	while (s->has[SIDE_SYMBOL] && it->at < at)
		side_reader__advance(s, SIDE_SYMBOL);
	if (!s->has[SIDE_SYMBOL] || it->at != at || sym->source == LJM_SRC_C)
		return;
	struct ljm_symbol with = *sym;

	if (get_detail(cursor__of(it->name, it->name_len), &with)) {
		*sym = with;
		sym->has_detail = true;
	} else {
		s->bad = true;
	}
	side_reader__advance(s, SIDE_SYMBOL);
}
