/* import.h - copies a plain stream, of any variant, into a session file.  Called
 * by cmd_import.c, and by pipe.c for what a misc.memprof writes.
 */
#ifndef LJPERF_RECORD_IMPORT_H
#define LJPERF_RECORD_IMPORT_H

#include "formats/session.h"

/* Reads all of R and writes it to W, which is not finished.  0 when there was a
 * stream, see session_reader__info(); else a negative errno with err__msg(). */
int import__run(struct session_writer *w, struct session_reader *r);

#endif
