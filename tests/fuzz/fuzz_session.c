/* fuzz_session.c - fuzz target of what stands inside the frames of a session
 * file.  The checksums of zstd would stop nearly every mutated file, so the
 * input is the decoded content of the frames, and the file is built here. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "formats/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct file {
	uint8_t *p;
	size_t len, cap;
	ZSTD_CCtx *zstd;
};

static void put(struct file *f, const void *src, size_t n)
{
	if (f->cap - f->len < n) {
		f->cap = (f->len + n) * 2;
		f->p = realloc(f->p, f->cap);
		if (!f->p)
			abort();
	}
	memcpy(f->p + f->len, src, n);
	f->len += n;
}

/* Content in a zstd frame; kind 0 is DATA, others stand in a frame of ours. */
static void put_frame(struct file *f, uint8_t kind, const uint8_t *content, size_t n)
{
	size_t bound = ZSTD_compressBound(n), size;
	void *buf = malloc(bound);

	if (!buf)
		abort();
	size = ZSTD_compress2(f->zstd, buf, bound, content, n);
	if (ZSTD_isError(size))
		abort();
	if (kind) {
		uint8_t fixed[24] = { 0x5c, 0x2a, 0x4d, 0x18, 0, 0, 0, 0, 'L', 'J', 'P', 'F', 1 };

		for (int i = 0; i < 4; i++)
			fixed[4 + i] = (uint8_t)((size + 16) >> 8 * i);
		fixed[14] = kind;
		put(f, fixed, sizeof(fixed));
	}
	put(f, buf, size);
	free(buf);
}

static int on_symbol(void *ctx, const struct ljm_symbol *sym)
{
	unsigned *sum = ctx;

	for (size_t i = 0; i < sym->func_name_len; i++)
		*sum += (unsigned char)sym->func_name[i];
	return 0;
}

static int on_event(void *ctx, const struct ljm_event *ev)
{
	(void)ctx;
	if (ev->vmstate >= LJM_VMSTATE_MAX)
		abort();
	return 0;
}

static int on_mark(void *ctx, const struct session_mark *m)
{
	unsigned *sum = ctx;

	for (size_t i = 0; i < m->name_len; i++)
		*sum += (unsigned char)m->name[i];
	return 0;
}

static int on_module(void *ctx, const struct session_module *m)
{
	unsigned *sum = ctx;

	for (size_t i = 0; i < m->path_len; i++)
		*sum += (unsigned char)m->path[i];
	for (size_t i = 0; i < m->build_id_len; i++)
		*sum += (unsigned char)m->build_id[i];
	if (m->end < m->start)
		abort();
	return 0;
}

static int on_stack(void *ctx, const struct session_stack *node)
{
	(void)ctx;
	if (node->loc.source < LJM_SRC_INTERNAL || node->loc.source > LJM_SRC_TRACE)
		abort();
	return 0;
}

/* The input: { kind, length of 2 bytes, content }*. */
static void build(struct file *f, const uint8_t *data, size_t size)
{
	while (size >= 3) {
		size_t n = data[1] | (size_t)data[2] << 8;

		if (n > size - 3)
			n = size - 3;
		put_frame(f, data[0] & 3, data + 3, n);
		data += 3 + n;
		size -= 3 + n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct session_handlers handlers = {
		.symbol = on_symbol,
		.event = on_event,
		.mark = on_mark,
		.module = on_module,
		.stack = on_stack,
	};
	struct file f = { .zstd = ZSTD_createCCtx() };
	struct session_reader *r;
	unsigned sum = 0;

	if (!f.zstd)
		abort();
	ZSTD_CCtx_setParameter(f.zstd, ZSTD_c_compressionLevel, -5);
	ZSTD_CCtx_setParameter(f.zstd, ZSTD_c_checksumFlag, 1);
	build(&f, data, size);
	r = session_reader__new_mem(f.p, f.len, "fuzz");
	if (r && session_reader__run(r, &handlers, &sum) == 0 &&
	    session_reader__info(r)->container == SESSION_LJPERF &&
	    session_reader__info(r)->state != SESSION_COMPLETE &&
	    !session_reader__info(r)->damage[0])
		abort();
	session_reader__delete(r);
	ZSTD_freeCCtx(f.zstd);
	free(f.p);
	return 0;
}
