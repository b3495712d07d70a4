/* import.c - see import.h. */
#include "record/import.h"

#include <errno.h>

#include "util/error.h"

struct import {
	import_open *open;
	void *ctx;
	struct session_writer *w; /* once opened */
};

static int opened(struct import *imp)
{
	if (!imp->w)
		imp->w = imp->open(imp->ctx);
	return imp->w ? 0 : -EIO;
}

/* A plain stream has no header: nothing would be gained, and some lost. */
static int take_header(void *ctx, const struct session_header *h)
{
	(void)ctx;
	(void)h;
	return err__set(-EEXIST, "it is a session file already");
}

static int take_symbol(void *ctx, const struct ljm_symbol *sym)
{
	struct import *imp = ctx;
	int err = opened(imp);

	return err ? err : session_writer__symbol(imp->w, sym);
}

static int take_event(void *ctx, const struct ljm_event *ev)
{
	struct import *imp = ctx;
	int err = opened(imp);

	return err ? err : session_writer__event(imp->w, ev);
}

int import__run_late(struct session_reader *r, import_open *open, void *ctx)
{
	static const struct session_handlers handlers = {
		.header = take_header,
		.symbol = take_symbol,
		.event = take_event,
	};
	struct import imp = { .open = open, .ctx = ctx };
	int err = session_reader__run(r, &handlers, &imp);

	return err ? err : opened(&imp);
}

static struct session_writer *given(void *w)
{
	return w;
}

int import__run(struct session_writer *w, struct session_reader *r)
{
	return import__run_late(r, given, w);
}
