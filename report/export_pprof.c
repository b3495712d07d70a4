/* export_pprof.c - a file for pprof: a message of protobuf in gzip.  Called by
 * export.  The messages stand in pprof.proto.
 *
 * Messages that are written one after the other are one message, in which
 * repeated fields are joined: so the file is made of small pieces, and memory
 * does not follow its size.
 */
#include <stdlib.h>
#include <zlib.h>

#include "report/export.h"
#include "report/pprof.pb-c.h"
#include "util/error.h"

enum {
	GZIP_WINDOW = 15 + 16, /* the largest window; 16 asks for gzip, not zlib */
	GZIP_MEMORY = 8,
};

typedef Ljperf__Pprof__Profile Profile;

struct pprof {
	ProtobufCBuffer base; /* first: protobuf-c appends to it */
	struct export *e;
	z_stream z;
	int err;
	size_t order[2 * EXPORT_METRICS_MAX]; /* columns as pprof wants them */
	uint32_t *mapping_of; /* id of each module, 0: not in use */
	size_t n_mappings;
};

/* ---- gzip ---- */

static void pprof__deflate(struct pprof *p, const uint8_t *data, size_t len, int flush)
{
	struct strbuf *out = &p->e->out.buf;
	size_t room;
	int ret;

	p->z.next_in = (Bytef *)(uintptr_t)data;
	p->z.avail_in = (uInt)len;
	do {
		if (!strbuf__grow(out, 4096)) {
			p->err = export__no_memory();
			return;
		}
		room = out->cap - out->len - 1;
		p->z.next_out = (Bytef *)out->buf + out->len;
		p->z.avail_out = (uInt)(room < UINT32_MAX ? room : UINT32_MAX);
		room = p->z.avail_out;
		ret = deflate(&p->z, flush);
		out->len += room - p->z.avail_out;
	} while (ret == Z_OK && (p->z.avail_in || flush == Z_FINISH));
}

static void pprof__append(ProtobufCBuffer *buffer, size_t len, const uint8_t *data)
{
	struct pprof *p = (struct pprof *)buffer;

	if (len && !p->err)
		pprof__deflate(p, data, len, Z_NO_FLUSH);
}

static int pprof__put(struct pprof *p, const Profile *piece)
{
	ljperf__pprof__profile__pack_to_buffer(piece, &p->base);
	return p->err ? p->err : export__flush(p->e, false);
}

/* ---- strings ---- */

/* The number of a string; names are in the table of the frames already. */
static int64_t pprof__string(struct pprof *p, const char *s)
{
	uint32_t id = strpool__intern(&p->e->frames.strings, s, strlen(s));

	if (id != STR_NONE)
		return id;
	p->err = export__no_memory();
	return 0;
}

static int put_strings(struct pprof *p)
{
	const struct strpool *strings = &p->e->frames.strings;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < strings->n; i++) {
		char *s = (char *)(uintptr_t)strings->strs[i].s;
		Profile piece = LJPERF__PPROF__PROFILE__INIT;

		piece.n_string_table = 1;
		piece.string_table = &s;
		err = pprof__put(p, &piece);
	}
	return err;
}

/* ---- the head ---- */

/* As heap profiles of Go are: objects before space. */
static void pprof__order(struct pprof *p)
{
	const struct export *e = p->e;
	size_t i;

	for (i = 0; i < e->n_columns; i++)
		p->order[i] = i;
	for (i = 0; i + 1 < e->n_columns; i++)
		if (e->columns[i + 1].blocks) {
			p->order[i] = i + 1;
			p->order[i + 1] = i;
			i++;
		}
}

static int64_t column_type(struct pprof *p, const struct export_column *c)
{
	const char *metric = c->metric->name;
	struct strbuf name = STRBUF_INIT;
	int64_t id;

	if (!strcmp(metric, "allocated"))
		metric = "alloc";
	else if (!strcmp(metric, "live"))
		metric = "inuse";
	strbuf__addstr(&name, metric);
	if (c->blocks)
		strbuf__addstr(&name, "_objects");
	else if (export_column__is_bytes(c))
		strbuf__addstr(&name, "_space");
	id = pprof__string(p, strbuf__str(&name));
	strbuf__exit(&name);
	return id;
}

static int put_head(struct pprof *p)
{
	const struct export *e = p->e;
	const struct session_summary *s = &e->a->sessions[e->o->diff];
	Ljperf__Pprof__ValueType types[2 * EXPORT_METRICS_MAX];
	Ljperf__Pprof__ValueType *at[2 * EXPORT_METRICS_MAX];
	Ljperf__Pprof__ValueType period = LJPERF__PPROF__VALUE_TYPE__INIT;
	Profile piece = LJPERF__PPROF__PROFILE__INIT;
	int64_t titles[2];
	size_t i;

	for (i = 0; i < e->n_columns; i++) {
		const struct export_column *c = &e->columns[p->order[i]];

		ljperf__pprof__value_type__init(&types[i]);
		types[i].type = column_type(p, c);
		types[i].unit = pprof__string(p, export_column__is_bytes(c) ? "bytes" : "count");
		at[i] = &types[i];
	}
	period.type = pprof__string(p, "space");
	period.unit = pprof__string(p, "bytes");
	piece.n_sample_type = e->n_columns;
	piece.sample_type = at;
	piece.time_nanos = export__int64(p->e, s->start_wall_ns);
	piece.duration_nanos = export__int64(p->e, s->duration_ns);
	piece.period_type = &period;
	piece.period = 1;
	for (i = 0; i < 1 + (size_t)e->o->diff; i++)
		titles[i] = pprof__string(p, export__session_title(e, e->o->diff - i));
	piece.n_comment = i;
	piece.comment = titles;
	piece.default_sample_type = column_type(p, &e->columns[0]);
	return pprof__put(p, &piece);
}

/* ---- samples ---- */

/* As those of Go have it: the mean size of the blocks. */
static void set_label(struct pprof *p, Ljperf__Pprof__Label *label, const u128 *values)
{
	ljperf__pprof__label__init(label);
	label->key = label->num_unit = pprof__string(p, "bytes");
	label->num = export__int64(p->e, values[1] ? values[0] / values[1] : 0);
}

/* As pprof itself marks the samples of -diff_base, which it makes negative. */
static void set_base_label(struct pprof *p, Ljperf__Pprof__Label *label)
{
	ljperf__pprof__label__init(label);
	label->key = pprof__string(p, "pprof::base");
	label->str = pprof__string(p, "true");
}

/* The number of labels of a sample. */
static size_t put_labels(struct pprof *p, bool base, const u128 *values,
			 Ljperf__Pprof__Label *label)
{
	size_t n = 0;

	if (export_column__is_bytes(&p->e->columns[0]))
		set_label(p, &label[n++], values);
	if (base)
		set_base_label(p, &label[n++]);
	return n;
}

static int put_sample(struct pprof *p, uint32_t cell, const u128 *values)
{
	uint32_t locs[STACK_DEPTH_MAX + 1];
	uint64_t ids[STACK_DEPTH_MAX + 1];
	int64_t amounts[2 * EXPORT_METRICS_MAX];
	Ljperf__Pprof__Label labels[2], *at_label[2] = { &labels[0], &labels[1] };
	Ljperf__Pprof__Sample sample = LJPERF__PPROF__SAMPLE__INIT, *at = &sample;
	Profile piece = LJPERF__PPROF__PROFILE__INIT;
	size_t n = export__stack(p->e, cell, locs), i;
	bool base = export__is_baseline(p->e, cell);

	if (!n)
		return export__no_memory();
	for (i = 0; i < n; i++)
		ids[i] = (uint64_t)locs[i] + 1;
	for (i = 0; i < p->e->n_columns; i++)
		amounts[i] = export__int64(p->e, values[p->order[i]]) * (base ? -1 : 1);
	sample.n_location_id = n;
	sample.location_id = ids;
	sample.n_value = p->e->n_columns;
	sample.value = amounts;
	sample.n_label = put_labels(p, base, values, labels);
	sample.label = at_label;
	piece.n_sample = 1;
	piece.sample = &at;
	return pprof__put(p, &piece);
}

static int put_samples(struct pprof *p)
{
	u128 values[2 * EXPORT_METRICS_MAX];
	uint32_t cell;
	int err = 0;

	for (cell = 0; !err && cell < p->e->a->n_stats; cell++)
		if (export__values(p->e, cell, values))
			err = put_sample(p, cell, values);
	return err;
}

/* ---- places, functions, modules ---- */

/* The id of the mapping that a C function lies in; 0 for others. */
static uint32_t pprof__mapping(struct pprof *p, const struct site *s)
{
	const struct symtab *st = p->e->a->symtab;
	uint32_t module = s->source == LJM_SRC_C ? st->cfuncs.at[s->ref].module : MODULE_NONE;

	if (module == MODULE_NONE)
		return 0;
	if (!p->mapping_of[module])
		p->mapping_of[module] = (uint32_t)++p->n_mappings;
	return p->mapping_of[module];
}

static int put_location(struct pprof *p, uint32_t loc)
{
	const struct export_loc *l = &p->e->frames.locs[loc];
	Ljperf__Pprof__Line line = LJPERF__PPROF__LINE__INIT, *at_line = &line;
	Ljperf__Pprof__Location location = LJPERF__PPROF__LOCATION__INIT, *at = &location;
	Profile piece = LJPERF__PPROF__PROFILE__INIT;
	const struct site *s = l->site == SITE_NONE ? NULL : &p->e->a->symtab->sites[l->site];

	line.function_id = (uint64_t)l->func + 1;
	line.line = export__int64(p->e, l->line);
	location.id = (uint64_t)loc + 1;
	location.n_line = 1;
	location.line = &at_line;
	if (s && s->source == LJM_SRC_C) {
		location.mapping_id = pprof__mapping(p, s);
		location.address = s->arg;
	}
	piece.n_location = 1;
	piece.location = &at;
	return pprof__put(p, &piece);
}

static int put_function(struct pprof *p, uint32_t id)
{
	const struct export_func *f = &p->e->frames.funcs[id];
	Ljperf__Pprof__Function func = LJPERF__PPROF__FUNCTION__INIT, *at = &func;
	Profile piece = LJPERF__PPROF__PROFILE__INIT;

	func.id = (uint64_t)id + 1;
	func.name = f->name;
	func.filename = f->file;
	func.start_line = export__int64(p->e, f->first_line);
	piece.n_function = 1;
	piece.function = &at;
	return pprof__put(p, &piece);
}

static int64_t build_id(struct pprof *p, const struct str *bytes)
{
	struct strbuf hex = STRBUF_INIT;
	int64_t id;
	size_t i;

	for (i = 0; i < bytes->len; i++)
		strbuf__addf(&hex, "%02x", (unsigned char)bytes->s[i]);
	id = pprof__string(p, strbuf__str(&hex));
	strbuf__exit(&hex);
	return id;
}

static int64_t module_path(struct pprof *p, const struct str *path)
{
	struct strbuf text = STRBUF_INIT;
	int64_t id;

	escape__text(&text, path->s, path->len, 0);
	id = pprof__string(p, strbuf__str(&text));
	strbuf__exit(&text);
	return id;
}

/* Names of functions are in the file, so pprof has nothing to look up. */
static int put_mapping(struct pprof *p, uint32_t module)
{
	const struct symtab *st = p->e->a->symtab;
	const struct module *m = &st->modules.at[module];
	Ljperf__Pprof__Mapping mapping = LJPERF__PPROF__MAPPING__INIT, *at = &mapping;
	Profile piece = LJPERF__PPROF__PROFILE__INIT;

	mapping.id = p->mapping_of[module];
	mapping.memory_start = m->start;
	mapping.memory_limit = m->end;
	mapping.file_offset = m->offset;
	mapping.filename = module_path(p, strpool__get(&st->strings, m->path));
	mapping.build_id = build_id(p, strpool__get(&st->strings, m->build_id));
	mapping.has_functions = mapping.has_filenames = mapping.has_line_numbers = true;
	piece.n_mapping = 1;
	piece.mapping = &at;
	return pprof__put(p, &piece);
}

static int put_tables(struct pprof *p)
{
	uint32_t i;
	int err = 0;

	for (i = 0; !err && i < p->e->frames.n_locs; i++)
		err = put_location(p, i);
	for (i = 0; !err && i < p->e->frames.n_funcs; i++)
		err = put_function(p, i);
	for (i = 0; !err && i < p->e->a->symtab->modules.n; i++)
		if (p->mapping_of[i])
			err = put_mapping(p, i);
	return err ? err : put_strings(p);
}

static int pprof__write(struct export *e)
{
	struct pprof p = { .base = { .append = pprof__append }, .e = e };
	int err;

	p.mapping_of = calloc(e->a->symtab->modules.n + 1, sizeof(*p.mapping_of));
	if (!p.mapping_of)
		return export__no_memory();
	if (deflateInit2(&p.z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(p.mapping_of);
		return export__no_memory();
	}
	pprof__order(&p);
	err = put_head(&p);
	err = err ? err : put_samples(&p);
	err = err ? err : put_tables(&p);
	if (!err)
		pprof__deflate(&p, NULL, 0, Z_FINISH);
	deflateEnd(&p.z);
	free(p.mapping_of);
	return err ? err : p.err;
}

const struct export_ops export_pprof = {
	.name = "pprof",
	.help = "a profile for pprof, as heap profiles of Go are",
	.metrics = "allocated,live",
	.binary = true,
	.diffs = true,
	.write = pprof__write,
};
