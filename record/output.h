/* output.h - the files that record writes. */
#ifndef LJPERF_RECORD_OUTPUT_H
#define LJPERF_RECORD_OUTPUT_H

#include <stdbool.h>
#include <sys/types.h>

#define DEFAULT_OUTPUT "ljperf.ljm.zst"

/* Opens the file of a VM: OUTPUT for the first, siblings__name() for others.
 * A file that is there becomes FILE.old, with OUTPUT the files of other VMs of
 * its recording, too.  "-" is standard output, for the first VM.  The
 * descriptor, with its name in *PATH to be freed by the caller; or a negative
 * errno with err__msg(). */
int output__open(const char *output, pid_t pid, unsigned number, bool first, char **path);

/* Opens PATH as misc.memprof does: what is there is written over. */
int output__open_memprof(const char *path);

/* Removes a file that is not to stay; a device or a FIFO stays. */
void output__remove(const char *path);

/* Whether a file could be made there; tells before the target starts. */
int output__check(const char *output);

#endif
