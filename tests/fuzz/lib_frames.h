/* lib_frames.h - session files for the fuzz targets.  The checksums of zstd
 * would stop nearly every file that was changed, so what is changed is the
 * decoded content of the frames, and the file is built of it.
 */
#ifndef LJPERF_FUZZ_LIB_FRAMES_H
#define LJPERF_FUZZ_LIB_FRAMES_H

#include <stddef.h>
#include <stdint.h>

struct frames {
	uint8_t *p;
	size_t len, cap;
};

/* DATA: { kind, length of 2 bytes, content }*, kind 0 being a batch's stream,
 * and others a frame of ours. */
void frames__build(struct frames *f, const uint8_t *data, size_t size);
void frames__exit(struct frames *f);

#endif
