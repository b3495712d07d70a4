/* fuzz_session.c - fuzz target of what stands inside the frames of a session
 * file; the input is their decoded content, see lib_frames.h. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/session.h"
#include "tests/fuzz/lib_frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int on_symbol(void *ctx, const struct ljm_symbol *sym)
{
	unsigned *sum = ctx;

	for (size_t i = 0; i < sym->func_name_len; i++)
		*sum += (unsigned char)sym->func_name[i];
	return 0;
}

static int on_event(void *ctx, const struct ljm_event *ev)
{
	(void)ctx;
	if (ev->vmstate >= LJM_VMSTATE_MAX)
		abort();
	return 0;
}

static int on_mark(void *ctx, const struct session_mark *m)
{
	unsigned *sum = ctx;

	for (size_t i = 0; i < m->name_len; i++)
		*sum += (unsigned char)m->name[i];
	return 0;
}

static int on_module(void *ctx, const struct session_module *m)
{
	unsigned *sum = ctx;

	for (size_t i = 0; i < m->path_len; i++)
		*sum += (unsigned char)m->path[i];
	for (size_t i = 0; i < m->build_id_len; i++)
		*sum += (unsigned char)m->build_id[i];
	if (m->end < m->start)
		abort();
	return 0;
}

static int on_stack(void *ctx, const struct session_stack *node)
{
	(void)ctx;
	if (node->loc.source < LJM_SRC_INTERNAL || node->loc.source > LJM_SRC_NATIVE)
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct session_handlers handlers = {
		.symbol = on_symbol,
		.event = on_event,
		.mark = on_mark,
		.module = on_module,
		.stack = on_stack,
	};
	struct frames f = { 0 };
	struct session_reader *r;
	unsigned sum = 0;

	frames__build(&f, data, size);
	r = session_reader__new_mem(f.p, f.len, "fuzz");
	if (r && session_reader__run(r, &handlers, &sum) == 0 &&
	    session_reader__info(r)->container == SESSION_LJPERF &&
	    session_reader__info(r)->state != SESSION_COMPLETE &&
	    !session_reader__info(r)->damage[0])
		abort();
	session_reader__delete(r);
	frames__exit(&f);
	return 0;
}
