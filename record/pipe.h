/* pipe.h - the stream of a VM that profiles itself, with misc.memprof, into a
 * pipe of ours.  Called by stream.c.
 */
#ifndef LJPERF_RECORD_PIPE_H
#define LJPERF_RECORD_PIPE_H

#include "record/stream.h"

/* Copies what comes through s->pipe to s->writer, until the other end is closed
 * or the process has ended.  0 or a negative errno with err__msg(); s->empty
 * tells that nothing has come. */
int pipe__copy(struct stream *s);

#endif
