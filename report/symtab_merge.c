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

/* ---- one name for what is the same ---- */

/* A function for a set of them, without its name or without its lines. */
enum set { BY_LINES, BY_NAME, BY_NAME_OF_SCOPE };

struct names {
	struct symtab *st;
	struct hashmap sets[3];
};

static uint64_t names__hash(const struct proto *p, enum set set)
{
	if (set == BY_LINES)
		return hash__u64x2(hash__u64x2(p->chunk, p->first_line), p->last_line);
	return hash__u64x2((uint64_t)p->chunk << 32 | p->func,
			   set == BY_NAME_OF_SCOPE ? p->session : 0);
}

static bool names__equal(const struct proto *a, const struct proto *b, enum set set)
{
	if (a->chunk != b->chunk)
		return false;
	if (set == BY_LINES)
		return a->first_line == b->first_line && a->last_line == b->last_line;
	return a->func == b->func && (set == BY_NAME || a->session == b->session);
}

/* The first of a set that is like P, or HASHMAP_NONE. */
static uint32_t names__find(const struct names *n, const struct proto *p, enum set set)
{
	const struct hashmap *m = &n->sets[set];
	uint64_t hash = names__hash(p, set);
	uint32_t pos, id;

	for (id = hashmap__first(m, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(m, hash, &pos))
		if (names__equal(&n->st->protos[id], p, set))
			return id;
	return HASHMAP_NONE;
}

/* Adds a function with a name to all sets where it is the first of its kind. */
static int names__add(struct names *n, uint32_t id)
{
	struct proto *p = &n->st->protos[id];
	enum set set;
	uint32_t like;

	for (set = BY_LINES; set <= BY_NAME_OF_SCOPE; set++) {
		like = names__find(n, p, set);
		if (like == HASHMAP_NONE && hashmap__add(&n->sets[set], names__hash(p, set), id))
			return -ENOMEM;
		if (like != HASHMAP_NONE && set == BY_NAME_OF_SCOPE)
			n->st->protos[names__find(n, p, BY_NAME)].by_name = false;
	}
	return 0;
}

/* Main chunks and built-in functions have no name that means anything. */
static bool proto__can_have_name(const struct proto *p)
{
	return p->chunk != STR_NONE && p->first_line && p->first_line != UINT64_MAX;
}

static void names__share(struct names *n, struct proto *p)
{
	struct proto named = *p;
	uint32_t id = names__find(n, p, BY_LINES);

	if (id == HASHMAP_NONE)
		return;
	named.func = n->st->protos[id].func;
	if (names__find(n, &named, BY_NAME_OF_SCOPE) == HASHMAP_NONE)
		p->func = named.func;
}

int symtab__share_names(struct symtab *st)
{
	struct names n = { .st = st };
	struct proto *p;
	uint32_t i;
	int err = 0;

	for (i = 0; !err && i < st->n_protos; i++) {
		p = &st->protos[i];
		p->by_name = proto__can_have_name(p) && p->func != STR_NONE;
		if (p->by_name)
			err = names__add(&n, i);
	}
	for (i = 0; !err && i < st->n_protos; i++) {
		p = &st->protos[i];
		if (!proto__can_have_name(p))
			p->func = STR_NONE;
		else if (p->func == STR_NONE)
			names__share(&n, p);
		if (p->func != STR_NONE)
			p->by_name = st->protos[names__find(&n, p, BY_NAME)].by_name;
	}
	for (i = 0; i < 3; i++)
		hashmap__exit(&n.sets[i]);
	return err ? err__set(-ENOMEM, "out of memory for symbols") : 0;
}
