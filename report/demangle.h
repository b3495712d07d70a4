/* demangle.h - readable names of C++ and Rust functions.  Used by names.c and
 * by the lines of script.
 */
#ifndef LJPERF_REPORT_DEMANGLE_H
#define LJPERF_REPORT_DEMANGLE_H

#include <stdbool.h>

#include "util/strbuf.h"

/* Appends the readable form of the symbol NAME to OUT, not escaped.  False,
 * and nothing is added, when it is not one of C++ or Rust, or a bad one. */
bool demangle__append(const char *name, struct strbuf *out);

#endif
