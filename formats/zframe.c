/* zframe.c - see zframe.h. */
#include "formats/zframe.h"
#include "formats/cursor.h"

#include <errno.h>
#include <stdlib.h>

enum {
	BLOCK_HEADER = 3,
	BLOCK_MAX = 128 << 10,
	FRAME_HEADER_MAX = 18,
	CHECKSUM = 4,
	FIRST_CAPACITY = 1 << 20,
	USUAL_CAPACITY = 8 << 20,
};

enum block_type { BLOCK_RAW, BLOCK_RLE, BLOCK_COMPRESSED, BLOCK_RESERVED };

static uint64_t content_size(struct cursor *c, unsigned field)
{
	switch (field) {
	case 1:
		return cursor__u8(c);
	case 2:
		return cursor__le16(c) + 256u;
	case 4:
		return cursor__le32(c);
	case 8:
		return cursor__le64(c);
	default:
		return 0;
	}
}

/* Magic, descriptor, window, dictionary, content size. */
static enum zframe_status walk_header(struct input *in, struct zframe *f)
{
	static const uint8_t dict_sizes[] = { 0, 1, 2, 4 }, content_sizes[] = { 0, 2, 4, 8 };
	size_t avail = input__need(in, FRAME_HEADER_MAX);
	struct cursor c = cursor__of(in->p, avail < FRAME_HEADER_MAX ? avail : FRAME_HEADER_MAX);
	uint32_t magic = cursor__le32(&c);
	unsigned descriptor = cursor__u8(&c), field;
	bool single = descriptor >> 5 & 1;

	if (c.status == CURSOR_SHORT)
		return ZFRAME_CUT;
	/* Bit 3 is reserved; dictionaries are nothing a session could have. */
	if (magic != ZFRAME_MAGIC || (descriptor & 0x0b))
		return ZFRAME_BAD;
	field = content_sizes[descriptor >> 6];
	if (single && field == 0)
		field = 1;
	cursor__bytes(&c, (single ? 0u : 1u) + dict_sizes[descriptor & 3]);
	f->content = content_size(&c, field);
	f->has_content = field != 0;
	f->has_checksum = descriptor >> 2 & 1;
	if (c.status == CURSOR_SHORT)
		return ZFRAME_CUT;
	f->size = (size_t)(c.p - in->p);
	return ZFRAME_OK;
}

/* One block at f->size. */
static enum zframe_status walk_block(struct input *in, struct zframe *f, bool *last)
{
	size_t avail = input__need(in, f->size + BLOCK_HEADER), size;
	struct cursor c = cursor__of(in->p, avail);
	uint32_t header;

	cursor__bytes(&c, f->size);
	header = cursor__u8(&c);
	header |= (uint32_t)cursor__le16(&c) << 8;
	if (c.status == CURSOR_SHORT)
		return ZFRAME_CUT;
	*last = header & 1;
	size = header >> 3;
	if (size > BLOCK_MAX)
		return ZFRAME_BAD;
	switch ((enum block_type)(header >> 1 & 3)) {
	case BLOCK_RESERVED:
		return ZFRAME_BAD;
	case BLOCK_RLE:
		size = 1;
		break;
	default:
		break;
	}
	f->size += BLOCK_HEADER + size;
	return f->size > ZFRAME_SIZE_MAX ? ZFRAME_BAD : ZFRAME_OK;
}

enum zframe_status zframe__walk(struct input *in, struct zframe *f)
{
	enum zframe_status status;
	bool last = false;

	*f = (struct zframe){ 0 };
	status = walk_header(in, f);
	while (status == ZFRAME_OK && !last)
		status = walk_block(in, f, &last);
	if (status == ZFRAME_OK) {
		f->size += f->has_checksum ? CHECKSUM : 0;
		if (input__need(in, f->size) < f->size)
			status = ZFRAME_CUT;
	}
	if (status == ZFRAME_CUT)
		f->size = in->avail;
	return status;
}

static int zbuf__grow(struct zbuf *z, uint64_t content)
{
	uint64_t cap = z->cap ? (uint64_t)z->cap * 2 : FIRST_CAPACITY;
	uint8_t *p;

	/* A byte more than the content: the end of the frame is seen at once. */
	if (cap > content + 1 && z->cap)
		cap = content + 1;
	p = realloc(z->p, (size_t)cap);
	if (!p)
		return -ENOMEM;
	z->p = p;
	z->cap = (size_t)cap;
	return 0;
}

static int zbuf__prepare(struct zbuf *z)
{
	z->len = 0;
	if (!z->dctx) {
		z->dctx = ZSTD_createDCtx();
		if (!z->dctx)
			return -ENOMEM;
		ZSTD_DCtx_setParameter(z->dctx, ZSTD_d_windowLogMax, ZFRAME_WINDOW_LOG_MAX);
	}
	ZSTD_DCtx_reset(z->dctx, ZSTD_reset_session_only);
	return z->p ? 0 : zbuf__grow(z, 0);
}

int zbuf__decode(struct zbuf *z, const void *src, size_t len, uint64_t limit, bool partial)
{
	unsigned long long content = ZSTD_getFrameContentSize(src, len);
	ZSTD_inBuffer in = { src, len, 0 };
	int err = zbuf__prepare(z);

	if (err)
		return err;
	if (content == ZSTD_CONTENTSIZE_ERROR)
		return partial ? 0 : -EBADMSG;
	if (content == ZSTD_CONTENTSIZE_UNKNOWN || content > limit)
		return -EBADMSG;
	for (;;) {
		ZSTD_outBuffer out = { z->p, z->cap, z->len };
		size_t before = in.pos, left = ZSTD_decompressStream(z->dctx, &out, &in);
		bool moved = out.pos != z->len || in.pos != before;

		z->len = out.pos;
		if (ZSTD_isError(left) || z->len > content)
			return -EBADMSG;
		if (left == 0)
			return in.pos == in.size && z->len == content ? 0 : -EBADMSG;
		if (z->len == z->cap) {
			err = zbuf__grow(z, content);
			if (err)
				return err;
		} else if (!moved) {
			return partial ? 0 : -EBADMSG;
		}
	}
}

void zbuf__shrink(struct zbuf *z)
{
	if (z->cap <= USUAL_CAPACITY)
		return;
	free(z->p);
	z->p = NULL;
	z->len = z->cap = 0;
}

void zbuf__exit(struct zbuf *z)
{
	ZSTD_freeDCtx(z->dctx);
	free(z->p);
	*z = (struct zbuf){ 0 };
}
