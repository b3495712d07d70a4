/* parent.c - the caller that --parent asks for; see parent.h. */
#include "report/parent.h"

#include "report/frames.h"
#include "report/match.h"

uint32_t parent__find(const struct aggregate *a, uint32_t cell)
{
	uint32_t frames[STACK_DEPTH_MAX + 1], found = SITE_NONE;
	size_t n = a->parent ? aggregate__frames(a, cell, frames) : 0, i;
	struct strbuf text = STRBUF_INIT;

	for (i = 0; i < n && found == SITE_NONE; i++) {
		strbuf__reset(&text);
		frame__text(a->symtab, frames[i], false, &text);
		if (match__has(a->parent, strbuf__str(&text), text.len))
			found = frames[i];
	}
	strbuf__exit(&text);
	return found;
}
