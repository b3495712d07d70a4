/* library.c - see library.h.  Called by agent.c and by what stands in for the
 * library's functions.
 */
#include "backends/luajit/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__thread int agent_inside;

static struct agent_lib *libs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- what a file is ---- */

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

static void describe(struct agent_lib *lib, const void *code, const struct link_map *map)
{
	struct build_id want = { .addr = (uintptr_t)code,
				 .hex = lib->build_id,
				 .len = sizeof(lib->build_id) };
	ssize_t n;

	dl_iterate_phdr(find_build_id, &want);
	if (map->l_name && map->l_name[0]) {
		snprintf(lib->path, sizeof(lib->path), "%s", map->l_name);
		return;
	}
	n = readlink("/proc/self/exe", lib->path, sizeof(lib->path) - 1);
	if (n > 0)
		lib->path[n] = 0;
}

/* ---- its functions ---- */

/* The library stays loaded from here on: what we keep points into it. */
static void load_api(struct agent_lib *lib, const struct link_map *map)
{
	void *handle =
		dlopen(map->l_name && map->l_name[0] ? map->l_name : NULL, RTLD_LAZY | RTLD_NOLOAD);
	const char *missing;

	/* A LuaJIT has this; the Lua of lua.org, whose API is the same, not. */
	if (!handle || !dlsym(handle, "luaJIT_setmode")) {
		snprintf(lib->why, sizeof(lib->why), "'%.400s' is Lua, but not LuaJIT", lib->path);
		return;
	}
	missing = lj_api__load(&lib->api, handle);
	if (missing)
		snprintf(lib->why, sizeof(lib->why), "the LuaJIT in '%.400s' does not have '%s'",
			 lib->path, missing);
	lib->has_api = !missing;
}

static struct agent_lib *new_lib(const void *code, const struct link_map *map)
{
	struct agent_lib *lib = calloc(1, sizeof(*lib));

	if (!lib)
		return NULL;
	lib->map = map;
	describe(lib, code, map);
	agent_inside++;
	load_api(lib, map);
	agent_inside--;
	if (!lib->has_api)
		lib->state = LIB_REFUSED;
	return lib;
}

static struct agent_lib *find(const struct link_map *map)
{
	struct agent_lib *lib;

	for (lib = libs; lib && lib->map != map; lib = lib->next)
		;
	return lib;
}

/* Adds NEW, unless another thread was faster: then that one's is returned. */
static struct agent_lib *add(struct agent_lib *new)
{
	struct agent_lib *lib;

	pthread_mutex_lock(&lock);
	lib = find(new->map);
	if (!lib) {
		new->next = libs;
		libs = lib = new;
	}
	pthread_mutex_unlock(&lock);
	if (lib != new)
		free(new);
	return lib;
}

/* The loader's lock is never taken under ours: a library's constructor, which
 * runs under the loader's, may make a VM. */
struct agent_lib *agent_lib__of(const void *code)
{
	struct agent_lib *lib;
	struct link_map *map;
	Dl_info info;

	if (!dladdr1(code, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
		return NULL;
	pthread_mutex_lock(&lock);
	lib = find(map);
	pthread_mutex_unlock(&lock);
	if (lib)
		return lib;
	lib = new_lib(code, map);
	return lib ? add(lib) : NULL;
}

void agent_lib__lock(void)
{
	pthread_mutex_lock(&lock);
}

void agent_lib__unlock(void)
{
	pthread_mutex_unlock(&lock);
}

bool agent_lib__probe(struct agent_lib *lib)
{
	char why[256] = "";

	pthread_mutex_lock(&lock);
	if (lib->state == LIB_UNKNOWN) {
		agent_inside++;
		if (lj_layout__probe(&lib->lay, &lib->builtins, &lib->api, why, sizeof(why))) {
			lib->state = LIB_REFUSED;
			snprintf(lib->why, sizeof(lib->why),
				 "this LuaJIT (%s) cannot be recorded: %s",
				 lib->lay.version[0] ? lib->lay.version : "unknown version", why);
		} else {
			lib->state = LIB_USABLE;
		}
		agent_inside--;
	}
	pthread_mutex_unlock(&lock);
	return lib->state == LIB_USABLE;
}
