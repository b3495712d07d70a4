/* crc32.c - the CRC of debug links; see crc32.h. */
#include "report/crc32.h"

static uint32_t table[256];

static void crc32__begin(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
		table[i] = c;
	}
}

uint32_t crc32__add(uint32_t crc, const void *p, size_t n)
{
	const uint8_t *s = p;

	if (!table[1])
		crc32__begin();
	crc = ~crc;
	for (size_t i = 0; i < n; i++)
		crc = crc >> 8 ^ table[(crc ^ s[i]) & 0xff];
	return ~crc;
}
