/* endline.h - what record says when it has ended: one line for each file, and
 * what went wrong.  Called by cmd_record.c.
 */
#ifndef LJPERF_RECORD_ENDLINE_H
#define LJPERF_RECORD_ENDLINE_H

#include "record/collector.h"

/* 0, or EXIT_LJPERF when nothing was recorded: never an empty success.  What
 * went wrong later is told, and is no failure of the program's. */
int endline__print(const struct collector *c, bool quiet, bool oracle);

#endif
