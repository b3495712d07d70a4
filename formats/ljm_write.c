/* ljm_write.c - encodes the current variant (V4) of the stream.  Called by the
 * session writer, the agent and tests; allocates nothing.  The grammar stands
 * in ljm_read.c. */
#include "formats/ljm.h"
#include "formats/uleb.h"

#include <string.h>

enum { LJS_VERSION = 3, LJM_VERSION = 3 };

uint8_t *ljm__put_symtab(uint8_t *p)
{
	static const uint8_t table[8] = { 'l', 'j', 's', LJS_VERSION, 0, 0, 0, LJM_END };

	memcpy(p, table, sizeof(table));
	return p + sizeof(table);
}

uint8_t *ljm__put_header(uint8_t *p)
{
	static const uint8_t header[7] = { 'l', 'j', 'm', LJM_VERSION, 0, 0, 0 };

	memcpy(p, header, sizeof(header));
	return p + sizeof(header);
}

uint8_t *ljm__put_event(uint8_t *p, const struct ljm_event *ev)
{
	enum ljm_source source = ev->loc.source;

	if (ljm_loc__is_unknown_line(&ev->loc))
		source = LJM_SRC_INTERNAL;
	*p++ = (uint8_t)(source << 2 | ev->kind);
	switch (source) {
	case LJM_SRC_INTERNAL:
	case LJM_SRC_NATIVE: /* of no event */
		break;
	case LJM_SRC_LUA:
		p = uleb__put_wide(p, ev->loc.addr);
		p = uleb__put_wide(p, ev->loc.num);
		break;
	case LJM_SRC_C:
		p = uleb__put_wide(p, ev->loc.addr);
		break;
	case LJM_SRC_TRACE:
		p = uleb__put_wide(p, ev->loc.num);
		break;
	}
	if (ev->kind & LJM_FREE) {
		p = uleb__put_wide(p, ev->old_addr);
		p = uleb__put_wide(p, ev->old_size);
	}
	if (ev->kind & LJM_ALLOC) {
		p = uleb__put_wide(p, ev->new_addr);
		p = uleb__put_wide(p, ev->new_size);
	}
	return p;
}

/* Symbols are packed exactly: no store may pass ljm_symbol__size(). */
static uint8_t *put_name(uint8_t *p, const struct ljm_symbol *sym)
{
	p = uleb__put(p, sym->name_len);
	if (sym->name_len)
		memcpy(p, sym->name, sym->name_len);
	return p + sym->name_len;
}

uint8_t *ljm__put_symbol(uint8_t *p, const struct ljm_symbol *sym)
{
	*p++ = (uint8_t)(sym->source << 2 | LJM_SYMBOL);
	if (sym->source == LJM_SRC_TRACE) {
		p = uleb__put(p, sym->trace_num);
		p = uleb__put(p, sym->proto_addr);
		return uleb__put(p, sym->line);
	}
	p = uleb__put(p, sym->addr);
	p = put_name(p, sym);
	if (sym->source == LJM_SRC_LUA)
		p = uleb__put(p, sym->line);
	return p;
}

size_t ljm_symbol__size(const struct ljm_symbol *sym)
{
	size_t n;

	if (sym->source == LJM_SRC_TRACE)
		return 1 + uleb__size(sym->trace_num) + uleb__size(sym->proto_addr) +
		       uleb__size(sym->line);
	n = 1 + uleb__size(sym->addr) + uleb__size(sym->name_len) + sym->name_len;
	if (sym->source == LJM_SRC_LUA)
		n += uleb__size(sym->line);
	return n;
}
