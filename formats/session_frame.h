/* session_frame.h - what writer and reader of the session file share: frame
 * kinds, and the sections of HEADER, SIDE and FOOTER.
 *
 * Each section has one row in a table (session_fields.c, session_side.c) that
 * both directions use, so that they cannot drift apart.  The grammar stands in
 * session_read.c.  Called by session_write.c, session_frames.c and session_batch.c.
 */
#ifndef LJPERF_FORMATS_SESSION_FRAME_H
#define LJPERF_FORMATS_SESSION_FRAME_H

#include "formats/bytes.h"
#include "formats/cursor.h"
#include "formats/session.h"

/* One of the sixteen magics of skippable frames; the others are not ours. */
#define SESSION_FRAME_MAGIC 0x184D2A5Cu
#define SESSION_SIGNATURE "LJPF"
enum {
	SESSION_VERSION = 1,
	SESSION_FRAME_PRELUDE = 8, /* magic and size */
	SESSION_FRAME_FIXED = 16, /* signature, version, kind, flags */
	SESSION_BUILD_ID_MAX = 64,
	SESSION_NAME_MAX = 64 << 10, /* of marks and functions: longer ones are cut */
	/* Bytes of a frame's sections, decoded.  The system has no command line of
	 * more than 6 MiB; what stands beside a batch is written when it reaches
	 * the largest batch, of 16 MiB; an index has at most 32 MiB. */
	SESSION_HEADER_MAX = 8 << 20,
	SESSION_SIDE_MAX = 24 << 20,
	SESSION_FOOTER_MAX = 40 << 20,
};

enum session_frame_kind { SESSION_HEADER = 1, SESSION_SIDE = 2, SESSION_FOOTER = 3 };

/* Required flags of version 1: none.  A reader refuses bits outside. */
#define SESSION_FLAGS_KNOWN 0u

/* A section is its id, its length and its bytes; false at the end, and when
 * the bytes are wrong (C says so). */
bool session_section__next(struct cursor *c, uint64_t *id, struct cursor *body);
void session_section__put(struct bytes *b, uint64_t id, const struct bytes *body);

/* Section 0, the first of every frame, repeats the kind: that of the frame
 * itself is not under the checksum. */
void session_kind__put(struct bytes *b, enum session_frame_kind kind);
bool session_kind__check(struct cursor c, enum session_frame_kind kind);

/* ---- HEADER and FOOTER: session_fields.c ---- */

void session_header__put(struct bytes *b, const struct session_header *h);

/* Strings of H are copies in one block and argv in another, both the
 * caller's; -EBADMSG when a section is wrong (what was right is there). */
struct session_strings {
	char *pool;
	size_t used;
	const char **argv;
};
int session_header__get(struct cursor c, struct session_header *h, struct session_strings *s);

/* What the footer says beyond struct session_footer. */
struct session_footer_more {
	struct session_footer f;
	uint64_t n_batches;
	uint64_t index_bytes; /* of the index, which the reader does not need */
	const struct bytes *index;
};
void session_footer__put(struct bytes *b, const struct session_footer_more *f);
int session_footer__get(struct cursor c, struct session_footer_more *f);

/* An entry of the index: the batch's side frame in the file, its first event,
 * and the time then; each as the difference to the batch before. */
struct session_index_entry {
	uint64_t offset, first_event, time_ns;
};
void session_index__put(struct bytes *b, const struct session_index_entry *e,
			struct session_index_entry *last);

/* ---- SIDE: session_side.c ---- */

enum side_section {
	SIDE_KIND = 0, /* see session_kind__put() */
	SIDE_BATCH = 1,
	SIDE_TIME = 2,
	SIDE_MARK = 3,
	SIDE_SYMBOL = 4,
	SIDE_VMSTATE = 5,
	SIDE_LOST = 6,
	SIDE_MODULE = 7,
	SIDE_STACK = 8,
	SIDE_STACK_OF = 9,
	SIDE_MAX,
};

struct side_batch {
	uint64_t number; /* from 0 */
	uint64_t first_event; /* events of the file before it */
	uint64_t n_events, n_symbols;
};

/* An entry of any section but BATCH. */
struct side_item {
	uint64_t at; /* TIME, MARK, LOST, MODULE, STACK: event of the batch it stands before;
		      * SYMBOL: symbol of the batch */
	uint64_t num; /* TIME, MARK: ns; VMSTATE, LOST: a count of events; STACK_OF: id */
	uint64_t kind; /* MARK: kind; VMSTATE: state */
	const char *name; /* MARK */
	size_t name_len;
	struct ljm_symbol *sym; /* SYMBOL: details from and to here */
	struct session_module mod; /* MODULE */
	struct session_stack stack; /* STACK */
};

/* Writing: entries are appended as the events come. */
struct side_writer {
	struct bytes body[SIDE_MAX];
	struct bytes scratch;
	uint64_t last_at[SIDE_MAX];
};
void side_writer__put(struct side_writer *w, enum side_section id, const struct side_item *it);
size_t side_writer__size(const struct side_writer *w);
/* All sections to B. */
void side_writer__finish(struct side_writer *w, const struct side_batch *batch, struct bytes *b);
void side_writer__reset(struct side_writer *w);
void side_writer__exit(struct side_writer *w);

/* Reading: one entry ahead of each section is decoded. */
struct side_reader {
	struct side_batch batch;
	struct cursor body[SIDE_MAX];
	struct side_item next[SIDE_MAX];
	bool has[SIDE_MAX];
	bool bad; /* some section was wrong; its entries end there */
};
/* C must outlive S.  -EBADMSG without a batch section. */
int side_reader__init(struct side_reader *s, struct cursor c);
/* Decodes the entry behind s->next[ID]. */
void side_reader__advance(struct side_reader *s, enum side_section id);
/* The details of symbol number AT, of which the source is known. */
void side_reader__symbol(struct side_reader *s, uint64_t at, struct ljm_symbol *sym);

#endif
