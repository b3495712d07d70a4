/* agent.c - the agent's life in a target: start, hand the ring to the
 * collector, mark, stop.  Nothing here runs in the hook but agent_detach().
 */
#include "backends/backend.h"
#include "backends/luajit/vm.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "formats/session.h"

static struct {
	struct agent_options opts;
	struct lj_api api;
	struct lj_layout lay;
	struct lj_builtins builtins;
	bool ready;
	unsigned n_vms;
	struct agent_vm *closed; /* its VM is gone: to be unmapped */
	pthread_mutex_t lock;
	char why[512];
} agent = { .lock = PTHREAD_MUTEX_INITIALIZER };

const char *agent__why(void)
{
	return agent.why;
}

static void *why_not(const char *what, int err)
{
	snprintf(agent.why, sizeof(agent.why), "%s: %s", what, strerror(err));
	return NULL;
}

int agent__init(const struct agent_options *opts)
{
	const char *missing;
	char why[256] = "";

	agent.opts = *opts;
	missing = lj_api__load(&agent.api, RTLD_DEFAULT);
	if (missing) {
		snprintf(agent.why, sizeof(agent.why), "no LuaJIT in this process: '%s' is missing",
			 missing);
		return -1;
	}
	if (lj_layout__probe(&agent.lay, &agent.builtins, &agent.api, why, sizeof(why))) {
		snprintf(agent.why, sizeof(agent.why), "this LuaJIT (%s) cannot be recorded: %s",
			 agent.lay.version[0] ? agent.lay.version : "unknown version", why);
		return -1;
	}
	agent.ready = true;
	return 0;
}

/* A page that the kernel clears in every child, whatever kind of fork made
 * it (madvise(2), MADV_WIPEONFORK). */
static volatile uint32_t *alive_page(void)
{
	long size = sysconf(_SC_PAGESIZE);
	uint32_t *page = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return NULL;
	if (madvise(page, (size_t)size, MADV_WIPEONFORK) != 0) {
		munmap(page, (size_t)size);
		return NULL;
	}
	*page = 1;
	return page;
}

struct build_id {
	uintptr_t addr; /* in the module looked for */
	char *hex;
	size_t len;
};

static void note_to_hex(const struct dl_phdr_info *info, const ElfW(Phdr) * ph,
			struct build_id *want)
{
	const char *at = (const char *)(info->dlpi_addr + ph->p_vaddr), *end = at + ph->p_memsz;
	const ElfW(Nhdr) * n;
	size_t i;

	while ((size_t)(end - at) >= sizeof(*n)) {
		n = (const void *)at;
		at += sizeof(*n) + ((n->n_namesz + 3) & ~3u);
		if (at > end || n->n_descsz > (size_t)(end - at))
			return;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 &&
		    memcmp(n + 1, "GNU", 4) == 0) {
			for (i = 0; i < n->n_descsz && i * 2 + 3 <= want->len; i++)
				snprintf(want->hex + i * 2, 3, "%02x", (unsigned char)at[i]);
			return;
		}
		at += (n->n_descsz + 3) & ~3u;
	}
}

static int find_build_id(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct build_id *want = ctx;
	bool ours = false;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + ph->p_vaddr;

		ours |= ph->p_type == PT_LOAD && want->addr >= start &&
			want->addr - start < ph->p_memsz;
	}
	for (i = 0; ours && i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			note_to_hex(info, &info->dlpi_phdr[i], want);
	return ours;
}

static void describe_library(struct ring_hello *hello)
{
	struct build_id want = { .hex = hello->vm_build_id, .len = sizeof(hello->vm_build_id) };
	Dl_info info;

	memcpy(&want.addr, &agent.api.lua_close, sizeof(want.addr));
	dl_iterate_phdr(find_build_id, &want);
	if (dladdr((void *)want.addr, &info) && info.dli_fname)
		snprintf(hello->vm_path, sizeof(hello->vm_path), "%s", info.dli_fname);
}

void agent__print_probe(FILE *out)
{
	struct ring_hello hello = { 0 };

	describe_library(&hello);
	fprintf(out, "%s, %s, %s, layout found in %.1f ms\n", agent.lay.version, hello.vm_path,
		agent.lay.has_traces ? "with traces" : "without traces",
		(double)agent.lay.probe_ns / 1e6);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void fill_hello(struct ring_hello *hello, lua_State *L)
{
	const struct lj_api *api = &agent.api;

	memset(hello, 0, sizeof(*hello));
	hello->version = RING_VERSION;
	hello->vm_number = ++agent.n_vms;
	hello->pid = (uint64_t)getpid();
	hello->tid = (uint64_t)gettid();
	hello->start_mono_ns = clock_ns(CLOCK_MONOTONIC);
	hello->start_wall_ns = clock_ns(CLOCK_REALTIME);
	hello->heap_start = (uint64_t)api->lua_gc(L, LUA_GCCOUNT, 0) * 1024 +
			    (uint64_t)api->lua_gc(L, LUA_GCCOUNTB, 0);
	hello->probe_ns = agent.lay.probe_ns;
	hello->stacks = agent.opts.stacks;
	snprintf(hello->vm_version, sizeof(hello->vm_version), "%s", agent.lay.version);
	snprintf(hello->vm_options, sizeof(hello->vm_options), "%s",
		 agent.opts.vm_options ? agent.opts.vm_options : "");
	prctl(PR_GET_NAME, hello->thread_name);
	describe_library(hello);
}

/* Gives the collector the ring.  The memfd is not needed here any more. */
static int send_ring(lua_State *L, int memfd)
{
	struct ring_hello hello;
	struct iovec iov = { &hello, sizeof(hello) };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	ssize_t n;

	fill_hello(&hello, L);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &memfd, sizeof(int));
	do {
		n = sendmsg(agent.opts.fd, &msg, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(hello) ? 0 : errno;
}

static void vm_unmap(struct agent_vm *vm)
{
	if (!vm)
		return;
	if (vm->alive)
		munmap((void *)(uintptr_t)vm->alive, (size_t)sysconf(_SC_PAGESIZE));
	if (vm->out.ring)
		producer__exit(&vm->out);
	if (vm->stacks)
		munmap(vm->stacks, sizeof(*vm->stacks));
	munmap(vm, sizeof(*vm));
}

static bool map_stacks(struct agent_vm *vm)
{
	struct stacks *s;

	if (!agent.opts.stacks)
		return true;
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED)
		return false;
	s->most = agent.opts.stacks < STACK_MAX ? agent.opts.stacks : STACK_MAX;
	s->across = agent.opts.across;
	s->ff_resume = lj_builtins__ffid(&agent.builtins, "coroutine.resume");
	s->ff_wrap = lj_builtins__ffid(&agent.builtins, "coroutine.wrap iterator");
	vm->stacks = s;
	return true;
}

static struct agent_vm *vm_map(void)
{
	struct agent_vm *vm =
		mmap(NULL, sizeof(*vm), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (vm == MAP_FAILED)
		return why_not("no memory for recording", errno);
	vm->alive = alive_page();
	if (!vm->alive) {
		vm_unmap(vm);
		return why_not("cannot watch for forks", errno);
	}
	if (!map_stacks(vm)) {
		vm_unmap(vm);
		return why_not("no memory for call stacks", errno);
	}
	vm->lay = agent.lay;
	vm->api = &agent.api;
	vm->builtins = &agent.builtins;
	vm->oracle = agent.opts.oracle;
	vm->clock_countdown = 1;
	vm->min_described = vm->lay.pt_size + 8;
	if (vm->lay.has_traces && vm->lay.t_minsize < vm->min_described)
		vm->min_described = vm->lay.t_minsize;
	return vm;
}

static struct agent_vm *vm_connect(struct agent_vm *vm, lua_State *L)
{
	int memfd = producer__init(&vm->out, agent.opts.ring_bytes, agent.opts.fd), err;

	if (memfd < 0)
		return why_not("cannot make the ring", -memfd);
	vm->out.drop = agent.opts.drop;
	err = send_ring(L, memfd);
	close(memfd);
	return err ? why_not("cannot reach the collector", err) : vm;
}

/* The tables that lead to the names of C functions.  The registry holds both
 * until the state is closed. */
static void find_tables(struct agent_vm *vm)
{
	const struct lj_api *api = vm->api;

	vm->registry = api->lua_topointer(vm->L, LUA_REGISTRYINDEX);
	api->lua_getfield(vm->L, LUA_REGISTRYINDEX, "_LOADED");
	vm->loaded = api->lua_type(vm->L, -1) == LUA_TTABLE ? api->lua_topointer(vm->L, -1) : NULL;
	api->lua_settop(vm->L, -2);
}

static struct agent_vm *start_locked(lua_State *L)
{
	struct agent_vm *vm;
	char why[256];
	uint8_t *g;

	vm_unmap(agent.closed);
	agent.closed = NULL;
	g = lj_layout__global(&agent.lay, &agent.api, L, why, sizeof(why));
	if (!g) {
		snprintf(agent.why, sizeof(agent.why), "this LuaJIT cannot be recorded: %s", why);
		return NULL;
	}
	vm = vm_map();
	if (!vm)
		return NULL;
	if (!vm_connect(vm, L)) {
		vm_unmap(vm);
		return NULL;
	}
	vm->g = g;
	vm->L = L;
	find_tables(vm);
	vm->alloc = agent.api.lua_getallocf(L, &vm->alloc_ud);
	agent.api.lua_setallocf(L, agent_hook, vm);
	return vm;
}

struct agent_vm *agent__start(struct lua_State *L)
{
	struct agent_vm *vm = NULL;

	pthread_mutex_lock(&agent.lock);
	if (agent.ready)
		vm = start_locked(L);
	pthread_mutex_unlock(&agent.lock);
	return vm;
}

void agent__mark(struct agent_vm *vm, unsigned kind, const char *name)
{
	uint64_t words[3] = { kind, clock_ns(CLOCK_MONOTONIC), strlen(name) };

	if (*vm->alive && !vm->out.dead && producer__ctl(&vm->out, CTL_MARK, words, 3))
		producer__string(&vm->out, name, words[2]);
}

void agent__closing(struct agent_vm *vm)
{
	agent__mark(vm, SESSION_MARK_CLOSE, "");
	vm->loaded = vm->registry = NULL; /* they are freed in any order now */
	vm->stack = lj_stack(&vm->lay, vm->L);
}

/* lua_close() frees the main thread's stack when all objects are gone, and
 * then asks whether the allocator is its own, to give that back as a whole
 * (close_state() in lj_state.c): so ours must be out of the way by then. */
void agent_detach(struct agent_vm *vm)
{
	vm->api->lua_setallocf(vm->L, vm->alloc, vm->alloc_ud);
	vm->stack = NULL;
	atomic_store(&vm->out.ring->gone, RING_CLOSED);
	if (!*vm->alive)
		return;
	pthread_mutex_lock(&agent.lock);
	vm_unmap(agent.closed);
	agent.closed = vm;
	pthread_mutex_unlock(&agent.lock);
}

void agent__stop(struct agent_vm *vm)
{
	void *ud;

	/* Another hook may have been put over ours: then ours must stay. */
	if (agent.api.lua_getallocf(vm->L, &ud) != agent_hook || ud != vm)
		return;
	agent_detach(vm);
}
