/* fields_table.c - the tables of fields, metrics and sort keys; see fields.h. */
#include "report/fields_table.h"

#include <string.h>

#include "report/frames.h"
#include "report/names.h"
#include "report/parent.h"

/* ---- values ---- */

static u128 get_allocated(const struct row *r)
{
	return r->stats.alloc_bytes + r->stats.realloc_new;
}

static u128 get_allocs(const struct row *r)
{
	return r->stats.n_alloc;
}
static u128 get_reallocs(const struct row *r)
{
	return r->stats.n_realloc;
}
static u128 get_count(const struct row *r)
{
	return (u128)r->stats.n_alloc + r->stats.n_realloc;
}
static u128 get_freed(const struct row *r)
{
	return r->stats.out_bytes;
}
static u128 get_frees(const struct row *r)
{
	return r->stats.n_out;
}
static u128 get_live(const struct row *r)
{
	return r->live.bytes;
}
static u128 get_blocks(const struct row *r)
{
	return r->live.blocks;
}
static u128 get_leaked(const struct row *r)
{
	return r->leaked.bytes;
}
static u128 get_leaked_blocks(const struct row *r)
{
	return r->leaked.blocks;
}

static u128 get_events(const struct row *r)
{
	return get_count(r) + r->stats.n_free;
}

static u128 get_children(const struct row *r)
{
	return r->with_callees.bytes;
}
static u128 get_peak(const struct row *r)
{
	return r->peak.bytes;
}
static u128 get_peak_blocks(const struct row *r)
{
	return r->peak.blocks;
}
static u128 get_temporary(const struct row *r)
{
	return r->more.temporary.bytes;
}
static u128 get_temporary_blocks(const struct row *r)
{
	return r->more.temporary.blocks;
}

/* A block that was resized is no new object, wherever that was. */
static u128 get_objects(const struct row *r)
{
	return (u128)r->stats.n_alloc + r->stats.n_realloc - r->more.n_moved;
}
static u128 get_final(const struct row *r)
{
	return r->stats.alloc_bytes + r->stats.realloc_new - r->more.moved_bytes;
}
static u128 get_copied(const struct row *r)
{
	return r->more.copied;
}
static u128 get_life(const struct row *r)
{
	return sketch__quantile(&r->more.life, 50);
}
static u128 get_life99(const struct row *r)
{
	return sketch__quantile(&r->more.life, 99);
}
static u128 get_life_time(const struct row *r)
{
	return sketch__quantile(&r->more.life_ns, 50);
}
static u128 get_life99_time(const struct row *r)
{
	return sketch__quantile(&r->more.life_ns, 99);
}
static bool has_life(const struct row *r)
{
	return r->more.life.n;
}

/* ---- texts ---- */

static void put_source(const struct symtab *st, uint32_t site, struct strbuf *out)
{
	strbuf__addstr(out, names__source(st->sites[site].source));
}

static void put_symbol(const struct symtab *st, uint32_t site, struct strbuf *out)
{
	names__site(st, site, NAME_TABLE, out);
}

/* What is of no chunk stands in brackets, as perf does. */
static void put_chunk(const struct symtab *st, uint32_t site, struct strbuf *out)
{
	const struct proto *p = symtab__proto(st, &st->sites[site]);

	if (p)
		names__chunk(st, p, NAME_TABLE, out);
	else
		strbuf__addf(out, "[%s]", names__source(st->sites[site].source));
}

static void put_module(const struct symtab *st, uint32_t site, struct strbuf *out)
{
	const struct module *m = symtab__module_of(st, &st->sites[site]);

	if (m)
		names__module(st, m, out);
	else
		strbuf__addf(out, "[%s]", names__source(st->sites[site].source));
}

static void put_trace(const struct symtab *st, uint32_t site, struct strbuf *out)
{
	if (st->sites[site].source == LJM_SRC_TRACE)
		names__site(st, site, NAME_TABLE, out);
	else
		strbuf__addstr(out, "[no trace]");
}

static void put_vmstate(const struct symtab *st, uint32_t site, struct strbuf *out)
{
	const struct site *s = &st->sites[site];

	if (s->source == LJM_SRC_INTERNAL)
		strbuf__addstr(out, names__vmstate((unsigned)s->arg));
	else
		strbuf__addf(out, "[%s]", names__source(s->source));
}

/* ---- texts of cells ---- */

/* "0 B", "1 B", "8-15 B", "1-2 KiB": up to the second, not including it where
 * it is a power of two. */
static void put_size(const struct aggregate *a, uint32_t cell, struct strbuf *out)
{
	static const char units[] = "BKMGTPE";
	uint32_t class = aggregate__cell(a, cell).size_class, unit = class ? (class - 1) / 10 : 0;
	uint64_t low = class ? (uint64_t)1 << (class - 1) % 10 : 0;

	strbuf__addu(out, low);
	if (unit)
		strbuf__addf(out, "-%llu %ciB", (unsigned long long)low * 2, units[unit]);
	else if (low > 1)
		strbuf__addf(out, "-%llu B", (unsigned long long)low * 2 - 1);
	else
		strbuf__addstr(out, " B");
}

/* Whether another session than NTH has the same label and, with PIDS, process. */
static bool vm__is_ambiguous(const struct aggregate *a, size_t nth, bool pids)
{
	const struct session_summary *s = &a->sessions[nth], *o;
	size_t i;

	if (!s->vm_label || !*s->vm_label)
		return true;
	for (i = 0; i < a->n_sessions; i++) {
		o = &a->sessions[i];
		if (i != nth && o->vm_label && !strcmp(o->vm_label, s->vm_label) &&
		    (!pids || o->pid == s->pid))
			return true;
	}
	return false;
}

/* The VM; its process and command where that does not tell it from others, and
 * the file where that does not either. */
static void put_vm(const struct aggregate *a, uint32_t cell, struct strbuf *out)
{
	uint32_t session = aggregate__cell(a, cell).session;
	const struct session_summary *s = &a->sessions[session];

	if (s->vm_label && *s->vm_label)
		strbuf__addstr(out, s->vm_label); /* escaped when it was made */
	if (!vm__is_ambiguous(a, session, false))
		return;
	if (s->pid && !vm__is_ambiguous(a, session, true)) {
		strbuf__addf(out, " of %llu", (unsigned long long)s->pid);
		if (s->command && *s->command)
			strbuf__addf(out, ": %s", s->command); /* escaped, too */
		return;
	}
	strbuf__addstr(out, s->vm_label && *s->vm_label ? " of " : "");
	escape__text(out, s->name, strlen(s->name), 0);
}

static void put_parent(const struct aggregate *a, uint32_t cell, struct strbuf *out)
{
	uint32_t site = parent__find(a, cell);

	if (site == SITE_NONE)
		strbuf__addstr(out, "[other]");
	else
		frame__name(a->symtab, site, NAME_TABLE, out);
}

/* ---- the tables ---- */

#define BYTES(n, h, f) .name = (n), .heading = (h), .type = FIELD_BYTES, .value = (f)
#define NUMBER(n, h, f) .name = (n), .heading = (h), .type = FIELD_COUNT, .value = (f)
#define TIME(n, h, f) .name = (n), .heading = (h), .type = FIELD_TIME, .value = (f)
#define TEXT(n, h, f) .name = (n), .heading = (h), .type = FIELD_TEXT, .text = (f)
#define CELL_TEXT(n, h, f) .name = (n), .heading = (h), .type = FIELD_TEXT, .cell_text = (f)
#define LIFE .known = has_life, .measure = MEASURE_LIFETIMES

const struct field fields[F_MAX] = {
	[F_CHILDREN] = { .name = "children",
			 .heading = "Children",
			 .type = FIELD_PERCENT,
			 .value = get_children },
	[F_OVERHEAD] = { .name = "overhead", .heading = "Overhead", .type = FIELD_PERCENT },
	[F_ALLOCATED] = { BYTES("allocated", "Allocated", get_allocated) },
	[F_ALLOCS] = { NUMBER("allocs", "Allocs", get_allocs) },
	[F_REALLOCS] = { NUMBER("reallocs", "Reallocs", get_reallocs) },
	[F_COUNT] = { NUMBER("count", "Count", get_count) },
	[F_LIVE] = { BYTES("live", "Live", get_live) },
	[F_BLOCKS] = { NUMBER("blocks", "Blocks", get_blocks) },
	[F_PEAK] = { BYTES("peak", "Peak", get_peak), .measure = MEASURE_PEAK },
	[F_PEAK_BLOCKS] = { NUMBER("peak-blocks", "Peak Blocks", get_peak_blocks),
			    .measure = MEASURE_PEAK },
	[F_LEAKED] = { BYTES("leaked", "Leaked", get_leaked) },
	[F_LEAKED_BLOCKS] = { NUMBER("leaked-blocks", "Leaked Blocks", get_leaked_blocks) },
	[F_FREED] = { BYTES("freed", "Freed", get_freed) },
	[F_FREES] = { NUMBER("frees", "Frees", get_frees) },
	[F_TEMPORARY] = { BYTES("temporary", "Temporary", get_temporary),
			  .measure = MEASURE_LIFETIMES },
	[F_TEMPORARY_BLOCKS] = { NUMBER("temporary-blocks", "Temp Blocks", get_temporary_blocks),
				 .measure = MEASURE_LIFETIMES },
	[F_OBJECTS] = { NUMBER("objects", "Objects", get_objects), .measure = MEASURE_CHAINS },
	[F_FINAL] = { BYTES("final", "Final", get_final), .measure = MEASURE_CHAINS },
	[F_COPIED] = { BYTES("copied", "Copied", get_copied), .measure = MEASURE_CHAINS },
	[F_LIFE] = { NUMBER("life", "Life 50%", get_life), LIFE },
	[F_LIFE99] = { NUMBER("life99", "Life 99%", get_life99), LIFE },
	[F_LIFE_TIME] = { TIME("life-time", "Time 50%", get_life_time), LIFE },
	[F_LIFE99_TIME] = { TIME("life99-time", "Time 99%", get_life99_time), LIFE },
	[F_EVENTS] = { NUMBER("events", "Events", get_events) },
	[F_SOURCE] = { TEXT("source", "Source", put_source) },
	[F_SYMBOL] = { TEXT("symbol", "Symbol", put_symbol), .has_func = true },
	[F_FUNC] = { TEXT("func", "Function", names__func), .has_func = true },
	[F_CHUNK] = { TEXT("chunk", "Chunk", put_chunk) },
	[F_MODULE] = { TEXT("module", "Module", put_module) },
	[F_TRACE] = { TEXT("trace", "Trace", put_trace) },
	[F_VMSTATE] = { TEXT("vmstate", "VM State", put_vmstate) },
	[F_VM] = { CELL_TEXT("vm", "VM", put_vm), .split = SPLIT_VM },
	[F_SIZE] = { CELL_TEXT("size", "Size", put_size), .split = SPLIT_SIZE },
	[F_PARENT] = { CELL_TEXT("parent", "Parent", put_parent), .split = SPLIT_STACK },
};

const struct metric metrics[N_METRICS] = {
	{ "allocated", "allocations", &fields[F_ALLOCATED], get_count, false },
	{ "live", "live blocks", &fields[F_LIVE], get_blocks, false },
	{ "peak", "live blocks", &fields[F_PEAK], get_peak_blocks, false },
	{ "leaked", "leaked blocks", &fields[F_LEAKED], get_leaked_blocks, true },
	{ "freed", "freed blocks", &fields[F_FREED], get_frees, false },
	{ "temporary", "temporary blocks", &fields[F_TEMPORARY], get_temporary_blocks, false },
	{ "count", "allocations", &fields[F_COUNT], get_count, false },
	{ "copied", "copying reallocations", &fields[F_COPIED], get_copied, false },
};

const struct sort_key sorts[N_SORTS] = {
	{ "line", { &fields[F_SOURCE], &fields[F_SYMBOL] } },
	{ "symbol", { &fields[F_SYMBOL] } },
	{ "func", { &fields[F_SOURCE], &fields[F_FUNC] } },
	{ "chunk", { &fields[F_CHUNK] } },
	{ "source", { &fields[F_SOURCE] } },
	{ "module", { &fields[F_MODULE] } },
	{ "trace", { &fields[F_TRACE] } },
	{ "vmstate", { &fields[F_VMSTATE] } },
	{ "vm", { &fields[F_VM] } },
	{ "size", { &fields[F_SIZE] } },
	{ "parent", { &fields[F_PARENT] } },
};
