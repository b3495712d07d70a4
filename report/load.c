/* load.c - reading recordings for a command; see load.h. */
#include "report/load.h"

#include <errno.h>

#include "report/recording.h"

/* Says what is wrong with the files.  The number of damaged ones. */
static int load__warn(const struct aggregate *a, bool quiet)
{
	int damaged = 0;
	size_t i;

	for (i = 0; i < a->n_sessions; i++)
		damaged += recording__damaged(a->sessions[i].name, &a->sessions[i].info, quiet);
	return damaged;
}

int load__read(struct aggregate *a, const struct load_opts *o, size_t n, const char *const *paths)
{
	static const char *const default_path = RECORDING_DEFAULT;
	struct symtab *st = a->symtab;
	size_t i;
	int err = window__parse(o->time, o->from, o->to, &a->window);

	if (!n) {
		paths = &default_path;
		n = 1;
	}
	a->count_after_close = o->with_close;
	a->temporary_threshold = o->temporary_threshold;
	for (i = 0; !err && i < n; i++) {
		st->scope = (uint32_t)i;
		err = aggregate__read(a, paths[i], o->force);
	}
	if (!err)
		err = symtab__find_others(st);
	if (err)
		return err;
	aggregate__finish(a);
	if (!o->symbols.off) {
		st->symbolizer = symbolizer__new(&o->symbols, &st->strings);
		if (!st->symbolizer)
			return -ENOMEM;
	}
	return load__warn(a, o->quiet);
}

void load__end(struct aggregate *a, const struct load_opts *o)
{
	if (!o->quiet)
		symbolizer__warn(a->symtab->symbolizer);
	symbolizer__save(a->symtab->symbolizer);
}
