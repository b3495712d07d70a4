/* stream.h - one VM's stream: its ring, its file, and the thread that moves
 * events from one to the other.  Made and ended by the collector.
 */
#ifndef LJPERF_RECORD_STREAM_H
#define LJPERF_RECORD_STREAM_H

#include <pthread.h>

#include "record/drain.h"
#include "record/protocol.h"
#include "record/siblings.h"

struct stream {
	struct stream *next;
	char *path; /* "-" for standard output */
	int fd;
	int pipe; /* of a misc.memprof, instead of a ring; -1: none */
	struct ring *ring;
	uint32_t data_bytes;
	uint64_t start_ns;
	struct nodes *nodes; /* NULL: no native stacks */
	struct session_writer *writer;
	pid_t pid; /* of the process that the VM is in */
	unsigned number; /* of the VM in it, from 1 */
	pthread_t thread;
	_Atomic uint32_t target_ended; /* futex: END holds how, and nothing more comes */
	struct session_footer end;
	_Atomic bool finished; /* the file is closed but for the descriptor */
	_Atomic uint32_t flush_wanted, flushed; /* counts: equal when all is written */
	_Atomic unsigned *n_idle; /* streams whose VM is closed but not its process */

	/* Valid after stream__join(). */
	bool empty; /* nothing came, and there is no file */
	int err; /* 0, or why the file is not complete: negative errno */
	char why[256];
	uint64_t events, bytes, lost, oracle_compared, oracle_wrong;
};

/* What all streams of one recording share. */
struct stream_opts {
	const char *output; /* file of the first VM */
	char recording[RECORDING_ID_SIZE];
	int output_fd; /* it is open already; -1: it is not */
	bool raw; /* it gets the plain stream */
	int level; /* of zstd, 0: default */
	const char *const *argv; /* of the program that was started */
	size_t argc;
	pid_t target; /* the process that ARGV started */
	const char *backend_options;
	_Atomic unsigned n_idle;
};

/* Who has a VM. */
struct stream_vm {
	const struct agent_hello *hello;
	pid_t pid;
	unsigned number; /* of the VM in its process, from 1 */
	bool first; /* of the recording: gets the plain name */
};

/* Opens the file and starts the thread.  MEMFD is closed.  NULL with
 * err__msg(). */
struct stream *stream__new(struct stream_opts *opts, const struct stream_vm *vm, int memfd);

/* Tells the owner of the ring that nobody will read it; MEMFD is closed. */
void stream__refuse(int memfd);

/* The process has ended as END says (end_kind and end_code): what is left in
 * the ring is taken, and the file closed. */
void stream__end(struct stream *s, const struct session_footer *end);
/* Waits for that. */
void stream__join(struct stream *s);
/* Writes what has come so far; returns when that is done. */
void stream__flush(struct stream *s);
void stream__delete(struct stream *s);

#endif
