/* options_help.h - what options.c and options_help.c share. */
#ifndef LJPERF_UTIL_OPTIONS_HELP_H
#define LJPERF_UTIL_OPTIONS_HELP_H

#include "util/options.h"

/* Most options a command can have; only suggestions depend on it. */
#define OPTIONS_MAX 64

/* Hidden argument of every command: prints its options for the completion
 * of shells, one a line: option, name of its argument, help, with tabs. */
#define OPTIONS_LIST_ARGUMENT "--ljperf-list-options"

/* Prints that list to stdout and returns OPTIONS_HELP. */
int options__print_list(const struct option *opts);

#endif
