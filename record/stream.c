/* stream.c - see stream.h. */
#include "record/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "record/output.h"
#include "util/error.h"

#define WORDS_AT_ONCE 8192 /* between two signs of life to the target */
#define BATCH_NS 1000000000u
#define NAP_NS 20000000 /* an idle target is looked at this often */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void wake_producer(struct ring *ring)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_load(&ring->producer_waits))
		return;
	atomic_store(&ring->producer_waits, 0);
	syscall(SYS_futex, &ring->producer_waits, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void nap(struct drain *d)
{
	struct timespec ts = { 0, NAP_NS };
	struct ring *ring = d->ring;

	atomic_store(&ring->consumer_waits, 1);
	if (atomic_load(&ring->head) == d->tail)
		syscall(SYS_futex, &ring->consumer_waits, FUTEX_WAIT, 1, &ts, NULL, 0);
	atomic_store(&ring->consumer_waits, 0);
}

/* A ring that is filling up means that the target is faster than we are. */
static void watch_pressure(struct stream *s, const struct drain *d)
{
	uint64_t words = d->mask + 1, left = atomic_load(&d->ring->head) - d->tail;

	if (left > words / 2)
		session_writer__hurry(s->writer, true);
	else if (left < words / 16)
		session_writer__hurry(s->writer, false);
}

/* Ends when the target has ended and the ring is empty. */
static int move_events(struct stream *s, struct drain *d)
{
	uint64_t batch_since = now_ns(), written = session_writer__bytes(s->writer);
	bool ended;
	long n;

	for (;;) {
		ended = atomic_load(&s->target_ended); /* before the last look */
		n = drain__some(d, WORDS_AT_ONCE);
		if (n < 0)
			return (int)n;
		wake_producer(d->ring);
		watch_pressure(s, d);
		if (n == 0 && ended)
			return 0;
		if (session_writer__bytes(s->writer) != written) { /* a batch was full */
			written = session_writer__bytes(s->writer);
			batch_since = now_ns();
		} else if (n == 0 && now_ns() - batch_since > BATCH_NS) {
			n = session_writer__flush(s->writer);
			batch_since = now_ns();
		}
		if (n < 0)
			return (int)n;
		if (n == 0)
			nap(d);
	}
}

static void note_failure(struct stream *s, int err)
{
	if (s->err)
		return;
	s->err = err;
	snprintf(s->why, sizeof(s->why), "%s", err__msg());
}

static void *stream_main(void *arg)
{
	struct stream *s = arg;
	struct drain d;
	uint64_t lost;
	int err;

	drain__init(&d, s->ring, s->data_bytes, s->writer, s->start_ns);
	err = move_events(s, &d);
	if (err)
		note_failure(s, err);
	/* Keeps the target running when the file cannot be written. */
	while (err && !atomic_load(&s->target_ended)) {
		atomic_store(&s->ring->tail, atomic_load(&s->ring->head));
		wake_producer(s->ring);
		usleep(NAP_NS / 1000);
	}
	/* The last losses were not told, if no room came any more. */
	lost = atomic_load(&s->ring->lost);
	if (!err && lost > session_writer__lost_events(s->writer))
		session_writer__lost(s->writer, lost - session_writer__lost_events(s->writer));
	s->end.duration_ns = now_ns() - s->start_ns;
	err = session_writer__finish(s->writer, &s->end);
	if (err)
		note_failure(s, err);
	drain__exit(&d);
	return NULL;
}

/* The target may have changed the size since: only what the kernel says
 * counts, and a memfd that shrinks later ends in SIGBUS, so it is sealed. */
static int map_ring(struct stream *s, int memfd)
{
	struct stat st;
	struct ring *ring;

	if (fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0 ||
	    fstat(memfd, &st) != 0)
		return err__errno(errno, "cannot use the ring of the target");
	if (st.st_size < RING_HEADER_BYTES + (off_t)RING_MIN_BYTES ||
	    st.st_size > RING_HEADER_BYTES + (off_t)RING_MAX_BYTES)
		return err__set(-EBADMSG, "the ring of the target has a wrong size");
	s->data_bytes = (uint32_t)(st.st_size - RING_HEADER_BYTES);
	ring = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	if (ring == MAP_FAILED)
		return err__errno(errno, "cannot map the ring of the target");
	s->ring = ring;
	if (ring->magic != RING_MAGIC || ring->version != RING_VERSION ||
	    (s->data_bytes & (s->data_bytes - 1)))
		return err__set(-EBADMSG, "the ring of the target is of another version");
	return 0;
}

static int open_writer(struct stream *s, const struct stream_opts *opts, const struct ring_hello *hello)
{
	struct session_writer_opts wopts = { .level = opts->level, .stacks = hello->stacks != 0 };
	struct session_header h = {
		.argv = opts->argv, .argc = opts->argc, .ljperf_version = LJPERF_VERSION,
		.backend = "luajit", .backend_options = opts->backend_options,
		.vm_version = hello->vm_version, .vm_path = hello->vm_path,
		.vm_build_id = hello->vm_build_id, .vm_options = hello->vm_options, .vm_gc64 = true,
		.pid = hello->pid, .ppid = (uint64_t)getpid(), .tid = hello->tid,
		.vm_number = hello->vm_number, .thread_name = hello->thread_name,
		.start_mono_ns = hello->start_mono_ns, .start_wall_ns = hello->start_wall_ns,
		.heap_start = hello->heap_start,
	};
	struct utsname uts = { 0 };
	char *cwd = getcwd(NULL, 0);

	uname(&uts);
	h.cwd = cwd;
	h.hostname = uts.nodename;
	h.os_release = uts.release;
	h.arch = uts.machine;
	s->start_ns = hello->start_mono_ns;
	s->writer = session_writer__new(s->fd, &h, &wopts);
	free(cwd);
	return s->writer ? 0 : -EIO;
}

static int start(struct stream *s, const struct stream_opts *opts, const struct ring_hello *hello,
		 int memfd, bool first)
{
	int err = map_ring(s, memfd);

	if (err)
		return err;
	s->fd = output__open(opts->output, hello, first, &s->path);
	if (s->fd < 0)
		return s->fd;
	err = open_writer(s, opts, hello);
	if (err)
		return err;
	err = pthread_create(&s->thread, NULL, stream_main, s);
	return err ? err__errno(err, "cannot start a thread") : 0;
}

struct stream *stream__new(const struct stream_opts *opts, const struct ring_hello *hello, int memfd,
			   bool first)
{
	struct stream *s = calloc(1, sizeof(*s));
	struct ring_hello copy = *hello;

	if (!s) {
		err__set(-ENOMEM, "no memory for another VM");
		close(memfd);
		return NULL;
	}
	s->fd = -1;
	/* The strings come from the target. */
	copy.vm_version[sizeof(copy.vm_version) - 1] = 0;
	copy.vm_path[sizeof(copy.vm_path) - 1] = 0;
	copy.vm_build_id[sizeof(copy.vm_build_id) - 1] = 0;
	copy.vm_options[sizeof(copy.vm_options) - 1] = 0;
	copy.thread_name[sizeof(copy.thread_name) - 1] = 0;
	if (start(s, opts, &copy, memfd, first)) {
		stream__delete(s);
		s = NULL;
	}
	close(memfd);
	return s;
}

void stream__join(struct stream *s, const struct session_footer *end)
{
	s->end.end_kind = end->end_kind;
	s->end.end_code = end->end_code;
	atomic_store(&s->target_ended, true);
	syscall(SYS_futex, &s->ring->consumer_waits, FUTEX_WAKE, 1, NULL, NULL, 0);
	pthread_join(s->thread, NULL);
	s->events = session_writer__events(s->writer);
	s->bytes = session_writer__bytes(s->writer);
	s->lost = atomic_load(&s->ring->lost);
	s->oracle_compared = atomic_load(&s->ring->oracle_compared);
	s->oracle_wrong = atomic_load(&s->ring->oracle_wrong);
	if (s->fd != STDOUT_FILENO && close(s->fd) != 0)
		note_failure(s, err__errno(errno, "cannot write '%s'", s->path));
	s->fd = -1;
}

void stream__delete(struct stream *s)
{
	if (s->writer)
		session_writer__delete(s->writer);
	if (s->ring)
		munmap(s->ring, RING_HEADER_BYTES + (size_t)s->data_bytes);
	if (s->fd >= 0 && s->fd != STDOUT_FILENO)
		close(s->fd);
	free(s->path);
	free(s);
}
