/* script_line.h - the lines that script prints: as text and as JSON. */
#ifndef LJPERF_REPORT_SCRIPT_LINE_H
#define LJPERF_REPORT_SCRIPT_LINE_H

#include "formats/session.h"
#include "report/symtab.h"
#include "util/strbuf.h"

/* What of an event is shown. */
enum script_field {
	SCRIPT_NUMBER = 1,
	SCRIPT_TIME = 2,
	SCRIPT_EVENT = 4,
	SCRIPT_SOURCE = 8,
	SCRIPT_SYMBOL = 16,
	SCRIPT_DETAIL = 32,
	SCRIPT_BLOCK = 64,
	SCRIPT_STACK = 128,
};

struct script_when {
	uint64_t number; /* of the event, from 1; of the last one for a mark */
	bool has_time;
	uint64_t time_ns; /* since the start of the recording */
};

struct script_line_ops {
	/* What a line says of a site: made once and kept. */
	void (*site)(const struct symtab *st, uint32_t site, unsigned fields, struct strbuf *out);
	/* STACK is what the functions below made of the event's call stack. */
	void (*event)(const struct ljm_event *ev, const struct script_when *when,
		      const struct str *site, const struct strbuf *stack, unsigned fields,
		      struct strbuf *out);
	void (*stack_begin)(uint64_t id, struct strbuf *out);
	/* SITE_NONE: frames that were left out. */
	void (*frame)(const struct symtab *st, uint32_t site, struct strbuf *out);
	const char *frame_between, *stack_end;
	unsigned fields; /* shown unless others are asked for */
	void (*symbol)(const struct ljm_symbol *sym, const struct script_when *when,
		       struct strbuf *out);
	void (*mark)(const struct session_mark *m, const struct script_when *when,
		     struct strbuf *out);
	void (*lost)(uint64_t n, const struct script_when *when, struct strbuf *out);
};

extern const struct script_line_ops script_text, script_json;

/* "number,event", "+stack" or NULL as a set of enum script_field, which is NORMAL
 * at first; 0 or -EINVAL. */
int script_fields__parse(const char *list, unsigned normal, unsigned *fields);

const char *script__event_name(enum ljm_kind kind); /* "alloc", ... */
const char *script__mark_name(enum session_mark_kind kind); /* "script-end", ... */

#endif
