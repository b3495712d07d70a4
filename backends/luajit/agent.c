/* agent.c - the agent's life in a target: joining a recording, starting on a
 * VM, handing its ring to the collector, marks, the end.
 *
 * What runs inside the hook (agent_revive(), agent_detach()) takes no memory
 * from the program and waits only for the collector.
 */
#include "backends/backend.h"
#include "backends/luajit/vm.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "backends/luajit/agent.h"
#include "backends/luajit/hello.h"
#include "backends/luajit/native.h"
#include "backends/luajit/notice.h"
#include "formats/session.h"
#include "util/clock.h"

static struct {
	struct channel channel;
	bool joined;
	_Atomic unsigned n_vms; /* recorded now */
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

/* ---- forks ---- */

static void before_fork(void)
{
	pthread_mutex_lock(&agent.lock);
	agent_lib__lock();
}

static void in_parent(void)
{
	agent_lib__unlock();
	pthread_mutex_unlock(&agent.lock);
}

/* A daemon's process may go on with its parent's VMs when that is gone. */
static void in_child(void)
{
	in_parent();
	if (agent.joined && agent.channel.control->inherit && atomic_load(&agent.n_vms))
		channel__note(&agent.channel, MSG_FORKED, "");
}

static void watch_forks(void)
{
	static atomic_flag done = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&done))
		pthread_atfork(before_fork, in_parent, in_child);
}

/* ---- joining ---- */

int agent__join(const char *spec)
{
	int err;

	if (agent.joined)
		return 0;
	/* A program with more rights than its user does not obey the user's
	 * environment: what is in it may lead anywhere. */
	err = getauxval(AT_SECURE) ? -EPERM : channel__open(&agent.channel, spec);
	if (err) {
		why_not("cannot reach the collector", -err);
		return -1;
	}
	agent.joined = true;
	agent_notice__init();
	channel__set_inherit(&agent.channel, agent.channel.control->inherit);
	channel__note(&agent.channel, MSG_LOADED, "");
	watch_forks();
	return 0;
}

bool agent__has_joined(void)
{
	return agent.joined;
}

const struct control *agent_control(void)
{
	return agent.channel.control;
}

/* The collector says so at the end; without one it is said here. */
void agent__refuse(const char *why)
{
	char text[640];

	if (channel__note(&agent.channel, MSG_REFUSED, why) == 0)
		return;
	snprintf(text, sizeof(text), "ljperf: a VM is not recorded: %s\n", why);
	agent_notice(text);
}

bool agent__print_probe(FILE *out, const void *code)
{
	struct agent_lib *lib = agent_lib__of(code);

	if (!lib || !agent_lib__probe(lib)) {
		snprintf(agent.why, sizeof(agent.why), "%s", lib ? lib->why : "no memory");
		return false;
	}
	fprintf(out, "%s, %s, %s, layout found in %.1f ms\n", lib->lay.version, lib->path,
		lib->lay.has_traces ? "with traces" : "without traces",
		(double)lib->lay.probe_ns / 1e6);
	return true;
}

/* ---- memory of a VM's recording ---- */

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
	if (vm->native)
		munmap(vm->native, sizeof(*vm->native));
	if (vm->channel == &vm->own_channel)
		channel__close(&vm->own_channel);
	munmap(vm, sizeof(*vm));
}

static void *map_private(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static bool map_stacks(struct agent_vm *vm)
{
	const struct control *page = vm->channel->control;
	struct stacks *s;

	if (!page->stacks)
		return true;
	s = map_private(sizeof(*s));
	if (!s)
		return false;
	s->most = page->stacks < STACK_MAX ? page->stacks : STACK_MAX;
	s->across = page->across;
	s->ff_resume = lj_builtins__ffid(vm->builtins, "coroutine.resume");
	s->ff_wrap = lj_builtins__ffid(vm->builtins, "coroutine.wrap iterator");
	vm->stacks = s;
	if (page->native)
		vm->native = map_private(sizeof(*vm->native));
	return vm->native || !page->native;
}

static struct agent_vm *vm_map(const struct agent_lib *lib, const struct channel *own)
{
	struct agent_vm *vm = map_private(sizeof(*vm));

	if (!vm)
		return why_not("no memory for recording", errno);
	vm->alive = alive_page();
	if (!vm->alive) {
		vm_unmap(vm);
		return why_not("cannot watch for forks", errno);
	}
	vm->lib = lib;
	if (own)
		vm->own_channel = *own;
	vm->channel = own ? &vm->own_channel : &agent.channel;
	vm->lay = lib->lay;
	vm->api = &lib->api;
	vm->builtins = &lib->builtins;
	if (!map_stacks(vm)) {
		vm_unmap(vm);
		return why_not("no memory for call stacks", errno);
	}
	vm->epoch = &vm->channel->control->epoch;
	vm->oracle = vm->channel->control->oracle;
	vm->clock_countdown = vm->clock_every = 1;
	vm->min_described = vm->lay.pt_size + 8;
	if (vm->lay.has_traces && vm->lay.t_minsize < vm->min_described)
		vm->min_described = vm->lay.t_minsize;
	return vm;
}

/* ---- the ring ---- */

static void fill_hello(struct agent_vm *vm)
{
	hello__fill(&vm->hello, MSG_RING, vm->lib, vm->L);
	vm->hello.probe_ns = vm->lay.probe_ns;
	vm->hello.stacks = vm->channel->control->stacks;
	vm->hello.native = vm->native != NULL;
	memcpy(vm->hello.vm_version, vm->lay.version, sizeof(vm->lay.version));
}

/* Gives the collector a new ring.  Its memfd is not needed here any more. */
static bool connect_ring(struct agent_vm *vm)
{
	const struct control *page = vm->channel->control;
	int memfd = producer__init(&vm->out, page->ring_bytes, atomic_load(&vm->channel->fd));
	int err;

	if (memfd < 0)
		return why_not("cannot make the ring", -memfd);
	vm->out.drop = page->drop;
	fill_hello(vm);
	err = channel__send(vm->channel, &vm->hello, sizeof(vm->hello), memfd);
	close(memfd);
	if (err) {
		producer__exit(&vm->out);
		return why_not("cannot reach the collector", -err);
	}
	producer__watch(&vm->out, atomic_load(&vm->channel->fd)); /* it may be a new one */
	return true;
}

/* What the stream was told may not hold any more, or is another stream. */
static void forget_all(struct agent_vm *vm, bool new_stream)
{
	uint32_t last_seq = vm->known.last_seq;

	memset(&vm->known, 0, sizeof(vm->known));
	vm->known.last_seq = last_seq;
	memset(vm->cfuncs, 0, sizeof(vm->cfuncs));
	vm->last_pt[0] = vm->last_pt[1] = vm->last_trace = vm->last_cfunc = NULL;
	vm->n_modules = 0;
	if (vm->native)
		vm->native->modules_told = false;
	if (!vm->stacks)
		return;
	stacks__empty(vm->stacks);
	if (new_stream) {
		vm->stacks->last_id = 0;
		vm->stacks->forgotten = false;
	}
}

static void put_mark(struct agent_vm *vm, unsigned kind, const char *name)
{
	uint64_t words[3] = { kind, clock__ns(CLOCK_MONOTONIC), strlen(name) };

	vm->last_time = 0; /* the next event is not before this */
	vm->clock_countdown = 1;
	if (*vm->alive && vm->out.ring && !vm->out.dead && !vm->shut &&
	    producer__ctl(&vm->out, CTL_MARK, words, 3))
		producer__string(&vm->out, name, words[2]);
}

/* The first events of this VM in this process. */
static bool begin_stream(struct agent_vm *vm)
{
	if (vm->out.ring)
		producer__exit(&vm->out); /* the parent's */
	forget_all(vm, true);
	*vm->alive = 1;
	vm->last_time = 0;
	vm->clock_countdown = vm->clock_every = 1;
	vm->shut = !connect_ring(vm);
	return !vm->shut;
}

static bool revive(struct agent_vm *vm, uint32_t epoch)
{
	bool forked = !*vm->alive;
	char size[24];

	if (vm->shut)
		return false;
	if (forked && (vm->closing || !vm->channel->control->inherit)) {
		vm->shut = true;
		return false;
	}
	if (!(epoch & 1)) { /* not now */
		if (vm->epoch_recorded && !forked)
			put_mark(vm, SESSION_MARK_PAUSE, "");
		vm->epoch_recorded = 0;
		vm->epoch_off = vm->closing ? 0 : epoch; /* its end is watched for */
		vm->paused = true;
		return false;
	}
	if (forked || !vm->out.ring) {
		if (!begin_stream(vm)) {
			agent__refuse(agent.why);
			return false;
		}
	} else if (vm->out.dead) {
		return false;
	} else if (vm->paused) {
		forget_all(vm, false);
		snprintf(size, sizeof(size), "%llu",
			 (unsigned long long)vm_heap_size(vm->api, vm->L));
		put_mark(vm, SESSION_MARK_RESUME, size);
	}
	vm->paused = false;
	vm->epoch_recorded = epoch;
	return true;
}

/* At the start, where the caller tells of a failure. */
static bool begin_recording(struct agent_vm *vm, uint32_t epoch)
{
	if (!(epoch & 1))
		return true; /* not now */
	vm->epoch_recorded = epoch;
	return begin_stream(vm);
}

bool agent_revive(struct agent_vm *vm)
{
	int saved = errno;
	bool ok = revive(vm, atomic_load(vm->epoch));

	errno = saved;
	return ok;
}

/* ---- a VM's recording ---- */

static struct agent_vm *vm_of(const struct lj_api *api, lua_State *L)
{
	void *ud;

	return api->lua_getallocf(L, &ud) == agent_hook ? ud : NULL;
}

static struct agent_vm *start_locked(struct agent_lib *lib, lua_State *L, const struct channel *own)
{
	struct agent_vm *vm;
	char why[256];
	uint8_t *g;

	vm_unmap(agent.closed);
	agent.closed = NULL;
	g = lj_layout__global(&lib->lay, &lib->api, L, why, sizeof(why));
	if (!g) {
		snprintf(agent.why, sizeof(agent.why), "this LuaJIT cannot be recorded: %s", why);
		return NULL;
	}
	vm = vm_map(lib, own);
	if (!vm)
		return NULL;
	vm->g = g;
	vm->L = lj_main_thread(&lib->lay, g);
	/* It leads to the names of C functions, and is there until the end. */
	vm->registry = vm->api->lua_topointer(vm->L, LUA_REGISTRYINDEX);
	if (!begin_recording(vm, atomic_load(vm->epoch))) {
		vm_unmap(vm);
		return NULL;
	}
	vm->alloc = lib->api.lua_getallocf(L, &vm->alloc_ud);
	lib->api.lua_setallocf(L, agent_hook, vm);
	atomic_fetch_add(&agent.n_vms, 1);
	return vm;
}

static struct agent_vm *start(lua_State *L, const void *code, const struct channel *own)
{
	struct agent_lib *lib = agent_lib__of(code);
	struct agent_vm *vm = NULL;

	if (!lib || !agent_lib__probe(lib)) {
		snprintf(agent.why, sizeof(agent.why), "%s",
			 lib ? lib->why : "no memory for recording");
		return NULL;
	}
	pthread_mutex_lock(&agent.lock);
	vm = vm_of(&lib->api, L);
	if (!vm)
		vm = start_locked(lib, L, own);
	pthread_mutex_unlock(&agent.lock);
	return vm;
}

struct agent_vm *agent__start(struct lua_State *L, const void *code)
{
	return start(L, code, NULL);
}

struct agent_vm *agent_start_alone(lua_State *L, const void *code, const struct channel *own)
{
	watch_forks();
	return start(L, code, own);
}

int agent_send_hello(const struct agent_hello *hello, int fd)
{
	return channel__send(&agent.channel, hello, sizeof(*hello), fd);
}

int agent_vm_socket(const struct agent_vm *vm)
{
	return atomic_load(&vm->channel->fd);
}

struct agent_vm *agent__find(struct lua_State *L, const void *code)
{
	struct agent_lib *lib = agent_lib__of(code);

	return lib && lib->has_api ? vm_of(&lib->api, L) : NULL;
}

struct agent_allocator agent__allocator(struct agent_vm *vm)
{
	return (struct agent_allocator){ &vm->alloc, &vm->alloc_ud };
}

void agent__mark(struct agent_vm *vm, unsigned kind, const char *name)
{
	/* A pause that has ended is told first. */
	if (*vm->alive && !vm->shut && !agent_is_recorded(vm))
		agent_revive(vm);
	put_mark(vm, kind, name);
}

/* ---- the end ---- */

static __thread const struct lj_api *collecting;

static int collect(lua_State *L)
{
	/* Twice: what finalizers hold is only freed by the next one. */
	collecting->lua_gc(L, LUA_GCCOLLECT, 0);
	collecting->lua_gc(L, LUA_GCCOLLECT, 0);
	return 0;
}

/* An error of a finalizer ends the collection; lua_close(), which runs the
 * others, is silent about it, and so is this. */
static void final_collection(struct agent_vm *vm, lua_State *L)
{
	if (!agent_is_recorded(vm) || !vm->channel->control->final_gc || !lj_can_run(&vm->lay, L))
		return;
	collecting = vm->api;
	if (vm->api->lua_cpcall(L, collect, NULL) == 0)
		agent__mark(vm, SESSION_MARK_FULL_GC, "");
}

void agent__close(struct agent_vm *vm, struct lua_State *L)
{
	agent__mark(vm, SESSION_MARK_SCRIPT_END, "");
	final_collection(vm, L);
	agent__mark(vm, SESSION_MARK_CLOSE, "");
	if (*vm->alive && vm->out.ring && !vm->shut)
		producer__check(&vm->out);
	vm->registry = NULL; /* what it leads to is freed in any order now */
	vm->closing = true;
	vm->epoch_off = 0;
}

/* lua_close() frees the main thread's stack when all objects are gone, and
 * then asks whether the allocator is its own, to give that back as a whole
 * (close_state() in lj_state.c): so ours must be out of the way by then. */
void agent_detach(struct agent_vm *vm)
{
	bool ours = vm_of(vm->api, vm->L) == vm;

	if (ours)
		vm->api->lua_setallocf(vm->L, vm->alloc, vm->alloc_ud);
	vm->shut = true;
	vm->closing = false;
	vm->epoch_recorded = 0;
	atomic_fetch_sub(&agent.n_vms, 1);
	if (!*vm->alive)
		return;
	if (vm->out.ring)
		atomic_store(&vm->out.ring->gone, RING_CLOSED);
	if (vm->channel == &vm->own_channel)
		channel__hang_up(&vm->own_channel);
	if (!ours)
		return; /* another allocator was put over ours, and calls it still */
	pthread_mutex_lock(&agent.lock);
	vm_unmap(agent.closed);
	agent.closed = vm;
	pthread_mutex_unlock(&agent.lock);
}

void agent__stop(struct agent_vm *vm)
{
	/* Another hook may have been put over ours: then ours must stay. */
	if (vm_of(vm->api, vm->L) == vm)
		agent_detach(vm);
}
