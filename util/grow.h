/* grow.h - growing arrays. */
#ifndef LJPERF_UTIL_GROW_H
#define LJPERF_UTIL_GROW_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

/* ARRAY (of *CAP elements of SIZE bytes), moved so that it holds more than N.
 * Ids are 32 bits, so no array has more elements.  NULL: no memory. */
static inline void *grow__to(void *array, size_t *cap, size_t n, size_t size)
{
	size_t new_cap = *cap ? *cap : 32;
	void *p;

	if (n < *cap)
		return array;
	while (new_cap <= n)
		new_cap += new_cap / 2;
	if (new_cap > UINT32_MAX || new_cap > SIZE_MAX / size)
		return NULL;
	p = realloc(array, new_cap * size);
	if (p)
		*cap = new_cap;
	return p;
}

/* Makes room for element N of the array.  0 or -ENOMEM. */
#define GROW(array, cap, n) \
	__extension__({ \
		void *grown_ = grow__to((array), &(cap), (n), sizeof(*(array))); \
		if (grown_) \
			(array) = grown_; \
		grown_ ? 0 : -ENOMEM; \
	})

#endif
