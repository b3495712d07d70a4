/* annotate.c - the command annotate: source lines with what they allocated
 * beside them.  See annotate.h for its parts.
 */
#include "report/annotate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "ljperf.h"
#include "util/error.h"
#include "util/grow.h"
#include "util/options.h"

#define DEFAULT_FIELDS "overhead,allocated,allocs,live,peak,leaked"

/* What the command line says. */
static struct annotate_words {
	struct annotate_opts annotate;
	const char **inputs;
	size_t n_inputs, cap_inputs;
	const char *metric, *fields;
} opt;

static int add_input(const struct option *o, const char *arg, bool unset)
{
	(void)o;
	if (unset) {
		opt.n_inputs = 0;
		return 0;
	}
	if (GROW(opt.inputs, opt.cap_inputs, opt.n_inputs))
		return annotate__no_memory();
	opt.inputs[opt.n_inputs++] = arg;
	return 0;
}

static int set_context(const struct option *o, const char *arg, bool unset)
{
	unsigned long long n;
	char *end;

	(void)o;
	opt.annotate.has_context = !unset;
	if (unset)
		return 0;
	errno = 0;
	n = strtoull(arg, &end, 10);
	if (*arg < '0' || *arg > '9' || *end || errno)
		return err__set(-EINVAL, "'%s' is no number of lines", arg);
	opt.annotate.context = n;
	return 0;
}

static const struct option options[] = {
	OPT_CALLBACK('i', "input", NULL, "FILE", "recording to read, may be repeated", add_input),
	LOAD_OPTIONS(opt.annotate.load),
	OPT_GROUP("What is shown"),
	OPT_BOOL('l', "hottest", &opt.annotate.hottest,
		 "one list of the lines of all files, those with most first"),
	OPT_STRING(0, "metric", &opt.metric, "NAME", "what counts, as in report"),
	OPT_STRING('F', "fields", &opt.fields, "FIELDS",
		   "columns of numbers, as in report; '+' adds to the usual ones"),
	OPT_CALLBACK(0, "context", NULL, "N", "show N lines around those with numbers only",
		     set_context),
	OPT_U64(0, "limit", &opt.annotate.view.limit, "N",
		"-l: show the first N lines only (0: all)"),
	OPT_DOUBLE(0, "percent-limit", &opt.annotate.view.percent_limit, "PERCENT",
		   "show no numbers of a line with less overhead"),
	LOAD_WINDOW_OPTIONS(opt.annotate.load),
	OPT_GROUP("How it is shown"),
	OPT_STRING(0, "source-dir", &opt.annotate.source_dir, "DIR", "look for sources in DIR"),
	OPT_STRING('t', "field-separator", &opt.annotate.view.separator, "SEP",
		   "between columns; numbers are exact and not aligned"),
	OPT_BOOL('v', "verbose", &opt.annotate.view.verbose, "say more about the recording"),
	OPT_END(),
};

static const char usage[] = "ljperf annotate [OPTIONS] [FILE.lua...]";

/* The usual columns, those of SPEC, and what counts. */
static int annotate__set_columns(struct view_opts *v, const char *spec)
{
	struct strbuf list = STRBUF_INIT;
	int err;

	v->keys.n = 0;
	if (!spec || *spec == '+')
		strbuf__addf(&list, DEFAULT_FIELDS ",%s,%s", v->metric->field->name,
			     spec ? spec + 1 : "");
	else
		strbuf__addstr(&list, spec);
	err = list.failed ? annotate__no_memory()
			  : fields__columns(strbuf__str(&list), v->metric, &v->keys, &v->columns);
	strbuf__exit(&list);
	if (!err && v->keys.n)
		return err__set(-EINVAL, "the field '%s' is a text, and lines are texts already",
				v->keys.at[0]->name);
	if (!err && !v->columns.n)
		return err__set(-EINVAL, "no field is given");
	return err;
}

static int annotate__setup(void)
{
	struct annotate_opts *o = &opt.annotate;

	o->view.quiet = o->load.quiet;
	if (fields__separator(&o->view.separator))
		return -EINVAL;
	if (o->view.limit && !o->hottest)
		return err__set(-EINVAL, "--limit needs -l: files are shown whole");
	if (o->has_context && o->hottest)
		return err__set(-EINVAL, "-l shows lines alone, and takes no --context");
	if (fields__metric(opt.metric ? opt.metric : "allocated", &o->view.metric))
		return -EINVAL;
	return annotate__set_columns(&o->view, opt.fields);
}

/* A usual column that this recording has nothing for. */
static void annotate__drop_leaked(struct view_opts *v)
{
	struct field_list all = v->columns;
	size_t i;

	if (opt.fields && *opt.fields != '+')
		return;
	v->columns.n = 0;
	for (i = 0; i < all.n; i++)
		if (strcmp(all.at[i]->name, "leaked") != 0)
			v->columns.at[v->columns.n++] = all.at[i];
}

/* Reads the recordings.  The number of damaged ones, or negative. */
static int annotate__read(struct annotate *an)
{
	struct view_opts *v = &opt.annotate.view;
	const struct metric *m = v->metric;
	int damaged;

	an->a->split = SPLIT_STACK;
	an->a->measure = m->field->measure;
	field_list__needs(&v->columns, &an->a->measure, &an->a->split);
	damaged = load__read(an->a, &an->o->load, opt.n_inputs, opt.inputs);
	if (damaged < 0)
		return damaged;
	if (m->needs_leaked && !an->a->totals.has_leaked)
		return err__set(-ENODATA, "no full collection was recorded, so what leaked is not "
					  "known (--metric live shows what was alive)");
	if (!an->a->totals.has_leaked)
		annotate__drop_leaked(v);
	return damaged;
}

static int annotate__run(void)
{
	struct annotate an = { .o = &opt.annotate, .a = aggregate__new() };
	struct term term;
	int err, damaged = 0;

	if (!an.a)
		return -ENOMEM;
	an.t.a = an.a;
	an.t.o = &opt.annotate.view;
	an.t.term = &term;
	err = damaged = annotate__read(&an);
	err = err < 0 ? err : annotate__make(&an);
	if (!err) {
		term__begin(&term);
		err = annotate__print(&an);
		term__end(&term);
	}
	load__end(an.a, &opt.annotate.load);
	annotate__exit(&an);
	aggregate__delete(an.a);
	return err ? err : damaged;
}

int cmd_annotate(int argc, const char **argv)
{
	int n, ret;

	opt = (struct annotate_words){ .annotate.load = LOAD_DEFAULTS };
	ret = n = options__parse(argc, argv, options, usage, 0, NULL);
	if (n == OPTIONS_HELP)
		return EXIT_SUCCESS;
	opt.annotate.names = argv + 1;
	opt.annotate.n_names = n > 0 ? (size_t)n : 0;
	ret = ret < 0 ? ret : annotate__setup();
	ret = ret < 0 ? ret : annotate__run();
	free(opt.inputs);
	if (ret < 0)
		fprintf(stderr, "ljperf: %s\n", err__msg());
	return ret < 0 || (ret > 0 && !opt.annotate.load.force) ? EXIT_LJPERF : EXIT_SUCCESS;
}
