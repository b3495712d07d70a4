/* script_stack.h - the call stacks that script shows behind its events. */
#ifndef LJPERF_REPORT_SCRIPT_STACK_H
#define LJPERF_REPORT_SCRIPT_STACK_H

#include "report/script_line.h"
#include "report/stacks.h"

/* All zero is empty; begin the session of TREE before adding to it. */
struct script_stack {
	struct stacks tree;
	/* What is said of a frame is made once. */
	struct strpool texts;
	uint32_t *text_of; /* by site + 1, STR_NONE: not made yet; [0]: frames left out */
	size_t n_text_of, cap_text_of;
	struct strbuf text;
};

void script_stack__exit(struct script_stack *s);

/* Makes S->text say what OPS do of the stack that the session numbers ID; of
 * none, nothing.  0 or -ENOMEM with err__msg(). */
int script_stack__make(struct script_stack *s, struct symtab *st, const struct script_line_ops *ops,
		       uint64_t id);

#endif
