/* crc32.h - the CRC that .gnu_debuglink has and that guards the symbol cache:
 * the one of zlib and of IEEE 802.3. */
#ifndef LJPERF_REPORT_CRC32_H
#define LJPERF_REPORT_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Goes on from CRC, which is 0 at first. */
uint32_t crc32__add(uint32_t crc, const void *p, size_t n);

#endif
