/* report.c - the command report: reads recordings and prints a view of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ljperf.h"
#include "report/aggregate.h"
#include "report/fields_table.h"
#include "report/filter.h"
#include "report/recording.h"
#include "report/suppress.h"
#include "report/view.h"
#include "util/error.h"
#include "util/options.h"

static const struct view_ops *const views[] = { &view_table, &view_memprof };

enum { N_VIEWS = sizeof(views) / sizeof(views[0]) };

/* What the command line says. */
static struct report_words {
	struct view_opts view;
	struct symbolizer_opts symbols;
	struct filter filter;
	struct window window;
	const char *input, *format, *metric, *sort, *fields;
	const char *time, *from, *to, *parent, *percentage, *suppress;
	uint64_t temporary_threshold;
	bool force, stdio, with_close, nr_samples, timeline, fail_leaks;
} opt;

/* ---- options that are more than a word ---- */

static int set_tree(const struct option *o, const char *arg, bool unset)
{
	(void)o;
	if (unset) {
		opt.view.tree.print = TREE_NONE;
		return 0;
	}
	return tree_opts__parse(arg, &opt.view.tree);
}

static int add_filter(enum filter_kind kind, const char *arg, bool unset)
{
	if (unset) {
		filter__exit(&opt.filter);
		return 0;
	}
	return filter__add(&opt.filter, kind, arg);
}

static int add_symbol(const struct option *o, const char *arg, bool unset)
{
	(void)o;
	return add_filter(FILTER_SYMBOL, arg, unset);
}

static int add_chunk(const struct option *o, const char *arg, bool unset)
{
	(void)o;
	return add_filter(FILTER_CHUNK, arg, unset);
}

static int add_source(const struct option *o, const char *arg, bool unset)
{
	(void)o;
	return add_filter(FILTER_SOURCE, arg, unset);
}

static int add_module(const struct option *o, const char *arg, bool unset)
{
	(void)o;
	return add_filter(FILTER_MODULE, arg, unset);
}

static int add_vm(const struct option *o, const char *arg, bool unset)
{
	(void)o;
	return add_filter(FILTER_VM, arg, unset);
}

#define OPT_FILTER(l, n, a, h, f) \
	{ \
		.type = OPT_CALLBACK, .letter = (l), .name = (n), .arg = (a), .help = (h), \
		.callback = (f), .no_negate = true \
	}

static const struct option options[] = {
	OPT_STRING('i', "input", &opt.input, "FILE", "recording to read, '-' is standard input"),
	OPT_BOOL('f', "force", &opt.force, "read files of other users, accept damaged ones"),
	OPT_GROUP("What is shown"),
	OPT_STRING(0, "metric", &opt.metric, "NAME",
		   "what counts: allocated, live, peak, leaked, freed, temporary, count or copied"),
	OPT_STRING('s', "sort", &opt.sort, "KEYS",
		   "group by line, symbol, func, chunk, module, source, trace, vmstate, vm, size, "
		   "parent"),
	OPT_STRING('F', "fields", &opt.fields, "FIELDS",
		   "columns, '+' adds: overhead, allocated, allocs, reallocs, count, live, "
		   "blocks, peak, peak-blocks, leaked, leaked-blocks, freed, frees, temporary, "
		   "temporary-blocks, objects, final, copied, lifetime, events and sort keys"),
	OPT_BOOL('n', "show-nr-samples", &opt.nr_samples, "add a column with the number of events"),
	OPT_U64(0, "limit", &opt.view.limit, "N", "show the first N rows only (0: all)"),
	OPT_DOUBLE(0, "percent-limit", &opt.view.percent_limit, "PERCENT",
		   "show no row with less overhead"),
	OPT_U64(0, "temporary-threshold", &opt.temporary_threshold, "N",
		"a block freed before N other allocations is temporary (1)"),
	OPT_BOOL(0, "with-close", &opt.with_close, "count what lua_close() frees, too"),
	OPT_GROUP("Of what"),
	OPT_STRING(0, "time", &opt.time, "RANGE",
		   "a part of the recording: 10%-20%, or FROM,TO in seconds"),
	OPT_STRING(0, "from", &opt.from, "MARK", "what follows the mark of that name"),
	OPT_STRING(0, "to", &opt.to, "MARK", "what comes before it"),
	OPT_FILTER('S', "symbol", "NAME", "places of that name, or like /REGEX/", add_symbol),
	OPT_FILTER(0, "chunk", "NAME", "chunks of that name, or like /REGEX/", add_chunk),
	OPT_FILTER(0, "source", "NAME", "of lua, c, trace, vm", add_source),
	OPT_FILTER('d', "module", "NAME", "modules of that name, or like /REGEX/", add_module),
	OPT_FILTER(0, "vm", "NAME", "VMs of that name or number, or like /REGEX/", add_vm),
	OPT_STRING(0, "percentage", &opt.percentage, "OF",
		   "absolute: shares of all (default), relative: of what filters leave"),
	OPT_STRING(0, "suppress", &opt.suppress, "FILE", "leave out what the rules in FILE name"),
	OPT_BOOL(0, "fail-leaks", &opt.fail_leaks,
		 "exit with status 1 when blocks are alive after the full collection"),
	OPT_GROUP("Call stacks"),
	{ .type = OPT_CALLBACK,
	  .letter = 'g',
	  .name = "call-graph",
	  .arg = "KIND",
	  .help = "a tree below each row: graph, fractal, folded or none; caller or callee; "
		  "function or line; a least percentage (0.5)",
	  .callback = set_tree,
	  .optional_arg = true,
	  .takes = tree_opts__takes },
	OPT_BOOL(0, "children", &opt.view.children, "rows have what their callees did, too"),
	OPT_U64(0, "max-stack", &opt.view.tree.max_stack, "N", "only the N innermost frames"),
	OPT_STRING('p', "parent", &opt.parent, "REGEX",
		   "only what has such a caller; with the key 'parent' what that shows"),
	OPT_BOOL('x', "exclude-other", &opt.filter.exclude_other,
		 "with the key 'parent', too: only what has such a caller"),
	OPT_GROUP("Names of C functions"),
	SYMBOLIZER_OPTIONS(opt.symbols),
	OPT_GROUP("How it is shown"),
	OPT_BOOL(0, "timeline", &opt.timeline, "draw the size of the heap over time"),
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

static int set_percentage(const char *word)
{
	opt.view.relative = !strcmp(word, "relative");
	if (opt.view.relative || !strcmp(word, "absolute"))
		return 0;
	return err__set(-EINVAL, "unknown percentage '%s', known are: absolute, relative", word);
}

/* The root of trees is where perf has it. */
static void setup_tree(struct view_opts *o)
{
	if (o->tree.order == TREE_ORDER_DEFAULT)
		o->tree.order = o->children ? TREE_CALLER : TREE_CALLEE;
	if (o->children)
		fields__add_children(&o->columns);
}

static int report__check(const struct view_ops *view)
{
	const struct view_opts *o = &opt.view;

	if (fields__separator(&opt.view.separator))
		return -EINVAL;
	if (opt.timeline && opt.format)
		return err__set(-EINVAL, "--timeline and --format exclude each other");
	if (view->plain && (o->tree.print || o->children))
		return err__set(-EINVAL, "only tables have call trees");
	if (view->plain && (!filter__is_empty(&opt.filter) || opt.suppress))
		return err__set(-EINVAL, "only tables can be filtered");
	if (!opt.parent && opt.filter.exclude_other)
		return err__set(-EINVAL, "--exclude-other needs --parent");
	return 0;
}

/* Turns the words of the options into what they name. */
static int report__setup(const struct view_ops **view)
{
	const char *metric = opt.fail_leaks ? "leaked" : "allocated";
	struct view_opts *o = &opt.view;

	if (find_view(opt.format ? opt.format : "table", view) ||
	    fields__metric(opt.metric ? opt.metric : metric, &o->metric) ||
	    fields__sort(opt.sort ? opt.sort : "line", &o->keys) ||
	    fields__columns(opt.fields, o->metric, &o->keys, &o->columns) ||
	    window__parse(opt.time, opt.from, opt.to, &opt.window) ||
	    set_percentage(opt.percentage ? opt.percentage : "absolute"))
		return -EINVAL;
	if (opt.timeline)
		*view = &view_timeline;
	/* As perf: a pattern that nothing shows says which rows are wanted. */
	if (opt.parent && !field_list__has(&o->keys, &fields[F_PARENT]))
		opt.filter.exclude_other = true;
	if (opt.nr_samples)
		fields__add_events(&o->columns);
	setup_tree(o);
	term__size(&o->columns_wide, &o->lines);
	return report__check(*view);
}

/* What the view needs of the reading, and no more. */
static void report__prepare(struct aggregate *a, const struct view_ops *view)
{
	const struct view_opts *o = &opt.view;

	a->want_origins = view->want_origins;
	a->count_after_close = opt.with_close;
	a->temporary_threshold = opt.temporary_threshold;
	a->window = opt.window;
	a->measure = view->measure;
	if (view->plain)
		return;
	field_list__needs(&o->columns, &a->measure, &a->split);
	field_list__needs(&o->keys, &a->measure, &a->split);
	a->measure |= o->metric->field->measure;
	a->split |= filter__split(&opt.filter);
	if (o->tree.print || o->children || opt.suppress)
		a->split |= SPLIT_STACK;
}

/* Reads the files named, or the default one.  The number of damaged ones, or
 * negative. */
static int report__read(struct aggregate *a, int n, const char **paths)
{
	int i, err, damaged = 0;

	if (opt.input || !n) {
		err = aggregate__read(a, opt.input ? opt.input : RECORDING_DEFAULT, opt.force);
		if (err)
			return err;
	}
	for (i = 0; i < n; i++) {
		a->symtab->scope = (uint32_t)a->n_sessions;
		err = aggregate__read(a, paths[i], opt.force);
		if (err)
			return err;
	}
	if (symtab__find_others(a->symtab))
		return -ENOMEM;
	for (i = 0; (size_t)i < a->n_sessions; i++)
		damaged += recording__damaged(a->sessions[i].name, &a->sessions[i].info,
					      opt.view.quiet);
	return damaged;
}

static int report__check_read(const struct aggregate *a)
{
	const struct view_opts *o = &opt.view;
	bool stacks = o->tree.print || o->children || field_list__has(&o->keys, &fields[F_PARENT]);

	if ((o->metric->needs_leaked || opt.fail_leaks) && !a->totals.has_leaked)
		return err__set(-ENODATA, "no full collection was recorded, so what leaked is not "
					  "known (--metric live shows what was alive)");
	if ((stacks || opt.parent) && a->totals.n_alloc && a->stacks.n <= 1)
		return err__set(-ENODATA,
				"no call stacks were recorded (ljperf record -g does it)");
	return 0;
}

/* ---- filters and suppressions ---- */

struct selection {
	struct match *parent;
	struct suppress *suppress;
	bool *skip, *suppressed;
};

static void selection__exit(struct selection *s)
{
	match__delete(s->parent);
	suppress__delete(s->suppress);
	free(s->skip);
	free(s->suppressed);
}

static int selection__apply(struct selection *s, struct aggregate *a)
{
	uint32_t cell;
	int err;

	s->skip = calloc(a->n_stats + 1, sizeof(*s->skip));
	s->suppressed = calloc(a->n_stats + 1, sizeof(*s->suppressed));
	if (!s->skip || !s->suppressed)
		return err__set(-ENOMEM, "out of memory for filters");
	err = filter__apply(&opt.filter, a, s->skip);
	if (!err && s->suppress)
		err = suppress__apply(s->suppress, a, s->suppressed);
	for (cell = 0; cell < a->n_stats; cell++) {
		s->suppressed[cell] &= !s->skip[cell];
		s->skip[cell] |= s->suppressed[cell];
	}
	opt.view.skip = s->skip;
	opt.view.suppressed = s->suppress ? s->suppressed : NULL;
	return err;
}

/* Which cells the report is about. */
static int selection__init(struct selection *s, struct aggregate *a)
{
	if (opt.parent) {
		s->parent = match__new_regex(opt.parent);
		if (!s->parent)
			return -EINVAL;
		a->parent = s->parent;
	} else if (field_list__has(&opt.view.keys, &fields[F_PARENT])) {
		return err__set(-EINVAL, "the key 'parent' needs --parent");
	}
	if (opt.suppress) {
		s->suppress = suppress__load(opt.suppress);
		if (!s->suppress)
			return -EINVAL;
	}
	return 0;
}

/* Whether a cell is of the program: the VM's own tables grow and stay, and so
 * does what loading the script takes. */
static bool is_program(const struct aggregate *a, uint32_t cell)
{
	static const char runner[] = "/ljperf-luajit";
	const struct site *s = &a->symtab->sites[aggregate__cell(a, cell).site];
	const struct module *m = symtab__module_of(a->symtab, s);
	const struct str *path = m ? strpool__get(&a->symtab->strings, m->path) : NULL;
	size_t len = sizeof(runner) - 1;

	if (path && path->len >= len && !memcmp(path->s + path->len - len, runner, len))
		return false;
	return s->source != LJM_SRC_INTERNAL;
}

/* 1 when something is alive after the full collection, or 0. */
static int report__leaks(const struct aggregate *a)
{
	struct strbuf bytes = STRBUF_INIT;
	struct site_live sum = { .blocks = 0 };
	uint32_t cell;

	for (cell = 0; opt.fail_leaks && cell < a->n_leaked; cell++)
		if ((!opt.view.skip || !opt.view.skip[cell]) && is_program(a, cell))
			site_live__add(&sum, &a->leaked[cell]);
	if (!sum.blocks)
		return 0;
	number__bytes(&bytes, sum.bytes);
	fprintf(stderr, "ljperf: %s in %llu block%s leaked\n", strbuf__str(&bytes),
		(unsigned long long)sum.blocks, sum.blocks == 1 ? "" : "s");
	strbuf__exit(&bytes);
	return 1;
}

/* ---- the command ---- */

/* Prints the view, with names of C functions out of their modules. */
static int report__print(struct aggregate *a, const struct view_ops *view, struct selection *s)
{
	struct symtab *st = a->symtab;
	struct term term;
	int err = 0;

	if (!opt.symbols.off) {
		st->symbolizer = symbolizer__new(&opt.symbols, &st->strings);
		if (!st->symbolizer)
			return -ENOMEM;
	}
	if (s->parent)
		err = symtab__symbolize_all(st);
	if (!err && (s->suppress || !filter__is_empty(&opt.filter)))
		err = selection__apply(s, a);
	if (err)
		return err;
	term__begin(&term);
	err = view->print(a, &opt.view, &term);
	term__end(&term);
	if (!opt.view.quiet)
		symbolizer__warn(st->symbolizer);
	if (opt.view.verbose)
		suppress__warn(s->suppress);
	symbolizer__save(st->symbolizer);
	return err;
}

/* Negative, or the number of damaged files; *LEAKS says whether it failed by them. */
static int report__run(int n, const char **paths, const struct view_ops *view, int *leaks)
{
	struct aggregate *a = aggregate__new();
	struct selection s = { .parent = NULL };
	int err = a ? selection__init(&s, a) : -ENOMEM, damaged = 0;

	if (!err) {
		report__prepare(a, view);
		damaged = report__read(a, n, paths);
		err = damaged < 0 ? damaged : 0;
	}
	if (!err) {
		aggregate__finish(a);
		err = report__check_read(a);
	}
	err = err ? err : report__print(a, view, &s);
	if (!err)
		*leaks = report__leaks(a);
	selection__exit(&s);
	aggregate__delete(a);
	return err ? err : damaged;
}

int cmd_report(int argc, const char **argv)
{
	const struct view_ops *view;
	int n, ret, leaks = 0;

	opt = (struct report_words){ .temporary_threshold = 1 };
	n = options__parse(argc, argv, options, usage, 0, NULL);
	if (n == OPTIONS_HELP)
		return EXIT_SUCCESS;
	ret = n < 0 ? n : report__setup(&view);
	if (!ret)
		ret = report__run(n, argv + 1, view, &leaks);
	filter__exit(&opt.filter);
	if (ret < 0)
		fprintf(stderr, "ljperf: %s\n", err__msg());
	if (ret < 0 || (ret > 0 && !opt.force))
		return EXIT_LJPERF;
	return leaks;
}
