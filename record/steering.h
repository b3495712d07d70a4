/* steering.h - when events are recorded and when not: the delay, the duration,
 * the control FIFO and the signal.  Called by cmd_record.c (what is asked for)
 * and collector.c (the clock and the descriptors).
 */
#ifndef LJPERF_RECORD_STEERING_H
#define LJPERF_RECORD_STEERING_H

#include <stdbool.h>
#include <stdint.h>

#include "record/protocol.h"

struct steering {
	/* As asked for; 0 and NULL: not. */
	bool off; /* begin without recording */
	uint64_t delay_ns; /* then record after this */
	uint64_t duration_ns; /* and for this long */
	bool toggle_signal; /* SIGUSR2 turns recording off and on */
	const char *control; /* fifo:PATH[,ACKPATH] or fd:N[,M] */

	/* At work. */
	struct control *page;
	uint64_t on_at, off_at; /* of CLOCK_MONOTONIC, 0: never */
	int fd, ack_fd; /* -1: none */
	char line[64];
	unsigned len;
	unsigned acks; /* commands that are done but not confirmed */
	bool was_on; /* at any time */
	bool stop, snapshot; /* were asked for, until the collector clears them */
};

/* Parse "250ms", "2s", "5m", "1h".  As with perf a delay without a unit is in ms,
 * and one of "-1", UINT64_MAX, has no end.  0 or -EINVAL with err__msg(). */
int steering__parse_delay(const char *text, uint64_t *ns);
int steering__parse_duration(const char *text, uint64_t *ns);

/* Before the target starts.  0 or a negative errno with err__msg(). */
int steering__open(struct steering *s, struct control *page);
void steering__close(struct steering *s);

/* Does what is due; returns ms to the next thing that will be, -1: nothing. */
int steering__tick(struct steering *s);
void steering__toggle(struct steering *s);
void steering__set(struct steering *s, bool on);

/* Commands have come in at s->fd.  They are confirmed by a call of their own,
 * when the collector has done its part. */
void steering__read(struct steering *s);
void steering__ack(struct steering *s);

#endif
