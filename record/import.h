/* import.h - copies a plain stream, of any variant, into a session file.  Called
 * by cmd_import.c, and by pipe.c for what a misc.memprof writes.
 */
#ifndef LJPERF_RECORD_IMPORT_H
#define LJPERF_RECORD_IMPORT_H

#include "formats/session.h"

/* Reads all of R and writes it to W, which is not finished.  0 when there was a
 * stream, see session_reader__info(); else a negative errno with err__msg(). */
int import__run(struct session_writer *w, struct session_reader *r);

/* Makes the writer, which stays its owner's; NULL with err__msg(). */
typedef struct session_writer *import_open(void *ctx);

/* The same, but OPEN is called only once R has proved to be a stream. */
int import__run_late(struct session_reader *r, import_open *open, void *ctx);

#endif
