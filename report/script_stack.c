/* script_stack.c - the call stacks of script; see script_stack.h. */
#include "report/script_stack.h"

#include <errno.h>
#include <stdlib.h>

#include "util/error.h"
#include "util/grow.h"

static int script_stack__no_memory(void)
{
	return err__set(-ENOMEM, "out of memory for call stacks");
}

void script_stack__exit(struct script_stack *s)
{
	stacks__exit(&s->tree);
	strpool__exit(&s->texts);
	free(s->text_of);
	strbuf__exit(&s->text);
}

static uint32_t script_stack__make_frame(struct script_stack *s, struct symtab *st,
					 const struct script_line_ops *ops, uint32_t site)
{
	struct strbuf text = STRBUF_INIT;
	uint32_t id = STR_NONE;

	if (site == SITE_NONE || symtab__symbolize(st, site, false) >= 0) {
		ops->frame(st, site, &text);
		if (!text.failed)
			id = strpool__intern(&s->texts, strbuf__str(&text), text.len);
	}
	strbuf__exit(&text);
	return id;
}

static uint32_t script_stack__frame(struct script_stack *s, struct symtab *st,
				    const struct script_line_ops *ops, uint32_t site)
{
	size_t i = site == SITE_NONE ? 0 : (size_t)site + 1;

	for (; s->n_text_of <= i; s->n_text_of++) {
		if (GROW(s->text_of, s->cap_text_of, s->n_text_of))
			return STR_NONE;
		s->text_of[s->n_text_of] = STR_NONE;
	}
	if (s->text_of[i] == STR_NONE)
		s->text_of[i] = script_stack__make_frame(s, st, ops, site);
	return s->text_of[i];
}

int script_stack__make(struct script_stack *s, struct symtab *st, const struct script_line_ops *ops,
		       uint64_t id)
{
	uint32_t sites[STACK_DEPTH_MAX], text;
	size_t n = stacks__path(&s->tree, stacks__node(&s->tree, id), sites), i;

	strbuf__reset(&s->text);
	if (!n)
		return 0;
	ops->stack_begin(id, &s->text);
	for (i = 0; i < n; i++) {
		text = script_stack__frame(s, st, ops, sites[i]);
		if (text == STR_NONE)
			return script_stack__no_memory();
		strbuf__addstr(&s->text, i ? ops->frame_between : "");
		strbuf__addmem(&s->text, strpool__get(&s->texts, text)->s,
			       strpool__get(&s->texts, text)->len);
	}
	strbuf__addstr(&s->text, ops->stack_end);
	return s->text.failed ? script_stack__no_memory() : 0;
}
