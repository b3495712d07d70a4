/* timeline.c - the heap over time; see timeline.h. */
#include "report/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

/* More marks than this cannot be told apart anyway. */
enum { MARKS_MAX = 1 << 16 };

void timeline__exit(struct timeline *t)
{
	size_t i;

	for (i = 0; i < t->n_marks; i++)
		free(t->marks[i].name);
	free(t->marks);
	free(t->at);
	*t = (struct timeline){ .at = NULL };
}

static void sample__join(struct timeline_sample *to, const struct timeline_sample *later)
{
	to->max = later->max > to->max ? later->max : to->max;
	to->end = later->end;
	to->gc |= later->gc;
}

static void timeline__halve(struct timeline *t)
{
	size_t i;

	t->step = t->step ? t->step * 2 : (t->at[t->n - 1].at - t->at[0].at) / t->n * 2 + 1;
	for (i = 0; i + 1 < t->n; i += 2) {
		t->at[i / 2] = t->at[i];
		sample__join(&t->at[i / 2], &t->at[i + 1]);
	}
	t->n = i / 2;
}

int timeline__add(struct timeline *t, uint64_t at, u128 heap, bool gc)
{
	struct timeline_sample now = { at, heap, heap, gc };
	struct timeline_sample *last = t->n ? &t->at[t->n - 1] : NULL;

	t->end = at > t->end ? at : t->end;
	if (last && (at <= last->at || at - last->at < t->step)) {
		sample__join(last, &now);
		return 0;
	}
	if (t->n == TIMELINE_SAMPLES)
		timeline__halve(t);
	if (GROW(t->at, t->cap, t->n))
		return -ENOMEM;
	t->at[t->n++] = now;
	return 0;
}

int timeline__mark(struct timeline *t, uint64_t at, const struct session_mark *m)
{
	char *name;

	if (t->n_marks == MARKS_MAX)
		return 0;
	name = strndup(m->name_len ? m->name : "", m->name_len);
	if (!name || GROW(t->marks, t->cap_marks, t->n_marks)) {
		free(name);
		return -ENOMEM;
	}
	t->marks[t->n_marks++] = (struct timeline_mark){ at, m->kind, name };
	return 0;
}
