/* deny.c - runs a command in which the kernel refuses some system calls, as a
 * container or a sandbox does; for tests/cli/trust_*.py.
 *
 *   deny NAME=ERRNO... -- COMMAND [ARG...]
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST 32

static const struct {
	const char *name;
	int number;
} calls[] = {
	{ "memfd_create", SYS_memfd_create },
	{ "process_vm_readv", SYS_process_vm_readv },
	{ "pidfd_open", SYS_pidfd_open },
	{ "madvise", SYS_madvise },
	{ "futex", SYS_futex },
	{ "socketpair", SYS_socketpair },
	{ "socket", SYS_socket },
	{ "sendmsg", SYS_sendmsg },
	{ "recvmsg", SYS_recvmsg },
	{ "signalfd4", SYS_signalfd4 },
	{ "ftruncate", SYS_ftruncate },
	{ "getrandom", SYS_getrandom },
	{ "prctl", SYS_prctl },
	{ "uname", SYS_uname },
	{ "prlimit64", SYS_prlimit64 },
	{ "fcntl", SYS_fcntl },
};

static int number_of(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strlen(calls[i].name) == len && strncmp(calls[i].name, name, len) == 0)
			return calls[i].number;
	return -1;
}

static int deny(const char *const *specs, int n)
{
	struct sock_filter f[3 + 2 * MOST] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	unsigned short len = 1;
	struct sock_fprog prog = { .filter = f };
	int i;

	for (i = 0; i < n; i++) {
		const char *eq = strchr(specs[i], '=');
		int nr = eq ? number_of(specs[i], (size_t)(eq - specs[i])) : -1;

		if (nr < 0 || i >= MOST) {
			fprintf(stderr, "deny: cannot deny '%s'\n", specs[i]);
			return -1;
		}
		f[len++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)nr, 0, 1);
		f[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
							SECCOMP_RET_ERRNO | (unsigned)atoi(eq + 1));
	}
	f[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	prog.len = len;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) != 0) {
		perror("deny");
		return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int n = 0;

	while (1 + n < argc && strcmp(argv[1 + n], "--") != 0)
		n++;
	if (2 + n >= argc || deny((const char *const *)argv + 1, n))
		return 125;
	execvp(argv[2 + n], argv + 2 + n);
	perror(argv[2 + n]);
	return 127;
}
