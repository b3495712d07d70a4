/* ring.h - the shared-memory ring between the agent in the target and the
 * collector: one ring per VM, one producer, one consumer.
 *
 * The ring is a memfd of the agent's, sent over a socket.  It outlives the
 * target, so nothing that was published can be lost.  All is in 8-byte words
 * of the host's byte order: both ends run on one machine.
 *
 *   record := word0 more*
 *   word0  := type:3 source:3 part:4 num:22 size:31 wide:1   (from bit 0)
 *
 * num is a line or trace number and size the new size (free: the old one).
 * A wide record gives both in words of their own after word0, for values
 * that do not fit.
 *
 *   ALLOC   word0 [num size] [addr of LUA and C source] new_addr
 *   FREE    word0 [num size] [addr of LUA and C source] old_addr
 *   REALLOC word0 [num size] [addr of LUA and C source] old_addr new_addr old_size
 *   ALLOC_STACK and REALLOC_STACK are these and the node of the stack
 *   CTL     word0 with the kind in num and the number of words that follow in
 *           size, then those words
 *
 * A string follows its CTL record as one or more CTL_STRING records, so that
 * one longer than the ring passes through it.
 */
#ifndef LJPERF_RECORD_RING_H
#define LJPERF_RECORD_RING_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define RING_MAGIC 0x676e69726d6a6cULL /* "ljmring" */
#define RING_VERSION 1
#define RING_HEADER_BYTES 4096
#define RING_MIN_BYTES (64u << 10)
#define RING_MAX_BYTES (1u << 30)

struct ring {
	uint64_t magic;
	uint32_t version;
	uint32_t data_bytes; /* a power of two; the data starts at RING_HEADER_BYTES */

	/* Written by the producer. */
	alignas(64) _Atomic uint64_t head; /* words published since the start */
	_Atomic uint64_t oracle_compared, oracle_wrong;
	_Atomic uint64_t lost; /* events dropped so far */
	_Atomic uint32_t gone; /* enum ring_gone: why nothing follows */

	/* Written by the consumer. */
	alignas(64) _Atomic uint64_t tail; /* words consumed */
	_Atomic uint32_t refused; /* not 0: nothing is consumed any more, do not wait */
	_Atomic uint32_t modules_wanted; /* rises when code came up that lies in no module told */

	/* Futexes: 1 while that side sleeps; the other sets 0 and wakes it. */
	alignas(64) _Atomic uint32_t producer_waits;
	alignas(64) _Atomic uint32_t consumer_waits;
};

enum ring_gone { RING_OPEN, RING_CLOSED, RING_GAVE_UP };

enum {
	RING_ALLOC = 1,
	RING_FREE = 2,
	RING_REALLOC = 3,
	RING_CTL = 4,
	RING_ALLOC_STACK = 5,
	RING_REALLOC_STACK = 7
};
#define RING_WITH_STACK 4 /* in the type of an event; CTL has no event's bits */

enum ring_ctl {
	CTL_STRING = 1, /* bytes of the strings of the record before: u64 length, bytes */
	CTL_PROTO, /* addr, first line (i64), last line, chunk length, name length; strings */
	CTL_TRACE, /* addr of the start's prototype, line, number, root, link, link type */
	CTL_TIME, /* ns of CLOCK_MONOTONIC */
	CTL_MARK, /* kind, ns of CLOCK_MONOTONIC, name length; string */
	CTL_LOST, /* events dropped before this */
	CTL_CFUNC, /* addr, name length; string: what Lua code calls it */
	CTL_STACK, /* node, parent, source, addr, line or number */
	/* Start, end, file offset, bias, path length, build id length, sum of its
	 * first page where it has no build id (0: not known); strings. */
	CTL_MODULE,
	CTL_FORGET, /* last node: it and those before it do not come up again */
	/* Of the event of a block that follows: node, block, program counter, stack
	 * pointer, frame register, stack pointer of the VM that called (0: none),
	 * length; string: the stack from its pointer up. */
	CTL_NATIVE,
	CTL_UNLOADS, /* modules may have gone; those that have not are told once more */
	CTL_MAX,
};

#define RING_NUM_MAX ((1u << 22) - 1)
#define RING_SIZE_MAX ((1ull << 31) - 1)
#define RING_WIDE (1ull << 63)
#define RING_STRING_WORDS 512 /* most of a CTL_STRING record, without word0 */

static inline uint64_t ring_word0(unsigned type, unsigned source, unsigned part, uint64_t num,
				  uint64_t size)
{
	return type | source << 3 | part << 6 | num << 10 | size << 32;
}

/* FNV-1a of a module's first page; never 0. */
static inline uint64_t ring_head_sum(const uint8_t *head, size_t len)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);
	size_t i;

	for (i = 0; i < len; i++)
		sum = (sum ^ head[i]) * UINT64_C(0x100000001b3);
	return sum ? sum : 1;
}

static inline unsigned ring_type(uint64_t w)
{
	return w & 7;
}
static inline unsigned ring_source(uint64_t w)
{
	return w >> 3 & 7;
}
static inline unsigned ring_part(uint64_t w)
{
	return w >> 6 & 15;
}
static inline uint32_t ring_num(uint64_t w)
{
	return w >> 10 & RING_NUM_MAX;
}
static inline uint32_t ring_size(uint64_t w)
{
	return (uint32_t)(w >> 32 & RING_SIZE_MAX);
}

#endif
