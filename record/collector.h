/* collector.h - the other end of the agents: takes their rings, watches the
 * target and the signals, and ends the files.  Called by cmd_record.c.
 */
#ifndef LJPERF_RECORD_COLLECTOR_H
#define LJPERF_RECORD_COLLECTOR_H

#include <signal.h>
#include <sys/types.h>

#include "record/stream.h"

struct collector {
	struct stream_opts opts;
	int sock;	/* our end; the target has the other */
	int sigfd;	/* SIGCHLD, SIGINT, SIGTERM, SIGHUP */
	pid_t target;
	struct stream *streams; /* in the order of arrival */
	struct stream **last;
	struct session_footer end; /* how the target ended */
	bool target_ended, interrupted;
	int err; /* the first VM whose file could not be opened; err__msg() then */
	char why[256];
};

/* Runs until the target has ended (or a second signal came), then closes all
 * files.  The streams stay for the caller to report and delete. */
void collector__run(struct collector *c);

#endif
