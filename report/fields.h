/* fields.h - what report can show of a row, sort rows by, and count: three
 * tables, and the reading of their options.  Used by report and its table view.
 */
#ifndef LJPERF_REPORT_FIELDS_H
#define LJPERF_REPORT_FIELDS_H

#include "report/rows.h"

enum field_type { FIELD_PERCENT, FIELD_BYTES, FIELD_COUNT, FIELD_TIME, FIELD_TEXT };

struct field {
	const char *name, *heading;
	enum field_type type;
	/* In bytes, nanoseconds or pieces.  PERCENT: of what the share is; NULL:
	 * of the metric. */
	u128 (*value)(const struct row *row);
	bool (*known)(const struct row *row); /* NULL: always */
	/* TEXT: appends the text of a site, or of a cell, which keys the rows. */
	void (*text)(const struct symtab *st, uint32_t site, struct strbuf *out);
	void (*cell_text)(const struct aggregate *a, uint32_t cell, struct strbuf *out);
	bool has_func; /* TEXT: the function's name goes before it */
	unsigned measure; /* enum measure, and enum cell_split: what it needs of the reading */
	unsigned split;
};

struct metric {
	const char *name;
	const char *noun; /* of what a row without it has none */
	const struct field *field;
	u128 (*blocks)(const struct row *row); /* a row without any is left out */
	bool needs_leaked; /* the state after a full collection */
};

enum { FIELDS_MAX = 48 };

struct field_list {
	const struct field *at[FIELDS_MAX];
	size_t n;
};

/* Of -t: NULL is none, and what the shell left of a tab, '\t', is one.  0 or
 * -EINVAL with err__msg(). */
int fields__separator(const char **sep);

/* Each returns 0, or -EINVAL with err__msg() and a suggestion. */
int fields__metric(const char *name, const struct metric **out);
/* "line,chunk": the text fields that key the rows. */
int fields__sort(const char *list, struct field_list *keys);
/* "+freed,frees" or "overhead,symbol" or NULL: the columns to show, given the
 * keys, which are extended by the text fields of SPEC. */
int fields__columns(const char *spec, const struct metric *m, struct field_list *keys,
		    struct field_list *columns);
/* Adds the column of event counts before the first text. */
void fields__add_events(struct field_list *columns);

/* Puts the column of the share with callees before the others. */
void fields__add_children(struct field_list *columns);

/* Adds what the fields need of the reading. */
void field_list__needs(const struct field_list *l, unsigned *measure, unsigned *split);

/* Appends what the key 'func' does not say, behind a NUL: the name, where several
 * functions begin on the line. */
void fields__add_others(const struct field_list *keys, const struct symtab *st, uint32_t site,
			struct strbuf *out);

bool field_list__has(const struct field_list *l, const struct field *f);

#endif
