/* lib_session.h - session files for the tests: written with a record of what
 * should be read, and taken apart and put together again. */
#ifndef LJPERF_TESTS_LIB_SESSION_H
#define LJPERF_TESTS_LIB_SESSION_H

#include "tests/lib_formats.h"

/* A recording that is written and, beside it, what should be read: the calls
 * as text, the plain stream, the totals. */
struct made {
	struct session_writer *w;
	int fd;
	FILE *file, *out;
	char *text;
	size_t len;
	struct blob plain;
	uint64_t events, n[4], lost, state;
	uint64_t ns, told_ns;
	bool stacks;
	uint64_t last_stack;
};

void made__init(struct made *m, const struct session_header *h, size_t batch_bytes, bool stacks);
void made__event(struct made *m, const struct ljm_event *ev);
void made__symbol(struct made *m, const struct ljm_symbol *sym);
void made__finish(struct made *m);
struct blob made__file(struct made *m);
void made__exit(struct made *m);

/* ---- a small good file, taken apart into its frames ---- */

enum { HEADER = 1, SIDE = 2, FOOTER = 3, DATA = 0 };
enum { BATCHES = 4, EVENTS = 25 }; /* in each batch */

struct frame {
	int kind;
	struct blob s;
};

struct parts {
	struct frame f[2 + 2 * BATCHES]; /* HEADER (SIDE DATA)* FOOTER */
	size_t n;
	struct blob whole;
	struct told told;
	size_t batch_text[BATCHES + 1]; /* length of the log before each batch */
};

void parts__make(struct parts *p);
void parts__exit(struct parts *p);
struct frame *parts__side(struct parts *p, int batch);
struct frame *parts__data(struct parts *p, int batch);
/* The file of these frames, -1 at the end of the list. */
struct blob parts__join(const struct parts *p, const int *order);
struct blob parts__join_all(const struct parts *p);

/* A zstd frame as the writer makes them. */
void blob__zstd(struct blob *s, const void *src, size_t n);

struct fixed {
	unsigned version, kind, required, optional;
};
void blob__frame(struct blob *s, struct fixed x, const void *nested, size_t n);

/* Sections of a good frame, decoded; the frame with other sections. */
struct blob frame__sections(const struct frame *f);
void frame__replace(struct frame *f, const struct blob *sections);

#endif
