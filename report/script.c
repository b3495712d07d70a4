/* script.c - the command script: every event, one line each, as text or as
 * JSON lines; see script_line.h for the lines.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ljperf.h"
#include "report/recording.h"
#include "report/script_stack.h"
#include "report/term.h"
#include "util/error.h"
#include "util/grow.h"
#include "util/options.h"

enum { FLUSH_BYTES = 1 << 16, NOBODY_READS = -EPIPE };

/* What the command line says. */
static struct script_words {
	const char *input, *fields;
	bool force, json, show_symbols, quiet;
	struct symbolizer_opts symbols;
} opt;

static const struct option options[] = {
	OPT_STRING('i', "input", &opt.input, "FILE", "recording to read, '-' is standard input"),
	OPT_BOOL('f', "force", &opt.force, "read files of other users, accept damaged ones"),
	OPT_STRING('F', "fields", &opt.fields, "FIELDS",
		   "of number, time, event, source, symbol, detail, block, stack; '+' adds"),
	OPT_BOOL(0, "json", &opt.json, "a JSON object on each line"),
	OPT_BOOL(0, "show-symbols", &opt.show_symbols, "show symbols where they are defined, too"),
	SYMBOLIZER_OPTIONS(opt.symbols),
	OPT_BOOL('q', "quiet", &opt.quiet, "no warnings"),
	OPT_END(),
};

static const char usage[] = "ljperf script [OPTIONS] [FILE]";

struct script {
	struct symtab *symtab;
	const struct script_line_ops *ops;
	unsigned fields;
	struct strbuf out;
	/* What a line says of a site is made once. */
	struct strpool texts;
	uint32_t *text_of; /* by site, STR_NONE: not made yet */
	size_t n_text_of, cap_text_of;
	struct script_when when;
	struct script_stack stack;
};

static int script__flush(struct script *s)
{
	if (s->out.failed)
		return err__set(-ENOMEM, "out of memory for the output");
	if (s->out.len < FLUSH_BYTES)
		return 0;
	recording__progress(s->when.number);
	return term__flush(&s->out) ? 0 : NOBODY_READS;
}

static int script__make_text(struct script *s, uint32_t site)
{
	struct strbuf text = STRBUF_INIT;

	if (symtab__symbolize(s->symtab, site, s->fields & SCRIPT_DETAIL) < 0)
		return -ENOMEM;
	for (; s->n_text_of <= site; s->n_text_of++) {
		if (GROW(s->text_of, s->cap_text_of, s->n_text_of))
			return err__set(-ENOMEM, "out of memory for names");
		s->text_of[s->n_text_of] = STR_NONE;
	}
	s->ops->site(s->symtab, site, s->fields, &text);
	if (!text.failed)
		s->text_of[site] = strpool__intern(&s->texts, strbuf__str(&text), text.len);
	strbuf__exit(&text);
	return s->text_of[site] == STR_NONE ? err__set(-ENOMEM, "out of memory for names") : 0;
}

static int script__event(void *ctx, const struct ljm_event *ev)
{
	struct script *s = ctx;
	uint32_t site = symtab__site(s->symtab, &ev->loc, ev->vmstate);
	int err;

	if (site == SITE_NONE)
		return -ENOMEM;
	if (site >= s->n_text_of || s->text_of[site] == STR_NONE) {
		err = script__make_text(s, site);
		if (err)
			return err;
	}
	err = script_stack__make(&s->stack, s->symtab, s->ops, ev->stack);
	if (err)
		return err;
	s->when.number++;
	s->ops->event(ev, &s->when, strpool__get(&s->texts, s->text_of[site]), &s->stack.text,
		      s->fields, &s->out);
	return script__flush(s);
}

static int script__header(void *ctx, const struct session_header *h)
{
	struct script *s = ctx;

	symtab__header(s->symtab, h);
	return 0;
}

static int script__symbol(void *ctx, const struct ljm_symbol *sym)
{
	struct script *s = ctx;
	int err = symtab__symbol(s->symtab, sym);

	if (!err && opt.show_symbols) {
		s->ops->symbol(sym, &s->when, &s->out);
		err = script__flush(s);
	}
	return err;
}

static int script__module(void *ctx, const struct session_module *m)
{
	struct script *s = ctx;

	return symtab__module(s->symtab, m);
}

static int script__stack(void *ctx, const struct session_stack *node)
{
	struct script *s = ctx;

	return s->fields & SCRIPT_STACK ? stacks__add(&s->stack.tree, s->symtab, node) : 0;
}

static int script__mark(void *ctx, const struct session_mark *m)
{
	struct script *s = ctx;

	s->ops->mark(m, &s->when, &s->out);
	return script__flush(s);
}

static int script__lost(void *ctx, uint64_t n)
{
	struct script *s = ctx;

	s->ops->lost(n, &s->when, &s->out);
	return script__flush(s);
}

static int script__time(void *ctx, uint64_t time_ns)
{
	struct script *s = ctx;

	s->when.has_time = true;
	s->when.time_ns = time_ns;
	return 0;
}

static int script__read(struct script *s, const char *path, struct session_info *info)
{
	static const struct session_handlers handlers = {
		.header = script__header,
		.symbol = script__symbol,
		.event = script__event,
		.mark = script__mark,
		.module = script__module,
		.stack = script__stack,
		.time = script__time,
		.lost = script__lost,
	};
	int err;

	s->symtab = symtab__new();
	if (!s->symtab)
		return -ENOMEM;
	if (!opt.symbols.off) {
		s->symtab->symbolizer = symbolizer__new(&opt.symbols, &s->symtab->strings);
		if (!s->symtab->symbolizer)
			return -ENOMEM;
	}
	symtab__begin_session(s->symtab);
	err = stacks__begin_session(&s->stack.tree);
	if (err)
		return err;
	err = recording__read(path, opt.force, &handlers, s, info);
	term__flush(&s->out); /* what was read before an error, too */
	return err;
}

static int script__run(const char *path)
{
	struct script s = { .ops = opt.json ? &script_json : &script_text };
	struct session_info info = { .state = SESSION_COMPLETE };
	struct term term;
	int err = script_fields__parse(opt.fields, s.ops->fields, &s.fields);

	if (err)
		return err;
	term__begin(&term);
	err = script__read(&s, path, &info);
	term__end(&term);
	err = err ? err : recording__damaged(path, &info, opt.quiet);
	strbuf__exit(&s.out);
	strpool__exit(&s.texts);
	free(s.text_of);
	script_stack__exit(&s.stack);
	if (s.symtab && !opt.quiet)
		symbolizer__warn(s.symtab->symbolizer);
	if (s.symtab)
		symbolizer__save(s.symtab->symbolizer);
	symtab__delete(s.symtab);
	return err == NOBODY_READS ? 0 : err;
}

int cmd_script(int argc, const char **argv)
{
	int n, ret;

	opt = (struct script_words){ .force = false };
	ret = n = options__parse(argc, argv, options, usage, 0, NULL);
	if (n == OPTIONS_HELP)
		return EXIT_SUCCESS;
	if (n > 1 || (n == 1 && opt.input))
		ret = err__set(-EINVAL, "script reads one file, not '%s' too", argv[n]);
	if (ret >= 0)
		ret = script__run(opt.input ? opt.input : n ? argv[1] : RECORDING_DEFAULT);
	if (ret < 0)
		fprintf(stderr, "ljperf: %s\n", err__msg());
	return ret < 0 || (ret > 0 && !opt.force) ? EXIT_LJPERF : EXIT_SUCCESS;
}
