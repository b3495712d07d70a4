/* recording.h - opening recordings.  Used by report, script and info. */
#ifndef LJPERF_REPORT_RECORDING_H
#define LJPERF_REPORT_RECORDING_H

#include <stdbool.h>

#include "formats/session.h"

#define RECORDING_DEFAULT "ljperf.ljm.zst"

/* Reads all of the recording at PATH, "-" being standard input.  A file that
 * belongs to another user than the present one and root is refused unless
 * FORCE.  0 with INFO filled, or negative with err__msg(). */
int recording__read(const char *path, bool force, const struct session_handlers *h, void *ctx,
		    struct session_info *info);

/* Tells on a terminal how far the reading is when it takes long; call it every
 * now and then. */
void recording__progress(uint64_t n_events);

/* Whether a recording is damaged: cut, or corrupt.  Prints how unless QUIET. */
bool recording__damaged(const char *name, const struct session_info *info, bool quiet);

#endif
