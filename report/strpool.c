/* strpool.c - each distinct string once, known by a number; see strpool.h. */
#include "report/strpool.h"

#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

enum { BLOCK_BYTES = 64 * 1024 };

/* Strings are cut from blocks: one malloc for each would cost more than most
 * names are long. */
struct strpool_block {
	struct strpool_block *next;
	size_t used, size;
	char data[];
};

void strpool__exit(struct strpool *p)
{
	struct strpool_block *b, *next;

	for (b = p->blocks; b; b = next) {
		next = b->next;
		free(b);
	}
	free(p->strs);
	hashmap__exit(&p->map);
	memset(p, 0, sizeof(*p));
}

static char *strpool__room(struct strpool *p, size_t n)
{
	struct strpool_block *b = p->blocks;
	struct strpool_block **at = &p->blocks;
	size_t size = BLOCK_BYTES;

	if (b && n <= b->size - b->used) {
		b->used += n;
		return b->data + b->used - n;
	}
	if (n > SIZE_MAX / 2)
		return NULL;
	if (n > BLOCK_BYTES / 4) { /* its own block, behind the one being filled */
		size = n;
		at = b ? &b->next : at;
	}
	b = malloc(sizeof(*b) + size);
	if (!b)
		return NULL;
	b->used = n;
	b->size = size;
	b->next = *at;
	*at = b;
	return b->data;
}

static uint32_t strpool__add(struct strpool *p, const char *s, size_t len, uint64_t hash)
{
	char *copy;

	if (GROW(p->strs, p->cap, p->n))
		return STR_NONE;
	copy = strpool__room(p, len + 1);
	if (!copy || hashmap__add(&p->map, hash, (uint32_t)p->n))
		return STR_NONE;
	if (len)
		memcpy(copy, s, len);
	copy[len] = '\0';
	p->strs[p->n] = (struct str){ copy, len };
	return (uint32_t)p->n++;
}

uint32_t strpool__intern(struct strpool *p, const char *s, size_t len)
{
	uint64_t hash = hash__mem(s, len);
	uint32_t pos, id;

	for (id = hashmap__first(&p->map, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(&p->map, hash, &pos))
		if (p->strs[id].len == len && (!len || !memcmp(p->strs[id].s, s, len)))
			return id;
	return strpool__add(p, s, len, hash);
}
