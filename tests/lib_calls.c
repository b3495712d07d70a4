/* lib_calls.c - see lib_calls.h. */
#include "tests/lib_calls.h"

#include <check.h>
#include <string.h>

void calls__begin(struct calls *c, uint64_t heap_start, uint64_t vm_number)
{
	struct session_header h = { .heap_start = heap_start, .vm_number = vm_number };
	struct session_writer_opts opts = { .stacks = true };
	int fd;

	*c = (struct calls){ .w = NULL };
	fd = memory_file(c->path, sizeof(c->path));
	c->w = session_writer__new(fd, &h, &opts);
	ck_assert_ptr_nonnull(c->w);
}

void calls__func(struct calls *c, uint64_t addr, const char *chunk, uint64_t line, const char *func)
{
	struct ljm_symbol sym = { .source = LJM_SRC_LUA,
				  .addr = addr,
				  .name = chunk,
				  .name_len = strlen(chunk),
				  .line = line,
				  .has_detail = true,
				  .func_name = func ? func : "",
				  .func_name_len = func ? strlen(func) : 0 };

	ck_assert_int_eq(session_writer__symbol(c->w, &sym), 0);
}

void calls__c(struct calls *c, uint64_t addr, const char *name)
{
	struct ljm_symbol sym = {
		.source = LJM_SRC_C, .addr = addr, .name = name, .name_len = strlen(name)
	};

	ck_assert_int_eq(session_writer__symbol(c->w, &sym), 0);
}

uint64_t calls__node(struct calls *c, uint64_t parent, struct ljm_loc loc)
{
	struct session_stack node = { .id = ++c->n_nodes, .parent = parent, .loc = loc };

	ck_assert_int_eq(session_writer__stack(c->w, &node), 0);
	return node.id;
}

void calls__alloc(struct calls *c, struct ljm_loc loc, uint64_t addr, uint64_t size, uint64_t node)
{
	struct ljm_event ev = {
		.kind = LJM_ALLOC, .loc = loc, .new_addr = addr, .new_size = size, .stack = node
	};

	ck_assert_int_eq(session_writer__event(c->w, &ev), 0);
}

void calls__realloc(struct calls *c, struct ljm_loc loc, uint64_t old_addr, uint64_t old_size,
		    uint64_t new_addr, uint64_t new_size, uint64_t node)
{
	struct ljm_event ev = { .kind = LJM_REALLOC,
				.loc = loc,
				.old_addr = old_addr,
				.old_size = old_size,
				.new_addr = new_addr,
				.new_size = new_size,
				.stack = node };

	ck_assert_int_eq(session_writer__event(c->w, &ev), 0);
}

void calls__free(struct calls *c, uint64_t addr, uint64_t size)
{
	struct ljm_event ev = { .kind = LJM_FREE,
				.loc = loc_vm(),
				.vmstate = LJM_VMSTATE_GC,
				.old_addr = addr,
				.old_size = size };

	ck_assert_int_eq(session_writer__event(c->w, &ev), 0);
}

void calls__time(struct calls *c, uint64_t ns)
{
	c->now_ns = ns;
	ck_assert_int_eq(session_writer__time(c->w, ns), 0);
}

void calls__mark(struct calls *c, enum session_mark_kind kind, const char *name)
{
	struct session_mark m = {
		.kind = kind, .name = name, .name_len = strlen(name), .time_ns = c->now_ns
	};

	ck_assert_int_eq(session_writer__mark(c->w, &m), 0);
}

const char *calls__end(struct calls *c, uint64_t end_ns)
{
	struct session_footer end = { .end_kind = SESSION_END_EXIT, .duration_ns = end_ns };

	ck_assert_int_eq(session_writer__finish(c->w, &end), 0);
	session_writer__delete(c->w);
	return c->path;
}
