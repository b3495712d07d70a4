/* session.h - the session file: writing one, and reading it or any raw
 * stream.  Grammar: session_read.c and ljperf-file(5).
 *
 * A file is a sequence of zstd frames.  DATA frames joined are a plain V4
 * stream; everything else stands in skippable frames (HEADER, SIDE, FOOTER).
 */
#ifndef LJPERF_FORMATS_SESSION_H
#define LJPERF_FORMATS_SESSION_H

#include "formats/ljm.h"

/* What is known at the start.  Strings may be NULL (unknown); the writer
 * copies nothing after __new() returns, the reader owns what it hands out. */
struct session_header {
	uint16_t version; /* of the file format; set by the reader */
	const char *const *argv; /* command line of the target */
	size_t argc;
	const char *cwd, *hostname, *os_release, *arch;
	const char *ljperf_version;
	const char *backend, *backend_options;
	const char *vm_version; /* "LuaJIT 2.1.0-beta3" */
	const char *vm_path; /* file the VM's code was loaded from */
	const char *vm_build_id; /* lower case hex */
	const char *vm_options; /* JIT options, "off" when disabled */
	bool vm_gc64;
	uint64_t pid, ppid, tid, vm_number; /* vm_number counts from 1 */
	const char *thread_name;
	uint64_t start_mono_ns; /* CLOCK_MONOTONIC */
	uint64_t start_wall_ns; /* since 1970 */
	uint64_t heap_start; /* bytes in use by the VM when recording began */
	const char *recording; /* the same in the files of all VMs of a recording */
};

enum session_mark_kind {
	SESSION_MARK_USER = 0, /* named by the program */
	SESSION_MARK_SCRIPT_END = 1, /* the script has returned or failed */
	SESSION_MARK_FULL_GC = 2, /* a full collection is complete */
	SESSION_MARK_CLOSE = 3, /* lua_close() begins: frees mean nothing */
	SESSION_MARK_PAUSE = 4, /* events are missing from here on ... */
	SESSION_MARK_RESUME = 5, /* ... to here: what was live is not known any more;
				  * named by the size of the heap, in decimal */
	SESSION_MARK_MAX,
};

/* A named point in time, before the event with number event_no. */
struct session_mark {
	enum session_mark_kind kind;
	const char *name; /* "" unless USER; not NUL-terminated */
	size_t name_len;
	uint64_t event_no; /* events (not symbols) before it */
	uint64_t time_ns; /* since start_mono_ns */
};

enum session_end_kind { SESSION_END_UNKNOWN, SESSION_END_EXIT, SESSION_END_SIGNAL };

/* An executable mapping of the target that a C function of an event lies in,
 * known from before the event with number event_no on.  A later one over the
 * same addresses replaces it. */
struct session_module {
	uint64_t start, end; /* addresses [start, end) */
	uint64_t offset; /* in the file, of start */
	uint64_t bias; /* address 0 of the file: "module+0x..." counts from it */
	const char *path; /* not NUL-terminated */
	size_t path_len;
	const char *build_id; /* raw bytes */
	size_t build_id_len;
	uint64_t event_no; /* events (not symbols) before it */
};

/* A node of the tree of call stacks: the function called at PARENT's place.
 * Nodes are numbered from 1 in the order of the stream; 0 is the root.  A
 * Lua place whose line is not known has num 0.  The leaf of an event's stack
 * is the event's own place, or a built-in function called there; NATIVE frames,
 * whose addr lies inside of a call, may follow it. */
struct session_stack {
	uint64_t id, parent;
	/* INTERNAL with num SESSION_STACK_CUT: frames beyond the limit are left out. */
	struct ljm_loc loc;
};

enum { SESSION_STACK_CUT = 1 };

struct session_footer {
	uint64_t n_alloc, n_free, n_realloc; /* events by kind */
	uint64_t bytes_new, bytes_old; /* sums of new and of old sizes */
	uint64_t peak; /* largest heap, heap_start included */
	uint64_t peak_event_no; /* the event that reached it, from 0 */
	uint64_t max_live_blocks; /* of blocks made while recording */
	uint64_t lost; /* events the agent had to drop */
	enum session_end_kind end_kind;
	int end_code; /* exit status or signal number */
	uint64_t duration_ns;
};

/* ---- reading ---- */

/* How complete what was read is. */
enum session_state {
	SESSION_COMPLETE, /* end byte seen (and, in a session file, the footer) */
	SESSION_TRUNCATED, /* cut: everything before the cut was delivered */
	SESSION_CORRUPT, /* wrong bytes: delivered up to them, or around a batch */
};

/* Called in the order of the stream.  Any may be NULL.  A negative return
 * stops the reading and is returned by session_reader__run(). */
struct session_handlers {
	int (*header)(void *ctx, const struct session_header *h);
	int (*symbol)(void *ctx, const struct ljm_symbol *sym);
	int (*event)(void *ctx, const struct ljm_event *ev);
	int (*mark)(void *ctx, const struct session_mark *m);
	int (*time)(void *ctx, uint64_t time_ns); /* of the next event */
	int (*module)(void *ctx, const struct session_module *m);
	/* Before the first event that has it. */
	int (*stack)(void *ctx, const struct session_stack *node);
	int (*lost)(void *ctx, uint64_t n_events); /* dropped before the next event */
	int (*footer)(void *ctx, const struct session_footer *f);
};

enum session_container { SESSION_RAW, SESSION_RAW_ZSTD, SESSION_LJPERF };

/* Filled while reading; valid after session_reader__run(). */
struct session_info {
	enum session_container container;
	enum ljm_variant variant;
	enum session_state state;
	bool has_header, has_footer;
	uint64_t damage_offset; /* TRUNCATED, CORRUPT: where: in the file for a
				 * session file, in the plain stream otherwise */
	char damage[160]; /* a sentence: "corrupt at offset 12: bad event header" */
	uint64_t n_events, n_symbols;
	uint64_t lost_batches, lost_events; /* damaged batches skipped; dropped events */
	uint64_t file_bytes, stream_bytes;
};

struct session_reader;

/* Reads from FD (file or pipe; not closed), or from memory (kept by caller).
 * NULL on failure, see err__msg(). */
struct session_reader *session_reader__new_fd(int fd, const char *name);
struct session_reader *session_reader__new_mem(const void *buf, size_t len, const char *name);
void session_reader__delete(struct session_reader *r);

/* Reads it all once.  0 when there was a stream to read, complete or not (see
 * info->state); negative when it is no recording, is refused (newer version,
 * unknown required flag), cannot be read, or a handler stopped it. */
int session_reader__run(struct session_reader *r, const struct session_handlers *h, void *ctx);
const struct session_info *session_reader__info(const struct session_reader *r);

/* ---- writing ---- */

struct session_writer;

struct session_writer_opts {
	int level; /* zstd level; 0: default of ljperf */
	size_t batch_bytes; /* 0: 1 MiB of stream */
	bool stacks; /* write the stack of each allocation and reallocation */
	bool raw; /* the plain stream, and nothing that stands beside it */
};

/* Writes the header frame to FD (not closed).  Order of calls is the order of
 * the stream.  All return 0 or a negative errno with err__msg(). */
struct session_writer *session_writer__new(int fd, const struct session_header *h,
					   const struct session_writer_opts *opts);
int session_writer__symbol(struct session_writer *w, const struct ljm_symbol *sym);
int session_writer__event(struct session_writer *w, const struct ljm_event *ev);
/* event_no is the writer's own here and below. */
int session_writer__mark(struct session_writer *w, const struct session_mark *m);
int session_writer__time(struct session_writer *w, uint64_t time_ns); /* of the next event */
int session_writer__module(struct session_writer *w, const struct session_module *m);
/* Ids rise by one. */
int session_writer__stack(struct session_writer *w, const struct session_stack *node);
int session_writer__lost(struct session_writer *w, uint64_t n_events);
/* Whether to compress faster and less from the next batch on, because the
 * target waits for us.  A level that the caller chose is kept. */
void session_writer__hurry(struct session_writer *w, bool hurry);
int session_writer__flush(struct session_writer *w); /* ends the batch, if it holds anything */
/* Ends the stream and writes the footer.  Totals (events, bytes, peak, lost)
 * are the writer's own; of END only end_kind, end_code and duration_ns count. */
int session_writer__finish(struct session_writer *w, const struct session_footer *end);
uint64_t session_writer__events(const struct session_writer *w);
uint64_t session_writer__bytes(const struct session_writer *w); /* written to FD */
uint64_t session_writer__lost_events(const struct session_writer *w);
size_t session_writer__pending(const struct session_writer *w); /* stream bytes in the open batch */
void session_writer__delete(struct session_writer *w);

#endif
