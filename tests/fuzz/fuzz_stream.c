/* fuzz_stream.c - fuzz target of the session reader: any bytes, from memory.
 * Besides not crashing, what the reader says of itself must be true. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct count {
	uint64_t events, symbols;
	unsigned sum; /* of all bytes told, so that they are read */
};

static void touch(struct count *c, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		c->sum += (unsigned char)p[i];
}

static int on_header(void *ctx, const struct session_header *h)
{
	struct count *c = ctx;

	for (size_t i = 0; i < h->argc; i++)
		touch(c, h->argv[i], strlen(h->argv[i]));
	if (h->cwd)
		touch(c, h->cwd, strlen(h->cwd));
	return 0;
}

static int on_symbol(void *ctx, const struct ljm_symbol *sym)
{
	struct count *c = ctx;

	touch(c, sym->name, sym->name_len);
	touch(c, sym->func_name, sym->func_name_len);
	c->symbols++;
	return 0;
}

static int on_event(void *ctx, const struct ljm_event *ev)
{
	struct count *c = ctx;

	if (ev->kind < LJM_ALLOC || ev->kind > LJM_REALLOC || ev->vmstate >= LJM_VMSTATE_MAX ||
	    ev->loc.source < LJM_SRC_INTERNAL || ev->loc.source > LJM_SRC_TRACE ||
	    ljm_loc__is_unknown_line(&ev->loc))
		abort();
	c->events++;
	return 0;
}

static int on_mark(void *ctx, const struct session_mark *m)
{
	touch(ctx, m->name, m->name_len);
	return 0;
}

static int on_module(void *ctx, const struct session_module *m)
{
	touch(ctx, m->path, m->path_len);
	touch(ctx, m->build_id, m->build_id_len);
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
		.header = on_header,
		.symbol = on_symbol,
		.event = on_event,
		.mark = on_mark,
		.module = on_module,
		.stack = on_stack,
	};
	struct session_reader *r = session_reader__new_mem(data, size, "fuzz");
	const struct session_info *info;
	struct count c = { 0 };
	int rc;

	if (!r)
		return 0;
	rc = session_reader__run(r, &handlers, &c);
	info = session_reader__info(r);
	if (info->n_events != c.events || info->n_symbols != c.symbols)
		abort();
	if (rc == 0 && (info->file_bytes != size || !memchr(info->damage, 0, sizeof(info->damage))))
		abort();
	if (rc == 0 && info->state != SESSION_COMPLETE && !info->damage[0])
		abort();
	session_reader__delete(r);
	return 0;
}
