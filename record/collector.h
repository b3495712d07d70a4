/* collector.h - the other end of the agents: takes their rings, watches the
 * processes, the clock and the signals, and ends the files.  Called by
 * cmd_record.c.
 */
#ifndef LJPERF_RECORD_COLLECTOR_H
#define LJPERF_RECORD_COLLECTOR_H

#include <poll.h>

#include "record/process.h"
#include "record/steering.h"
#include "record/stream.h"
#include "record/wire.h"

#define MAX_CONNECTIONS 256

struct collector {
	struct stream_opts opts;
	struct wire wire;
	struct steering steering;
	int sigfd; /* SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR2 */
	pid_t target; /* 0: not a child of ours */
	pid_t owner; /* of a collector that a program has started for itself; 0: none */
	bool quiet, verbose;
	struct processes processes;
	struct stream *streams; /* in the order of arrival */
	struct stream **last;

	int conns[MAX_CONNECTIONS]; /* through the listener, n_conns of them */
	bool admitted[MAX_CONNECTIONS]; /* its secret was right */
	unsigned n_conns;
	struct pollfd *fds; /* what is waited for, n_fds of them */
	struct pollfd fds_few[64]; /* as long as these are enough */
	size_t n_fds, fds_room;
	uint64_t linger_until; /* 0: not yet */
	bool told_waiting;

	struct session_footer end; /* how the target ended */
	bool target_ended, stopped;
	uint64_t interrupted_ns; /* when the first signal came; 0: none has */
	unsigned n_loaded; /* processes that had an agent in them */
	char refused[512]; /* why a VM is not recorded, the first reason; "" none */
	int err; /* a VM could not be recorded, and why: the first reason */
	char why[256];
};

/* Runs until the target and its recorded children have ended (or it was
 * stopped), then closes all files.  The streams stay for the caller to report
 * and delete. */
void collector__run(struct collector *c);

void collector__exit(struct collector *c);

#endif
