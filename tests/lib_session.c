/* lib_session.c - see lib_session.h. */
#include "tests/lib_session.h"
#include "util/error.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

/* ---- what should be read ---- */

void made__init(struct made *m, const struct session_header *h, size_t batch_bytes, bool stacks)
{
	struct session_writer_opts opts = { .batch_bytes = batch_bytes, .stacks = stacks };

	*m = (struct made){ .state = 1, .stacks = stacks };
	m->file = tmpfile();
	ck_assert_ptr_nonnull(m->file);
	m->fd = fileno(m->file);
	m->out = open_memstream(&m->text, &m->len);
	m->w = session_writer__new(m->fd, h, &opts);
	ck_assert_msg(m->w != NULL, "%s", err__msg());
	blob__bytes(&m->plain, "ljs\3\0\0\0\x80ljm\3\0\0\0", 15);
}

struct blob made__file(struct made *m)
{
	struct blob s = { 0 };
	uint8_t chunk[65536];
	ssize_t n;

	ck_assert_int_eq((int)lseek(m->fd, 0, SEEK_SET), 0);
	while ((n = read(m->fd, chunk, sizeof(chunk))) > 0)
		blob__bytes(&s, chunk, (size_t)n);
	fflush(m->out);
	return s;
}

void made__finish(struct made *m)
{
	struct session_footer end = { .end_kind = SESSION_END_SIGNAL,
				      .end_code = 9,
				      .duration_ns = 123456789 };

	ck_assert_int_eq(session_writer__finish(m->w, &end), 0);
	blob__byte(&m->plain, 0x80);
}

void made__exit(struct made *m)
{
	session_writer__delete(m->w);
	fclose(m->file);
	fclose(m->out);
	free(m->text);
	blob__exit(&m->plain);
}

void made__event(struct made *m, const struct ljm_event *ev)
{
	struct ljm_event told = *ev;
	bool no_line = ev->loc.source == LJM_SRC_LUA && ev->loc.num + 1 < 2;
	int source = no_line ? LJM_SRC_INTERNAL : (int)ev->loc.source;

	ck_assert_int_eq(session_writer__event(m->w, ev), 0);
	m->events++;
	m->n[ev->kind]++;
	if (no_line)
		told.loc = (struct ljm_loc){ .source = LJM_SRC_INTERNAL };
	if (source != LJM_SRC_INTERNAL)
		told.vmstate = 0;
	if (!m->stacks || ev->kind == LJM_FREE)
		told.stack = 0;
	told__event(m->out, &told);
	blob__byte(&m->plain, source * 4 + ev->kind);
	if (source == LJM_SRC_LUA || source == LJM_SRC_C)
		blob__uleb(&m->plain, ev->loc.addr);
	if (source == LJM_SRC_LUA || source == LJM_SRC_TRACE)
		blob__uleb(&m->plain, ev->loc.num);
	if (ev->kind != LJM_ALLOC) {
		blob__uleb(&m->plain, ev->old_addr);
		blob__uleb(&m->plain, ev->old_size);
	}
	if (ev->kind != LJM_FREE) {
		blob__uleb(&m->plain, ev->new_addr);
		blob__uleb(&m->plain, ev->new_size);
	}
}

void made__symbol(struct made *m, const struct ljm_symbol *sym)
{
	ck_assert_int_eq(session_writer__symbol(m->w, sym), 0);
	told__symbol(m->out, sym);
	blob__byte(&m->plain, sym->source * 4);
	if (sym->source == LJM_SRC_TRACE) {
		blob__uleb(&m->plain, sym->trace_num);
		blob__uleb(&m->plain, sym->proto_addr);
		blob__uleb(&m->plain, sym->line);
		return;
	}
	blob__uleb(&m->plain, sym->addr);
	blob__uleb(&m->plain, sym->name_len);
	blob__bytes(&m->plain, sym->name, sym->name_len);
	if (sym->source == LJM_SRC_LUA)
		blob__uleb(&m->plain, sym->line);
}

/* ---- frames ---- */

static void write_batch(struct session_writer *w, int number)
{
	struct ljm_symbol sym = { .source = LJM_SRC_LUA,
				  .addr = 0x1000,
				  .name = "@x.lua",
				  .name_len = 6,
				  .line = 1,
				  .has_detail = true,
				  .func_name = "f",
				  .func_name_len = 1,
				  .last_line = 9 };
	struct session_mark mark = { .kind = SESSION_MARK_USER, .name = "m", .name_len = 1 };

	ck_assert_int_eq(session_writer__time(w, 5), 0);
	ck_assert_int_eq(session_writer__symbol(w, &sym), 0);
	for (int i = 0; i < EVENTS; i++) {
		struct ljm_event ev = { .kind = LJM_ALLOC,
					.new_addr = (uint64_t)i * 4096 + 16,
					.new_size = (uint64_t)number * 1000 + (uint64_t)i };

		ev.loc.source = i % 3 ? LJM_SRC_LUA : LJM_SRC_INTERNAL;
		ev.loc.addr = i % 3 ? 0x1000 : 0;
		ev.loc.num = i % 3 ? 5 : 0;
		ev.vmstate = i % 3 ? 0 : LJM_VMSTATE_GC;
		if (i == 10)
			ck_assert_int_eq(session_writer__mark(w, &mark), 0);
		if (i == 20)
			ck_assert_int_eq(session_writer__lost(w, 3), 0);
		ck_assert_int_eq(session_writer__event(w, &ev), 0);
	}
}

static uint32_t le32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void take_apart(struct parts *p)
{
	size_t at = 0;

	while (at < p->whole.len) {
		const uint8_t *q = p->whole.p + at;
		struct frame *f = &p->f[p->n++];
		size_t size;

		if (le32(q) == 0x184D2A5C) {
			size = 8 + le32(q + 4);
			f->kind = q[14] | q[15] << 8;
		} else {
			size = ZSTD_findFrameCompressedSize(q, p->whole.len - at);
			ck_assert(!ZSTD_isError(size));
		}
		blob__bytes(&f->s, q, size);
		at += size;
	}
	ck_assert_uint_eq(p->n, 2 + 2 * BATCHES);
}

static void find_batches(struct parts *p)
{
	const char *at = p->told.text;

	for (int i = 0; i < BATCHES; i++) {
		at = strstr(at, "symbol ");
		ck_assert_ptr_nonnull(at);
		p->batch_text[i] = (size_t)(at++ - p->told.text);
	}
	p->batch_text[BATCHES] = p->told.len;
}

void parts__make(struct parts *p)
{
	struct session_header h = { .cwd = "/tmp" };
	struct session_info info;
	FILE *file = tmpfile();
	struct session_writer *w = session_writer__new(fileno(file), &h, NULL);
	uint8_t chunk[4096];
	size_t n;

	memset(p, 0, sizeof(*p));
	for (int i = 0; i < BATCHES; i++) {
		write_batch(w, i);
		if (i < BATCHES - 1)
			ck_assert_int_eq(session_writer__flush(w), 0);
	}
	ck_assert_int_eq(session_writer__finish(w, &(struct session_footer){ 0 }), 0);
	session_writer__delete(w);
	rewind(file);
	while ((n = fread(chunk, 1, sizeof(chunk), file)))
		blob__bytes(&p->whole, chunk, n);
	fclose(file);
	take_apart(p);
	ck_assert_int_eq(read_mem(p->whole.p, p->whole.len, &p->told, &info), 0);
	ck_assert_int_eq(info.state, SESSION_COMPLETE);
	find_batches(p);
}

void parts__exit(struct parts *p)
{
	for (size_t i = 0; i < p->n; i++)
		blob__exit(&p->f[i].s);
	blob__exit(&p->whole);
	told__exit(&p->told);
}

struct frame *parts__side(struct parts *p, int batch)
{
	return &p->f[1 + 2 * batch];
}

struct frame *parts__data(struct parts *p, int batch)
{
	return &p->f[2 + 2 * batch];
}

/* ---- putting frames together ---- */

/* A zstd frame as the writer makes them. */
void blob__zstd(struct blob *s, const void *src, size_t n)
{
	size_t bound = ZSTD_compressBound(n), size;
	ZSTD_CCtx *c = ZSTD_createCCtx();
	void *buf = malloc(bound);

	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	size = ZSTD_compress2(c, buf, bound, src, n);
	ck_assert(!ZSTD_isError(size));
	blob__bytes(s, buf, size);
	free(buf);
	ZSTD_freeCCtx(c);
}

void blob__frame(struct blob *s, struct fixed x, const void *nested, size_t n)
{
	blob__le(s, 0x184D2A5C, 4);
	blob__le(s, 16 + n, 4);
	blob__bytes(s, "LJPF", 4);
	blob__le(s, x.version, 2);
	blob__le(s, x.kind, 2);
	blob__le(s, x.required, 4);
	blob__le(s, x.optional, 4);
	blob__bytes(s, nested, n);
}

/* Sections of a good frame, decoded. */
struct blob frame__sections(const struct frame *f)
{
	struct blob s = { 0 };
	size_t n = ZSTD_getFrameContentSize(f->s.p + 24, f->s.len - 24);

	s.p = malloc(n + 1);
	s.cap = n + 1;
	s.len = ZSTD_decompress(s.p, n, f->s.p + 24, f->s.len - 24);
	ck_assert_uint_eq(s.len, n);
	return s;
}

/* The frame with other sections. */
void frame__replace(struct frame *f, const struct blob *sections)
{
	struct blob nested = { 0 };

	blob__zstd(&nested, sections->p, sections->len);
	f->s.len = 0;
	blob__frame(&f->s, (struct fixed){ 1, (unsigned)f->kind, 0, 0 }, nested.p, nested.len);
	blob__exit(&nested);
}

/* The file of these frames, -1 at the end of the list. */
struct blob parts__join(const struct parts *p, const int *order)
{
	struct blob s = { 0 };

	for (; *order >= 0; order++)
		blob__bytes(&s, p->f[*order].s.p, p->f[*order].s.len);
	return s;
}

struct blob parts__join_all(const struct parts *p)
{
	static const int all[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1 };

	return parts__join(p, all);
}
