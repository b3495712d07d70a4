/* report.c - the command report: reads recordings and prints a view of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ljperf.h"
#include "report/aggregate.h"
#include "report/fields.h"
#include "report/recording.h"
#include "report/view.h"
#include "util/error.h"
#include "util/options.h"

static const struct view_ops *const views[] = { &view_table, &view_memprof };

enum { N_VIEWS = sizeof(views) / sizeof(views[0]) };

static struct {
	struct view_opts view;
	struct symbolizer_opts symbols;
	const char *input, *format, *metric, *sort, *fields;
	bool force, stdio, with_close, nr_samples;
} opt;

static const struct option options[] = {
	OPT_STRING('i', "input", &opt.input, "FILE", "recording to read, '-' is standard input"),
	OPT_BOOL('f', "force", &opt.force, "read files of other users, accept corrupt ones"),
	OPT_GROUP("What is shown"),
	OPT_STRING(0, "metric", &opt.metric, "NAME",
		   "what counts: allocated, live, leaked, freed or count"),
	OPT_STRING('s', "sort", &opt.sort, "KEYS",
		   "group by line, symbol, func, chunk, module, source, trace, vmstate"),
	OPT_STRING('F', "fields", &opt.fields, "FIELDS",
		   "columns, '+' adds: overhead, allocated, allocs, reallocs, count, live, "
		   "blocks, leaked, leaked-blocks, freed, frees, events and sort keys"),
	OPT_BOOL('n', "show-nr-samples", &opt.nr_samples, "add a column with the number of events"),
	OPT_U64(0, "limit", &opt.view.limit, "N", "show the first N rows only"),
	OPT_DOUBLE(0, "percent-limit", &opt.view.percent_limit, "PERCENT",
		   "show no row with less overhead"),
	OPT_BOOL(0, "with-close", &opt.with_close, "count what lua_close() frees, too"),
	OPT_GROUP("Names of C functions"),
	SYMBOLIZER_OPTIONS(opt.symbols),
	OPT_GROUP("How it is shown"),
	OPT_STRING(0, "format", &opt.format, "NAME", "table, or memprof: as luajit-parse-memprof"),
	OPT_BOOL(0, "leak-only", &opt.view.leak_only, "memprof: the heap summary only"),
	OPT_BOOL(0, "human-readable", &opt.view.human_readable, "memprof: sizes in KiB, MiB, GiB"),
	OPT_STRING('t', "field-separator", &opt.view.separator, "SEP",
		   "between columns; numbers are exact and not aligned"),
	OPT_BOOL(0, "header", &opt.view.header, "show how the recording was made, too"),
	OPT_BOOL(0, "header-only", &opt.view.header_only, "show that only"),
	OPT_BOOL(0, "stdio", &opt.stdio, "print text, which is all there is"),
	OPT_BOOL('q', "quiet", &opt.view.quiet, "no comment lines, no warnings"),
	OPT_BOOL('v', "verbose", &opt.view.verbose,
		 "say more about the recording, the code of C functions, and traces"),
	OPT_END(),
};

static const char usage[] = "ljperf report [OPTIONS] [FILE...]";

static int find_view(const char *name, const struct view_ops **out)
{
	const char *names[N_VIEWS], *near;
	size_t i;

	for (i = 0; i < N_VIEWS; i++) {
		*out = views[i];
		names[i] = views[i]->name;
		if (!strcmp(names[i], name))
			return 0;
	}
	near = options__suggest(name, names, N_VIEWS);
	if (near)
		return err__set(-EINVAL, "unknown format '%s', did you mean '%s'?", name, near);
	return err__set(-EINVAL, "unknown format '%s', known are: table, memprof", name);
}

/* Turns the words of the options into what they name. */
static int report__setup(const struct view_ops **view)
{
	struct view_opts *o = &opt.view;

	if (find_view(opt.format ? opt.format : "table", view) ||
	    fields__metric(opt.metric ? opt.metric : "allocated", &o->metric) ||
	    fields__sort(opt.sort ? opt.sort : "line", &o->keys) ||
	    fields__columns(opt.fields, o->metric, &o->keys, &o->columns))
		return -EINVAL;
	if (opt.view.separator && !*opt.view.separator)
		return err__set(-EINVAL, "the field separator is empty");
	if (opt.nr_samples)
		fields__add_events(&o->columns);
	return 0;
}

/* Reads the files named, or the default one.  The number of corrupt ones, or
 * negative. */
static int report__read(struct aggregate *a, int n, const char **paths)
{
	int i, err, corrupt = 0;

	if (opt.input || !n) {
		err = aggregate__read(a, opt.input ? opt.input : RECORDING_DEFAULT, opt.force);
		if (err)
			return err;
	}
	for (i = 0; i < n; i++) {
		err = aggregate__read(a, paths[i], opt.force);
		if (err)
			return err;
	}
	for (i = 0; (size_t)i < a->n_sessions; i++)
		if (opt.view.quiet)
			corrupt += a->sessions[i].info.state == SESSION_CORRUPT;
		else
			corrupt += recording__warn(a->sessions[i].name, &a->sessions[i].info);
	return corrupt;
}

/* Prints the view, with names of C functions out of their modules. */
static int report__print(struct aggregate *a, const struct view_ops *view)
{
	struct symtab *st = a->symtab;
	struct term term;
	int err;

	if (!opt.symbols.off) {
		st->symbolizer = symbolizer__new(&opt.symbols, &st->strings);
		if (!st->symbolizer)
			return -ENOMEM;
	}
	term__begin(&term);
	err = view->print(a, &opt.view, &term);
	term__end(&term);
	if (!opt.view.quiet)
		symbolizer__warn(st->symbolizer);
	symbolizer__save(st->symbolizer);
	return err;
}

static int report__run(int n, const char **paths, const struct view_ops *view)
{
	struct aggregate *a = aggregate__new();
	int err, corrupt;

	if (!a)
		return -ENOMEM;
	a->want_origins = view->want_origins;
	a->count_after_close = opt.with_close;
	corrupt = report__read(a, n, paths);
	err = corrupt < 0 ? corrupt : 0;
	aggregate__finish(a);
	if (!err && opt.view.metric->needs_leaked && !a->totals.has_leaked)
		err = err__set(-ENODATA, "no full collection was recorded, so what leaked is not "
					 "known (--metric live shows what was alive)");
	if (!err)
		err = report__print(a, view);
	aggregate__delete(a);
	return err ? err : corrupt;
}

int cmd_report(int argc, const char **argv)
{
	const struct view_ops *view;
	int n = options__parse(argc, argv, options, usage, 0, NULL), ret;

	if (n == OPTIONS_HELP)
		return EXIT_SUCCESS;
	ret = n < 0 ? n : report__setup(&view);
	if (!ret)
		ret = report__run(n, argv + 1, view);
	if (ret < 0)
		fprintf(stderr, "ljperf: %s\n", err__msg());
	return ret < 0 || (ret > 0 && !opt.force) ? EXIT_LJPERF : EXIT_SUCCESS;
}
