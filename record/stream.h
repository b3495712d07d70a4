/* stream.h - one VM's stream: its ring, its file, and the thread that moves
 * events from one to the other.  Made and ended by the collector.
 */
#ifndef LJPERF_RECORD_STREAM_H
#define LJPERF_RECORD_STREAM_H

#include <pthread.h>

#include "record/drain.h"

struct stream {
	struct stream *next;
	char *path; /* "-" for standard output */
	int fd;
	struct ring *ring;
	uint32_t data_bytes;
	uint64_t start_ns;
	struct session_writer *writer;
	pthread_t thread;
	_Atomic bool target_ended; /* END holds how, and nothing more comes */
	struct session_footer end;

	/* Valid after stream__join(). */
	int err; /* 0, or why the file is not complete: negative errno */
	char why[256];
	uint64_t events, bytes, lost, oracle_compared, oracle_wrong;
};

/* What all streams of one recording share. */
struct stream_opts {
	const char *output; /* file of the first VM */
	int level;	    /* of zstd, 0: default */
	const char *const *argv;
	size_t argc;
	const char *backend_options;
};

/* Opens the file and starts the thread.  MEMFD is closed, HELLO copied.
 * NULL with err__msg(). */
struct stream *stream__new(const struct stream_opts *opts, const struct ring_hello *hello, int memfd,
			   bool first);

/* The target has ended as END says (end_kind and end_code): takes what is
 * left in the ring and closes the file. */
void stream__join(struct stream *s, const struct session_footer *end);
void stream__delete(struct stream *s);

#endif
