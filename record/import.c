/* import.c - see import.h. */
#include "record/import.h"

#include <errno.h>

#include "util/error.h"

/* A plain stream has no header: nothing would be gained, and some lost. */
static int take_header(void *ctx, const struct session_header *h)
{
	(void)ctx;
	(void)h;
	return err__set(-EEXIST, "it is a session file already");
}

static int take_symbol(void *ctx, const struct ljm_symbol *sym)
{
	return session_writer__symbol(ctx, sym);
}

static int take_event(void *ctx, const struct ljm_event *ev)
{
	return session_writer__event(ctx, ev);
}

int import__run(struct session_writer *w, struct session_reader *r)
{
	static const struct session_handlers handlers = {
		.header = take_header,
		.symbol = take_symbol,
		.event = take_event,
	};

	return session_reader__run(r, &handlers, w);
}
