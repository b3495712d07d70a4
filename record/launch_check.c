/* launch_check.c - whether the dynamic loader would put the agent into a
 * program: looks at the file before it is started.  Called by cmd_record.c.
 */
#include "record/launch.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "util/error.h"

#define MOST_INTERPRETERS 5 /* as the kernel: a script's interpreter may be one */

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* As execvp() looks for it.  False: not found, which exec will say better. */
static bool find_program(const char *command, char path[PATH_MAX])
{
	const char *dir = getenv("PATH"), *end;

	if (strchr(command, '/')) {
		snprintf(path, PATH_MAX, "%s", command);
		return is_program(path);
	}
	for (dir = dir ? dir : "/bin:/usr/bin";; dir = end + 1) {
		end = strchrnul(dir, ':');
		snprintf(path, PATH_MAX, "%.*s%s%s", (int)(end - dir), dir, end > dir ? "/" : "",
			 command);
		if (is_program(path))
			return true;
		if (!*end)
			return false;
	}
}

/* The loader distrusts the environment of a program with other rights. */
static int check_rights(const char *path, const struct stat *st)
{
	if ((st->st_mode & S_ISUID && st->st_uid != getuid()) ||
	    (st->st_mode & S_ISGID && st->st_mode & S_IXGRP && st->st_gid != getgid()))
		return err__set(
			-EPERM,
			"cannot record '%s': it changes its user or group, so nothing can be "
			"preloaded into it",
			path);
	if (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
		return err__set(
			-EPERM,
			"cannot record '%s': it has capabilities of its own, so nothing can be "
			"preloaded into it",
			path);
	return 0;
}

static bool has_interpreter(int fd, const Elf64_Ehdr *eh)
{
	Elf64_Phdr ph;
	unsigned i;

	for (i = 0; i < eh->e_phnum && eh->e_phentsize == sizeof(ph); i++) {
		if (pread(fd, &ph, sizeof(ph), (off_t)(eh->e_phoff + i * sizeof(ph))) != sizeof(ph))
			break;
		if (ph.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static int check_elf(const char *path, int fd, const Elf64_Ehdr *eh)
{
	Elf64_Ehdr own;
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	bool same = true;

	if (eh->e_ident[EI_CLASS] != ELFCLASS64)
		return err__set(-ENOEXEC,
				"cannot record '%s': it is a 32-bit program, only 64-bit LuaJIT is "
				"supported",
				path);
	if (self >= 0 && read(self, &own, sizeof(own)) == sizeof(own))
		same = own.e_machine == eh->e_machine;
	if (self >= 0)
		close(self);
	if (!same)
		return err__set(-ENOEXEC,
				"cannot record '%s': it is made for another kind of processor",
				path);
	if (!has_interpreter(fd, eh))
		return err__set(-ENOEXEC,
				"cannot record '%s': it is linked statically, so nothing can be "
				"preloaded into it",
				path);
	return 0;
}

/* The interpreter of a script, from its first line; false: none. */
static bool interpreter_of(const char *head, char path[PATH_MAX])
{
	const char *at = head + 2;
	size_t n;

	if (strncmp(head, "#!", 2) != 0)
		return false;
	at += strspn(at, " \t");
	n = strcspn(at, " \t\n");
	if (n == 0 || n >= PATH_MAX)
		return false;
	snprintf(path, PATH_MAX, "%.*s", (int)n, at);
	return true;
}

/* 1: go on with the interpreter, now in PATH. */
static int check_file(char path[PATH_MAX])
{
	union {
		Elf64_Ehdr eh;
		char text[257];
	} head = { .text = "" };
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return 0; /* not ours to read; exec may do it */
	if (fstat(fd, &st) == 0 && read(fd, head.text, sizeof(head.text) - 1) > 0) {
		if (interpreter_of(head.text, path))
			err = 1;
		else if (memcmp(head.text, ELFMAG, SELFMAG) == 0)
			err = check_rights(path, &st);
		if (!err && memcmp(head.text, ELFMAG, SELFMAG) == 0)
			err = check_elf(path, fd, &head.eh);
	}
	close(fd);
	return err;
}

bool launch__is_program(const char *command)
{
	char path[PATH_MAX];

	return find_program(command, path);
}

bool launch__is_no_script(const char *name)
{
	char path[PATH_MAX], magic[SELFMAG];
	bool elf = false;
	struct stat st;
	int fd;

	if (stat(name, &st) != 0)
		return !strchr(name, '/') && find_program(name, path);
	fd = S_ISREG(st.st_mode) ? open(name, O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0) {
		elf = read(fd, magic, SELFMAG) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0;
		close(fd);
	}
	return elf;
}

int launch__check(const char *command)
{
	char path[PATH_MAX];
	int i, err = 1;

	if (!find_program(command, path))
		return 0;
	for (i = 0; i < MOST_INTERPRETERS && err == 1; i++)
		err = check_file(path);
	return err < 0 ? err : 0;
}
