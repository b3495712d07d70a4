/* window.h - the part of a recording that counts: --time, --from and --to.
 * Parsed by report, kept by the aggregation.
 */
#ifndef LJPERF_REPORT_WINDOW_H
#define LJPERF_REPORT_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

enum window_kind { WINDOW_ALL, WINDOW_TIME, WINDOW_PERCENT, WINDOW_MARKS };

/* A part of a recording, from its beginning up to, not including, its end.
 * What happens outside changes nothing but the size of the heap. */
struct window {
	enum window_kind kind;
	uint64_t from_ns, to_ns; /* TIME; UINT64_MAX: to the end */
	double from_share, to_share; /* PERCENT: 0.1 is 10 % */
	const char *from, *to; /* MARKS: their names; NULL: begin, end */
};

/* "1.5,2.25" in seconds, each may be left out; "10%-20%", "10%".  Any argument
 * may be NULL.  0, or -EINVAL with err__msg(). */
int window__parse(const char *time, const char *from, const char *to, struct window *w);

/* The window of the recording at PATH, in times or marks: a share of its
 * duration needs a pass over it, which a pipe does not allow.  0 or negative
 * with err__msg(). */
int window__find(const struct window *w, const char *path, bool force, struct window *out);

#endif
