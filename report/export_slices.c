/* export_slices.c - sums over short times; see export_slices.h. */
#include "report/export_slices.h"

#include <stdlib.h>

#include "util/grow.h"

void export_slices__exit(struct export_slices *s)
{
	free(s->at);
	free(s->last[0]);
	free(s->last[1]);
	*s = (struct export_slices){ .length = s->length };
}

/* The number + 1 of the latest sum of a cell. */
static uint32_t *slices__last(struct export_slices *s, uint32_t cell, bool freed)
{
	for (; s->n_last[freed] <= cell; s->n_last[freed]++) {
		if (GROW(s->last[freed], s->cap_last[freed], s->n_last[freed]))
			return NULL;
		s->last[freed][s->n_last[freed]] = 0;
	}
	return &s->last[freed][cell];
}

static int slices__put(struct export_slices *s, const struct slice_sum *sum)
{
	uint32_t *last = slices__last(s, sum->cell, sum->freed);

	if (!last)
		return -ENOMEM;
	if (*last && s->at[*last - 1].slice == sum->slice) {
		s->at[*last - 1].bytes += sum->bytes;
		return 0;
	}
	if (GROW(s->at, s->cap, s->n))
		return -ENOMEM;
	s->at[s->n++] = *sum;
	*last = (uint32_t)s->n;
	return 0;
}

/* Puts all sums anew, into slices of twice the length: what is put is never
 * ahead of what is read. */
static int slices__coarsen(struct export_slices *s)
{
	size_t n = s->n, i;
	int err = 0;

	s->length *= 2;
	s->n = 0;
	memset(s->last[0], 0, s->n_last[0] * sizeof(*s->last[0]));
	memset(s->last[1], 0, s->n_last[1] * sizeof(*s->last[1]));
	for (i = 0; !err && i < n; i++) {
		struct slice_sum sum = s->at[i];

		sum.slice /= 2;
		err = slices__put(s, &sum);
	}
	return err;
}

/* Each time may have more cells than sums should be: then there are more. */
static bool slices__are_many(const struct export_slices *s)
{
	size_t cells = s->n_last[0] > s->n_last[1] ? s->n_last[0] : s->n_last[1];

	return s->n >= EXPORT_SLICES_MAX && s->n >= 4 * cells && s->length < UINT64_MAX / 4;
}

int export_slices__add(struct export_slices *s, uint64_t at, uint32_t cell, bool freed, u128 bytes)
{
	struct slice_sum sum = { .cell = cell, .freed = freed, .bytes = bytes };

	if (at > UINT64_MAX - s->offset)
		at = UINT64_MAX - s->offset;
	if (slices__are_many(s) && slices__coarsen(s))
		return -ENOMEM;
	sum.slice = (at + s->offset) / s->length;
	return slices__put(s, &sum);
}

static int sum__cmp(const void *x, const void *y)
{
	const struct slice_sum *a = x, *b = y;

	if (a->slice != b->slice)
		return a->slice < b->slice ? -1 : 1;
	if (a->cell != b->cell)
		return a->cell < b->cell ? -1 : 1;
	return (int)a->freed - (int)b->freed;
}

void export_slices__sort(struct export_slices *s)
{
	if (s->n)
		qsort(s->at, s->n, sizeof(*s->at), sum__cmp);
}
