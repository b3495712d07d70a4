/* aggregate.h - one pass over the events of one or more sessions: what each
 * cell allocated, freed and holds.  Used by report, diff and exporters.
 *
 * A cell is a site, or a site split further (see cells.h).  A block has one
 * owner: the last cell that sized it.  Blocks older than the recording are
 * unknown until a reallocation makes them known.
 */
#ifndef LJPERF_REPORT_AGGREGATE_H
#define LJPERF_REPORT_AGGREGATE_H

#include "formats/session.h"
#include "report/cells.h"
#include "report/escape.h"
#include "report/live.h"
#include "report/measures.h"
#include "report/stacks.h"
#include "report/symtab.h"
#include "report/timeline.h"
#include "report/window.h"

/* What a cell did.  Bytes are sums, which may exceed 64 bits. */
struct site_stats {
	uint64_t n_alloc, n_realloc, n_free; /* events it made */
	uint64_t n_out; /* blocks it owned that were freed, moved or replaced */
	u128 alloc_bytes, realloc_new, realloc_old, free_bytes; /* of these events */
	u128 out_bytes; /* of these blocks */
};

/* Of one session, for the summary. */
struct session_summary {
	char *name; /* of the file */
	char *command; /* of the target; "" unknown */
	char *vm_version; /* "" unknown */
	char *features; /* the header as text, a line each; "" none */
	char *cwd; /* of the target; "" unknown */
	char *vm_label; /* "VM 1", with the name of its thread; "" unknown */
	uint64_t pid; /* 0 unknown */
	uint64_t start_wall_ns; /* since 1970; 0 unknown */
	uint64_t n_user_marks;
	bool has_time;
	uint64_t duration_ns;
	struct session_info info;
	uint64_t n_after_close; /* events that lua_close() made, not counted */
	struct timeline timeline; /* with MEASURE_TIMELINE */
};

struct totals {
	uint64_t n_alloc, n_realloc, n_free;
	u128 alloc_bytes, realloc_new, realloc_old, free_bytes;
	uint64_t n_failed; /* allocations that gave no memory */
	u128 failed_bytes;
	uint64_t n_unknown_free, n_unknown_realloc; /* of blocks never seen */
	u128 unknown_bytes;
	uint64_t n_replaced; /* allocations at an address that was alive */
	uint64_t lost, lost_batches;
	uint64_t n_pauses; /* of recording */
	u128 live_bytes, leaked_bytes;
	uint64_t live_blocks, leaked_blocks;
	/* Largest heap of a session; with several, of the one with the largest. */
	u128 peak;
	uint64_t peak_event, peak_ns;
	bool peak_has_time;
	bool has_leaked; /* every session has a full collection */
	bool has_exit; /* every session goes on to where the script ends */
};

enum origin_kind { ORIGIN_REALLOC, ORIGIN_FREE };

/* A site that resized or freed blocks of an owner. */
struct origin {
	uint32_t site, owner;
	enum origin_kind kind;
};

struct aggregate {
	struct symtab *symtab;
	struct stacks stacks; /* with SPLIT_STACK */

	/* Set before reading. */
	bool want_origins;
	bool count_after_close;
	unsigned split; /* enum cell_split; 0: a cell is a site and has its number */
	unsigned measure; /* enum measure */
	uint64_t temporary_threshold; /* a block freed before so many allocations is temporary */
	struct window window;
	/* Called for each event that counts, in the order of the stream; NULL:
	 * not.  AT is as in a timeline.  Only with SPLIT or MEASURE.  0 or -ENOMEM
	 * with err__msg(). */
	int (*observe)(void *ctx, const struct ljm_event *ev, uint32_t cell, uint64_t at);
	void *observe_ctx;

	struct cells cells; /* when they are split */
	struct site_stats *stats; /* by cell; all below n_stats are valid */
	size_t n_stats, cap_stats;
	struct measures *more; /* by cell, all below n_more; only what was asked for */
	size_t n_more, cap_more;
	struct site_live *live; /* at the script's end, or where the session ends */
	struct site_live *leaked; /* after the full collection */
	struct site_live *peak; /* when the heap was largest; with MEASURE_PEAK */
	size_t n_live, n_leaked, n_peak; /* cells beyond have none */
	struct totals totals;
	struct session_summary *sessions;
	size_t n_sessions, cap_sessions;
	struct origin *origins;
	size_t n_origins, cap_origins;
	struct hashmap origin_map;

	const struct match *parent; /* of --parent; set before rows are made */
	uint64_t n_peaks; /* how often a session's heap was larger than before */
	struct aggregate_run *run; /* of the session being read */
};

/* The parts of a cell. */
static inline struct cell_key aggregate__cell(const struct aggregate *a, uint32_t cell)
{
	return a->split ? a->cells.at[cell] : (struct cell_key){ .site = cell };
}

/* The frames of a cell into SITES, which has room for STACK_DEPTH_MAX + 1, the
 * innermost first; their number, at least 1.  The first is the place of its
 * events, or a built-in function called there.  SITE_NONE stands for frames
 * that were left out.  Adding up all cells by their frames gives a tree whose
 * sum is that of the table, for every number. */
size_t aggregate__frames(const struct aggregate *a, uint32_t cell, uint32_t *sites);

/* NULL: no memory, see err__msg(). */
struct aggregate *aggregate__new(void);
void aggregate__delete(struct aggregate *a);

/* Reads one recording; "-" is standard input.  0 when there was a stream,
 * complete or not (see the summary's info), or negative with err__msg(). */
int aggregate__read(struct aggregate *a, const char *path, bool force);

/* Ends the reading: adds up the totals. */
void aggregate__finish(struct aggregate *a);

/* What a cell holds where the sessions end; consistent with its counts. */
static inline struct site_live site_stats__live(const struct site_stats *s)
{
	return (struct site_live){
		.bytes = s->alloc_bytes + s->realloc_new - s->out_bytes,
		.blocks = s->n_alloc + s->n_realloc - s->n_out,
	};
}

#endif
