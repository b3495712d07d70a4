/* zframe.h - zstd frames of limited size.  Called by the session reader.
 *
 * The frame walk follows RFC 8878, 3.1.1; it finds where a frame ends without
 * decoding it, in one pass, as the bytes arrive. */
#ifndef LJPERF_FORMATS_ZFRAME_H
#define LJPERF_FORMATS_ZFRAME_H

#include "formats/input.h"

#include <zstd.h>

#define ZFRAME_MAGIC 0xFD2FB528u
#define ZFRAME_SKIPPABLE_MAGIC 0x184D2A50u /* to 5F */
#define ZFRAME_CONTENT_MAX ((uint64_t)64 << 20)
/* No frame of that content is longer, however bad it compresses. */
#define ZFRAME_SIZE_MAX (ZSTD_COMPRESSBOUND(ZFRAME_CONTENT_MAX) + 64)
#define ZFRAME_WINDOW_LOG_MAX 23

enum zframe_status {
	ZFRAME_OK,
	ZFRAME_CUT, /* the input ends inside */
	ZFRAME_BAD, /* no frame, or one above the limits */
};

struct zframe {
	size_t size; /* bytes of the frame, or of what is there of it */
	uint64_t content; /* decoded bytes; 0 when it does not say */
	bool has_content, has_checksum;
};

/* The frame at the front of IN, which is not advanced. */
enum zframe_status zframe__walk(struct input *in, struct zframe *f);

/* Decodes into a buffer that is kept and grows by what is decoded. */
struct zbuf {
	ZSTD_DCtx *dctx;
	uint8_t *p;
	size_t len, cap;
};

/* One whole frame of at most LIMIT decoded bytes, which must say its content
 * size.  With PARTIAL its end may be missing: what there is, is decoded.
 * 0, -EBADMSG for damage, -ENOMEM. */
int zbuf__decode(struct zbuf *z, const void *src, size_t len, uint64_t limit, bool partial);
/* Gives back what a frame far above the usual size has taken. */
void zbuf__shrink(struct zbuf *z);
void zbuf__exit(struct zbuf *z);

#endif
