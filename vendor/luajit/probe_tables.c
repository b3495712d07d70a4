/* probe_tables.c - finds the hash part of tables and the tags of values, in
 * two tables whose keys and values the probe has chosen.
 */
#include "vendor/luajit/probe.h"

#include <string.h>

/* 7 keys need 8 slots, 14 keys 16. */
static const char tables_chunk[] =
	"local a = { probe_s = 'x', probe_t = {}, probe_f = print, probe_n = 8765.4321e77, k1 = 1, k2 = 2, k3 = 3 }\n"
	"local b = {} for i = 1, 13 do b['k' .. i] = i end b.probe_n = 8765.4321e77\n"
	"return a, b\n";

static const double planted = 8765.4321e77;

static const uint8_t *key_string(struct probe *p, const char *key)
{
	const char *text;

	p->api->lua_pushlstring(p->L, key, strlen(key));
	text = p->api->lua_tolstring(p->L, -1, NULL); /* strings are interned */
	p->api->lua_settop(p->L, -2);
	return (const uint8_t *)text - p->lay->str_data;
}

/* The slot of KEY in a hash part of N slots, or NULL. */
static const uint8_t *find_slot(struct probe *p, const uint8_t *nodes, unsigned n, const char *key)
{
	const uint8_t *str = key_string(p, key);
	unsigned i;

	for (i = 0; i < n; i++)
		if (LJ_PTR(lj_u64(nodes, i * LJ_NODE_SIZE + 8)) == str)
			return nodes + i * LJ_NODE_SIZE;
	return NULL;
}

static bool is_hash_part(struct probe *p, const uint8_t *at, unsigned n)
{
	const uint8_t *slot;

	if (!probe__is_block(p, at, n * LJ_NODE_SIZE))
		return false;
	slot = find_slot(p, at, n, "probe_n");
	return slot && memcmp(slot, &planted, sizeof(planted)) == 0;
}

static uint32_t tag_of(struct probe *p, const uint8_t *nodes, const char *key)
{
	const uint8_t *slot = find_slot(p, nodes, 8, key);

	return slot ? (uint32_t)(lj_u64(slot, 0) >> 47) : 0;
}

int probe_tables__find(struct probe *p)
{
	const uint8_t *a, *b, *nodes;
	uint32_t off, n_node = 0, n_mask = 0;

	if (probe__load(p, p->L, tables_chunk, "=ljperf probe"))
		return -1;
	if (p->api->lua_pcall(p->L, 0, 2, 0) != 0)
		return probe__fail(p, "the probe's chunk fails");
	a = p->api->lua_topointer(p->L, -2);
	b = p->api->lua_topointer(p->L, -1);
	for (off = 8; probe__block(p, a + off, 8) && probe__block(p, b + off, 8); off += 8) {
		if (!is_hash_part(p, lj_ptr(a, off), 8) || !is_hash_part(p, lj_ptr(b, off), 16))
			continue;
		p->lay->tab_node = off;
		n_node++;
	}
	for (off = 8; probe__block(p, a + off, 4) && probe__block(p, b + off, 4); off += 4) {
		if (lj_u32(a, off) != 7 || lj_u32(b, off) != 15)
			continue;
		p->lay->tab_hmask = off;
		n_mask++;
	}
	if (n_node != 1 || n_mask != 1)
		return probe__fail(p, "the slots of its tables were not found");
	nodes = lj_ptr(a, p->lay->tab_node);
	p->lay->tag_str = tag_of(p, nodes, "probe_s");
	p->lay->tag_tab = tag_of(p, nodes, "probe_t");
	p->lay->tag_func = tag_of(p, nodes, "probe_f");
	if (!p->lay->tag_str || !p->lay->tag_tab || !p->lay->tag_func)
		return probe__fail(p, "the tags of its values were not found");
	p->api->lua_settop(p->L, 0);
	return 0;
}
