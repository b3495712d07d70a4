/* inject.c - makes one call of a libc function fail, once: preloaded into
 * ljperf record and its program by tests/cli/trust_faults.py.
 *
 *   TRUST_COUNTS  a file of two rows of 64-bit counts, one for each function of
 *                 the table below: calls in ljperf, calls in the program
 *   TRUST_FAULT   ROW,FUNCTION,NTH,KIND: which call fails; KIND "error", "eintr"
 *                 or "short" (half of what was asked for)
 *
 * In the program only calls of our own code count, known by the address that
 * they return to: the program itself must not be disturbed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* Name, errno of the failure, whether EINTR can be one. */
#define FUNCTIONS(F) \
	F(malloc, ENOMEM, 0) \
	F(calloc, ENOMEM, 0) \
	F(realloc, ENOMEM, 0) \
	F(strdup, ENOMEM, 0) \
	F(setenv, ENOMEM, 0) \
	F(open, EMFILE, 1) \
	F(read, EIO, 1) \
	F(write, ENOSPC, 1) \
	F(pwrite, EIO, 1) \
	F(mmap, ENOMEM, 0) \
	F(madvise, EINVAL, 0) \
	F(ftruncate, ENOMEM, 1) \
	F(memfd_create, EMFILE, 0) \
	F(socketpair, EMFILE, 0) \
	F(socket, EMFILE, 0) \
	F(connect, ECONNREFUSED, 1) \
	F(bind, EADDRINUSE, 0) \
	F(listen, EADDRINUSE, 0) \
	F(accept4, EMFILE, 1) \
	F(setsockopt, ENOBUFS, 0) \
	F(sendmsg, ENOBUFS, 1) \
	F(recvmsg, ENOMEM, 1) \
	F(poll, ENOMEM, 1) \
	F(pipe2, EMFILE, 0) \
	F(fork, EAGAIN, 0) \
	F(execvp, ENOMEM, 0) \
	F(dup2, EMFILE, 1) \
	F(fcntl, EINVAL, 0) \
	F(fstat, EIO, 0) \
	F(lstat, EIO, 0) \
	F(stat, EIO, 0) \
	F(access, EIO, 0) \
	F(rename, EIO, 0) \
	F(unlink, EIO, 0) \
	F(readlink, EIO, 0) \
	F(getcwd, ENOENT, 0) \
	F(uname, EPERM, 0) \
	F(signalfd, EMFILE, 0) \
	F(waitpid, EINTR, 1) \
	F(getrlimit, EPERM, 0) \
	F(setrlimit, EPERM, 0) \
	F(getrandom, ENOSYS, 1) \
	F(process_vm_readv, EPERM, 0) \
	F(pthread_create, EAGAIN, 0) \
	F(syscall, ENOSYS, 1) \
	F(dlopen, ENOMEM, 0)

enum {
#define F(name, err, eintr) AT_##name,
	FUNCTIONS(F)
#undef F
		N_FUNCTIONS
};

static const struct {
	const char *name;
	int err;
	bool eintr;
} functions[] = {
#define F(name, err, eintr) { #name, err, eintr },
	FUNCTIONS(F)
#undef F
};

enum kind { NONE, ERROR, SHORT };

static struct {
	bool ready, target;
	_Atomic uint64_t *counts; /* of this row */
	int function; /* -1: none is to fail */
	uint64_t nth;
	int err; /* instead of the function's own, or 0 */
	enum kind kind;
} inject = { .function = -1 };

static bool is_ljperf(const char *exe)
{
	const char *slash = strrchr(exe, '/');

	return slash && strcmp(slash, "/ljperf") == 0;
}

static void read_fault(const char *spec)
{
	char name[32], kind[16];
	unsigned long long nth;
	int row, i;

	if (sscanf(spec, "%d,%31[^,],%llu,%15s", &row, name, &nth, kind) != 4 ||
	    row != inject.target)
		return;
	for (i = 0; i < N_FUNCTIONS; i++)
		if (strcmp(functions[i].name, name) == 0)
			inject.function = i;
	inject.nth = nth;
	inject.kind = strcmp(kind, "short") == 0 ? SHORT : ERROR;
	inject.err = strcmp(kind, "eintr") == 0 ? EINTR : 0;
}

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("TRUST_COUNTS"), *fault = getenv("TRUST_FAULT");
	size_t len = 2 * N_FUNCTIONS * sizeof(uint64_t);
	char exe[4096];
	long n = syscall(SYS_readlink, "/proc/self/exe", exe, sizeof(exe) - 1);
	long fd = path ? syscall(SYS_open, path, O_RDWR | O_CLOEXEC) : -1;
	_Atomic uint64_t *map;

	if (n <= 0 || fd < 0)
		return;
	exe[n] = 0;
	inject.target = !is_ljperf(exe);
	map = (void *)syscall(SYS_mmap, NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	syscall(SYS_close, fd);
	if (map == MAP_FAILED)
		return;
	inject.counts = map + (inject.target ? N_FUNCTIONS : 0);
	if (fault)
		read_fault(fault);
	inject.ready = true;
}

/* Our own code: the agent, wherever it is. */
static bool is_ours(const void *caller)
{
	struct link_map *map;
	Dl_info info;

	if (!inject.target)
		return true;
	if (!dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) || !info.dli_fname)
		return false;
	return strstr(info.dli_fname, "ljperf-luajit") || strstr(info.dli_fname, "libljperf-agent");
}

static enum kind fails(int f, const void *caller)
{
	static __thread bool inside;
	enum kind kind = NONE;

	if (!inject.ready || inside)
		return NONE;
	inside = true; /* dladdr() may come by here */
	if (is_ours(caller) && atomic_fetch_add(&inject.counts[f], 1) + 1 == inject.nth &&
	    f == inject.function)
		kind = inject.kind;
	inside = false;
	if (kind == ERROR)
		errno = inject.err ? inject.err : functions[f].err;
	return kind;
}

static void *real_of(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* A function with its result on failure. */
#define WRAP(type, failed, name, params, args) \
	type name params; \
	type name params \
	{ \
		static __typeof__(&name) real; \
		if (!real) { \
			void *sym = real_of(#name); \
			memcpy(&real, &sym, sizeof(sym)); \
		} \
		if (fails(AT_##name, __builtin_return_address(0)) == ERROR) \
			return failed; \
		return real args; \
	}

/* The same, of which half of LEN bytes can be moved. */
#define WRAP_SHORT(name, params, args) \
	ssize_t name params; \
	ssize_t name params \
	{ \
		static __typeof__(&name) real; \
		enum kind kind; \
		if (!real) { \
			void *sym = real_of(#name); \
			memcpy(&real, &sym, sizeof(sym)); \
		} \
		kind = fails(AT_##name, __builtin_return_address(0)); \
		if (kind == ERROR) \
			return -1; \
		if (kind == SHORT && len > 1) \
			len /= 2; \
		return real args; \
	}

/* dlsym() itself may ask for memory: from libc's own functions then. */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
	return fails(AT_malloc, __builtin_return_address(0)) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return fails(AT_calloc, __builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return fails(AT_realloc, __builtin_return_address(0)) ? NULL : __libc_realloc(p, n);
}

WRAP(char *, NULL, strdup, (const char *s), (s))
WRAP(int, -1, setenv, (const char *name, const char *value, int over), (name, value, over))
WRAP_SHORT(read, (int fd, void *p, size_t len), (fd, p, len))
WRAP_SHORT(write, (int fd, const void *p, size_t len), (fd, p, len))
WRAP(ssize_t, -1, pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at))
WRAP(void *, MAP_FAILED, mmap, (void *at, size_t n, int prot, int flags, int fd, off_t off),
     (at, n, prot, flags, fd, off))
WRAP(int, -1, madvise, (void *at, size_t n, int advice), (at, n, advice))
WRAP(int, -1, ftruncate, (int fd, off_t n), (fd, n))
WRAP(int, -1, memfd_create, (const char *name, unsigned flags), (name, flags))
WRAP(int, -1, socketpair, (int domain, int type, int protocol, int fds[2]),
     (domain, type, protocol, fds))
WRAP(int, -1, socket, (int domain, int type, int protocol), (domain, type, protocol))
WRAP(int, -1, connect, (int fd, const struct sockaddr *addr, socklen_t n), (fd, addr, n))
WRAP(int, -1, bind, (int fd, const struct sockaddr *addr, socklen_t n), (fd, addr, n))
WRAP(int, -1, listen, (int fd, int n), (fd, n))
WRAP(int, -1, accept4, (int fd, struct sockaddr *addr, socklen_t *n, int flags),
     (fd, addr, n, flags))
WRAP(int, -1, setsockopt, (int fd, int level, int name, const void *value, socklen_t n),
     (fd, level, name, value, n))
WRAP(ssize_t, -1, sendmsg, (int fd, const struct msghdr *msg, int flags), (fd, msg, flags))
WRAP(ssize_t, -1, recvmsg, (int fd, struct msghdr *msg, int flags), (fd, msg, flags))
WRAP(int, -1, poll, (struct pollfd * fds, nfds_t n, int ms), (fds, n, ms))
WRAP(int, -1, pipe2, (int fds[2], int flags), (fds, flags))
WRAP(pid_t, -1, fork, (void), ())
WRAP(int, -1, execvp, (const char *file, char *const argv[]), (file, argv))
WRAP(int, -1, dup2, (int old, int new), (old, new))
WRAP(int, -1, fstat, (int fd, struct stat *st), (fd, st))
WRAP(int, -1, lstat, (const char *path, struct stat *st), (path, st))
WRAP(int, -1, stat, (const char *path, struct stat *st), (path, st))
WRAP(int, -1, access, (const char *path, int mode), (path, mode))
WRAP(int, -1, rename, (const char *old, const char *new), (old, new))
WRAP(int, -1, unlink, (const char *path), (path))
WRAP(ssize_t, -1, readlink, (const char *path, char *buf, size_t n), (path, buf, n))
WRAP(char *, NULL, getcwd, (char *buf, size_t n), (buf, n))
WRAP(int, -1, uname, (struct utsname * uts), (uts))
WRAP(int, -1, signalfd, (int fd, const sigset_t *set, int flags), (fd, set, flags))
WRAP(pid_t, -1, waitpid, (pid_t pid, int *status, int flags), (pid, status, flags))
WRAP(int, -1, getrlimit, (__rlimit_resource_t which, struct rlimit *lim), (which, lim))
WRAP(int, -1, setrlimit, (__rlimit_resource_t which, const struct rlimit *lim), (which, lim))
WRAP(ssize_t, -1, getrandom, (void *p, size_t n, unsigned flags), (p, n, flags))
WRAP(ssize_t, -1, process_vm_readv,
     (pid_t pid, const struct iovec *to, unsigned long n_to, const struct iovec *from,
      unsigned long n_from, unsigned long flags),
     (pid, to, n_to, from, n_from, flags))
WRAP(int, EAGAIN, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg),
     (thread, attr, run, arg))
WRAP(void *, NULL, dlopen, (const char *path, int flags), (path, flags))

int open(const char *path, int flags, ...)
{
	int mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & O_CREAT)
		mode = va_arg(ap, int);
	va_end(ap);
	if (fails(AT_open, __builtin_return_address(0)))
		return -1;
	return openat(AT_FDCWD, path, flags, mode);
}

int fcntl(int fd, int cmd, ...)
{
	static int (*real)(int, int, ...);
	void *arg, *sym;
	va_list ap;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (!real) {
		sym = real_of("fcntl");
		memcpy(&real, &sym, sizeof(sym));
	}
	return fails(AT_fcntl, __builtin_return_address(0)) ? -1 : real(fd, cmd, arg);
}

long syscall(long nr, ...)
{
	static long (*real)(long, ...);
	long a[6];
	void *sym;
	va_list ap;
	int i;

	va_start(ap, nr);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (!real) {
		sym = real_of("syscall");
		memcpy(&real, &sym, sizeof(sym));
	}
	if (fails(AT_syscall, __builtin_return_address(0)))
		return -1;
	return real(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* For the test: the names in their order, and whether EINTR can be one. */
int main(void);
int main(void)
{
	int i;

	for (i = 0; i < N_FUNCTIONS; i++)
		printf("%s %d\n", functions[i].name, functions[i].eintr);
	return 0;
}
