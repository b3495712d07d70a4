/* fuzz_drain.c - fuzz target of the collector's end of a ring: any words that a
 * program may leave there.  They are taken or refused, and in both cases the
 * file that comes out is whole and holds what was taken.
 *
 * The input: { number of words (1 byte), that many words of 8 bytes }*; the
 * collector looks after each such group.  The ring is small, so that records
 * go over its end.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/session.h"
#include "record/drain.h"

enum { RING_BYTES = 4096, RING_WORDS = RING_BYTES / 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ring *new_ring(void)
{
	struct ring *ring = aligned_alloc(4096, RING_HEADER_BYTES + RING_BYTES);

	if (!ring)
		abort();
	memset(ring, 0, RING_HEADER_BYTES + RING_BYTES);
	return ring;
}

static void put_words(struct ring *ring, const uint8_t *data, size_t n)
{
	uint64_t *words = (uint64_t *)(void *)((char *)ring + RING_HEADER_BYTES);
	uint64_t head = atomic_load(&ring->head);
	size_t i;

	for (i = 0; i < n; i++)
		memcpy(&words[(head + i) % RING_WORDS], data + 8 * i, 8);
	atomic_store(&ring->head, head + n);
}

/* False when the ring was refused. */
static int feed(struct ring *ring, struct drain *d, const uint8_t *data, size_t size)
{
	long took = 0;
	size_t n;

	while (size > 8 && took >= 0) {
		n = data[0] < (size - 1) / 8 ? data[0] : (size - 1) / 8;
		put_words(ring, data + 1, n);
		data += 1 + 8 * n;
		size -= 1 + 8 * n;
		/* Twice: the first may stop in the middle. */
		took = drain__some(d, 8);
		if (took >= 0)
			took = drain__some(d, RING_WORDS);
	}
	return took >= 0;
}

static int on_event(void *ctx, const struct ljm_event *ev)
{
	uint64_t *sum = ctx;

	*sum += ev->new_size + ev->old_size;
	return 0;
}

static void check_file(int fd, uint64_t events)
{
	static const struct session_handlers handlers = { .event = on_event };
	off_t len = lseek(fd, 0, SEEK_END);
	void *p = mmap(NULL, (size_t)len, PROT_READ, MAP_SHARED, fd, 0);
	struct session_reader *r;
	uint64_t sum = 0;

	if (p == MAP_FAILED)
		abort();
	r = session_reader__new_mem(p, (size_t)len, "fuzz");
	if (!r || session_reader__run(r, &handlers, &sum) != 0 ||
	    session_reader__info(r)->state != SESSION_COMPLETE ||
	    session_reader__info(r)->n_events != events)
		abort();
	session_reader__delete(r);
	munmap(p, (size_t)len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct session_header header = { .backend = "luajit" };
	struct session_writer_opts opts = { .level = 1,
					    .batch_bytes = 3000,
					    .stacks = size && data[0] & 1 };
	struct session_footer end = { .end_kind = SESSION_END_UNKNOWN };
	struct ring *ring = new_ring();
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct session_writer *w = session_writer__new(fd, &header, &opts);
	struct drain d;

	if (!w)
		abort();
	drain__init(&d, ring, RING_BYTES, w, 1000);
	if (size)
		feed(ring, &d, data + 1, size - 1);
	if (session_writer__finish(w, &end) == 0)
		check_file(fd, session_writer__events(w));
	drain__exit(&d);
	session_writer__delete(w);
	close(fd);
	free(ring);
	return 0;
}
