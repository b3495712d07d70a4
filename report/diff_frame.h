/* diff_frame.h - what a frame of a call stack is called in a diff: alike on all
 * sides that have it, whatever its addresses and the numbers of its traces.
 * Used by the trees of diff and by its key 'parent'.
 */
#ifndef LJPERF_REPORT_DIFF_FRAME_H
#define LJPERF_REPORT_DIFF_FRAME_H

#include "report/diff.h"

/* Appends "parse_row app.lua:42", or with FUNCTION "parse_row app.lua", of SITE
 * on SIDE; SITE_NONE stands for frames that were left out.  Behind a NUL stands
 * what is not shown, but tells it from another frame. */
void diff_frame__put(const struct diff *d, size_t side, uint32_t site, bool function,
		     struct strbuf *out);

/* Appends the name only. */
void diff_frame__put_name(const struct diff *d, size_t side, uint32_t site, struct strbuf *out);

#endif
