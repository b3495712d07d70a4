/* lib_formats.h - what the tests of formats/ share: streams built by hand, and
 * a log of everything a reader tells. */
#ifndef LJPERF_TESTS_LIB_FORMATS_H
#define LJPERF_TESTS_LIB_FORMATS_H

#include <stdio.h>

#include "formats/session.h"

/* Bytes put together without any code of formats/. */
struct blob {
	uint8_t *p;
	size_t len, cap;
};
void blob__bytes(struct blob *s, const void *src, size_t n);
void blob__byte(struct blob *s, unsigned byte);
void blob__uleb(struct blob *s, uint64_t v);
void blob__string(struct blob *s, const char *text);
void blob__le(struct blob *s, uint64_t v, int n_bytes);
/* Reserved bytes are not 0, as nobody looks at them. */
void blob__magic(struct blob *s, const char *magic, unsigned version);
void blob__exit(struct blob *s);

/* Contents of tests/data/NAME; ends the test when it cannot be read. */
struct blob blob__load(const char *name);

/* What a reader told, a line for each call. */
struct told {
	FILE *out;
	char *text;
	size_t len; /* of text, after told__text() */
	uint64_t events, symbols, marks, times, headers, footers;
	uint64_t sum_new, sum_old;
	uint64_t lost;
	uint64_t n[4][5]; /* by kind and source; [0] symbols of the events */
	uint64_t n_symtab[5]; /* symbols of the table, by source */
	struct session_footer footer;
};
void told__init(struct told *t);
const char *told__text(struct told *t);
void told__exit(struct told *t);
extern const struct session_handlers told_handlers;

/* The lines of the log, for what should be told. */
void told__event(FILE *out, const struct ljm_event *ev);
void told__symbol(FILE *out, const struct ljm_symbol *sym);
void told__mark(FILE *out, const struct session_mark *m);
void told__module(FILE *out, const struct session_module *m);
void told__stack(FILE *out, const struct session_stack *node);

/* Reads BUF and logs it; the result of session_reader__run(), INFO filled. */
int read_mem(const void *buf, size_t len, struct told *t, struct session_info *info);
/* The same through a pipe, written in pieces of STEP bytes. */
int read_pipe(const void *buf, size_t len, size_t step, struct told *t, struct session_info *info);
/* The same through a file. */
int read_file(const void *buf, size_t len, struct told *t, struct session_info *info);

typedef int (*read_fn)(const void *buf, size_t len, struct told *t, struct session_info *info);
/* From memory, from a file, through a pipe in pieces of 7 bytes. */
enum { N_READERS = 3 };
extern const read_fn readers[N_READERS];

/* A small generator of numbers that are the same everywhere. */
uint64_t random_next(uint64_t *state);

#endif
