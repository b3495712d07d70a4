/* siblings.h - the files of one recording of several VMs: what they are called,
 * and how they become .old together.  Called by output.c; the id of a recording
 * is made by those who begin one.
 */
#ifndef LJPERF_RECORD_SIBLINGS_H
#define LJPERF_RECORD_SIBLINGS_H

#include <sys/types.h>

/* In the header of each file of a recording: 16 random bytes in hexadecimal. */
#define RECORDING_ID_SIZE 33

/* Without randomness ID is empty, and no file is known to belong to another. */
void recording_id__make(char id[RECORDING_ID_SIZE]);

/* Where the extension of a path begins: its length when it has none. */
size_t siblings__stem(const char *path);

/* The file of VM number NUMBER of process PID: both stand before the extension
 * of OUTPUT, and the number only when it is not 1.  To be freed; NULL without
 * memory. */
char *siblings__name(const char *output, pid_t pid, unsigned number);

/* Before PATH, a file, becomes PATH.old: the files of other VMs that have its
 * recording's id get their .old, too, and those of the recording that PATH.old
 * is of are removed.  Only a file of ours is touched whose header has the id,
 * and the process and the VM that its name says. */
void siblings__rotate(const char *path);

#endif
