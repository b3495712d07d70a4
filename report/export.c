/* export.c - the command export: recordings in the formats of other tools, one
 * row of a table each; and what the formats share, see export.h.
 */
#include "report/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ljperf.h"
#include "util/error.h"
#include "util/options.h"

enum { FLUSH_BYTES = 1 << 16, NOBODY_READS = -EPIPE };

static const struct export_ops *const formats[] = {
	&export_folded,  &export_speedscope, &export_pprof, &export_callgrind,
	&export_firefox, &export_csv,        &export_json,  &export_ljm,
};

enum { N_FORMATS = sizeof(formats) / sizeof(formats[0]) };

/* What the command line says. */
static struct export_words {
	struct export_opts export;
	const char *input, *output, *format, *metric, *by, *sort, *fields;
} opt;

static const struct option options[] = {
	OPT_STRING('i', "input", &opt.input, "FILE", "recording to read, '-' is standard input"),
	OPT_STRING('o', "output", &opt.output, "FILE", "write FILE, '-' is standard output"),
	OPT_STRING(0, "format", &opt.format, "NAME",
		   "folded, speedscope, pprof, callgrind, firefox, csv, json or ljm"),
	OPT_BOOL(0, "diff", &opt.export.diff, "two recordings, the second against the first"),
	LOAD_OPTIONS(opt.export.load),
	OPT_GROUP("What is written"),
	OPT_STRING(0, "metric", &opt.metric, "NAMES",
		   "what counts: the metrics of report, most formats take several"),
	OPT_STRING(0, "by", &opt.by, "NAME", "frames are a line each (default), or a func"),
	OPT_STRING('s', "sort", &opt.sort, "KEYS", "csv, json: group rows by these keys of report"),
	OPT_STRING('F', "fields", &opt.fields, "FIELDS", "csv, json: columns, as in report"),
	LOAD_WINDOW_OPTIONS(opt.export.load),
	OPT_GROUP("Names of C functions"),
	SYMBOLIZER_OPTIONS(opt.export.load.symbols),
	OPT_END(),
};

static const char usage[] = "ljperf export --format NAME [OPTIONS] [FILE...]";

int export__no_memory(void)
{
	return err__set(-ENOMEM, "out of memory for the export");
}

/* ---- what formats use ---- */

int export__flush(struct export *e, bool all)
{
	struct export_out *out = &e->out;
	size_t n = out->buf.len;

	if (out->buf.failed)
		return export__no_memory();
	if (n < FLUSH_BYTES && !all)
		return 0;
	errno = 0;
	if (n && fwrite(out->buf.buf, 1, n, out->file) != n) {
		if (out->file == stdout) /* main() says it, or it is a closed pipe */
			return NOBODY_READS;
		return err__errno(errno ? errno : EIO, "cannot write '%s'", out->name);
	}
	strbuf__reset(&out->buf);
	return 0;
}

static u128 column__value(const struct export_column *c, const struct row *row)
{
	return c->blocks ? c->metric->blocks(row) : c->metric->field->value(row);
}

bool export_column__is_bytes(const struct export_column *c)
{
	return !c->blocks && c->metric->field->type == FIELD_BYTES;
}

bool export__values(const struct export *e, uint32_t cell, u128 *values)
{
	struct row row;
	bool any = false;
	size_t i;

	row__of_cell(&row, e->a, cell);
	for (i = 0; i < e->n_columns; i++) {
		values[i] = column__value(&e->columns[i], &row);
		any |= values[i] != 0;
	}
	return any;
}

u128 export__total(const struct export *e, size_t column)
{
	struct row row;
	u128 sum = 0;
	uint32_t cell;

	for (cell = 0; cell < e->a->n_stats; cell++) {
		row__of_cell(&row, e->a, cell);
		sum += column__value(&e->columns[column], &row);
	}
	return sum;
}

size_t export__stack(struct export *e, uint32_t cell, uint32_t *locs)
{
	size_t n = aggregate__frames(e->a, cell, locs), i;

	for (i = 0; i < n; i++) {
		locs[i] = export_frames__loc(&e->frames, locs[i]);
		if (locs[i] == HASHMAP_NONE)
			return 0;
	}
	return n;
}

const char *export__title(const struct export *e)
{
	return export__session_title(e, e->o->diff);
}

const char *export__session_title(const struct export *e, size_t session)
{
	const struct session_summary *s = &e->a->sessions[session];

	return s->command && *s->command ? s->command : s->name;
}

int64_t export__int64(struct export *e, u128 v)
{
	if (v <= INT64_MAX)
		return (int64_t)v;
	e->cut = true;
	return INT64_MAX;
}

/* ---- options ---- */

static int find_format(const char *name, const struct export_ops **out)
{
	const char *names[N_FORMATS], *near;
	size_t i;

	if (!name)
		return err__set(-EINVAL, "no format is given ('ljperf export -h' lists them)");
	for (i = 0; i < N_FORMATS; i++) {
		*out = formats[i];
		names[i] = formats[i]->name;
		if (!strcmp(names[i], name))
			return 0;
	}
	near = options__suggest(name, names, N_FORMATS);
	if (near)
		return err__set(-EINVAL, "unknown format '%s', did you mean '%s'?", name, near);
	return err__set(-EINVAL, "unknown format '%s' ('ljperf export -h' lists them)", name);
}

/* "allocated,live" */
static int export__parse_metrics(struct export_opts *o, const char *list)
{
	char name[64];
	size_t len;

	while (o->n_metrics < EXPORT_METRICS_MAX) {
		len = strcspn(list, ",");
		snprintf(name, sizeof(name), "%.*s", (int)(len < 4096 ? len : 4096), list);
		if (fields__metric(name, &o->metrics[o->n_metrics++]))
			return -EINVAL;
		if (!list[len])
			return 0;
		list += len + 1;
	}
	return err__set(-EINVAL, "more than %d metrics", EXPORT_METRICS_MAX);
}

static int export__set_metrics(struct export_opts *o, const char *list)
{
	if (!o->ops->metrics)
		return list ? err__set(-EINVAL, "the format %s is all events and takes no --metric",
				       o->ops->name)
			    : 0;
	if (export__parse_metrics(o, list ? list : o->ops->metrics))
		return -EINVAL;
	if (o->ops->one_metric && o->n_metrics > 1)
		return err__set(-EINVAL, "the format %s holds one metric only", o->ops->name);
	return 0;
}

static int export__set_by(struct export_opts *o, const char *by)
{
	if (!by)
		return 0;
	o->by_func = !strcmp(by, "func");
	if (!o->by_func && strcmp(by, "line"))
		return err__set(-EINVAL, "frames are by 'line' or by 'func', not by '%s'", by);
	if (o->ops->table || !o->ops->metrics)
		return err__set(-EINVAL, "the format %s has no frames and takes no --by",
				o->ops->name);
	return 0;
}

static int export__set_table(struct export_opts *o)
{
	if (!o->ops->table && (opt.sort || opt.fields))
		return err__set(-EINVAL, "the format %s is no table and takes no %s", o->ops->name,
				opt.sort ? "--sort" : "--fields");
	if (!o->ops->table)
		return 0;
	if (fields__sort(opt.sort ? opt.sort : "line", &o->keys))
		return -EINVAL;
	return fields__columns(opt.fields, o->metrics[0], &o->keys, &o->columns);
}

static int export__setup(struct export_opts *o)
{
	int err = find_format(opt.format, &o->ops);

	err = err ? err : export__set_metrics(o, opt.metric);
	err = err ? err : export__set_by(o, opt.by);
	err = err ? err : export_diff__setup(o);
	return err ? err : export__set_table(o);
}

/* ---- the file ---- */

static int export__open(struct export *e, const char *path)
{
	e->out.name = path;
	if (strcmp(path, "-")) {
		e->out.file = fopen(path, "we");
		return e->out.file ? 0 : err__errno(errno, "cannot open '%s'", path);
	}
	e->out.file = stdout;
	if (e->o->ops->binary && isatty(STDOUT_FILENO) == 1)
		return err__set(-EINVAL, "%s is nothing for a terminal (use -o FILE)",
				e->o->ops->name);
	return 0;
}

/* A file that holds half of it would be taken for the whole; a device stays. */
static void export__remove(const struct export *e)
{
	struct stat st;

	if (!lstat(e->out.name, &st) && S_ISREG(st.st_mode))
		unlink(e->out.name);
}

static int export__close(struct export *e, int err)
{
	if (!e->out.file || e->out.file == stdout)
		return err == NOBODY_READS ? 0 : err;
	if (fclose(e->out.file) && !err)
		err = err__errno(errno, "cannot write '%s'", e->out.name);
	if (err)
		export__remove(e);
	return err;
}

/* ---- the run ---- */

/* Bytes and blocks of a metric; one that counts has no bytes. */
static void export__set_columns(struct export *e)
{
	size_t i;

	for (i = 0; i < e->o->n_metrics; i++) {
		const struct metric *m = e->o->metrics[i];

		e->columns[e->n_columns++] = (struct export_column){ m, false };
		if (m->field->type == FIELD_BYTES && m->blocks != m->field->value)
			e->columns[e->n_columns++] = (struct export_column){ m, true };
	}
}

static int export__check(const struct export *e)
{
	size_t i;

	for (i = 0; i < e->o->n_metrics; i++)
		if (e->o->metrics[i]->needs_leaked && !e->a->totals.has_leaked)
			return err__set(-ENODATA,
					"no full collection was recorded, so what leaked is not "
					"known (--metric live shows what was alive)");
	return 0;
}

/* Names C functions of all cells, and of those that called them. */
static int export__symbolize(struct export *e)
{
	return symtab__symbolize_all(e->a->symtab);
}

/* Reads into the aggregate, for most formats. */
static int export__read(struct export *e)
{
	size_t i;

	if (!e->o->ops->metrics)
		return 0;
	e->a = aggregate__new();
	if (!e->a)
		return -ENOMEM;
	e->a->measure = e->o->ops->measure;
	for (i = 0; i < e->o->n_metrics; i++)
		e->a->measure |= e->o->metrics[i]->field->measure;
	if (e->o->ops->table)
		field_list__needs(&e->o->columns, &e->a->measure, &e->a->split);
	else
		e->a->split = SPLIT_STACK | (e->o->diff ? SPLIT_VM : 0);
	if (e->o->ops->prepare)
		e->o->ops->prepare(e);
	e->damaged = load__read(e->a, &e->o->load, e->o->n_paths, e->o->paths);
	if (e->damaged < 0)
		return e->damaged;
	if (export__check(e) || export__symbolize(e) ||
	    (e->o->diff && symtab__share_names(e->a->symtab)))
		return -ENODATA;
	if (export_frames__init(&e->frames, e->a->symtab, e->o->by_func))
		return export__no_memory();
	e->frames.stable = e->o->diff;
	return 0;
}

/* A flame graph of stacks of one frame is not what anybody wants; an import has
 * never more. */
static void warn_stacks(const struct export *e)
{
	const struct aggregate *a = e->a;
	size_t i;

	if (!a || e->o->ops->table || e->o->load.quiet || !a->totals.n_alloc || a->stacks.n > 1)
		return;
	for (i = 0; i < a->n_sessions; i++)
		if (a->sessions[i].info.container == SESSION_LJPERF && a->sessions[i].has_time)
			break;
	if (i < a->n_sessions)
		fprintf(stderr, "ljperf: warning: no call stacks were recorded (ljperf record -g "
				"does it): each stack is one frame\n");
}

static int export__write(struct export *e)
{
	int err = export__read(e);

	err = err ? err : export__open(e, e->out.name);
	err = err ? err : e->o->ops->write(e);
	err = err ? err : export__flush(e, true);
	/* Also in a string that was no more than a name. */
	if (!err && strbuf__any_failed())
		err = export__no_memory();
	if (!err)
		warn_stacks(e);
	if (e->a)
		load__end(e->a, &e->o->load);
	return err;
}

static int export__run(const struct export_opts *o, const char *path)
{
	struct export e = { .o = o, .out = { .name = path } };
	int err;

	export__set_columns(&e);
	err = export__write(&e);
	err = export__close(&e, err);
	err = err ? err : e.damaged;
	if (e.cut && !o->load.quiet)
		fprintf(stderr, "ljperf: warning: amounts above 2^63 - 1 are written as that\n");
	export_frames__exit(&e.frames);
	export_slices__exit(&e.slices);
	strbuf__exit(&e.out.buf);
	aggregate__delete(e.a);
	return err;
}

int cmd_export(int argc, const char **argv)
{
	int n, ret;

	opt = (struct export_words){ .export.load = LOAD_DEFAULTS };
	ret = n = options__parse(argc, argv, options, usage, 0, NULL);
	if (n == OPTIONS_HELP)
		return EXIT_SUCCESS;
	opt.export.paths = argv + 1;
	opt.export.n_paths = n > 0 ? (size_t)n : 0;
	if (n > 0 && opt.input)
		ret = err__set(-EINVAL, "either -i or files, not '%s' too", argv[1]);
	else if (opt.input)
		opt.export.paths = &opt.input, opt.export.n_paths = 1;
	ret = ret < 0 ? ret : export__setup(&opt.export);
	ret = ret < 0 ? ret : export__run(&opt.export, opt.output ? opt.output : "-");
	if (ret < 0)
		fprintf(stderr, "ljperf: %s\n", err__msg());
	return ret < 0 || (ret > 0 && !opt.export.load.force) ? EXIT_LJPERF : EXIT_SUCCESS;
}
