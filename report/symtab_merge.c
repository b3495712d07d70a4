/* symtab_merge.c - functions of several recordings beside each other.  Called by
 * the commands that add recordings up, when all is read; see symtab.h.
 */
#include <errno.h>

#include "report/symtab.h"
#include "util/error.h"

static uint64_t place__hash(const struct proto *p)
{
	return hash__u64x2(p->chunk, p->first_line);
}

/* The first prototype that was added for the place where P begins, or
 * HASHMAP_NONE. */
static uint32_t place__find(const struct symtab *st, const struct hashmap *m, const struct proto *p)
{
	uint64_t hash = place__hash(p);
	uint32_t pos, id;

	for (id = hashmap__first(m, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(m, hash, &pos))
		if (st->protos[id].chunk == p->chunk && st->protos[id].first_line == p->first_line)
			return id;
	return HASHMAP_NONE;
}

static bool proto__has_name(const struct proto *p)
{
	return p->chunk != STR_NONE && p->func != STR_NONE;
}

int symtab__find_others(struct symtab *st)
{
	struct hashmap first = { .slots = NULL };
	struct proto *p;
	uint32_t i, id;
	int err = 0;

	for (i = 0; !err && i < st->n_protos; i++) {
		p = &st->protos[i];
		if (!proto__has_name(p))
			continue;
		id = place__find(st, &first, p);
		if (id == HASHMAP_NONE)
			err = hashmap__add(&first, place__hash(p), i);
		else if (st->protos[id].func != p->func)
			st->protos[id].has_others = true;
	}
	for (i = 0; !err && i < st->n_protos; i++) {
		p = &st->protos[i];
		if (proto__has_name(p))
			p->has_others = st->protos[place__find(st, &first, p)].has_others;
	}
	hashmap__exit(&first);
	return err ? err__set(-ENOMEM, "out of memory for symbols") : 0;
}
