/* export_callgrind.c - a file for kcachegrind and callgrind_annotate.  Called
 * by export.
 *
 *	events: allocated allocated_blocks
 *	fl=(1) app.lua
 *	fn=(1) parse_row
 *	42 640 10              what line 42 allocated itself
 *	cfn=(2) string.format
 *	calls=3 0              what it called; the number is that of allocations
 *	42 5120 3              and what that, and all below it, allocated
 *
 * A C function has the file with its code as "ob="; its "fl=" is where that is
 * written, or "???".  An object holds until the next one, so what has none comes
 * first.
 *
 * Costs are added up by function and line, and by call from a line to a
 * function.  Of a stack in which one call repeats, it counts once.
 */
#include <stdlib.h>

#include "report/export.h"
#include "util/error.h"
#include "util/grow.h"

/* A line of a function, or a call from it. */
struct cost {
	uint32_t func, callee; /* callee: HASHMAP_NONE, the line itself */
	uint64_t line;
	uint64_t calls;
	uint64_t last_cell; /* that was added, + 1 */
};

struct callgrind {
	struct export *e;
	struct cost *costs;
	size_t n, cap;
	u128 *amounts; /* n_columns for each cost */
	size_t cap_amounts;
	struct hashmap map;
	bool *object_named, *file_named, *func_named;
	uint32_t object; /* of the function that is printed */
};

static struct cost *callgrind__get(struct callgrind *c, uint32_t loc, uint32_t callee)
{
	const struct export_loc *l = &c->e->frames.locs[loc];
	uint64_t hash = hash__u64x2((uint64_t)l->func << 32 | callee, l->line);
	size_t width = c->e->n_columns, i;
	uint32_t pos, id;

	for (id = hashmap__first(&c->map, hash, &pos); id != HASHMAP_NONE;
	     id = hashmap__next(&c->map, hash, &pos))
		if (c->costs[id].func == l->func && c->costs[id].callee == callee &&
		    c->costs[id].line == l->line)
			return &c->costs[id];
	if (GROW(c->costs, c->cap, c->n) || GROW(c->amounts, c->cap_amounts, (c->n + 1) * width) ||
	    hashmap__add(&c->map, hash, (uint32_t)c->n))
		return NULL;
	for (i = 0; i < width; i++)
		c->amounts[c->n * width + i] = 0;
	c->costs[c->n] = (struct cost){ .func = l->func, .callee = callee, .line = l->line };
	return &c->costs[c->n++];
}

static int callgrind__add(struct callgrind *c, uint32_t loc, uint32_t callee, uint32_t cell,
			  const u128 *values)
{
	struct cost *cost = callgrind__get(c, loc, callee);
	size_t width = c->e->n_columns, i;
	u128 *amounts;

	if (!cost)
		return export__no_memory();
	if (cost->last_cell == (uint64_t)cell + 1)
		return 0;
	cost->last_cell = (uint64_t)cell + 1;
	cost->calls += c->e->a->stats[cell].n_alloc + c->e->a->stats[cell].n_realloc;
	amounts = c->amounts + (size_t)(cost - c->costs) * width;
	for (i = 0; i < width; i++)
		amounts[i] += values[i];
	return 0;
}

static int callgrind__add_cell(struct callgrind *c, uint32_t cell, const u128 *values)
{
	uint32_t locs[STACK_DEPTH_MAX + 1];
	size_t n = export__stack(c->e, cell, locs), i;
	int err = n ? callgrind__add(c, locs[0], HASHMAP_NONE, cell, values) : export__no_memory();

	for (i = 1; !err && i < n; i++)
		err = callgrind__add(c, locs[i], c->e->frames.locs[locs[i - 1]].func, cell, values);
	return err;
}

/* ---- printing ---- */

/* "fl=(1) app.lua", and "fl=(1)" from then on. */
static void put_named(struct strbuf *out, const char *key, uint32_t id, const struct str *name,
		      bool *named)
{
	strbuf__addf(out, "%s=(%u)", key, (unsigned)id + 1);
	if (!*named) {
		strbuf__addch(out, ' ');
		strbuf__addmem(out, name->s, name->len);
	}
	*named = true;
	strbuf__addch(out, '\n');
}

static void put_known(struct callgrind *c, const char *key, uint32_t id, bool *named)
{
	static const struct str unknown = { "???", 3 };
	const struct str *name = export_frames__str(&c->e->frames, id);

	put_named(&c->e->out.buf, key, id, name->len ? name : &unknown, &named[id]);
}

static void put_object(struct callgrind *c, const char *key, const struct export_func *f)
{
	if (f->object != c->object)
		put_known(c, key, f->object, c->object_named);
}

static void put_file(struct callgrind *c, const char *key, const struct export_func *f)
{
	put_known(c, key, f->file == f->object ? 0 : f->file, c->file_named);
}

static void put_func(struct callgrind *c, const char *key, uint32_t id)
{
	const struct export_frames *f = &c->e->frames;

	put_named(&c->e->out.buf, key, id, export_frames__str(f, f->funcs[id].name),
		  &c->func_named[id]);
}

static void put_cost(struct callgrind *c, const struct cost *cost)
{
	const struct export_frames *f = &c->e->frames;
	struct strbuf *out = &c->e->out.buf;
	size_t width = c->e->n_columns, i;

	if (cost->callee != HASHMAP_NONE) {
		put_object(c, "cob", &f->funcs[cost->callee]);
		put_file(c, "cfi", &f->funcs[cost->callee]);
		put_func(c, "cfn", cost->callee);
		strbuf__addf(out, "calls=%llu %llu\n",
			     (unsigned long long)(cost->calls ? cost->calls : 1),
			     (unsigned long long)f->funcs[cost->callee].first_line);
	}
	strbuf__addu(out, cost->line);
	for (i = 0; i < width; i++) {
		strbuf__addch(out, ' ');
		number__dec(out, c->amounts[(size_t)(cost - c->costs) * width + i]);
	}
	strbuf__addch(out, '\n');
}

/* By object and function, then its own lines, then what they call. */
static int cost__cmp(const void *x, const void *y, void *ctx)
{
	const struct cost *a = *(const struct cost *const *)x, *b = *(const struct cost *const *)y;
	bool call_a = a->callee != HASHMAP_NONE, call_b = b->callee != HASHMAP_NONE;
	const struct export_func *funcs = ctx;
	uint32_t object_a = funcs[a->func].object, object_b = funcs[b->func].object;

	if (object_a != object_b)
		return object_a < object_b ? -1 : 1;
	if (a->func != b->func)
		return a->func < b->func ? -1 : 1;
	if (call_a != call_b)
		return call_a ? 1 : -1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->callee < b->callee ? -1 : a->callee > b->callee;
}

static int put_costs(struct callgrind *c)
{
	const struct cost **order = malloc((c->n + 1) * sizeof(*order));
	const struct export_frames *f = &c->e->frames;
	size_t i;
	int err = order ? 0 : export__no_memory();

	for (i = 0; !err && i < c->n; i++)
		order[i] = &c->costs[i];
	if (!err)
		qsort_r(order, c->n, sizeof(*order), cost__cmp, f->funcs);
	for (i = 0; !err && i < c->n; i++) {
		if (!i || order[i]->func != order[i - 1]->func) {
			strbuf__addch(&c->e->out.buf, '\n');
			put_object(c, "ob", &f->funcs[order[i]->func]);
			c->object = f->funcs[order[i]->func].object;
			put_file(c, "fl", &f->funcs[order[i]->func]);
			put_func(c, "fn", order[i]->func);
		}
		put_cost(c, order[i]);
		err = export__flush(c->e, false);
	}
	free(order);
	return err;
}

static void put_event_name(const struct export_column *c, struct strbuf *out)
{
	size_t i;

	for (i = 0; c->metric->name[i]; i++)
		strbuf__addch(out, c->metric->name[i] == '-' ? '_' : c->metric->name[i]);
	if (c->blocks)
		strbuf__addstr(out, "_blocks");
}

static void put_head(struct callgrind *c)
{
	const struct export *e = c->e;
	struct strbuf *out = &c->e->out.buf;
	size_t i;

	strbuf__addstr(out,
		       "# callgrind format\nversion: 1\ncreator: ljperf " LJPERF_VERSION "\ncmd: ");
	strbuf__addstr(out, export__title(e));
	strbuf__addstr(out, "\npositions: line\nevents:");
	for (i = 0; i < e->n_columns; i++) {
		strbuf__addch(out, ' ');
		put_event_name(&e->columns[i], out);
	}
	strbuf__addstr(out, "\nsummary:");
	for (i = 0; i < e->n_columns; i++) {
		strbuf__addch(out, ' ');
		number__dec(out, export__total(e, i));
	}
	strbuf__addch(out, '\n');
}

static int callgrind__print(struct callgrind *c)
{
	int err = 0;

	c->object_named = calloc(c->e->frames.strings.n + 1, sizeof(bool));
	c->file_named = calloc(c->e->frames.strings.n + 1, sizeof(bool));
	c->func_named = calloc(c->e->frames.n_funcs + 1, sizeof(bool));
	if (!c->object_named || !c->file_named || !c->func_named)
		err = export__no_memory();
	if (!err) {
		put_head(c);
		err = put_costs(c);
	}
	free(c->object_named);
	free(c->file_named);
	free(c->func_named);
	return err;
}

static int callgrind__write(struct export *e)
{
	struct callgrind c = { .e = e };
	u128 values[2 * EXPORT_METRICS_MAX];
	uint32_t cell;
	int err = 0;

	for (cell = 0; !err && cell < e->a->n_stats; cell++)
		if (export__values(e, cell, values))
			err = callgrind__add_cell(&c, cell, values);
	err = err ? err : callgrind__print(&c);
	hashmap__exit(&c.map);
	free(c.costs);
	free(c.amounts);
	return err;
}

const struct export_ops export_callgrind = {
	.name = "callgrind",
	.help = "for kcachegrind and callgrind_annotate",
	.metrics = "allocated,live",
	.write = callgrind__write,
};
