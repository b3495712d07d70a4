/* archive.h - packs a recording with the files that its names come from.  Used
 * by the command archive.
 *
 *	NAME                   the recording, without its folder
 *	.build-id/xx/yyyy      the file of a module, by its build id
 *	.build-id/xx/yyyy.debug  its separate debug file
 *	usr/lib/libx.so        the same file under the path it was recorded with
 *
 * Unpacked it is a folder for --symfs: files are found under both names.
 */
#ifndef LJPERF_REPORT_ARCHIVE_H
#define LJPERF_REPORT_ARCHIVE_H

#include <stdbool.h>

struct archive_opts {
	const char *symfs, *debug_dir; /* or NULL, see symbolize_files.h */
	bool quiet; /* no warnings */
};

/* Writes the archive of the recording at INPUT to FD, which stays open.  A
 * module whose file is not there, or is another one, is a warning.  0 or
 * negative with err__msg(). */
int archive__write(int fd, const char *input, bool force, const struct archive_opts *o);

#endif
