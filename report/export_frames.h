/* export_frames.h - the frames of a recording as most formats want them:
 * places, which are lines of functions, and the text of both.  Used by the
 * formats of export.
 *
 * Places and functions with equal texts are one, whatever their prototypes
 * and addresses were.
 */
#ifndef LJPERF_REPORT_EXPORT_FRAMES_H
#define LJPERF_REPORT_EXPORT_FRAMES_H

#include "report/frames.h"

struct export_func {
	/* Strings; what is unknown is the empty one.  The file of a C function
	 * whose source is not known is the object that has its code. */
	uint32_t name, file, object;
	uint64_t first_line; /* 0: unknown, or a main chunk */
	enum ljm_source source; /* of one of its places; 0: frames left out */
};

struct export_loc {
	uint32_t func;
	uint64_t line; /* 0: unknown; with BY_FUNC that on which the function begins */
	uint32_t site; /* one of its sites, or SITE_NONE */
};

struct export_frames {
	const struct symtab *st;
	bool by_func;
	bool stable; /* no numbers that are others in the next run */
	struct strpool strings; /* number 0 is "" */
	struct export_func *funcs;
	struct export_loc *locs;
	size_t n_funcs, cap_funcs, n_locs, cap_locs;
	struct hashmap func_map, loc_map;
	uint32_t *of_site; /* the place of each site, HASHMAP_NONE: not asked for yet */
	size_t n_sites;
	uint32_t left_out; /* that of SITE_NONE, as in of_site */
};

/* ST is complete, and all that is to be known of its modules is known.  0 or
 * -ENOMEM. */
int export_frames__init(struct export_frames *f, const struct symtab *st, bool by_func);
void export_frames__exit(struct export_frames *f);

/* The place of a site, or of SITE_NONE; HASHMAP_NONE: no memory. */
uint32_t export_frames__loc(struct export_frames *f, uint32_t site);

static inline const struct export_func *export_frames__func(const struct export_frames *f,
							    uint32_t loc)
{
	return &f->funcs[f->locs[loc].func];
}

static inline const struct str *export_frames__str(const struct export_frames *f, uint32_t string)
{
	return strpool__get(&f->strings, string);
}

#endif
