/* drain.h - decodes what the agent put into a ring and hands it to a session
 * writer.  Called by the thread of one stream (stream.c); the ring belongs to
 * a program that is not trusted, so every word is read once and checked.
 */
#ifndef LJPERF_RECORD_DRAIN_H
#define LJPERF_RECORD_DRAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/session.h"
#include "record/nodes.h"
#include "record/ring.h"

struct drain {
	struct ring *ring;
	const uint64_t *data;
	uint64_t mask; /* words of the ring less one */
	uint64_t tail, head; /* words read; words that may be read */
	struct session_writer *out;
	uint64_t start_ns; /* what CTL_TIME and CTL_MARK are counted from */

	uint64_t last_stack; /* number of the agent's last node */
	struct nodes *nodes; /* set by the caller, whose it stays, when native stacks come */

	/* A record whose strings are still to come. */
	enum ring_ctl pending; /* 0: none */
	uint64_t words[7];
	char *text; /* its strings, one after the other */
	size_t text_len, text_room, text_want;
};

/* RING stays the caller's; DATA_BYTES is what is mapped behind its header. */
void drain__init(struct drain *d, struct ring *ring, uint32_t data_bytes,
		 struct session_writer *out, uint64_t start_ns);
void drain__exit(struct drain *d);

/* Takes what is there, at most about MOST words.  The number of words taken,
 * or a negative errno with err__msg(): -EBADMSG when the ring is corrupt. */
long drain__some(struct drain *d, size_t most);

#endif
