/* target.c - a program with LuaJIT inside that makes it hard for whoever is in its
 * process; started by tests/cli/trust_target.py, alone and under ljperf record.
 *
 *   target MODE [ARG]
 */
#include <errno.h>
#include <lauxlib.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* 1000 allocations on line 3, and C functions of several libraries. */
static const char chunk[] =
	"jit.off()\nlocal t\nfor i = 1, 1000 do t = { i } end\n"
	"t = ('x'):rep(100) .. string.format('%d', 1) .. table.concat({ 'a', 'b' })\n"
	"t = tostring(t):upper() return math.floor(1.5)\n";

static lua_State *new_vm(void)
{
	lua_State *L = luaL_newstate();

	if (!L)
		exit(9);
	luaL_openlibs(L);
	return L;
}

static void run(lua_State *L)
{
	if (luaL_loadbuffer(L, chunk, sizeof(chunk) - 1, "@target.lua") || lua_pcall(L, 0, 0, 0)) {
		printf("error: %s\n", lua_tostring(L, -1));
		exit(8);
	}
}

/* ---- a sandbox that kills ---- */

static const struct {
	const char *name;
	int number;
} calls[] = {
#define CALL(name) \
	{ \
#name, SYS_##name \
	}
	CALL(read),
	CALL(write),
	CALL(close),
	CALL(fstat),
	CALL(newfstatat),
	CALL(openat),
	CALL(poll),
	CALL(mmap),
	CALL(munmap),
	CALL(mremap),
	CALL(mprotect),
	CALL(madvise),
	CALL(brk),
	CALL(futex),
	CALL(exit_group),
	CALL(getrandom),
	CALL(memfd_create),
	CALL(ftruncate),
	CALL(sendmsg),
	CALL(process_vm_readv),
	CALL(getpid),
	CALL(gettid),
	CALL(getppid),
	CALL(getcwd),
	CALL(prctl),
	CALL(readlink),
	CALL(prlimit64),
	CALL(clock_gettime),
	CALL(rt_sigprocmask),
	CALL(lseek),
	CALL(pread64),
	CALL(fcntl),
	CALL(recvmsg),
	CALL(socket),
	CALL(connect),
	CALL(pipe2),
	CALL(getuid),
	CALL(access),
#undef CALL
};

enum { N_CALLS = sizeof(calls) / sizeof(calls[0]) };

static int number_of(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < N_CALLS; i++)
		if (strlen(calls[i].name) == len && !strncmp(calls[i].name, name, len))
			return calls[i].number;
	fprintf(stderr, "target: no system call '%.*s'\n", (int)len, name);
	exit(7);
}

/* What is not in LIST, "a,b,c", ends the process. */
static void allow_only(const char *list)
{
	struct sock_filter f[2 * N_CALLS + 2] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog prog = { .filter = f };
	unsigned short n = 1;
	size_t len;

	for (; *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						      (unsigned)number_of(list, len), 0, 1);
		f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	prog.len = n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		exit(6);
}

static void sandbox_after(const char *list)
{
	lua_State *L = new_vm();
	int i;

	run(L);
	allow_only(list);
	for (i = 0; i < 20; i++)
		run(L);
	lua_close(L);
}

static void sandbox_before(const char *list)
{
	lua_State *L;

	allow_only(list);
	L = new_vm();
	run(L);
	lua_close(L);
}

/* ---- another root ---- */

static void change_root(const char *dir)
{
	lua_State *L = new_vm();

	if (chroot(dir) || chdir("/")) {
		perror("chroot");
		exit(5);
	}
	run(L);
	lua_close(L);
	L = new_vm(); /* another one, of which nothing is known yet */
	run(L);
	lua_close(L);
}

/* ---- other processes and threads ---- */

static void run_vfork(const char *arg)
{
	lua_State *L = new_vm();
	int i, status = 0;
	pid_t pid;

	(void)arg;
	for (i = 0; i < 20; i++) {
		run(L);
		pid = vfork();
		if (pid == 0) {
			if (i % 2)
				execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
			_exit(4);
		}
		waitpid(pid, &status, 0);
		if (WEXITSTATUS(status) != (i % 2 ? 3 : 4))
			exit(4);
	}
	run(L);
	lua_close(L);
}

static void run_spawn(const char *arg)
{
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, (char *)(uintptr_t)arg, NULL };
	lua_State *L = new_vm();
	int i, status;
	pid_t pid;

	for (i = 0; i < 3; i++) {
		run(L);
		if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ) ||
		    waitpid(pid, &status, 0) != pid)
			exit(4);
		printf("spawned: %d\n", WEXITSTATUS(status));
	}
	lua_close(L);
}

static int run_here(void *L)
{
	run(L);
	return 5;
}

enum { STACK = 256 << 10 };

/* With a process number of its own, in the same memory. */
static void clone_vm(const char *arg)
{
	char *stack = malloc(STACK);
	lua_State *L = new_vm();
	int i, status;
	pid_t pid;

	(void)arg;
	for (i = 0; i < 5; i++) {
		pid = clone(run_here, stack + STACK, CLONE_VM | SIGCHLD, L);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 5)
			exit(4);
		run(L);
	}
	lua_close(L);
}

/* A thread that libpthread knows nothing of. */
static void clone_thread(const char *arg)
{
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			  CLONE_SYSVSEM | CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID;
	static volatile pid_t tid;
	char *stack = malloc(STACK);
	lua_State *L = new_vm();
	int i;

	(void)arg;
	for (i = 0; i < 5; i++) {
		tid = 1;
		if (clone(run_here, stack + STACK, flags, L, NULL, NULL, &tid) < 0)
			exit(4);
		while (tid)
			usleep(1000);
		run(L);
	}
	lua_close(L);
}

/* A child made behind the back of libc, which goes on with its parent's VM. */
static void clone_fork(const char *arg)
{
	lua_State *L = new_vm();
	int status;
	long pid;

	(void)arg;
	run(L);
	pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	run(L);
	if (pid == 0) {
		fflush(stdout);
		_exit(6);
	}
	if (waitpid((pid_t)pid, &status, 0) != pid || WEXITSTATUS(status) != 6)
		exit(4);
	lua_close(L);
}

static void *run_thread(void *arg)
{
	lua_State *L = arg;

	run(L);
	return NULL;
}

/* Stacks as small as some servers give their threads. */
static void small_stack(const char *arg)
{
	pthread_attr_t attr;
	pthread_t thread;
	lua_State *L = new_vm();

	pthread_attr_init(&attr);
	if (pthread_attr_setstacksize(&attr, (size_t)atoi(arg) << 10) ||
	    pthread_create(&thread, &attr, run_thread, L))
		exit(4);
	pthread_join(thread, NULL);
	lua_close(L);
}

/* ---- many VMs ---- */

static void many(const char *arg)
{
	int i, n = atoi(arg);
	FILE *f;

	for (i = 0; i < n; i++) {
		lua_State *L = new_vm();

		run(L);
		lua_close(L);
		if (i)
			continue;
		f = fopen("started", "w");
		if (f) {
			fputc('x', f);
			fclose(f);
		}
		while (access("go", F_OK) != 0)
			usleep(1000);
	}
}

/* ---- signals ---- */

static volatile sig_atomic_t n_alarms, n_children;

static void on_alarm(int sig)
{
	n_alarms += sig == SIGALRM;
}

static void on_child(int sig)
{
	n_children += sig == SIGCHLD;
}

/* Handlers without SA_RESTART: any call that waits is interrupted, all the time. */
static void alarms(const char *arg)
{
	struct itimerval every = { { 0, 200 }, { 0, 200 } };
	struct sigaction sa = { .sa_handler = on_alarm };
	lua_State *L = new_vm();
	int i;

	(void)arg;
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (i = 0; i < 100; i++) {
		errno = 77;
		run(L);
		lua_createtable(L, 10000, 0); /* no Lua code that sets errno */
		lua_settop(L, 0);
	}
	lua_close(L);
	puts(n_alarms > 0 ? "alarms came" : "no alarm came");
}

static void show_signals(void)
{
	char line[200];
	FILE *f = fopen("/proc/self/status", "r");
	struct sigaction sa;
	int sig;

	for (sig = 1; sig < 65; sig++)
		if (sigaction(sig, NULL, &sa) == 0 && sa.sa_handler != SIG_DFL)
			printf("signal %d: %s, flags %x\n", sig,
			       sa.sa_handler == SIG_IGN ? "ignored" : "handled",
			       (unsigned)sa.sa_flags);
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "SigBlk", 6) || !strncmp(line, "SigIgn", 6) ||
		    !strncmp(line, "SigCgt", 6))
			fputs(line, stdout);
	if (f)
		fclose(f);
}

/* Handlers, masks and children are those that the program has itself. */
static void signals(const char *arg)
{
	struct sigaction sa = { .sa_handler = on_child, .sa_flags = SA_RESTART };
	lua_State *L;
	int i, status;

	(void)arg;
	show_signals();
	sigaction(SIGCHLD, &sa, NULL);
	L = new_vm();
	for (i = 0; i < 5; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(i);
		run(L);
		/* Any child: there is none that is not ours. */
		if (wait(&status) != pid || WEXITSTATUS(status) != i)
			exit(4);
	}
	lua_close(L);
	printf("children: %d, more: %d %d\n", (int)n_children, (int)wait(NULL), errno == ECHILD);
	show_signals();
}

/* ---- the table ---- */

static const struct {
	const char *name;
	void (*run)(const char *arg);
} modes[] = {
	{ "sandbox-after", sandbox_after },
	{ "sandbox-before", sandbox_before },
	{ "chroot", change_root },
	{ "vfork", run_vfork },
	{ "spawn", run_spawn },
	{ "clone-vm", clone_vm },
	{ "clone-thread", clone_thread },
	{ "clone-fork", clone_fork },
	{ "small-stack", small_stack },
	{ "many", many },
	{ "alarms", alarms },
	{ "signals", signals },
};

int main(int argc, char **argv)
{
	size_t i;

	/* Nothing is to be asked for when it cannot be any more. */
	static char out[4096];

	setvbuf(stdout, out, _IOFBF, sizeof(out));
	for (i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(modes[i].name, argv[1])) {
			modes[i].run(argc > 2 ? argv[2] : "");
			puts("done");
			fflush(stdout);
			_exit(6);
		}
	return 125;
}
