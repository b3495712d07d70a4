/* features.h - the header of a recording as text.  Used by report --header
 * and info.
 */
#ifndef LJPERF_REPORT_FEATURES_H
#define LJPERF_REPORT_FEATURES_H

#include "formats/session.h"
#include "util/strbuf.h"

/* Appends a line "name : value" for each feature that is known. */
void features__print(const struct session_header *h, struct strbuf *out);

/* Appends the command line of the target, quoted as a shell would want it. */
void features__command(const struct session_header *h, struct strbuf *out);

/* Appends "exit status 0", "killed by signal 9 (Killed)" or "unknown". */
void features__end(const struct session_footer *f, struct strbuf *out);

#endif
