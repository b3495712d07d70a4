/* modules.c - the files of C functions; see modules.h. */
#include "report/modules.h"

#include <stdlib.h>

#include "report/grow.h"

void modules__exit(struct modules *m)
{
	free(m->at);
	*m = (struct modules){ .at = NULL };
}

void modules__begin_session(struct modules *m)
{
	m->first = m->n;
}

int modules__add(struct modules *m, struct strpool *strings, const struct session_module *mod)
{
	struct module new = { mod->start, mod->end, mod->bias, STR_NONE };
	const struct module *old;
	uint32_t id = modules__find(m, mod->start);

	new.path = strpool__intern(strings, mod->path, mod->path_len);
	if (new.path == STR_NONE)
		return -ENOMEM;
	if (id != HASHMAP_NONE) { /* told again, nothing changes */
		old = &m->at[id];
		if (old->start == new.start && old->end == new.end && old->bias == new.bias &&
		    old->path == new.path)
			return 0;
	}
	if (GROW(m->at, m->cap, m->n))
		return -ENOMEM;
	m->at[m->n++] = new;
	return 0;
}

uint32_t modules__find(const struct modules *m, uint64_t addr)
{
	size_t i;

	/* There are few, and each address is looked up once in an epoch. */
	for (i = m->n; i > m->first; i--)
		if (addr >= m->at[i - 1].start && addr < m->at[i - 1].end)
			return (uint32_t)(i - 1);
	return HASHMAP_NONE;
}
