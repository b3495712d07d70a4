/* fuzz_unwind.c - any bytes as the file of a module that the collector unwinds a
 * program's stack by: whatever rules it has, the walk ends, and asks for no byte
 * of the stack that is not there.
 *
 * The input: 4 words of 8 bytes, where to begin and two words of the stack; then
 * the file.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/session.h"
#include "record/native.h"
#include "record/ring.h"

enum { WORDS = 4, STACK_BYTES = 256, HEAD_BYTES = 4096 };

#define STACK_BASE UINT64_C(0x7ffc00000000)
#define MODULE_BYTES UINT64_C(0x100000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t head_sum(const uint8_t *data, size_t size)
{
	uint8_t head[HEAD_BYTES] = { 0 };

	memcpy(head, data, size < sizeof(head) ? size : sizeof(head));
	return ring_head_sum(head, sizeof(head));
}

static int tell_module(struct native *n, int fd, const uint8_t *data, size_t size)
{
	struct session_module m = { .start = 0, .end = MODULE_BYTES };
	char path[64];
	bool known;

	m.path = path;
	m.path_len = (size_t)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return native__module(n, &m, head_sum(data, size), &known);
}

/* From many places of the file: its tables are for any of them. */
static void walk(struct native *n, const uint64_t *words)
{
	/* Of its own on the heap, so that a sanitizer sees a byte beyond. */
	char *stack = malloc(STACK_BYTES);
	struct native_frames f;
	unsigned i;

	if (!stack)
		abort();
	for (i = 0; i < STACK_BYTES / 8; i++) {
		uint64_t w = i & 1 ? words[2] + i : STACK_BASE + words[3] % (2 * STACK_BYTES);

		memcpy(stack + 8 * (size_t)i, &w, 8);
	}
	for (i = 0; i < 64; i++) {
		struct native_sample sample = { .pc = words[0] % MODULE_BYTES +
						      i * (words[1] % 4096),
						.sp = STACK_BASE,
						.bp = STACK_BASE + 8 * i,
						.bound = i & 1 ? STACK_BASE + STACK_BYTES : 0,
						.stack = stack,
						.len = STACK_BYTES };

		if (native__walk(n, &sample, &f))
			abort();
		if (f.n > NATIVE_FRAMES)
			abort();
	}
	free(stack);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t words[WORDS];
	struct native *n;
	int fd;

	if (size < sizeof(words))
		return 0;
	memcpy(words, data, sizeof(words));
	data += sizeof(words);
	size -= sizeof(words);
	n = native__new(getpid());
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (!n || fd < 0 || write(fd, data, size) != (ssize_t)size ||
	    tell_module(n, fd, data, size))
		abort();
	walk(n, words);
	native__delete(n);
	close(fd);
	return 0;
}
