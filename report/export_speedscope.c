/* export_speedscope.c - a file for speedscope, a viewer of flame graphs.  Called
 * by export.
 *
 * Each amount is a profile of its own: the bytes of a metric, and its number
 * of blocks.  A sample is a stack, the outermost frame first, and what it
 * weighs is the amount.
 */
#include "report/export.h"
#include "report/json.h"

static void put_frames(struct json *j, struct export_frames *f)
{
	uint32_t loc;

	json__open(j, '[');
	for (loc = 0; loc < f->n_locs; loc++) {
		const struct export_func *func = export_frames__func(f, loc);
		const struct str *name = export_frames__str(f, func->name);
		const struct str *file = export_frames__str(f, func->file);

		json__open(j, '{');
		json__put_text(j, "name", name->s, name->len);
		if (file->len) {
			json__put_text(j, "file", file->s, file->len);
		}
		if (f->locs[loc].line) {
			json__put_num(j, "line", f->locs[loc].line);
		}
		json__close(j, '}');
	}
	json__close(j, ']');
}

static int put_samples(struct export *e, struct json *j, size_t column)
{
	uint32_t locs[STACK_DEPTH_MAX + 1], cell;
	u128 values[2 * EXPORT_METRICS_MAX];
	size_t n;
	int err = 0;

	json__open(j, '[');
	for (cell = 0; !err && cell < e->a->n_stats; cell++) {
		if (!export__values(e, cell, values) || !values[column])
			continue;
		n = export__stack(e, cell, locs);
		if (!n)
			return export__no_memory();
		json__open(j, '[');
		while (n)
			json__num(j, locs[--n]);
		json__close(j, ']');
		err = export__flush(e, false);
	}
	json__close(j, ']');
	return err;
}

static int put_weights(struct export *e, struct json *j, size_t column)
{
	u128 values[2 * EXPORT_METRICS_MAX];
	uint32_t cell;
	int err = 0;

	json__open(j, '[');
	for (cell = 0; !err && cell < e->a->n_stats; cell++) {
		if (!export__values(e, cell, values) || !values[column])
			continue;
		json__num(j, values[column]);
		err = export__flush(e, false);
	}
	json__close(j, ']');
	return err;
}

static void put_profile_name(const struct export_column *c, struct json *j)
{
	struct strbuf name = STRBUF_INIT;

	strbuf__addstr(&name, c->metric->name);
	if (c->blocks)
		strbuf__addstr(&name, " (blocks)");
	json__put_text(j, "name", strbuf__str(&name), name.len);
	strbuf__exit(&name);
}

static int put_profile(struct export *e, struct json *j, size_t column)
{
	const struct export_column *c = &e->columns[column];
	int err;

	json__open(j, '{');
	json__put_str(j, "type", "sampled");
	put_profile_name(c, j);
	json__put_str(j, "unit", export_column__is_bytes(c) ? "bytes" : "none");
	json__put_num(j, "startValue", 0);
	json__put_num(j, "endValue", export__total(e, column));
	json__key(j, "samples");
	err = put_samples(e, j, column);
	json__key(j, "weights");
	err = err ? err : put_weights(e, j, column);
	json__close(j, '}');
	return err;
}

/* Places get their numbers when they are asked for first. */
static int number_places(struct export *e)
{
	uint32_t locs[STACK_DEPTH_MAX + 1], cell;
	u128 values[2 * EXPORT_METRICS_MAX];

	for (cell = 0; cell < e->a->n_stats; cell++)
		if (export__values(e, cell, values) && !export__stack(e, cell, locs))
			return export__no_memory();
	return 0;
}

static int speedscope__write(struct export *e)
{
	struct json j = { .out = &e->out.buf };
	size_t i;
	int err = number_places(e);

	json__open(&j, '{');
	json__put_str(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json__put_str(&j, "exporter", "ljperf@" LJPERF_VERSION);
	json__put_str(&j, "name", export__title(e));
	json__put_num(&j, "activeProfileIndex", 0);
	json__key(&j, "shared");
	json__open(&j, '{');
	json__key(&j, "frames");
	put_frames(&j, &e->frames);
	json__close(&j, '}');
	json__key(&j, "profiles");
	json__open(&j, '[');
	for (i = 0; !err && i < e->n_columns; i++)
		err = put_profile(e, &j, i);
	json__close(&j, ']');
	json__close(&j, '}');
	strbuf__addch(&e->out.buf, '\n');
	return err;
}

const struct export_ops export_speedscope = {
	.name = "speedscope",
	.help = "a JSON file for speedscope",
	.metrics = "allocated,live",
	.write = speedscope__write,
};
