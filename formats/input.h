/* input.h - the bytes of a file, a pipe or memory, in order and with a look
 * ahead.  Called by the session reader.  Never seeks. */
#ifndef LJPERF_FORMATS_INPUT_H
#define LJPERF_FORMATS_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input {
	int fd; /* -1: memory */
	const uint8_t *p; /* the next byte */
	size_t avail; /* bytes at p */
	uint64_t offset; /* of p, from where reading began */
	bool eof;
	int error; /* negative errno once reading has failed */
	uint8_t *buf; /* of a file */
	size_t cap;
};

void input__init_fd(struct input *in, int fd);
void input__init_mem(struct input *in, const void *buf, size_t len);
void input__exit(struct input *in);

/* Tries to have N bytes at in->p; returns how many there are, fewer than N
 * only at the end or after an error.  The buffer grows by what arrives. */
size_t input__need(struct input *in, size_t n);
/* Passes N bytes (n <= avail). */
void input__advance(struct input *in, size_t n);
/* Passes N bytes, there or not yet; false when the input ends before. */
bool input__skip(struct input *in, uint64_t n);
/* Up to N bytes to DST, at least one unless the input ends; or a negative
 * errno. */
int64_t input__read(struct input *in, void *dst, size_t n);
/* Bytes that are still to come, UINT64_MAX when that cannot be known. */
uint64_t input__remaining(const struct input *in);

#endif
