/* lib_frames.c - see lib_frames.h. */
#include "tests/fuzz/lib_frames.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static void put(struct frames *f, const void *src, size_t n)
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
static void put_frame(struct frames *f, ZSTD_CCtx *zstd, uint8_t kind, const uint8_t *content,
		      size_t n)
{
	size_t bound = ZSTD_compressBound(n), size;
	void *buf = malloc(bound);

	if (!buf)
		abort();
	size = ZSTD_compress2(zstd, buf, bound, content, n);
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

void frames__build(struct frames *f, const uint8_t *data, size_t size)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();

	if (!zstd)
		abort();
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, -5);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	while (size >= 3) {
		size_t n = data[1] | (size_t)data[2] << 8;

		if (n > size - 3)
			n = size - 3;
		put_frame(f, zstd, data[0] & 3, data + 3, n);
		data += 3 + n;
		size -= 3 + n;
	}
	ZSTD_freeCCtx(zstd);
}

void frames__exit(struct frames *f)
{
	free(f->p);
	*f = (struct frames){ 0 };
}
