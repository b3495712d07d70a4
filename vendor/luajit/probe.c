/* probe.c - the layout probe: a scratch state with an allocator of ours, and
 * the order in which its layout is found.  Called once by the agent, before
 * it hooks the first state of a process.
 */
#include "vendor/luajit/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"

int probe__fail(struct probe *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->why, p->why_len, fmt, ap);
	va_end(ap);
	return -1;
}

const struct block *probe__block(const struct probe *p, const void *ptr, size_t n)
{
	const struct block *b;
	uintptr_t at = (uintptr_t)ptr;

	if (at < p->lowest || at > p->highest) /* most words are no pointers */
		return NULL;
	for (b = p->head.next; b != &p->head; b = b->next) {
		uintptr_t start = (uintptr_t)block_start(b);

		if (at >= start && at - start <= b->size && n <= b->size - (at - start))
			return b;
	}
	return NULL;
}

bool probe__is_block(const struct probe *p, const void *ptr, size_t n)
{
	const struct block *b = probe__block(p, ptr, n);

	return b && block_start(b) == ptr;
}

static void block_link(struct probe *p, struct block *b, size_t size)
{
	uintptr_t start = (uintptr_t)block_start(b);

	b->size = size;
	if (!p->lowest || start < p->lowest)
		p->lowest = start;
	if (start + size > p->highest)
		p->highest = start + size;
	b->next = p->head.next;
	b->prev = &p->head;
	b->next->prev = b;
	p->head.next = b;
}

static void block_unlink(struct block *b)
{
	b->prev->next = b->next;
	b->next->prev = b->prev;
}

/* While lua_newstate() runs, memory comes from the probe itself: some versions
 * crash in there when an allocation fails, which must not be the program's
 * fate.  Memory of either kind is never unset, so that it can be looked through. */
static struct block *block_new(struct probe *p, size_t nsize)
{
	size_t n = (sizeof(struct block) + nsize + 15) & ~(size_t)15;
	struct block *b;

	if (!p->L && n <= sizeof(p->reserve) - p->reserved) {
		b = (struct block *)(void *)(p->reserve + p->reserved);
		p->reserved += n;
		return b;
	}
	b = calloc(1, sizeof(*b) + nsize);
	p->out_of_memory |= !b;
	return b;
}

static void block_delete(struct probe *p, struct block *b)
{
	const uint8_t *at = (const uint8_t *)b;

	block_unlink(b);
	if (at < p->reserve || at >= p->reserve + sizeof(p->reserve))
		free(b);
}

static void *probe_alloc(void *ud, void *ptr, size_t osize, size_t nsize)
{
	struct probe *p = ud;
	struct block *old = ptr ? (struct block *)ptr - 1 : NULL, *b;

	if (nsize == 0) {
		if (!ptr)
			return NULL;
		probe_watch__free(p);
		block_delete(p, old);
		return NULL;
	}
	if (!ptr)
		probe_watch__alloc(p);
	b = block_new(p, nsize);
	if (!b)
		return NULL;
	if (old) {
		memcpy(b + 1, ptr, osize < nsize ? osize : nsize);
		block_delete(p, old);
	}
	block_link(p, b, nsize);
	return b + 1;
}

/* A C function of the probe gets only its state.  The state leads to the
 * probe, through the allocator's data, but asking takes the table of functions. */
static const struct lj_api *probe_api;

struct probe *probe__self(lua_State *L)
{
	void *ud;

	probe_api->lua_getallocf(L, &ud);
	return ud;
}

void probe__push_self(struct probe *p, lua_State *L, lua_CFunction f)
{
	p->api->lua_pushcclosure(L, f, 0);
}

int probe__load(struct probe *p, lua_State *L, const char *chunk, const char *name)
{
	if (p->api->luaL_loadbuffer(L, chunk, strlen(chunk), name) == 0)
		return 0;
	return probe__fail(p, "the probe's chunk does not compile: %s",
			   p->api->lua_tolstring(L, -1, NULL));
}

int probe__run(struct probe *p, lua_State *L, const char *chunk, const char *name)
{
	if (probe__load(p, L, chunk, name))
		return -1;
	if (p->api->lua_pcall(L, 0, 0, 0) == 0)
		return 0;
	return probe__fail(p, "the probe's chunk fails: %s", p->api->lua_tolstring(L, -1, NULL));
}

const uint8_t *probe__proto(struct probe *p, lua_State *L, int idx)
{
	const uint8_t *fn = p->api->lua_topointer(L, idx);

	return lj_ptr(fn, p->lay->f_pc) - p->lay->pt_size;
}

/* lua_State -> global state: the one word of L whose target holds, in the
 * same block, the pair that lua_getallocf() returns. */
static int find_global(struct probe *p)
{
	const struct block *own = probe__block(p, p->L, 64), *b;
	uint64_t pair[2] = { (uint64_t)(uintptr_t)probe_alloc, (uint64_t)(uintptr_t)p };
	uint32_t off, k;
	int found = 0;

	for (off = 8; own && off < 112; off += 8) {
		const uint8_t *g = lj_ptr(p->L, off);

		b = probe__block(p, g, 512);
		for (k = 0; b && k <= 128; k += 8) {
			if (memcmp(g + k, pair, sizeof(pair)) != 0)
				continue;
			p->lay->l_glref = off;
			p->lay->g_alloc = k;
			p->g = lj_ptr(p->L, off);
			p->lay->g_main = (uint32_t)(p->g - (const uint8_t *)p->L);
			p->g_words = (size_t)(block_start(b) + b->size - g) / 4;
			found++;
		}
	}
	if (found != 1)
		return probe__fail(p, "its global state was not found");
	if (p->g_words > PROBE_G_WORDS)
		p->g_words = PROBE_G_WORDS;
	return 0;
}

struct dump_head {
	unsigned char bytes[5];
	size_t n;
};

static int take_head(lua_State *L, const void *part, size_t n, void *ud)
{
	struct dump_head *head = ud;
	size_t i;

	(void)L;
	for (i = 0; i < n && head->n < sizeof(head->bytes); i++)
		head->bytes[head->n++] = ((const unsigned char *)part)[i];
	return 0;
}

/* Dumped bytecode says in its fifth byte whether frames take two slots, as in
 * GC64 builds only (lj_bcdump.h).  Others refuse allocators of their host, and
 * say so on stderr: they are not to be asked. */
static bool is_gc64(const struct lj_api *api)
{
	struct dump_head head = { .n = 0 };
	lua_State *L = api->luaL_newstate();

	if (!L)
		return true; /* another error will be told */
	if (api->luaL_loadbuffer(L, "", 0, "=ljperf probe") == 0)
		api->lua_dump(L, take_head, &head);
	api->lua_close(L);
	return head.n == sizeof(head.bytes) && memcmp(head.bytes, "\033LJ", 3) == 0 &&
	       head.bytes[4] & 0x08;
}

static int open_libraries(struct probe *p)
{
	p->api->luaL_openlibs(p->L);
	p->api->lua_gc(p->L, LUA_GCSTOP, 0);
	p->api->lua_getfield(p->L, LUA_GLOBALSINDEX, "jit");
	p->api->lua_getfield(p->L, -1, "version");
	snprintf(p->lay->version, sizeof(p->lay->version), "%s",
		 p->api->lua_tolstring(p->L, -1, NULL));
	p->api->lua_settop(p->L, 0);
	return probe__run(p, p->L, "jit.off()", "=ljperf probe");
}

static int find_all(struct probe *p)
{
	if (open_libraries(p) || find_global(p) || probe_state__find(p) || probe_objects__find(p) ||
	    probe_tables__find(p) || probe_watch__run(p) || probe_frames__find(p) ||
	    probe_traces__find(p) || selftest__run(p))
		return -1;
	lj_builtins__collect(p->names, p->lay, p->api, p->L);
	return 0;
}

static int c_find_all(lua_State *L)
{
	struct probe *p = probe__self(L);

	p->result = find_all(p);
	return 0;
}

/* An error that nobody caught would go on into the program's own frames. */
static int find_protected(struct probe *p)
{
	int status;

	if (!is_gc64(p->api))
		return probe__fail(p, "only GC64 builds are supported");
	p->L = p->api->lua_newstate(probe_alloc, p);
	if (!p->L)
		return probe__fail(p, p->out_of_memory ? "no memory for the layout probe"
						       : "it refuses an allocator of its host");
	status = p->api->lua_cpcall(p->L, c_find_all, NULL);
	p->watch = WATCH_NOTHING;
	if (status == 0)
		return p->result;
	return probe__fail(p, status == LUA_ERRMEM ? "no memory for the layout probe"
						   : "the layout probe was stopped by an error");
}

int lj_layout__probe(struct lj_layout *lay, struct lj_builtins *names, const struct lj_api *api,
		     char *why, size_t why_len)
{
	uint64_t start = clock__ns(CLOCK_MONOTONIC);
	struct probe *p;
	int err;

	memset(lay, 0, sizeof(*lay));
	p = calloc(1, sizeof(*p));
	if (!p) {
		snprintf(why, why_len, "no memory for the layout probe");
		return -1;
	}
	p->api = probe_api = api;
	p->lay = lay;
	p->names = names;
	p->why = why;
	p->why_len = why_len;
	p->head.prev = p->head.next = &p->head;
	err = find_protected(p);
	if (p->L)
		api->lua_close(p->L);
	free(p);
	lay->probe_ns = clock__ns(CLOCK_MONOTONIC) - start;
	return err;
}

/* What fits into any pipe (pipe(7)). */
#define PIPE_BYTES 4096

/* The kernel finds out when it writes to a pipe from there. */
static bool read_through_pipe(void *dst, const void *src, size_t n)
{
	int fds[2];
	bool ok;

	if (pipe2(fds, O_CLOEXEC) != 0)
		return false;
	ok = write(fds[1], src, n) == (ssize_t)n && read(fds[0], dst, n) == (ssize_t)n;
	close(fds[0]);
	close(fds[1]);
	return ok;
}

bool lj_read(void *dst, const void *src, size_t n)
{
	struct iovec to = { dst, n }, from = { (void *)(uintptr_t)src, n };

	if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)n)
		return true;
	/* Some sandboxes do not let a process look at itself like that. */
	return (errno == EPERM || errno == ENOSYS) && n <= PIPE_BYTES &&
	       read_through_pipe(dst, src, n);
}

void *lj_layout__global(const struct lj_layout *lay, const struct lj_api *api, lua_State *L,
			char *why, size_t why_len)
{
	uint64_t pair[2], g, back;
	lua_Alloc f;
	void *ud;

	f = api->lua_getallocf(L, &ud);
	if (!lj_read(&g, (const uint8_t *)L + lay->l_glref, sizeof(g)) ||
	    !lj_read(pair, (const uint8_t *)(uintptr_t)g + lay->g_alloc, sizeof(pair))) {
		snprintf(why, why_len, "its state cannot be read: %s", strerror(errno));
		return NULL;
	}
	if (memcmp(&pair[0], &f, 8) != 0 || memcmp(&pair[1], &ud, 8) != 0) {
		snprintf(why, why_len, "its state is not laid out as the probe's");
		return NULL;
	}
	if (!lj_read(&back, (const uint8_t *)(uintptr_t)g - lay->g_main + lay->l_glref,
		     sizeof(back)) ||
	    back != g) {
		snprintf(why, why_len, "its main thread was not found");
		return NULL;
	}
	return (void *)(uintptr_t)g;
}
