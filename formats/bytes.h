/* bytes.h - a growing buffer of bytes for what is written.  Called by the
 * session writer.  A failed allocation sticks, so that a caller checks once. */
#ifndef LJPERF_FORMATS_BYTES_H
#define LJPERF_FORMATS_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
	uint8_t *p;
	size_t len, cap;
	bool failed;
};

void bytes__exit(struct bytes *b);
/* Room for N more bytes; false when there is no memory. */
bool bytes__reserve(struct bytes *b, size_t n);
void bytes__put(struct bytes *b, const void *src, size_t n);
void bytes__put_uleb(struct bytes *b, uint64_t v);
void bytes__put_string(struct bytes *b, const char *s, size_t n); /* length first */
void bytes__put_le16(struct bytes *b, uint16_t v);
void bytes__put_le32(struct bytes *b, uint32_t v);

#endif
