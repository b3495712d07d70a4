/* producer.h - the agent's end of the ring.  The inline part runs on every
 * event; nothing here allocates, locks or throws, and it blocks only while
 * the ring is full.
 */
#ifndef LJPERF_BACKENDS_LUAJIT_PRODUCER_H
#define LJPERF_BACKENDS_LUAJIT_PRODUCER_H

#include <stdbool.h>
#include <stddef.h>

#include "record/ring.h"

struct producer {
	uint64_t *data; /* the ring's words */
	uint64_t mask; /* their number less one */
	uint64_t head; /* next word to write; published up to ring->head */
	uint64_t tail_seen; /* ring->tail when last looked at */
	uint64_t wake_at; /* head at which a sleeping consumer is woken */
	struct ring *ring;
	uint64_t lost; /* events dropped and not yet told */
	uint64_t fd_inode; /* of the socket, to know it from a later file */
	int fd;
	bool drop; /* never wait */
	bool dropping; /* the consumer stood still for too long */
	bool dead; /* the consumer is gone: nothing is written any more */
};

/* A ring of MOST bytes (a power of two), or fewer where the program may not
 * make files so large, in a new memfd; the memfd or -errno. */
int producer__init(struct producer *p, uint32_t most, int fd);
void producer__exit(struct producer *p);
/* FD is the socket whose other end is the collector's. */
void producer__watch(struct producer *p, int fd);

/* Makes room or says no: the caller then drops what it has. */
bool producer__wait(struct producer *p, unsigned words);
void producer__wake(struct producer *p);
/* The VM ends: says so if the collector did not see it. */
void producer__check(struct producer *p);

static inline bool producer__room(struct producer *p, unsigned words)
{
	if (__builtin_expect(p->head + words - p->tail_seen <= p->mask + 1 && !p->lost, 1))
		return true;
	return producer__wait(p, words);
}

static inline void producer__put(struct producer *p, uint64_t word)
{
	p->data[p->head++ & p->mask] = word;
}

static inline void producer__publish(struct producer *p)
{
	atomic_store_explicit(&p->ring->head, p->head, memory_order_release);
	if (__builtin_expect(p->head >= p->wake_at, 0))
		producer__wake(p);
}

/* A control record of N words, then strings.  False: dropped. */
bool producer__ctl(struct producer *p, enum ring_ctl kind, const uint64_t *words, unsigned n);
bool producer__string(struct producer *p, const char *s, size_t len);

#endif
