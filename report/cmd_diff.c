/* cmd_diff.c - the command diff: compares recordings and prints what changed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ljperf.h"
#include "report/diff_view.h"
#include "report/fields_table.h"
#include "report/match.h"
#include "report/recording.h"
#include "util/error.h"
#include "util/options.h"

/* The status when --fail-above is exceeded. */
enum { EXIT_GROWN = 1 };

/* What the command line says. */
static struct diff_words {
	struct diff_opts diff;
	struct symbolizer_opts symbols;
	const char *metric, *sort, *compute, *match, *normalize, *fail_above;
	const char *baseline, *new_runs, *parent;
	bool force, each, json, markdown, stdio;
} opt;

static int set_tree(const struct option *o, const char *arg, bool unset)
{
	struct tree_opts *tree = &opt.diff.tree;

	(void)o;
	if (unset) {
		tree->print = TREE_NONE;
		return 0;
	}
	if (tree_opts__parse(arg, tree))
		return -EINVAL;
	if (tree->print == TREE_FRACTAL)
		return err__set(-EINVAL, "a tree of changes is not fractal: its branches are not "
					 "parts of one another");
	return 0;
}

static const struct option options[] = {
	OPT_BOOL('f', "force", &opt.force, "read files of other users, accept damaged ones"),
	OPT_STRING(0, "baseline", &opt.baseline, "FILE,...",
		   "runs of the baseline; their mean counts"),
	OPT_STRING(0, "new", &opt.new_runs, "FILE,...", "runs to compare with it"),
	OPT_GROUP("What is compared"),
	OPT_STRING(0, "metric", &opt.metric, "NAME", "what counts: a metric of report"),
	OPT_STRING('s', "sort", &opt.sort, "KEYS",
		   "join rows by line (default), func or another key of report, or by vm"),
	OPT_STRING('c', "compute", &opt.compute, "NAME",
		   "delta-abs (default), delta, ratio or wdiff:W1,W2"),
	OPT_STRING(0, "match", &opt.match, "NAME",
		   "exact (default), or fuzzy: join lines that moved, too"),
	OPT_STRING(0, "normalize", &opt.normalize, "NAME", "compare amounts per second or mark"),
	OPT_STRING(0, "per", &opt.diff.per, "N[,N...]",
		   "compare amounts per unit of work, of which the runs did N"),
	OPT_GROUP("Which rows"),
	OPT_U64('o', "order", &opt.diff.order, "COLUMN",
		"sort by data file COLUMN, 0 is the baseline (default 1)"),
	OPT_BOOL('b', "baseline-only", &opt.diff.baseline_only, "only rows that the baseline has"),
	OPT_BOOL('a', "all", &opt.diff.all, "rows that are the same, too"),
	OPT_U64(0, "limit", &opt.diff.limit, "N", "show the first N rows only (0: all)"),
	OPT_DOUBLE(0, "percent-limit", &opt.diff.percent_limit, "PERCENT",
		   "only rows that changed by this part of the baseline's total"),
	OPT_GROUP("Call stacks"),
	{ .type = OPT_CALLBACK,
	  .letter = 'g',
	  .name = "call-graph",
	  .arg = "KIND",
	  .help = "a tree of changes below each row: graph, folded or none; caller or callee; "
		  "function or line; a least percentage (0.5)",
	  .callback = set_tree,
	  .optional_arg = true,
	  .takes = tree_opts__takes },
	OPT_U64(0, "max-stack", &opt.diff.tree.max_stack, "N", "only the N innermost frames"),
	OPT_STRING(0, "parent", &opt.parent, "REGEX", "the caller that the key 'parent' shows"),
	OPT_GROUP("Names of C functions"),
	SYMBOLIZER_OPTIONS(opt.symbols),
	OPT_GROUP("How it is shown"),
	OPT_BOOL('p', "period", &opt.diff.absolute, "show both values and not only the change"),
	OPT_BOOL('F', "formula", &opt.diff.formula, "show what the change was computed from"),
	OPT_STRING('t', "field-separator", &opt.diff.separator, "SEP",
		   "between columns; numbers are exact and not aligned"),
	OPT_BOOL(0, "json", &opt.json, "print all as a JSON object"),
	OPT_BOOL(0, "markdown", &opt.markdown, "print a table for a pull request"),
	OPT_BOOL(0, "stdio", &opt.stdio, "print text, which is all there is"),
	OPT_BOOL('q', "quiet", &opt.diff.quiet, "no comment lines, no warnings"),
	OPT_BOOL('v', "verbose", &opt.diff.verbose, "say how the recordings were made"),
	OPT_GROUP("For checks"),
	OPT_STRING(0, "fail-above", &opt.fail_above, "LIMIT",
		   "status 1 when the total grew by more: 10%, 64 or 1M"),
	OPT_BOOL(0, "each", &opt.each, "the limit is for each row, not for the total"),
	OPT_END(),
};

static const char usage[] = "ljperf diff [OPTIONS] [BASELINE] [FILE...]";

/* ---- words of the options ---- */

static int unknown_word(const char *what, const char *word, const char *const *names, size_t n)
{
	const char *near = options__suggest(word, names, n);
	char all[120] = "";
	size_t i, len = 0;

	if (near)
		return err__set(-EINVAL, "unknown %s '%s', did you mean '%s'?", what, word, near);
	for (i = 0; i < n && len < sizeof(all); i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", i ? ", " : "",
					names[i]);
	return err__set(-EINVAL, "unknown %s '%s', known are: %s", what, word, all);
}

/* The number of WORD in NAMES, or negative. */
static int find_word(const char *what, const char *word, const char *const *names, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(word, names[i]))
			return (int)i;
	return unknown_word(what, word, names, n);
}

static bool next_weight(const char **s, int64_t *w)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(*s, &end, 10);
	if (end == *s || errno || **s == ' ' || v > INT32_MAX || v < -INT32_MAX)
		return false;
	*s = end;
	*w = v;
	return true;
}

static int diff__weights(const char *s)
{
	struct diff_opts *o = &opt.diff;

	if (*s++ == ':' && next_weight(&s, &o->w1) && *s++ == ',' && next_weight(&s, &o->w2) && !*s)
		return 0;
	return err__set(-EINVAL, "wdiff needs two whole weights: wdiff:W1,W2 with W1 for the "
				 "baseline");
}

static int diff__compute(const char *name)
{
	static const char *const names[] = {
		[DIFF_DELTA_ABS] = "delta-abs",
		[DIFF_DELTA] = "delta",
		[DIFF_RATIO] = "ratio",
		[DIFF_WDIFF] = "wdiff",
	};
	int n;

	if (!strncmp(name, "wdiff", 5) && (name[5] == ':' || !name[5])) {
		opt.diff.compute = DIFF_WDIFF;
		return diff__weights(name + 5);
	}
	n = find_word("computation", name, names, DIFF_COMPUTES);
	opt.diff.compute = n < 0 ? DIFF_DELTA_ABS : (enum diff_compute)n;
	return n < 0 ? n : 0;
}

static int diff__scale(void)
{
	static const char *const names[] = { "second", "mark" };
	int n;

	if (opt.normalize && opt.diff.per)
		return err__set(-EINVAL, "--normalize and --per exclude each other");
	opt.diff.scale = opt.diff.per ? DIFF_PER_N : DIFF_PLAIN;
	if (!opt.normalize)
		return 0;
	n = find_word("normalization", opt.normalize, names, 2);
	if (n >= 0)
		opt.diff.scale = n ? DIFF_PER_MARK : DIFF_PER_SECOND;
	return n < 0 ? n : 0;
}

static int diff__match(void)
{
	static const char *const names[] = { "exact", "fuzzy" };
	int n = find_word("matching", opt.match ? opt.match : "exact", names, 2);

	opt.diff.fuzzy = n == 1;
	return n < 0 ? n : 0;
}

static int diff__check_options(void)
{
	if (opt.json && opt.markdown)
		return err__set(-EINVAL, "--json and --markdown exclude each other");
	if (fields__separator(&opt.diff.separator))
		return -EINVAL;
	if (opt.each && !opt.fail_above)
		return err__set(-EINVAL, "--each says what --fail-above is for; give that, too");
	if (opt.new_runs && !opt.baseline)
		return err__set(-EINVAL, "--new needs --baseline");
	return 0;
}

static int diff__set_parent(struct match **parent)
{
	struct diff_opts *o = &opt.diff;

	if (!opt.parent && field_list__has(&o->keys, &fields[F_PARENT]))
		return err__set(-EINVAL, "the key 'parent' needs --parent");
	if (!opt.parent)
		return 0;
	o->parent = *parent = match__new_regex(opt.parent);
	return o->parent ? 0 : -EINVAL;
}

static int diff__setup(struct diff_limit *limit)
{
	struct diff_opts *o = &opt.diff;

	if (fields__metric(opt.metric ? opt.metric : "allocated", &o->metric) ||
	    diff__sort(opt.sort ? opt.sort : "line", &o->keys) ||
	    diff__compute(opt.compute ? opt.compute : "delta-abs") || diff__match() ||
	    diff__scale() || diff__check_options())
		return -EINVAL;
	if (o->tree.order == TREE_ORDER_DEFAULT)
		o->tree.order = TREE_CALLEE;
	o->all |= opt.json;
	if (!opt.fail_above)
		return 0;
	return diff_limit__parse(limit, opt.fail_above, o->metric->field->type == FIELD_BYTES);
}

/* ---- the files ---- */

/* As perf: nothing is the recording before against the last one, and one file
 * is compared with the recording before. */
static int diff__add_sides(struct diff *d, int n, const char **paths)
{
	int err = 0, i;

	if (opt.baseline)
		err = diff__add_side(d, opt.baseline, true);
	else if (n < 2)
		err = diff__add_side(d, RECORDING_DEFAULT ".old", false);
	if (!err && opt.new_runs)
		err = diff__add_side(d, opt.new_runs, true);
	else if (!err && !n && !opt.baseline)
		err = diff__add_side(d, RECORDING_DEFAULT, false);
	for (i = 0; !err && i < n; i++)
		err = diff__add_side(d, paths[i], false);
	if (!err && d->n_sides < 2)
		err = err__set(-EINVAL, "there is nothing to compare the baseline with: give --new "
					"or a file");
	if (!err && d->o.order >= d->n_sides)
		err = err__set(-EINVAL, "there is no data file %llu to sort by, the last is %zu",
			       (unsigned long long)d->o.order, d->n_sides - 1);
	return err;
}

static int diff__warn(const struct diff *d)
{
	int damaged = 0;
	size_t i;

	for (i = 0; i < d->n_parts; i++) {
		const struct session_summary *s = &d->parts[i].a->sessions[0];

		damaged += recording__damaged(s->name, &s->info, d->o.quiet);
	}
	return damaged;
}

/* A reader of the default files is told where the older one comes from. */
static void print_error(bool defaults)
{
	fprintf(stderr, "ljperf: %s\n", err__msg());
	if (defaults && strstr(err__msg(), "cannot open '" RECORDING_DEFAULT ".old'"))
		fprintf(stderr, "ljperf: 'ljperf record' keeps the recording before under that "
				"name; record twice, or name the files\n");
}

/* ---- the whole ---- */

static int diff__print(const struct diff *d)
{
	struct strbuf out = STRBUF_INIT;
	struct term term;
	int err;

	term__begin(&term);
	if (opt.json)
		err = diff_view__json(d, &out);
	else if (opt.markdown)
		err = diff_view__markdown(d, &out);
	else
		err = diff_view__table(d, &term, &out);
	if (!err && out.failed)
		err = diff__no_memory();
	if (!err)
		term__flush(&out);
	term__end(&term);
	strbuf__exit(&out);
	return err;
}

/* With names of C functions out of their modules. */
static int diff__compare(struct diff *d)
{
	struct symtab *st = d->symtab;
	int err;

	if (!opt.symbols.off) {
		st->symbolizer = symbolizer__new(&opt.symbols, &st->strings);
		if (!st->symbolizer)
			return -ENOMEM;
	}
	err = diff__make(d);
	err = err ? err : diff__print(d);
	if (!opt.diff.quiet)
		symbolizer__warn(st->symbolizer);
	symbolizer__save(st->symbolizer);
	return err;
}

/* The exit status, or negative with err__msg(). */
static int diff__run(struct diff *d, int n, const char **paths, const struct diff_limit *limit)
{
	int err = diff__add_sides(d, n, paths), damaged, grown = 0;

	err = err ? err : diff__read(d, opt.force);
	if (err)
		return err;
	damaged = diff__warn(d);
	err = diff__compare(d);
	if (err)
		return err;
	if (damaged && !opt.force)
		return EXIT_LJPERF;
	if (limit->set)
		grown = diff_limit__check(d, limit, opt.each);
	return grown > 0 ? EXIT_GROWN : grown;
}

int cmd_diff(int argc, const char **argv)
{
	struct diff_limit limit = { .set = false };
	struct match *parent = NULL;
	struct diff *d = NULL;
	int n, ret;

	opt = (struct diff_words){ .diff.order = 1 };
	n = options__parse(argc, argv, options, usage, 0, NULL);
	if (n == OPTIONS_HELP)
		return EXIT_SUCCESS;
	ret = n < 0 ? n : diff__setup(&limit);
	ret = ret ? ret : diff__set_parent(&parent);
	if (!ret) {
		d = diff__new(&opt.diff);
		ret = d ? diff__run(d, n, argv + 1, &limit) : -ENOMEM;
	}
	diff__delete(d);
	match__delete(parent);
	if (ret < 0)
		print_error(n < 2 && !opt.baseline);
	return ret < 0 ? EXIT_LJPERF : ret;
}
