/* info.c - the command info: how and on what a recording was made, what it
 * holds, and whether it is complete.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ljperf.h"
#include "report/escape.h"
#include "report/features.h"
#include "report/recording.h"
#include "report/strpool.h"
#include "report/term.h"
#include "util/error.h"
#include "util/options.h"

enum { BUILD_ID_BLANKS = 40 }; /* of a SHA-1 in hex, as linkers make them */

/* What the command line says. */
static struct info_words {
	const char *input;
	bool force, build_ids;
} opt;

static const struct option options[] = {
	OPT_STRING('i', "input", &opt.input, "FILE", "recording to read, '-' is standard input"),
	OPT_BOOL('f', "force", &opt.force, "read files of other users, accept damaged ones"),
	OPT_BOOL(0, "buildids", &opt.build_ids,
		 "print the build ids and paths of the modules only"),
	OPT_END(),
};

static const char usage[] = "ljperf info [OPTIONS] [FILE...]";

struct info {
	struct strbuf features;
	struct strpool modules, build_ids; /* lines, each once */
	uint64_t n[LJM_REALLOC + 1]; /* events by kind */
	u128 bytes_new, bytes_old;
	uint64_t marks, last_ns;
	bool has_time;
	struct session_footer footer;
	struct session_info session;
};

static int info__header(void *ctx, const struct session_header *h)
{
	struct info *in = ctx;

	features__print(h, &in->features);
	return 0;
}

static int info__event(void *ctx, const struct ljm_event *ev)
{
	struct info *in = ctx;

	in->n[ev->kind & 3]++;
	in->bytes_new += ev->new_size;
	in->bytes_old += ev->old_size;
	return 0;
}

static int info__mark(void *ctx, const struct session_mark *m)
{
	struct info *in = ctx;

	in->marks++;
	in->has_time = true;
	in->last_ns = m->time_ns > in->last_ns ? m->time_ns : in->last_ns;
	return 0;
}

static void add_hex(struct strbuf *out, const struct session_module *m)
{
	size_t i;

	for (i = 0; i < m->build_id_len; i++)
		strbuf__addf(out, "%02x", (unsigned char)m->build_id[i]);
}

/* A recording tells of a module again when it has forgotten that it did. */
static int take_line(struct strpool *lines, struct strbuf *line)
{
	uint32_t id = STR_NONE;

	strbuf__addch(line, '\n');
	if (!line->failed)
		id = strpool__intern(lines, strbuf__str(line), line->len);
	strbuf__exit(line);
	return id == STR_NONE ? err__set(-ENOMEM, "out of memory for modules") : 0;
}

/* "module : PATH, 0xstart-0xend, build id HEX" */
static int info__module(void *ctx, const struct session_module *m)
{
	struct info *in = ctx;
	struct strbuf line = STRBUF_INIT;

	strbuf__addstr(&line, "module : ");
	escape__text(&line, m->path, m->path_len, 0);
	strbuf__addf(&line, ", 0x%llx-0x%llx", (unsigned long long)m->start,
		     (unsigned long long)m->end);
	if (m->build_id_len)
		strbuf__addstr(&line, ", build id ");
	add_hex(&line, m);
	return take_line(&in->modules, &line);
}

/* "HEX PATH", as perf buildid-list; blanks where there is no build id. */
static int info__build_id(void *ctx, const struct session_module *m)
{
	struct info *in = ctx;
	struct strbuf line = STRBUF_INIT;

	add_hex(&line, m);
	strbuf__addch_n(&line, ' ', line.len ? 1 : BUILD_ID_BLANKS + 1);
	escape__text(&line, m->path, m->path_len, 0);
	return take_line(&in->build_ids, &line);
}

static int info__time(void *ctx, uint64_t time_ns)
{
	struct info *in = ctx;

	in->has_time = true;
	in->last_ns = time_ns > in->last_ns ? time_ns : in->last_ns;
	return 0;
}

static int info__footer(void *ctx, const struct session_footer *f)
{
	struct info *in = ctx;

	in->footer = *f;
	return 0;
}

/* ---- printing ---- */

static void put_count(struct strbuf *out, const char *name, uint64_t n)
{
	strbuf__addf(out, "%s : %llu\n", name, (unsigned long long)n);
}

static void put_bytes(struct strbuf *out, const char *name, u128 n)
{
	strbuf__addf(out, "%s : ", name);
	number__bytes(out, n);
	strbuf__addstr(out, " (");
	number__dec(out, n);
	strbuf__addstr(out, ")\n");
}

static void info__put_state(const struct session_info *s, struct strbuf *out)
{
	strbuf__addstr(out, "complete : ");
	if (s->state == SESSION_COMPLETE) {
		strbuf__addstr(out, "yes\n");
		return;
	}
	strbuf__addstr(out, "no, ");
	escape__text(out, s->damage, strlen(s->damage), 0);
	strbuf__addch(out, '\n');
}

static void info__put_format(const struct session_info *s, struct strbuf *out)
{
	static const char *const containers[] = {
		[SESSION_RAW] = "plain stream",
		[SESSION_RAW_ZSTD] = "zstd-compressed stream",
		[SESSION_LJPERF] = "session file",
	};

	strbuf__addf(out, "format : %s, %s\n", containers[s->container],
		     ljm_variant__name(s->variant));
}

/* Sums of the footer are 64 bits; ours are compared as such. */
static void info__put_footer(const struct info *in, struct strbuf *out)
{
	const struct session_footer *f = &in->footer;
	bool agree = f->n_alloc == in->n[LJM_ALLOC] && f->n_free == in->n[LJM_FREE] &&
		     f->n_realloc == in->n[LJM_REALLOC] &&
		     f->bytes_new == (uint64_t)in->bytes_new &&
		     f->bytes_old == (uint64_t)in->bytes_old;

	strbuf__addf(out, "footer totals : %s\n",
		     agree ? "agree with the events" : "do not agree with the events");
	if (!agree)
		strbuf__addf(out, "footer events : %llu alloc, %llu free, %llu realloc\n",
			     (unsigned long long)f->n_alloc, (unsigned long long)f->n_free,
			     (unsigned long long)f->n_realloc);
	put_bytes(out, "peak heap", f->peak);
	put_count(out, "most live blocks", f->max_live_blocks);
	strbuf__addstr(out, "end of target : ");
	features__end(f, out);
	strbuf__addch(out, '\n');
}

static void info__put_sizes(const struct session_info *s, struct strbuf *out)
{
	put_bytes(out, "file size", s->file_bytes);
	put_bytes(out, "stream size", s->stream_bytes);
	if (s->n_events)
		strbuf__addf(out, "bytes per event : %.2f in the file, %.2f in the stream\n",
			     (double)s->file_bytes / (double)s->n_events,
			     (double)s->stream_bytes / (double)s->n_events);
}

static void info__put(const struct info *in, const char *path, struct strbuf *out)
{
	const struct session_info *s = &in->session;
	size_t i;

	strbuf__addstr(out, "file : ");
	escape__text(out, path, strlen(path), 0);
	strbuf__addch(out, '\n');
	info__put_format(s, out);
	info__put_state(s, out);
	strbuf__addmem(out, in->features.buf, in->features.len);
	for (i = 0; i < in->modules.n; i++)
		strbuf__addstr(out, strpool__get(&in->modules, (uint32_t)i)->s);
	strbuf__addf(out, "events : %llu (%llu alloc, %llu free, %llu realloc)\n",
		     (unsigned long long)s->n_events, (unsigned long long)in->n[LJM_ALLOC],
		     (unsigned long long)in->n[LJM_FREE], (unsigned long long)in->n[LJM_REALLOC]);
	put_count(out, "symbols", s->n_symbols);
	put_count(out, "marks", in->marks);
	put_bytes(out, "new bytes", in->bytes_new);
	put_bytes(out, "old bytes", in->bytes_old);
	put_count(out, "lost events", s->lost_events);
	if (s->lost_batches)
		put_count(out, "damaged batches", s->lost_batches);
	if (in->has_time || in->footer.duration_ns) {
		strbuf__addstr(out, "duration : ");
		number__time(out, in->footer.duration_ns ? in->footer.duration_ns : in->last_ns);
		strbuf__addch(out, '\n');
	}
	if (s->has_footer)
		info__put_footer(in, out);
	info__put_sizes(s, out);
}

static int info__show_build_ids(const char *path)
{
	static const struct session_handlers handlers = { .module = info__build_id };
	struct info in = { .last_ns = 0 };
	int err = recording__read(path, opt.force, &handlers, &in, &in.session);
	size_t i;

	for (i = 0; !err && i < in.build_ids.n; i++)
		fputs(strpool__get(&in.build_ids, (uint32_t)i)->s, stdout);
	strpool__exit(&in.build_ids);
	return err ? err : in.session.state != SESSION_COMPLETE;
}

/* 1 when the recording is damaged, 0, or negative. */
static int info__show(const char *path)
{
	static const struct session_handlers handlers = {
		.header = info__header,
		.event = info__event,
		.mark = info__mark,
		.module = info__module,
		.time = info__time,
		.footer = info__footer,
	};
	struct info in = { .last_ns = 0 };
	struct strbuf out = STRBUF_INIT;
	int err;

	if (opt.build_ids)
		return info__show_build_ids(path);
	err = recording__read(path, opt.force, &handlers, &in, &in.session);
	if (!err) {
		info__put(&in, path, &out);
		if (out.failed || in.features.failed)
			err = err__set(-ENOMEM, "out of memory for the output");
		term__flush(&out);
	}
	strbuf__exit(&out);
	strbuf__exit(&in.features);
	strpool__exit(&in.modules);
	return err ? err : in.session.state != SESSION_COMPLETE;
}

static int info__show_all(int n, const char **paths)
{
	int i, ret = 0, damaged = 0;

	if (opt.input || !n)
		ret = info__show(opt.input ? opt.input : RECORDING_DEFAULT);
	for (i = 0; i < n && ret >= 0; i++) {
		damaged |= ret;
		if ((i || opt.input) && !opt.build_ids)
			fputc('\n', stdout);
		ret = info__show(paths[i]);
	}
	return ret < 0 ? ret : damaged | ret;
}

int cmd_info(int argc, const char **argv)
{
	int n, ret;

	opt = (struct info_words){ .force = false };
	ret = n = options__parse(argc, argv, options, usage, 0, NULL);
	if (n == OPTIONS_HELP)
		return EXIT_SUCCESS;
	if (n >= 0)
		ret = info__show_all(n, argv + 1);
	if (ret < 0)
		fprintf(stderr, "ljperf: %s\n", err__msg());
	return ret < 0 || (ret > 0 && !opt.force) ? EXIT_LJPERF : EXIT_SUCCESS;
}
