/* stream.c - see stream.h. */
#include "record/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
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
#include "record/pipe.h"
#include "record/process.h"
#include "util/clock.h"
#include "util/error.h"

#define WORDS_AT_ONCE 8192 /* between two signs of life to the target */
#define BATCH_NS 1000000000u
#define NAP_NS 20000000 /* an idle target is looked at this often */

#define THREAD_STACK ((size_t)1 << 20)

/* A closed VM's file stays open until its process ends, to tell how it did,
 * but not more of them than this: programs may make VMs without end. */
#define MOST_IDLE 64

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

static int flush(struct stream *s)
{
	uint32_t wanted = atomic_load(&s->flush_wanted);
	int err = session_writer__flush(s->writer);

	atomic_store(&s->flushed, wanted);
	return err;
}

/* Ends when nothing more can come and the ring is empty. */
static int move_events(struct stream *s, struct drain *d)
{
	uint64_t batch_since = clock__ns(CLOCK_MONOTONIC),
		 written = session_writer__bytes(s->writer);
	bool ended, asked;
	int err;
	long n;

	for (;;) {
		asked = atomic_load(&s->flush_wanted) != atomic_load(&s->flushed);
		ended = atomic_load(&s->target_ended) || atomic_load(&s->ring->gone) == RING_CLOSED;
		n = drain__some(d, WORDS_AT_ONCE); /* after these looks */
		if (n < 0)
			return (int)n;
		wake_producer(d->ring);
		watch_pressure(s, d);
		if (n == 0 && ended)
			return 0;
		if (session_writer__bytes(s->writer) != written) { /* a batch was full */
			written = session_writer__bytes(s->writer);
			batch_since = clock__ns(CLOCK_MONOTONIC);
		} else if (n == 0 && clock__ns(CLOCK_MONOTONIC) - batch_since > BATCH_NS) {
			n = session_writer__flush(s->writer);
			batch_since = clock__ns(CLOCK_MONOTONIC);
		}
		if (n >= 0 && asked && (err = flush(s)) < 0)
			n = err;
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

/* Nothing is read any more: the target need not wait for us. */
static void refuse(struct ring *ring)
{
	atomic_store(&ring->refused, 1);
	wake_producer(ring);
}

/* The same of a ring that may not be mapped. */
static void refuse_unmapped(int memfd)
{
	uint32_t refused = 1;
	ssize_t n = 0;

	/* Only into what can be a ring: a program may have sent anything. */
	if (fcntl(memfd, F_GET_SEALS) >= 0)
		n = pwrite(memfd, &refused, sizeof(refused), offsetof(struct ring, refused));
	(void)n; /* then the target finds out that nothing is read */
}

/* Until the target has seen that nothing is wanted, or has ended. */
static void discard_events(struct stream *s)
{
	refuse(s->ring);
	while (!atomic_load(&s->target_ended) && atomic_load(&s->ring->gone) != RING_CLOSED) {
		atomic_store(&s->ring->tail, atomic_load(&s->ring->head));
		wake_producer(s->ring);
		atomic_store(&s->flushed, atomic_load(&s->flush_wanted));
		usleep(NAP_NS / 1000);
	}
}

/* The program may go on: it is not to look for us. */
static void unmap_ring(struct stream *s)
{
	refuse(s->ring);
	s->lost = atomic_load(&s->ring->lost);
	s->oracle_compared = atomic_load(&s->ring->oracle_compared);
	s->oracle_wrong = atomic_load(&s->ring->oracle_wrong);
	munmap(s->ring, RING_HEADER_BYTES + (size_t)s->data_bytes);
	s->ring = NULL;
}

/* The VM is closed: how its process ends is still to be told. */
static void wait_for_end(struct stream *s)
{
	if (atomic_load(&s->target_ended))
		return;
	if (atomic_fetch_add(s->n_idle, 1) < MOST_IDLE)
		while (!atomic_load(&s->target_ended))
			syscall(SYS_futex, &s->target_ended, FUTEX_WAIT, 0, NULL, NULL, 0);
	atomic_fetch_sub(s->n_idle, 1);
}

/* They were not told, if no room came any more. */
static int tell_last_losses(struct stream *s)
{
	uint64_t lost = atomic_load(&s->ring->lost), told = session_writer__lost_events(s->writer);

	return lost > told ? session_writer__lost(s->writer, lost - told) : 0;
}

/* From the ring to the file. */
static void drain_all(struct stream *s)
{
	struct drain d;
	int err;

	drain__init(&d, s->ring, s->data_bytes, s->writer, s->start_ns);
	d.nodes = s->nodes;
	err = move_events(s, &d);
	if (!err)
		err = tell_last_losses(s);
	if (!err && !atomic_load(&s->target_ended))
		err = flush(s); /* its process may go on for long */
	if (err) {
		note_failure(s, err);
		session_writer__flush(s->writer); /* what came before */
		discard_events(s);
	}
	drain__exit(&d);
	unmap_ring(s);
}

static void copy_all(struct stream *s)
{
	int err = pipe__copy(s);

	close(s->pipe);
	s->pipe = -1;
	if (s->empty) {
		output__remove(s->path);
	} else if (err) {
		note_failure(s, err);
		session_writer__flush(s->writer); /* what came before */
	}
}

static void *stream_main(void *arg)
{
	struct stream *s = arg;
	int err;

	if (s->pipe >= 0)
		copy_all(s);
	else
		drain_all(s);
	s->end.duration_ns = clock__ns(CLOCK_MONOTONIC) - s->start_ns;
	wait_for_end(s);
	/* Without its end the file is known to be cut. */
	err = s->err ? 0 : session_writer__finish(s->writer, &s->end);
	if (err)
		note_failure(s, err);
	s->events = session_writer__events(s->writer);
	s->bytes = session_writer__bytes(s->writer);
	nodes__delete(s->nodes);
	s->nodes = NULL;
	session_writer__delete(s->writer);
	s->writer = NULL;
	if (s->fd != STDOUT_FILENO && close(s->fd) != 0)
		note_failure(s, err__errno(errno, "cannot write '%s'", s->path));
	s->fd = -1;
	atomic_store(&s->finished, true);
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

/* The kernel knows all of them, but not for longer than the process runs. */
static const char **argv_of(const struct stream_vm *vm, size_t *argc)
{
	const char **argv = process__argv(vm->pid, argc);

	*argc = argv ? *argc : 0;
	return argv ? argv : process__split(vm->hello->args, vm->hello->args_len, argc);
}

static int open_writer(struct stream *s, const struct stream_opts *opts, const struct stream_vm *vm)
{
	const struct agent_hello *hello = vm->hello;
	struct session_writer_opts wopts = { .level = opts->level,
					     .stacks = hello->stacks != 0 && !opts->raw,
					     .raw = opts->raw };
	struct session_header h = {
		.argv = opts->argv,
		.argc = opts->argc,
		.recording = opts->recording,
		.ljperf_version = LJPERF_VERSION,
		.backend = hello->kind == MSG_MEMPROF ? "memprof" : "luajit",
		.backend_options = opts->backend_options,
		.vm_version = hello->vm_version,
		.vm_path = hello->vm_path,
		.vm_build_id = hello->vm_build_id,
		.vm_options = hello->vm_options,
		.vm_gc64 = hello->kind != MSG_MEMPROF, /* there it is not known */
		.pid = (uint64_t)vm->pid,
		.ppid = hello->ppid,
		.tid = hello->tid,
		.vm_number = vm->number,
		.thread_name = hello->thread_name,
		.start_mono_ns = hello->start_mono_ns,
		.start_wall_ns = hello->start_wall_ns,
		.heap_start = hello->heap_start,
	};
	struct utsname uts = { 0 };
	char *cwd = process__cwd(vm->pid);
	const char **argv = NULL;

	if (vm->pid != opts->target) { /* another process than the one asked for */
		argv = argv_of(vm, &h.argc);
		h.argv = argv;
	}
	uname(&uts);
	h.cwd = cwd ? cwd : hello->cwd;
	h.hostname = uts.nodename;
	h.os_release = uts.release;
	h.arch = uts.machine;
	s->start_ns = hello->start_mono_ns;
	s->writer = session_writer__new(s->fd, &h, &wopts);
	free(cwd);
	free(argv);
	if (s->writer && hello->native && wopts.stacks) {
		s->nodes = nodes__new(vm->pid, s->writer);
		return s->nodes ? 0 : -ENOMEM;
	}
	return s->writer ? 0 : -EIO;
}

/* The default of 8 MiB for each VM may be more than a limit allows. */
static int start_thread(struct stream *s)
{
	pthread_attr_t attr;
	int err = pthread_attr_init(&attr);

	if (err)
		return err;
	pthread_attr_setstacksize(&attr, THREAD_STACK);
	err = pthread_create(&s->thread, &attr, stream_main, s);
	pthread_attr_destroy(&attr);
	return err;
}

static int start(struct stream *s, const struct stream_opts *opts, const struct stream_vm *vm,
		 int memfd)
{
	int err = 0;

	if (vm->hello->kind == MSG_MEMPROF)
		s->pipe = fcntl(memfd, F_DUPFD_CLOEXEC, 3);
	else
		err = map_ring(s, memfd);
	if (err)
		return err;
	if (opts->output_fd >= 0) {
		s->fd = opts->output_fd;
		s->path = strdup(opts->output);
	} else {
		s->fd = output__open(opts->output, vm->pid, vm->number, vm->first, &s->path);
	}
	if (s->fd < 0)
		return s->fd;
	err = open_writer(s, opts, vm);
	if (err)
		return err;
	err = start_thread(s);
	return err ? err__errno(err, "cannot start a thread") : 0;
}

void stream__refuse(int memfd)
{
	refuse_unmapped(memfd);
	close(memfd);
}

struct stream *stream__new(struct stream_opts *opts, const struct stream_vm *vm, int memfd)
{
	struct stream *s = calloc(1, sizeof(*s));

	if (!s) {
		err__set(-ENOMEM, "no memory for another VM");
		stream__refuse(memfd);
		return NULL;
	}
	s->fd = s->pipe = -1;
	s->pid = vm->pid;
	s->number = vm->number;
	s->n_idle = &opts->n_idle;
	if (start(s, opts, vm, memfd)) {
		refuse_unmapped(memfd);
		stream__delete(s);
		s = NULL;
	}
	close(memfd);
	return s;
}

void stream__end(struct stream *s, const struct session_footer *end)
{
	if (atomic_load(&s->target_ended))
		return;
	s->end.end_kind = end->end_kind;
	s->end.end_code = end->end_code;
	atomic_store(&s->target_ended, 1);
	syscall(SYS_futex, &s->target_ended, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void stream__join(struct stream *s)
{
	pthread_join(s->thread, NULL);
}

void stream__flush(struct stream *s)
{
	unsigned i;

	atomic_fetch_add(&s->flush_wanted, 1);
	/* A file that cannot be written must not stop everything else. */
	for (i = 0; i < 5000 && !atomic_load(&s->finished); i++) {
		if (atomic_load(&s->flushed) == atomic_load(&s->flush_wanted))
			return;
		usleep(1000);
	}
}

void stream__delete(struct stream *s)
{
	nodes__delete(s->nodes);
	if (s->writer)
		session_writer__delete(s->writer);
	if (s->ring)
		munmap(s->ring, RING_HEADER_BYTES + (size_t)s->data_bytes);
	if (s->fd >= 0 && s->fd != STDOUT_FILENO)
		close(s->fd);
	if (s->pipe >= 0)
		close(s->pipe);
	free(s->path);
	free(s);
}
