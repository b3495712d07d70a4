/* measures.c - adding up what is counted on demand; see measures.h. */
#include "report/measures.h"

#include <errno.h>

void measures__add(struct measures *to, const struct measures *from)
{
	to->n_moved += from->n_moved;
	to->moved_bytes += from->moved_bytes;
	to->copied += from->copied;
	site_live__add(&to->temporary, &from->temporary);
}

int measures__add_lives(struct measures *to, const struct measures *from)
{
	return sketch__merge(&to->life, &from->life) || sketch__merge(&to->life_ns, &from->life_ns)
		       ? -ENOMEM
		       : 0;
}

void measures__exit(struct measures *m)
{
	sketch__exit(&m->life);
	sketch__exit(&m->life_ns);
}
