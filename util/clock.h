/* clock.h - the clocks in nanoseconds.  Plain system calls: for the hook, too. */
#ifndef LJPERF_UTIL_CLOCK_H
#define LJPERF_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock__ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
