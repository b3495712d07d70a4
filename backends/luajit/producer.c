/* producer.c - the slow parts of the agent's end of the ring: making it,
 * waiting for room, waking the collector, control records.
 */
#include "backends/luajit/producer.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "backends/luajit/notice.h"
#include "util/clock.h"

/* A collector that has not read a word for this long is taken for stopped. */
#define STALL_NS 2000000000u
#define NAP_NS 50000000

/* The most that the program's limit of file sizes allows, at least the least
 * ring: going beyond would bring it SIGXFSZ.  0: not even that. */
static uint32_t within_limit(uint32_t bytes)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_FSIZE, &lim) != 0)
		return bytes;
	while (bytes >= RING_MIN_BYTES && RING_HEADER_BYTES + (rlim_t)bytes > lim.rlim_cur)
		bytes /= 2;
	return bytes >= RING_MIN_BYTES ? bytes : 0;
}

int producer__init(struct producer *p, uint32_t most, int fd)
{
	uint32_t bytes = within_limit(most);
	size_t len = RING_HEADER_BYTES + (size_t)bytes;
	int memfd = bytes ? memfd_create("ljperf-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING) : -1;
	void *map = MAP_FAILED;

	if (!bytes)
		return -EFBIG;
	if (memfd >= 0 && ftruncate(memfd, (off_t)len) == 0)
		map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	if (map == MAP_FAILED) {
		int err = errno;

		if (memfd >= 0)
			close(memfd);
		return -err;
	}
	memset(p, 0, sizeof(*p));
	p->ring = map;
	p->ring->magic = RING_MAGIC;
	p->ring->version = RING_VERSION;
	p->ring->data_bytes = bytes;
	p->data = (uint64_t *)(void *)((char *)map + RING_HEADER_BYTES);
	p->mask = bytes / 8 - 1;
	p->wake_at = bytes / 32;
	producer__watch(p, fd);
	return memfd;
}

void producer__watch(struct producer *p, int fd)
{
	struct stat st;

	p->fd = fd;
	p->fd_inode = fstat(fd, &st) == 0 ? st.st_ino : 0;
}

void producer__exit(struct producer *p)
{
	munmap(p->ring, RING_HEADER_BYTES + (p->mask + 1) * 8);
	p->ring = NULL;
}

/* The target may have closed our socket and opened a file under its number,
 * so the socket is only believed while its inode is the one we know. */
static bool collector_is_gone(const struct producer *p)
{
	struct pollfd pfd = { .fd = p->fd };
	struct stat st;

	if (fstat(p->fd, &st) != 0 || st.st_ino != p->fd_inode)
		return false;
	return poll(&pfd, 1, 0) > 0 && (pfd.revents & (POLLHUP | POLLERR));
}

static bool has_room(struct producer *p, unsigned words)
{
	p->tail_seen = atomic_load_explicit(&p->ring->tail, memory_order_acquire);
	return p->head + words - p->tail_seen <= p->mask + 1;
}

static void nap(struct producer *p, unsigned words)
{
	struct timespec ts = { 0, NAP_NS };

	producer__wake(p);
	atomic_store(&p->ring->producer_waits, 1);
	if (!has_room(p, words))
		syscall(SYS_futex, &p->ring->producer_waits, FUTEX_WAIT, 1, &ts, NULL, 0);
}

/* The collector says itself why, or was told to stop. */
static bool is_refused(struct producer *p)
{
	p->dead |= atomic_load_explicit(&p->ring->refused, memory_order_relaxed) != 0;
	return p->dead;
}

void producer__check(struct producer *p)
{
	if (is_refused(p) || !collector_is_gone(p))
		return;
	p->dead = true;
	agent_notice("ljperf: the collector is gone, recording stops\n");
}

/* False when the collector is dead or stopped. */
static bool wait_for_room(struct producer *p, unsigned words)
{
	uint64_t tail = p->tail_seen, since = clock__ns(CLOCK_MONOTONIC);

	while (!has_room(p, words)) {
		if (p->tail_seen != tail) {
			tail = p->tail_seen;
			since = clock__ns(CLOCK_MONOTONIC);
		}
		nap(p, words);
		producer__check(p);
		if (is_refused(p))
			return false;
		if (p->tail_seen == tail && clock__ns(CLOCK_MONOTONIC) - since > STALL_NS) {
			p->dropping = true;
			agent_notice(
				"ljperf: the collector does not read, events are dropped and counted\n");
			return false;
		}
	}
	return true;
}

/* Tells of the events lost so far, when there is room for that and for WORDS
 * more. */
static bool tell_lost(struct producer *p, unsigned words)
{
	uint64_t w0 = ring_word0(RING_CTL, 0, 0, CTL_LOST, 1);

	if (!has_room(p, words + 2))
		return false;
	producer__put(p, w0);
	producer__put(p, p->lost);
	p->lost = 0;
	p->dropping = false;
	return true;
}

/* What is dropped is looked at again at the next event.  After a stop the
 * collector has to have read on: the last few words would fill up at once, and
 * be waited for again. */
static bool is_dropping(struct producer *p, unsigned words)
{
	if (p->dropping)
		return !has_room(p, (unsigned)(p->mask / 4));
	return p->lost && !has_room(p, words + 2);
}

bool producer__wait(struct producer *p, unsigned words)
{
	int saved = errno;
	bool ok;

	if (is_refused(p))
		return false;
	if (is_dropping(p, words))
		ok = false;
	else if (p->lost)
		ok = tell_lost(p, words);
	else if ((ok = has_room(p, words)))
		p->dropping = false;
	else
		ok = !p->drop && wait_for_room(p, words);
	errno = saved;
	return ok;
}

void producer__wake(struct producer *p)
{
	int saved = errno;

	p->wake_at = p->head + (p->mask + 1) / 8;
	if (atomic_load_explicit(&p->ring->consumer_waits, memory_order_relaxed)) {
		atomic_store(&p->ring->consumer_waits, 0);
		syscall(SYS_futex, &p->ring->consumer_waits, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	errno = saved;
}

bool producer__ctl(struct producer *p, enum ring_ctl kind, const uint64_t *words, unsigned n)
{
	unsigned i;

	if (!producer__room(p, n + 1))
		return false;
	producer__put(p, ring_word0(RING_CTL, 0, 0, kind, n));
	for (i = 0; i < n; i++)
		producer__put(p, words[i]);
	producer__publish(p);
	return true;
}

/* LEN bytes in whole words, the last one filled up with zeros. */
static void put_bytes(struct producer *p, const char *s, size_t len)
{
	uint64_t words = (len + 7) / 8, at = p->head & p->mask;
	size_t to_end = (size_t)(p->mask + 1 - at) * 8, n = len < to_end ? len : to_end;

	p->data[(p->head + words - 1) & p->mask] = 0;
	memcpy(p->data + at, s, n);
	memcpy(p->data, s + n, len - n);
	p->head += words;
}

static bool string_part(struct producer *p, const char *s, size_t len)
{
	unsigned words = (unsigned)(len + 7) / 8;

	if (!producer__room(p, words + 2))
		return false;
	producer__put(p, ring_word0(RING_CTL, 0, 0, CTL_STRING, words + 1));
	producer__put(p, len);
	put_bytes(p, s, len);
	producer__publish(p);
	return true;
}

bool producer__string(struct producer *p, const char *s, size_t len)
{
	const size_t most = (RING_STRING_WORDS - 1) * 8;
	size_t n;

	for (; len; s += n, len -= n) {
		n = len < most ? len : most;
		if (!string_part(p, s, n))
			return false;
	}
	return true;
}
