/* source.h - a text by its lines, as Lua counts them.  Used by annotate.
 */
#ifndef LJPERF_REPORT_SOURCE_H
#define LJPERF_REPORT_SOURCE_H

#include <stddef.h>
#include <stdint.h>

struct source {
	const char *text; /* NULL: not at hand */
	char *owned; /* the text, when it is ours */
	size_t *lines; /* where each begins; one more at the end */
	uint64_t n_lines;
	uint64_t mtime_ns; /* of the file, since 1970; 0: it was no file */
};

/* Both fill S, which is all zero before.  0 or -ENOMEM; -errno when the file
 * cannot be read, or is none. */
int source__read(struct source *s, const char *path);
int source__set(struct source *s, const char *text, size_t len); /* TEXT is kept by the caller */
void source__exit(struct source *s);

/* Line N, from 1, without its end; NULL when there is none. */
const char *source__line(const struct source *s, uint64_t n, size_t *len);

#endif
