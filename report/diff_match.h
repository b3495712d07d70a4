/* diff_match.h - which functions and lines of two sides are the same although
 * their lines moved.  Used by diff.
 *
 * Functions are joined by chunk and name.  Several of one name in one chunk,
 * and those without a name, are told apart by their order where every side
 * has as many of them; without a name their numbers of lines have to agree,
 * too, unless matching is fuzzy.  Lines are joined by fuzzy matching only.
 */
#ifndef LJPERF_REPORT_DIFF_MATCH_H
#define LJPERF_REPORT_DIFF_MATCH_H

#include <stdbool.h>

#include "report/symtab.h"

struct diff;

/* Prototypes with the same chunk, lines and name. */
struct diff_func {
	uint32_t chunk, name; /* name may be STR_NONE */
	uint64_t first_line, last_line; /* last_line 0: unknown */
	uint32_t head, next; /* the functions with the same chunk and lines */
};

/* What a function is called on a side: after CANON, which may be another
 * function of the same chunk and name. */
struct diff_label {
	uint32_t self; /* itself under the name it has on this side */
	uint32_t canon;
	bool by_name; /* its name is enough; else its first line belongs to it */
	bool used; /* the side has it */
	bool is_self; /* it is the self of one that the side has */
};

enum { DIFF_SITE_FUZZY = 1, DIFF_SITE_DISPLACED = 2 };

struct diff_match {
	struct diff_func *funcs;
	size_t n_funcs, cap_funcs;
	struct hashmap map, names;
	uint32_t *of_proto; /* function of each prototype, or HASHMAP_NONE */
	struct diff_label *labels; /* [side * n_funcs + func] */
	size_t n_sites;
	/* [side * n_sites + site]; NULL without fuzzy matching. */
	uint32_t *target; /* the site of the baseline it is joined with, or itself */
	uint8_t *flags;
};

void diff_match__exit(struct diff_match *m);
/* Fills d->match.  0 or -ENOMEM with err__msg(). */
int diff_match__make(struct diff *d);
/* The part that joins lines: diff_fuzzy.c. */
int diff_match__lines(struct diff *d);

/* The function of a Lua site or of the start of a trace, or HASHMAP_NONE. */
uint32_t diff_match__func(const struct diff *d, uint32_t site);

static inline const struct diff_label *diff_match__label(const struct diff_match *m, size_t side,
							 uint32_t func)
{
	return &m->labels[side * m->n_funcs + func];
}

/* Whether SITE of SIDE is called after a place that is not its own. */
bool diff_match__is_guess(const struct diff *d, size_t side, uint32_t site, bool by_func);

#endif
