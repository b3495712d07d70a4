/* parent.h - the caller that --parent asks for.  Used by the field of that name
 * and by --exclude-other.
 */
#ifndef LJPERF_REPORT_PARENT_H
#define LJPERF_REPORT_PARENT_H

#include "report/aggregate.h"

/* The site of the innermost frame of a cell whose text A->parent fits;
 * SITE_NONE: none does. */
uint32_t parent__find(const struct aggregate *a, uint32_t cell);

#endif
