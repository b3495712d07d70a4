/* session_reader.h - the inside of the session reader, shared by its parts:
 * session_read.c, session_raw.c (raw streams), session_frames.c and
 * session_batch.c (session files).  Nobody else includes it. */
#ifndef LJPERF_FORMATS_SESSION_READER_H
#define LJPERF_FORMATS_SESSION_READER_H

#include "formats/input.h"
#include "formats/ljm_read.h"
#include "formats/session_frame.h"
#include "formats/zframe.h"

struct session_reader {
	char *name;
	struct input in;
	struct session_info info;
	bool has_run;

	struct session_handlers h;
	void *ctx;
	struct ljm_parser parser;

	/* Session files. */
	struct zbuf side_buf, data_buf; /* sections; the stream of a batch */
	struct side_reader side;
	bool has_side; /* side belongs to the next DATA frame */
	uint64_t next_batch; /* number that should come next */
	uint64_t base; /* parser.n_events where the batch began */
	uint64_t symbol_base; /* parser.n_symbols there */
	uint64_t time_ns; /* last one told */
	bool has_time;
	struct session_strings strings;
};

/* Notes damage; the first one is kept, CORRUPT prevails. */
void session_reader__note(struct session_reader *r, enum session_state state, uint64_t offset,
			  const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Notes "corrupt at offset OFFSET: WHAT". */
void session_reader__corrupt(struct session_reader *r, uint64_t offset, const char *what);
void session_reader__lose_batches(struct session_reader *r, uint64_t n);

/* Sums that stay at UINT64_MAX: the terms come from a file. */
static inline uint64_t session_reader__add(uint64_t a, uint64_t b)
{
	return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/* Sets the message and returns CODE. */
int session_reader__refuse(struct session_reader *r, int code, const char *why);
/* The input has failed: its error with a message, 0 when it has not. */
int session_reader__input_error(struct session_reader *r);

int session_reader__run_raw(struct session_reader *r, bool zstd);
int session_reader__run_frames(struct session_reader *r);

/* The stream in data_buf, of the DATA frame at OFFSET.  Of a PARTIAL one the
 * end is missing. */
int session_reader__tell_batch(struct session_reader *r, uint64_t offset, bool partial);
int session_reader__tell_symbol(void *r, struct ljm_symbol *sym);
void session_reader__next_vmstate(struct ljm_parser *ps);

#endif
