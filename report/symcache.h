/* symcache.h - the answers about one file with a build id, kept between
 * reports.  Used by symbolize.c.
 *
 * A file of the cache is what one process found out, under the build id in the
 * folder ljperf of the user's cache.  What is wrong with it in any way is as
 * if it were not there; that it cannot be written is nobody's concern.
 */
#ifndef LJPERF_REPORT_SYMCACHE_H
#define LJPERF_REPORT_SYMCACHE_H

#include "report/symbolize_files.h"
#include "util/strbuf.h"

enum { SYMCACHE_FRAMES_MAX = 256 }; /* of an address */

/* What the answers rest on. */
struct symcache_head {
	uint64_t fingerprint; /* of the files that were there, see symbol_files */
	bool has_lines; /* the debug information was there: there is no better */
};

/* A frame as text; FUNC of the one that has the code is the last. */
struct symcache_frame {
	const char *func, *file; /* FILE has no bytes when unknown */
	size_t func_len, file_len;
	uint64_t line;
};

/* Called for each address of a cache, ascending, with its frames, 0 for an
 * address that has no name.  Non-zero stops, and is returned. */
typedef int (*symcache_fn)(void *ctx, uint64_t addr, const struct symcache_frame *frames, size_t n);

/* 0 when there was a cache that rests on HEAD, else negative.  FN may have been
 * called before an error is found only for its own. */
int symcache__load(const struct build_id *id, const struct symcache_head *head, symcache_fn fn,
		   void *ctx);

/* The same of the bytes of a file. */
int symcache__parse(const void *buf, size_t len, const struct symcache_head *head, symcache_fn fn,
		    void *ctx);

/* Writing: the entries, ascending by address, then the file. */
void symcache__add(struct strbuf *out, uint64_t addr, size_t n_frames);
void symcache__add_frame(struct strbuf *out, const struct symcache_frame *frame);
void symcache__write(struct strbuf *out, const struct build_id *id,
		     const struct symcache_head *head, size_t n_entries);

#endif
