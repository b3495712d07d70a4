/* hello.c - see hello.h. */
#include "backends/luajit/hello.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"

/* What does not fit is left out from the last whole argument on. */
static void fill_args(struct agent_hello *hello)
{
	static const char more[] = "...";
	const size_t room = sizeof(hello->args) - sizeof(more);
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n = 1;

	while (fd >= 0 && n > 0 && len < room) {
		n = read(fd, hello->args + len, room - len);
		len += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	if (len == room) {
		while (len && hello->args[len - 1])
			len--;
		memset(hello->args + len, 0, sizeof(hello->args) - len);
		memcpy(hello->args + len, more, sizeof(more));
		len += sizeof(more);
	}
	hello->args_len = (uint32_t)len;
}

/* The collector looks into /proc itself, but a short program may have ended by
 * then, and its number may be another's. */
static void fill_process(struct agent_hello *hello)
{
	hello->ppid = (uint64_t)getppid();
	hello->tid = (uint64_t)gettid();
	prctl(PR_GET_NAME, hello->thread_name);
	fill_args(hello);
	/* Where it is outside of the root, the kernel says "(unreachable)". */
	if (syscall(SYS_getcwd, hello->cwd, sizeof(hello->cwd)) < 0 || hello->cwd[0] != '/')
		hello->cwd[0] = 0;
}

void hello__fill(struct agent_hello *hello, enum agent_msg kind, const struct agent_lib *lib,
		 lua_State *L)
{
	memset(hello, 0, sizeof(*hello));
	hello->version = PROTOCOL_VERSION;
	hello->kind = kind;
	hello->start_mono_ns = clock__ns(CLOCK_MONOTONIC);
	hello->start_wall_ns = clock__ns(CLOCK_REALTIME);
	hello->heap_start = vm_heap_size(&lib->api, L);
	memcpy(hello->vm_path, lib->path, sizeof(hello->vm_path));
	memcpy(hello->vm_build_id, lib->build_id, sizeof(hello->vm_build_id));
	fill_process(hello);
}
