/* ljm_read.h - an incremental parser of every variant of the stream.
 *
 * The caller owns a window of the plain stream and gives it to the parser,
 * which takes whole items (events, symbols, headers) from its front.  Used by
 * the session reader only; everybody else reads through session.h.
 */
#ifndef LJPERF_FORMATS_LJM_READ_H
#define LJPERF_FORMATS_LJM_READ_H

#include "formats/cursor.h"
#include "formats/ljm.h"

enum ljm_status {
	LJM_MORE, /* the rest of the window is no whole item */
	LJM_END_SEEN, /* the end byte was taken */
	LJM_STOP, /* the next item is event number stop_at */
	LJM_TRIAL, /* call again with a window as long as can be, see below */
	LJM_CORRUPT, /* wrong bytes at bad_offset of the stream, see why */
	LJM_REFUSED, /* no stream, or one of an unknown kind, see why */
	LJM_HANDLER, /* a handler returned rc */
};

enum ljm_phase { LJM_IN_LJS_HEADER, LJM_IN_SYMTAB, LJM_IN_LJM_HEADER, LJM_IN_EVENTS, LJM_AT_END };

struct ljm_parser {
	enum ljm_phase phase;
	unsigned ljs_version, ljm_version;
	bool mcode; /* locations of traces have a machine code address */
	bool undecided; /* ljs 2: mcode is not known yet */
	uint32_t events_ok; /* bit H: H is an event byte of this variant */
	uint64_t offset; /* in the stream, of the front of the window */
	uint64_t n_events, n_symbols;
	uint64_t stop_at; /* event number; UINT64_MAX: none */
	uint64_t need; /* LJM_MORE: least window that could hold the item */

	int (*symbol)(void *ctx, struct ljm_symbol *sym);
	int (*event)(void *ctx, const struct ljm_event *ev);
	void *ctx; /* of symbol */
	void *event_ctx; /* of event */
	int rc;

	/* Runs of VM states of the coming INTERNAL events. */
	uint8_t vmstate;
	uint64_t vmstate_left;
	void (*next_vmstate)(struct ljm_parser *ps); /* NULL: all unknown */

	/* The stack of the next ALLOC or REALLOC; NULL: all unknown. */
	uint64_t (*next_stack)(struct ljm_parser *ps);

	uint64_t bad_offset;
	char why[96];
};

/* Handlers may be NULL. */
void ljm_parser__init(struct ljm_parser *ps);
/* Begins with the events of V4: the batches behind the first one. */
void ljm_parser__init_events(struct ljm_parser *ps);

/* Takes what it can; *USED bytes of the front of the window are done with.
 *
 * V3A and V3B cannot be told apart before the first trace.  There the parser
 * looks ahead in the window: it returns LJM_TRIAL unless FULL says that the
 * window cannot be made longer (it has LJM_TRIAL_BYTES, or the stream ends). */
enum ljm_status ljm_parser__run(struct ljm_parser *ps, const uint8_t *win, size_t len, bool full,
				size_t *used);
#define LJM_TRIAL_BYTES ((size_t)1 << 20)

/* The variant as far as it is known; V3B or V4 before it is decided. */
enum ljm_variant ljm_parser__variant(const struct ljm_parser *ps);

#endif
